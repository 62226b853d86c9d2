/** The headings of a document, to go to. */

import { area } from "../language";

export const contentsWords = area("contents", {
  title: "Contents",
  close: "Close",
  empty: "There are no headings yet. Type # and a space at the start of a line, and it is one.",
  coming: "…",
  unwritten: "Heading without words",
});
