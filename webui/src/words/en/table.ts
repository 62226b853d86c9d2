export default {
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
};
