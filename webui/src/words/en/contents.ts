export default {
  title: "Contents",
  close: "Close",
  empty: "There are no headings yet. Type # and a space at the start of a line, and it is one.",
  coming: "…",
  unwritten: "Heading without words",
};
