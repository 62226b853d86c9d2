/** What is said in the text of a document, and of what a block can be. */

import { area } from "../language";

export const editorWords = area("editor", {
  text: "Document text",
  help: "Escape leaves the text. Control Alt 1 to 3 make headings. Control B, I, U and E make words bold, italic, underlined and code, Control K a link. Control F finds and replaces. A slash offers what a block can become. Alt with the arrow up or down moves a block. In the caption of an image Tab goes to its description.",
  notLoaded: "Not loaded yet",
  // what a block can be
  typeOfBlock: "Type of block",
  turnInto: "Turn into",
  otherType: "Other",
  paragraph: "Text",
  heading: (level: number) => `Heading ${level}`,
  bullet: "Bulleted list",
  numbered: "Numbered list",
  todo: "To-do",
  quote: "Quote",
  codeBlock: "Code",
  // the tools
  tools: "Text tools",
  toolWithKeys: (tool: string, keys: string) => `${tool} (${keys})`,
  keyControl: "Ctrl",
  keyShift: "Shift",
  bold: "Bold",
  italic: "Italic",
  underline: "Underline",
  strike: "Strikethrough",
  code: "Code",
  link: "Link",
  find: "Find",
  undo: "Undo",
  redo: "Redo",
  indent: "More indent",
  outdent: "Less indent",
});
