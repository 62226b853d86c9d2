import type english from "../en/contents";
import type { Translation } from "../language";

export default {
  title: "Inhalt",
  close: "Schließen",
  empty:
    "Es gibt noch keine Überschriften. Tippen Sie # und ein Leerzeichen am Anfang einer Zeile, und sie wird eine.",
  coming: "…",
  unwritten: "Überschrift ohne Text",
} satisfies Translation<typeof english>;
