/** Keeps tables that the person edits rectangular, with an id for each row and a key for each column. */

import type { Node } from "prosemirror-model";
import type { Transaction } from "prosemirror-state";
import { firstKeys, keyBetween, rowId } from "../shared/table";
import { schema } from "./schema";
import { hasHead } from "./table-nodes";

/** Makes the table at this place whole, if it is not. */
export function normaliseTable(transaction: Transaction, position: number): void {
  nameRows(transaction, position);
  const table = transaction.doc.nodeAt(position);
  if (table === null) return;
  const rows = table.children.map((row) => row.children.map(keyOf));
  const columns = columnsByPlace(rows);
  if (columns === null) alignByKey(transaction, position, rows);
  else nameCells(transaction, position, columns);
  setHeads(transaction, position);
}

function keyOf(cell: Node): string {
  return String(cell.attrs.column);
}

function nameRows(transaction: Transaction, position: number): void {
  const known = new Set<string>();
  transaction.doc.nodeAt(position)?.forEach((row, offset) => {
    const id = String(row.attrs.row);
    if (id === "" || known.has(id)) {
      transaction.setNodeAttribute(position + 1 + offset, "row", rowId(Math.random));
    }
    known.add(id);
  });
}

/**
 * The keys of the columns when all rows are equally long and agree on them: cells that have none
 * are new ones. Null when they do not.
 */
function columnsByPlace(rows: readonly (readonly string[])[]): string[] | null {
  const [first = []] = rows;
  if (rows.some(({ length }) => length !== first.length)) return null;
  const known = first.map((_, at) => new Set(rows.map((row) => row[at] ?? "").filter(Boolean)));
  if (known.some(({ size }) => size > 1)) return null;
  const keys = known.map(([key]) => key ?? "");
  const named = keys.filter(Boolean);
  if (named.some((key, at) => at > 0 && key <= (named[at - 1] ?? ""))) return null;
  return filled(keys);
}

/** The keys with new ones where there are none. */
function filled(keys: readonly string[]): string[] {
  if (!keys.some(Boolean)) return firstKeys(keys.length);
  const result = [...keys];
  keys.forEach((key, at) => {
    if (key !== "") return;
    const behind = keys.slice(at + 1).find(Boolean) ?? null;
    result[at] = keyBetween(result[at - 1] ?? null, behind, Math.random);
  });
  return result;
}

function nameCells(transaction: Transaction, position: number, columns: readonly string[]): void {
  transaction.doc.nodeAt(position)?.forEach((row, offset) => {
    row.forEach((cell, inner, at) => {
      if (cell.attrs.column === columns[at]) return;
      transaction.setNodeAttribute(position + 2 + offset + inner, "column", columns[at]);
    });
  });
}

/** Rows that others have changed meanwhile: each gets an empty cell where it has none. */
function alignByKey(
  transaction: Transaction,
  position: number,
  rows: readonly (readonly string[])[],
): void {
  const own = rows.map((row) => {
    let last: string | null = null;
    // A key out of its order is of another table: the cell stays where it is, under a new one.
    const kept = row.map((key) => {
      if (key === "" || (last !== null && key <= last)) return "";
      last = key;
      return key;
    });
    return filled(kept);
  });
  const columns = [...new Set(own.flat())].sort((one, other) => (one < other ? -1 : 1));
  let place = position + 1;
  own.forEach((keys, at) => {
    const row = transaction.doc.nodeAt(position)?.child(at);
    let inner = place + 1;
    for (const key of columns) {
      const isThere = keys.includes(key);
      if (!isThere) transaction.insert(inner, emptyCell(key));
      else transaction.setNodeAttribute(inner, "column", key);
      inner += transaction.doc.nodeAt(inner)?.nodeSize ?? 0;
    }
    place += row === undefined ? 0 : (transaction.doc.nodeAt(place)?.nodeSize ?? 0);
  });
}

function emptyCell(column: string): Node {
  const cell = schema.nodes.cell?.createAndFill({ column });
  if (!cell) throw new Error("the schema has no cell");
  return cell;
}

function setHeads(transaction: Transaction, position: number): void {
  const table = transaction.doc.nodeAt(position);
  if (table === null) return;
  table.forEach((row, offset, at) => {
    const isHead = at === 0 && hasHead(table.attrs);
    row.forEach((cell, inner) => {
      if (cell.attrs.isHead === isHead) return;
      transaction.setNodeAttribute(position + 2 + offset + inner, "isHead", isHead);
    });
  });
}
