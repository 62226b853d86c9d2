export default {
  draftsTitle: "Kept for you",
  draftsHint:
    "These texts of yours could not be put into the document. Put the caret where one belongs.",
  draftDeleted: "Somebody else deleted the block while you wrote in it.",
  draftTooLarge: "The text is larger than a document may hold.",
  draftForbidden: "You may not write here any more.",
  draftTooOld: "Too much had changed since you wrote it.",
  draftUnknown:
    "Whether it was taken is not known any more. Look into the document before you add it again.",
  draftPowerLost: "All servers lost their power before it was saved.",
  draftOther: "The change could not be applied.",
  putHere: "Put it here",
  addAtEnd: "Add at the end",
  copy: "Copy",
  copied: "Copied",
  discard: "Discard",
};
