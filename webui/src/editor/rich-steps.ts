/** Edits of a rich text as the smallest steps of the editor that do them. */

import type { Mark, Node } from "prosemirror-model";
import type { Transaction } from "prosemirror-state";
import type { MarkPatch, RichDelta } from "../document/types";
import { isInsert, marked, marksOf, textOf } from "../shared/rich";
import { toUnits } from "../shared/text";
import { fromMarks, toMarks } from "./rich";
import { schema } from "./schema";

/** Does an edit to the text of the node, which begins at `start`. */
export function applyEdit(
  transaction: Transaction,
  node: Node,
  start: number,
  delta: RichDelta,
): void {
  const text = node.textContent;
  let position = 0;
  let shift = 0;
  const units = (count: number): number =>
    toUnits(text, position + count) - toUnits(text, position);
  for (const item of delta) {
    const at = start + toUnits(text, position) + shift;
    if (typeof item === "number" && item < 0) {
      transaction.delete(at, at + units(-item));
      shift -= units(-item);
      position -= item;
    } else if (typeof item === "number") {
      position += item;
    } else if (isInsert(item)) {
      transaction.insert(at, schema.text(textOf(item), toMarks(schema, marksOf(item))));
      shift += textOf(item).length;
    } else {
      const [count, patch] = item;
      changeMarks(transaction, at, at + units(count), patch);
      position += count;
    }
  }
}

/** Changes marks with steps that move nothing. */
function changeMarks(transaction: Transaction, from: number, to: number, patch: MarkPatch): void {
  const pieces: { from: number; to: number; marks: readonly Mark[] }[] = [];
  transaction.doc.nodesBetween(from, to, (node, position) => {
    if (!node.isText) return;
    const end = Math.min(to, position + node.nodeSize);
    pieces.push({ from: Math.max(from, position), to: end, marks: node.marks });
  });
  for (const piece of pieces) {
    const wanted = toMarks(schema, marked(fromMarks(piece.marks), patch));
    for (const mark of piece.marks) {
      if (!mark.isInSet(wanted)) transaction.removeMark(piece.from, piece.to, mark);
    }
    for (const mark of wanted) {
      if (!mark.isInSet(piece.marks)) transaction.addMark(piece.from, piece.to, mark);
    }
  }
}
