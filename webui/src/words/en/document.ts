import { number, plural } from "../formats";

export default {
  loading: "Loading the document",
  share: "Share",
  yourName: "Your name, shown to others",
  title: "Title",
  titleCut: (most: number, words: string) =>
    `A title has at most ${number(most)} characters. This was left out: “${words}”`,
  shortcuts: "Keyboard shortcuts",
  inspector: "Inspector",
  noAccess: "No access any more",
  linkOver: "The link by which you came is not good any more.",
  askOwner: "Ask the owner, if you should have access.",
  notOpened: "This document cannot be opened",
  noReader: "You may not read this document any more.",
  missing: "There is no document at this address. Check it, or look in the list.",
  keptUntilSignIn:
    "You are signed out. What you have written is kept in this browser, and is sent when you sign in again.",
  notAllLoaded: "A part of what you have selected is not loaded yet. Try again in a moment.",
  partMissing: "A part of this page could not be loaded. Check your connection, then try again.",
  readOnly: "You can read this document, not change it.",
  // the save state
  saved: "Saved",
  saving: "Saving…",
  stillSaving: "Still saving…",
  offline: "Offline",
  disconnected: "Disconnected",
  editsKept: (edits: number) => plural(edits, "1 edit kept", `${number(edits)} edits kept`),
  sayNotSaved: "Your edits cannot be saved right now. They are kept in this browser.",
  sayOffline: "Offline.",
  saySlow: "Saving takes longer than usual.",
  saySaved: "All edits are saved.",
  sayChanged: (blocks: number) =>
    plural(blocks, "Others changed 1 block.", `Others changed ${number(blocks)} blocks.`),
  // what the server can do
  nodeStale:
    "This server cannot reach the others right now. You can go on: what you write is kept in this browser, and is sent as soon as a server can take it.",
  nodeFull:
    "The disk of this server is full. You can read, and what you write is kept in this browser until there is room again.",
  nodeLeaving: "This server is being switched off. The page goes on at another one by itself.",
  nodeBeginning:
    "This server is still catching up with the others. What you write is kept in this browser until it has.",
  // texts that were not taken
  draftsTitle: "Kept for you",
  draftsHint: "These texts of yours could not be put into the document.",
  draftDeleted: "Somebody else deleted the block while you wrote in it.",
  draftTooLarge: "The text is larger than a document may hold.",
  draftForbidden: "You may not write here any more.",
  draftTooOld: "Too much had changed since you wrote it.",
  draftUnknown:
    "Whether it was taken is not known any more. Look into the document before you add it again.",
  draftPowerLost: "All servers lost their power before it was saved.",
  draftOther: "The change could not be applied.",
  addAtEnd: "Add at the end",
  copy: "Copy",
  copied: "Copied",
  discard: "Discard",
  // find and replace
  findAndReplace: "Find and replace",
  find: "Find",
  notFound: "Not found",
  place: (current: number, count: number) => `${number(current)} of ${number(count)}`,
  previous: "Previous",
  next: "Next",
  close: "Close",
  replaceBy: "Replace by",
  replace: "Replace",
  replaceAll: "Replace all",
  replaced: (places: number) =>
    plural(places, "1 place replaced", `${number(places)} places replaced`),
  notReplaced: (places: number) =>
    plural(
      places,
      "1 place could not be loaded and stays as it is. Try again when you are online.",
      `${number(places)} places could not be loaded and stay as they are. Try again when you are online.`,
    ),
  // a link
  link: "Link",
  address: "Address",
  change: "Change",
  open: "Open",
  remove: "Remove",
  cancel: "Cancel",
  noAddress: "This is no address. Write one like https://example.org, or an e-mail address.",
};
