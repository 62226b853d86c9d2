/** What the tools of a table do, and the selection of cells: loaded when the first table is shown. */

import { type Command, TextSelection } from "prosemirror-state";
import {
  addColumnAfter,
  addColumnBefore,
  addRowAfter,
  addRowBefore,
  deleteColumn,
  deleteRow,
  isInTable,
  selectedRect,
} from "prosemirror-tables";
import { COLUMNS_MAX, ROWS_MAX } from "../shared/table";
import { blockType } from "./schema";
import { hasHead } from "./table-nodes";
import type { TableAction } from "./tables";

export { tableEditing, tableEditingKey } from "prosemirror-tables";

const bounded =
  (axis: "rows" | "columns", command: Command): Command =>
  (state, dispatch) => {
    if (!isInTable(state)) return false;
    const { map } = selectedRect(state);
    const isFull = axis === "rows" ? map.height >= ROWS_MAX : map.width >= COLUMNS_MAX;
    return !isFull && command(state, dispatch);
  };

/** Takes the whole table out; the caret goes on in what follows it. */
const removeTable: Command = (state, dispatch) => {
  if (!isInTable(state)) return false;
  const { $from } = state.selection;
  const [from, to] = [$from.before(1), $from.after(1)];
  const transaction = state.tr;
  if (state.doc.childCount === 1) transaction.replaceWith(from, to, blockType.create());
  else transaction.delete(from, to);
  const place = transaction.doc.resolve(Math.min(from, transaction.doc.content.size));
  dispatch?.(transaction.setSelection(TextSelection.near(place)).scrollIntoView());
  return true;
};

/** The command on a part of the table; where all of it is selected, on the table. */
const unlessAll =
  (axis: "rows" | "columns", command: Command): Command =>
  (state, dispatch) => {
    if (!isInTable(state)) return false;
    const { map, top, bottom, left, right } = selectedRect(state);
    const isAll = axis === "rows" ? bottom - top === map.height : right - left === map.width;
    return isAll ? removeTable(state, dispatch) : command(state, dispatch);
  };

const toggleHead: Command = (state, dispatch) => {
  if (!isInTable(state)) return false;
  const { $from } = state.selection;
  const isHeaded = hasHead($from.node(1).attrs);
  dispatch?.(state.tr.setNodeAttribute($from.before(1), "header", isHeaded ? false : null));
  return true;
};

/** What the tools of a table do. */
export const tableActions: Record<TableAction, Command> = {
  rowAbove: bounded("rows", addRowBefore),
  rowBelow: bounded("rows", addRowAfter),
  columnLeft: bounded("columns", addColumnBefore),
  columnRight: bounded("columns", addColumnAfter),
  deleteRow: unlessAll("rows", deleteRow),
  deleteColumn: unlessAll("columns", deleteColumn),
  toggleHead,
  deleteTable: removeTable,
};
