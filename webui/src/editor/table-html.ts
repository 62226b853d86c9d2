/** Tables from the clipboard: from Word, spreadsheets and web pages. */

import type { Node as Block } from "prosemirror-model";
import { plainText, type Rich, RichBuilder } from "../shared/rich";
import { COLUMNS_MAX, type GridRow } from "../shared/table";
import { richOf } from "./rich";
import { schema, tableType } from "./schema";
import { linesIn, rowNodes } from "./table-nodes";

/** About what one block may take, and what one cell takes beside its text. */
const TABLE_BYTES_MAX = 40_000;
const CELL_BYTES = 24;
const SPAN_MAX = COLUMNS_MAX;

/** Whether this is a table of data: some web pages place other things with tables. */
export function isDataTable(element: HTMLElement): boolean {
  const rows = rowsOf(element);
  if (element.querySelector("table") !== null) return false;
  return rows.some((row) => cellsOf(row).length > 1) && rows.length > 0;
}

/** The table as blocks: several, where one cannot hold all of it. */
export function readTable(element: HTMLElement, read: (cell: HTMLElement) => Block[]): Block[] {
  const rows = rowsOf(element);
  const grid = spread(rows, read);
  const width = Math.max(1, ...grid.map(({ length }) => length));
  const columns = Array.from({ length: width }, () => "");
  const isHeaded = rows[0]?.querySelector("th") != null;
  const whole = grid.map((cells): GridRow => {
    const filled = columns.map((_, column) => cells[column] ?? []);
    return { id: "", cells: filled };
  });
  return portions(whole).map((portion, at) => {
    const hasNames = isHeaded && at === 0;
    const attrs = { type: "table", header: hasNames ? null : false };
    return tableType.create(attrs, rowNodes(schema, { columns, rows: portion }, hasNames));
  });
}

function rowsOf(element: HTMLElement): HTMLElement[] {
  return [...element.querySelectorAll<HTMLElement>("tr")];
}

function cellsOf(row: HTMLElement): HTMLElement[] {
  return [...row.children].filter((cell): cell is HTMLElement => /^T[DH]$/i.test(cell.nodeName));
}

/** The texts of all cells; one that spans several is the first of them, the others are empty. */
function spread(rows: readonly HTMLElement[], read: (cell: HTMLElement) => Block[]): Rich[][] {
  const grid: Rich[][] = rows.map(() => []);
  rows.forEach((row, at) => {
    let column = 0;
    for (const cell of cellsOf(row)) {
      while (grid[at]?.[column] !== undefined) column += 1;
      const [width, height] = [span(cell, "colspan"), span(cell, "rowspan")];
      for (const line of grid.slice(at, at + height)) {
        for (let place = column; place < Math.min(COLUMNS_MAX, column + width); place += 1) {
          line[place] = [];
        }
      }
      const last = Math.min(column, COLUMNS_MAX - 1);
      const line = grid[at] as Rich[];
      line[last] = joined(line[last] ?? [], textOfBlocks(read(cell)));
      column += width;
    }
  });
  return grid;
}

function span(cell: HTMLElement, name: string): number {
  const count = Number.parseInt(cell.getAttribute(name) ?? "1", 10);
  return Math.min(SPAN_MAX, Math.max(1, count || 1));
}

function joined(first: Rich, second: Rich): Rich {
  const builder = new RichBuilder();
  for (const run of first) builder.put(run);
  if (plainText(first) !== "" && plainText(second) !== "") builder.insert("\n");
  for (const run of second) builder.put(run);
  return builder.finish() as Rich;
}

/** The blocks of a cell as one text, a line each. */
function textOfBlocks(blocks: readonly Block[]): Rich {
  return blocks.reduce<Rich>((text, block) => {
    const own = block.isTextblock ? richOf(block) : linesIn(block).map((line) => line.text);
    return joined(
      text,
      own.filter((run) => run !== ""),
    );
  }, []);
}

function portions(rows: readonly GridRow[]): GridRow[][] {
  const result: GridRow[][] = [[]];
  let bytes = 0;
  for (const row of rows) {
    const size = row.cells.reduce(
      (sum, cell) => sum + CELL_BYTES + 3 * plainText(cell).length,
      CELL_BYTES,
    );
    if (bytes > 0 && bytes + size > TABLE_BYTES_MAX) {
      result.push([]);
      bytes = 0;
    }
    result.at(-1)?.push(row);
    bytes += size;
  }
  return result.filter(({ length }) => length > 0);
}
