/** Tables as plain text: for spreadsheets, and as Markdown. */

import { Fragment, type Node, Slice } from "prosemirror-model";
import type { Rich } from "../document/types";
import { schema, tableType } from "./schema";
import { gridIn, hasHead, rowNodes } from "./table-nodes";

/** A line a row, tabs between the cells, as spreadsheets give and take it. */
export function tabbed(table: Node): string {
  const rows = table.children.map((row) =>
    row.children.map((cell) => cell.textContent.replace(/[\t\n]+/g, " ")).join("\t"),
  );
  return rows.join("\n");
}

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

/** The table as Markdown has it; `inline` writes the text of a cell. */
export function tableMarkdown(table: Node, inline: (content: Rich) => string): string {
  const { columns, rows } = gridIn(table);
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const texts = rows.map(({ cells }) =>
    cells.map((cell) => inline(cell).replaceAll("|", "\\|").replaceAll("\n", "<br>")),
  );
  const names = hasHead(table.attrs) ? texts.shift() : undefined;
  const lines = [line(names ?? columns.map(() => " ")), line(columns.map(() => "---"))];
  return [...lines, ...texts.map(line)].join("\n");
}
