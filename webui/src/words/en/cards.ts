import { number, plural } from "../formats";

export default {
  // how a document stands
  coming: "The document is being opened.",
  offline: "No connection. The document is shown once there is one.",
  offlineSeen: "No connection: this is how it was seen last.",
  forbidden: "You may not read this document. Ask whoever put it here to share it with you.",
  gone: "This document has been deleted.",
  trashed: "This document is in the trash.",
  failed: "This document cannot be opened now. It is tried again soon.",
  nothing: "nothing is written in it yet",
  begins: (words: string, blocks: number) =>
    `“${words}”, ${plural(blocks, "1 block", `${number(blocks)} blocks`)}`,
  // opened over the place
  opened: (title: string) => `Document “${title}”`,
  openedUnknown: "Document",
  openPage: "Open the document",
  close: "Close the document",
  loading: "The document is being opened.",
  forbiddenHere: "You may not read this document",
  forbiddenWhy: "Ask whoever put it here to share it with you.",
  goneHere: "This document is not there any more",
  goneWhy: "It has been deleted. The card can be deleted, or show another document.",
  stoppedHere: "This document cannot be opened",
  signedOut: "You are signed out. Sign in again in another tab, then open the document again.",
  readOnly: "You can read this document, not change it.",
  inTrash: "This document is in the trash. Restore it to change it.",
  // choosing one
  wanted: "Document",
  search: "Search your documents",
  searching: "Looking for your documents …",
  noneFound: "No document has this in its name.",
  noDocuments: "There is no document yet. Make one from the list of files.",
  notListed: "Your documents could not be listed. Close this and try again.",
  foundDocuments: (count: number) => plural(count, "1 document", `${number(count)} documents`),
  unlisted: "A document that is not in your list",
  caption: "Caption",
  captionHelp:
    "For everybody who sees the board. The name of the document is shown only to those who may read it.",
  // presenting
  presenting: "Presentation",
  slides: "Slides",
  slideOf: (at: number, count: number, name: string) =>
    `Slide ${number(at)} of ${number(count)}: ${name}`,
  slideList: (at: number, count: number) =>
    `Slide ${number(at)} of ${number(count)}. List of slides`,
  unnamedSlide: (at: number) => `Frame ${number(at)}`,
  nextSlide: "Next slide",
  previousSlide: "Slide before",
  fullScreen: "Full screen",
  endPresenting: "End the presentation",
  noSlides: "There is no frame to show",
  noSlidesHint:
    "Slides are the frames of this board, row by row. Take the tool Frame, or press F, and draw one around what belongs together.",
};
