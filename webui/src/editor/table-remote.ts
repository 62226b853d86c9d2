/** Others' changes of a table as the smallest steps that do them; and places in tables. */

import type { Node, ResolvedPos } from "prosemirror-model";
import type { Transaction } from "prosemirror-state";
import type { ShownBlock } from "../document/types";
import { diffRich } from "../shared/rich-diff";
import { type Grid, gridOf } from "../shared/table";
import { placeInTable, placeInText, type TablePlace } from "../shared/table-diff";
import { toCodePoints, toUnits } from "../shared/text";
import { richOf } from "./rich";
import { applyEdit } from "./rich-steps";
import { isShownAs, schema, tableType, toBlock } from "./schema";
import { cellStart, hasHead, rowNodes } from "./table-nodes";

/** Makes the table in front of which `from` is the one that the block has. */
export function updateTable(transaction: Transaction, from: number, block: ShownBlock): void {
  const grid = gridOf(block.content ?? []);
  const isHeaded = hasHead(block.attributes);
  new Updater(transaction, from, grid, isHeaded).update();
  const now = transaction.doc.nodeAt(from);
  if (now !== null) isShownAs(now, block);
}

class Updater {
  constructor(
    private readonly transaction: Transaction,
    private readonly from: number,
    private readonly grid: Grid,
    private readonly isHeaded: boolean,
  ) {}

  update(): void {
    if (!this.removeRows()) return;
    this.grid.rows.forEach((_, at) => {
      this.row(at);
    });
    this.heads();
  }

  private get table(): Node {
    const node = this.transaction.doc.nodeAt(this.from);
    if (node?.type !== tableType) throw new Error("there is no table here");
    return node;
  }

  private placeOfRow(row: number): number {
    let place = this.from + 1;
    for (let at = 0; at < row; at += 1) place += this.table.child(at).nodeSize;
    return place;
  }

  /** Takes out the rows that are gone, or stand elsewhere; false: all are new, and put in. */
  private removeRows(): boolean {
    const order = new Map(this.grid.rows.map(({ id }, at) => [id, at]));
    const kept = new Set<number>();
    let last = -1;
    this.table.forEach((row, _offset, at) => {
      const place = order.get(String(row.attrs.row)) ?? -1;
      if (place <= last) return;
      last = place;
      kept.add(at);
    });
    const { table, transaction } = this;
    if (kept.size === 0) {
      const rows = rowNodes(schema, this.grid, this.isHeaded);
      transaction.replaceWith(this.from + 1, this.from + table.nodeSize - 1, rows);
      return false;
    }
    for (let at = table.childCount - 1; at >= 0; at -= 1) {
      const place = this.placeOfRow(at);
      if (!kept.has(at)) transaction.delete(place, place + this.table.child(at).nodeSize);
    }
    return true;
  }

  private row(at: number): void {
    const wanted = this.grid.rows[at];
    if (wanted === undefined) return;
    const old = this.table.maybeChild(at);
    const place = this.placeOfRow(at);
    const { columns } = this.grid;
    const keys = (old?.children ?? []).map(({ attrs }) => String(attrs.column));
    if (old?.attrs.row !== wanted.id) {
      this.transaction.insert(place, this.fresh(at));
    } else if (!keys.some((key) => columns.includes(key))) {
      this.transaction.replaceWith(place, place + old.nodeSize, this.fresh(at));
    } else {
      this.columns(place, keys, at);
      wanted.cells.forEach((_, column) => {
        this.text(at, column);
      });
    }
  }

  private fresh(at: number): Node[] {
    const rows = this.grid.rows.slice(at, at + 1);
    return rowNodes(schema, { ...this.grid, rows }, this.isHeaded && at === 0);
  }

  /** Takes out the cells of columns that are gone, and puts in those of new ones. */
  private columns(place: number, keys: readonly string[], at: number): void {
    const { columns } = this.grid;
    let end = place + (this.transaction.doc.nodeAt(place)?.nodeSize ?? 0) - 1;
    const left: string[] = [];
    for (let column = keys.length - 1; column >= 0; column -= 1) {
      const key = keys[column] ?? "";
      const start = end - (this.transaction.doc.resolve(end).nodeBefore?.nodeSize ?? 0);
      if (columns.includes(key)) left.unshift(key);
      else this.transaction.delete(start, end);
      end = start;
    }
    const [row] = this.fresh(at);
    columns.forEach((key, column) => {
      const cell = row?.maybeChild(column);
      if (left.includes(key) || !cell) return;
      this.transaction.insert(this.from + cellStart(this.table, at, column) - 2, cell);
    });
  }

  private text(row: number, column: number): void {
    const line = this.table.child(row).child(column).firstChild;
    const wanted = this.grid.rows[row]?.cells[column] ?? [];
    if (line === null) return;
    const delta = diffRich(richOf(line), wanted);
    if (delta.length === 0) return;
    applyEdit(this.transaction, line, this.from + cellStart(this.table, row, column), delta);
  }

  private heads(): void {
    this.table.forEach((row, offset, at) => {
      const isHead = this.isHeaded && at === 0;
      row.forEach((cell, inner) => {
        if (cell.attrs.isHead === isHead) return;
        this.transaction.setNodeAttribute(this.from + offset + inner + 2, "isHead", isHead);
      });
    });
  }
}

/** A place in a table's text, in code points, as one counted from the start of its node. */
export function editorPlace(node: Node, place: number): number {
  const { row, column, offset } = placeInTable(toBlock(node).content ?? [], place);
  const line = node.maybeChild(row)?.maybeChild(column)?.firstChild;
  if (!line) return 3;
  return cellStart(node, row, column) + toUnits(line.textContent, offset);
}

/** The cell that a place in the editor is in; null: in none. */
export function cellAt($place: ResolvedPos): TablePlace | null {
  if ($place.depth < 4) return null;
  return { row: $place.index(1), column: $place.index(2), offset: $place.parentOffset };
}

/** A place in the editor, in code points of the text of its block. */
export function textPlace($place: ResolvedPos): number {
  const offset = toCodePoints($place.parent.textContent, $place.parentOffset);
  const cell = cellAt($place);
  if (cell === null) return offset;
  const content = toBlock($place.node(1)).content ?? [];
  return placeInText(content, { ...cell, offset });
}
