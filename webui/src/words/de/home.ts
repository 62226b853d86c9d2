import type english from "../en/home";
import type { Translation } from "../language";

export default {
  documents: "Dokumente",
  loading: "Dokumente werden geladen",
  newBoard: "Neue Tafel",
  fromTemplate: "Neue Tafel nach einer Vorlage",
  retrospective: "Rückblick",
  kanban: "Kanban-Tafel",
  seating: "Sitzplan",
  meeting: "Besprechungsraum",
  game: "Spieltisch",
  newDocument: "Neues Dokument",
  importMarkdown: "Markdown importieren",
  fileToImport: "Markdown-Datei zum Importieren",
  tooLarge: (file, size) =>
    `„${file}“ ist größer als ${size}. Teilen Sie die Datei und importieren Sie die Teile.`,
  notLoaded: "Die Dokumente konnten nicht geladen werden",
  none: "Noch keine Dokumente",
  noneHint: "Beginnen Sie ein neues, oder ziehen Sie eine Markdown-Datei auf diese Seite.",
  writeFirst: "Das erste Dokument schreiben",
  findLabel: "Ein Dokument nach dem Titel suchen",
  find: "Titel suchen",
  notFound: (words) => `Kein Titel enthält „${words}“.`,
  openToSend: "Öffnen, um Ihre Änderungen zu senden",
  openToPlace: "Öffnen, um Texte einzufügen",
  dropHint: "Sie können auch eine Markdown-Datei auf diese Seite ziehen.",
  drop: "Zum Importieren loslassen",
} satisfies Translation<typeof english>;
