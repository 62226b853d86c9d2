export default {
  documents: "Documents",
  loading: "Loading documents",
  newDocument: "New document",
  importMarkdown: "Import Markdown",
  fileToImport: "Markdown file to import",
  tooLarge: (file: string, size: string) =>
    `“${file}” is larger than ${size}. Split it and import the parts.`,
  notLoaded: "The documents could not be loaded",
  none: "No documents yet",
  noneHint: "Start a new one, or drop a Markdown file anywhere on this page.",
  writeFirst: "Write the first document",
  findLabel: "Find a document by title",
  find: "Find by title",
  notFound: (words: string) => `No title holds “${words}”.`,
  openToSend: "Open to send your edits",
  dropHint: "You can also drop a Markdown file anywhere on this page.",
  drop: "Drop to import",
};
