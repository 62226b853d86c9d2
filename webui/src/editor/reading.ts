/** What reads the clipboard, and comes when the person turns to the text. */

export { serialiseText } from "./copying";
export { HtmlReader, tamed } from "./html";
export { pasteMarkdown } from "./markdown-paste";
export { pasteWaiting } from "./waiting";
