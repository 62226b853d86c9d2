import { number, plural } from "../formats";

export default {
  title: "No connection",
  document:
    "The text of this document is not on this device. It is shown as soon as there is a connection again.",
  elsewhere: "The page goes on by itself as soon as there is a connection again.",
  keptTitle: "Kept on this device",
  keptHint:
    "Nobody else has these changes yet. They are sent when their document is open and there is a connection.",
  changes: (places: number) => plural(places, "1 change", `${number(places)} changes`),
  nothingKept: "No changes wait on this device: all that you wrote here was sent.",
  keptUnknown: "What this device keeps for you cannot be read right now. Nothing of it is lost.",
  partly:
    "No connection. This is the document as this device has it, with your changes. Texts that are missing come with the connection, and your changes are sent.",
  partlyPlace:
    "No connection. This is the board as this device has it, with your changes. What is missing comes with the connection, and your changes are sent.",
};
