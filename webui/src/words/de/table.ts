import type english from "../en/table";
import type { Translation } from "../language";

export default {
  table: "Tabelle",
  tools: "Werkzeuge für die Tabelle",
  rowAbove: "Zeile darüber",
  rowBelow: "Zeile darunter",
  columnLeft: "Spalte links",
  columnRight: "Spalte rechts",
  deleteRow: "Zeile löschen",
  deleteColumn: "Spalte löschen",
  toggleHead: "Kopfzeile",
  deleteTable: "Tabelle löschen",
} satisfies Translation<typeof english>;
