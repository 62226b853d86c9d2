/** What is said of tables. */

import { area } from "../language";

export const tableWords = area("table", {
  table: "Table",
  tools: "Table tools",
  rowAbove: "Row above",
  rowBelow: "Row below",
  columnLeft: "Column left",
  columnRight: "Column right",
  deleteRow: "Delete row",
  deleteColumn: "Delete column",
  toggleHead: "Header row",
  deleteTable: "Delete table",
});
