/** What reads the clipboard, and comes when the person turns to the text. */

export { HtmlReader, tamed } from "./html";
export { pasteMarkdown } from "./markdown-paste";
