/** Cells that come as plain text, from a spreadsheet. */

import { Fragment, Slice } from "prosemirror-model";
import type { Rich } from "../document/types";
import { schema, tableType } from "./schema";
import { rowNodes } from "./table-nodes";

/** Rows of a spreadsheet, to be put into the cells of a table; null: the text has no cells. */
export function tabbedSlice(text: string): Slice | null {
  const lines = text.replace(/\n$/, "").split("\n");
  if (!lines.some((line) => line.includes("\t"))) return null;
  const cells = lines.map((line) =>
    line.split("\t").map((words): Rich => (words === "" ? [] : [words])),
  );
  const columns = Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, () => "");
  const rows = cells.map((row) => ({
    id: "",
    cells: columns.map((_, at) => row[at] ?? []),
  }));
  const nodes = rowNodes(schema, { columns, rows }, false);
  return new Slice(Fragment.from(tableType.create({ type: "table" }, nodes)), 0, 0);
}
