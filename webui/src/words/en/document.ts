import { number, plural } from "../formats";

export default {
  loading: "Loading the document",
  share: "Share",
  title: "Title",
  titleCut: (most: number, words: string) =>
    `A title has at most ${number(most)} characters. This was left out: “${words}”`,
  shortcuts: "Keyboard shortcuts",
  inspector: "Inspector",
  notAllLoaded: "A part of what you have selected is not loaded yet. Try again in a moment.",
  partMissing: "A part of this page could not be loaded. Check your connection, then try again.",
  readOnly: "You can read this document, not change it.",
  // the save state
  saved: "Saved",
  saving: "Saving…",
  stillSaving: "Still saving…",
  offline: "Offline",
  disconnected: "Disconnected",
  changesKept: (places: number) =>
    plural(places, "1 change kept", `${number(places)} changes kept`),
  changesHere: (places: number) =>
    plural(places, "1 change in this tab", `${number(places)} changes in this tab`),
  changesOnlyHere: (places: number) =>
    plural(places, "1 change in this tab only", `${number(places)} changes in this tab only`),
  sayNotSaved: "Your edits cannot be saved right now. They are kept in this browser.",
  sayOffline: "Offline.",
  saySlow: "Saving takes longer than usual.",
  sayKept: "A text of yours has no place in the document any more. It is kept for you.",
  saySaved: "All edits are saved.",
  sayChanged: (blocks: number) =>
    plural(blocks, "Others changed 1 block.", `Others changed ${number(blocks)} blocks.`),
  close: "Close",
};
