/** What keys do with tables, at once; what the tools do is loaded later (table-tools). */

import type { Node } from "prosemirror-model";
import {
  type Command,
  type EditorState,
  Selection,
  TextSelection,
  type Transaction,
} from "prosemirror-state";
import { firstKeys, ROWS_MAX, rowId } from "../shared/table";
import { blockAt, blockType, schema, tableType } from "./schema";
import { rowNodes } from "./table-nodes";

const NEW_ROWS = 3;
const NEW_COLUMNS = 3;

/** A new table with empty cells. */
export function newTable(rows = NEW_ROWS, columns = NEW_COLUMNS): Node {
  const keys = firstKeys(columns);
  const grid = {
    columns: keys,
    rows: Array.from({ length: rows }, () => ({
      id: rowId(Math.random),
      cells: keys.map(() => []),
    })),
  };
  return tableType.create({ type: "table" }, rowNodes(schema, grid, true));
}

/** Puts a table in the place of an empty block, or behind one that has words. */
export const insertTable: Command = (state, dispatch) => {
  const { $from } = state.selection;
  if ($from.depth !== 1) return false;
  if (dispatch === undefined) return true;
  const transaction = state.tr;
  const isEmpty = $from.parent.content.size === 0;
  const from = isEmpty ? $from.before(1) : $from.after(1);
  transaction.replaceWith(from, $from.after(1), newTable());
  const behind = from + (transaction.doc.nodeAt(from)?.nodeSize ?? 0);
  if (behind === transaction.doc.content.size) transaction.insert(behind, blockType.create());
  transaction.setSelection(TextSelection.create(transaction.doc, from + 4));
  dispatch(transaction.scrollIntoView());
  return true;
};

/** Whether the selection is in a table. */
function isInTable({ selection }: EditorState): boolean {
  return blockAt(selection.$head)?.type === tableType;
}

/** Empty cells below the last row; who keeps the tables whole gives the row its name. */
function newRow(table: Node): Node | null {
  const { lastChild: last } = table;
  const cells = last?.children.map(({ type, attrs: { column } }) => type.createAndFill({ column }));
  return last?.type.create({}, cells as Node[]) ?? null;
}

/**
 * To the next cell or the one before; behind the last one begins a new row, before the first one
 * is nothing. It waits for no tools: what is typed next belongs into that cell.
 */
const stepCell =
  (side: -1 | 1): Command =>
  (state, dispatch) => {
    const { $head } = state.selection;
    if (!isInTable(state) || $head.depth < 3) return false;
    const { tr } = state;
    const edge = side < 0 ? $head.before(3) : $head.after(3);
    const end = $head.end(1);
    if (side > 0 && edge + 1 === end && $head.node(1).childCount < ROWS_MAX) {
      tr.insert(end, newRow($head.node(1)) ?? []);
    }
    const $cell = Selection.findFrom(tr.doc.resolve(edge), side, true)?.$head;
    if ($cell?.before(1) === $head.before(1)) {
      tr.setSelection(TextSelection.create(tr.doc, $cell.start(), $cell.end()));
      dispatch?.(tr.scrollIntoView());
    }
    return true;
  };

export const nextCell = stepCell(1);
export const previousCell = stepCell(-1);

/** Enter goes on in a new line of the cell. */
export const lineInCell: Command = (state, dispatch) => {
  if (!isInTable(state)) return false;
  if (state.selection.$from.parent.isTextblock) {
    dispatch?.(state.tr.insertText("\n").scrollIntoView());
  }
  return true;
};

/** Out of the table, to the block below it, which is made where there is none. */
export const leaveTable: Command = (state, dispatch) => {
  if (!isInTable(state)) return false;
  dispatch?.(below(state).scrollIntoView());
  return true;
};

function below({ selection, doc, tr }: EditorState): Transaction {
  const behind = selection.$from.after(1);
  if (behind === doc.content.size) tr.insert(behind, blockType.create());
  return tr.setSelection(TextSelection.near(tr.doc.resolve(behind)));
}

/** The arrow down in the last row of a table that ends the document. */
export const downFromTable: Command = (state, dispatch, view) => {
  if (!isInTable(state) || !state.selection.empty) return false;
  const { $from } = state.selection;
  const isLast = $from.indexAfter(1) === $from.node(1).childCount;
  if (!isLast || $from.after(1) !== state.doc.content.size) return false;
  if (view !== undefined && !view.endOfTextblock("down")) return false;
  return leaveTable(state, dispatch);
};

/** Backspace at the start and Delete at the end of a cell join nothing: a cell is not a block. */
export const stayInCell =
  (side: "start" | "end"): Command =>
  (state) => {
    const { $from, empty } = state.selection;
    if (!isInTable(state) || !empty) return false;
    return $from.parentOffset === (side === "start" ? 0 : $from.parent.content.size);
  };

/** Backspace right behind a table, or Delete right before it, goes into it. */
export const intoTable =
  (side: -1 | 1): Command =>
  (state, dispatch) => {
    const { $from, empty } = state.selection;
    if (!empty || $from.depth !== 1) return false;
    const isEdge = $from.parentOffset === (side < 0 ? 0 : $from.parent.content.size);
    const edge = side < 0 ? $from.before(1) : $from.after(1);
    const $edge = state.doc.resolve(edge);
    const neighbour = side < 0 ? $edge.nodeBefore : $edge.nodeAfter;
    if (!isEdge || neighbour?.type !== tableType) return false;
    const transaction = state.tr;
    // An empty block goes, as between any two blocks.
    if ($from.parent.content.size === 0) transaction.delete($from.before(1), $from.after(1));
    const place = transaction.doc.resolve(transaction.mapping.map(edge, -1));
    dispatch?.(transaction.setSelection(TextSelection.near(place, side)).scrollIntoView());
    return true;
  };
