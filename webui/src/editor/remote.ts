/**
 * Others' changes as one editor transaction.
 *
 * Each change becomes the smallest step that does it, so that the person's selection stays where
 * it was, and undo, which passes over this transaction, takes back own edits only.
 */

import { Fragment, type Node } from "prosemirror-model";
import { type EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { randomId } from "../ids";
import type { Change, Transaction as Changes } from "../model/changes";
import type { DocumentValue } from "../model/document";
import type { Delta } from "../shared/delta";
import { codePointLength, toUnits } from "../shared/text";
import { blockType, schema, toNode } from "./schema";

/** Marks transactions that come from the session and must not be sent back. */
export const REMOTE = "groupcore.remote";

interface Found {
  readonly node: Node;
  /** Position right before the node. */
  readonly from: number;
  readonly index: number;
}

export function findBlock(doc: Node, id: string): Found | null {
  let from = 0;
  for (let index = 0; index < doc.childCount; index += 1) {
    const node = doc.child(index);
    if (node.attrs.id === id) return { node, from, index };
    from += node.nodeSize;
  }
  return null;
}

/** The editor transaction for others' changes; `after` is what the model holds then. */
export function remoteTransaction(
  state: EditorState,
  changes: Changes,
  after: DocumentValue,
): Transaction {
  const transaction = state.tr.setMeta(REMOTE, true).setMeta("addToHistory", false);
  const caret = caretOf(state);
  for (const change of changes) applyChange(transaction, change);
  if (changes.some((change) => change[0] === "move" || change[0] === "join")) {
    restoreCaret(transaction, caret, after);
  }
  return transaction;
}

/** The place behind which a new block goes: the start, or the end of the block of this id. */
function placeBehind(doc: Node, after: string | null): number {
  if (after === null) return 0;
  const found = findBlock(doc, after);
  return found === null ? doc.content.size : found.from + found.node.nodeSize;
}

function applyChange(transaction: Transaction, change: Change): void {
  const { doc } = transaction;
  switch (change[0]) {
    case "insert": {
      const [, id, after, attributes, text] = change;
      transaction.insert(placeBehind(doc, after), toNode({ id, attributes, text }));
      return;
    }
    case "title":
      return;
    default: {
      const found = findBlock(doc, change[1]);
      if (found !== null) applyToBlock(transaction, change, found);
    }
  }
}

function applyToBlock(transaction: Transaction, change: Change, found: Found): void {
  const { node, from } = found;
  switch (change[0]) {
    case "text":
      applyText(transaction, node.textContent, from + 1, change[2]);
      return;
    case "delete":
      removeBlock(transaction, found);
      return;
    case "move":
      removeBlock(transaction, found);
      transaction.insert(placeBehind(transaction.doc, change[2]), node);
      return;
    case "set":
      for (const [name, value] of Object.entries(change[2])) {
        if (name in node.attrs) transaction.setNodeAttribute(from, name, value);
      }
      return;
    case "split": {
      const attrs = { kind: null, ...change[4], id: change[3] };
      const at = from + 1 + toUnits(node.textContent, change[2]);
      transaction.split(at, 1, [{ type: blockType, attrs }]);
      return;
    }
    case "join":
      applyJoin(transaction, found, change[2]);
      return;
    default:
  }
}

function applyText(transaction: Transaction, text: string, start: number, delta: Delta): void {
  let position = 0;
  let shift = 0;
  for (const item of delta) {
    const at = start + toUnits(text, position) + shift;
    if (typeof item === "string") {
      transaction.insert(at, schema.text(item));
      shift += item.length;
    } else if (item > 0) {
      position += item;
    } else {
      const units = toUnits(text, position - item) - toUnits(text, position);
      transaction.delete(at, at + units);
      shift -= units;
      position -= item;
    }
  }
}

function applyJoin(transaction: Transaction, found: Found, into: string): void {
  const target = findBlock(transaction.doc, into);
  if (target === null) return;
  if (target.index === found.index - 1) {
    transaction.join(found.from);
    return;
  }
  removeBlock(transaction, found);
  const now = findBlock(transaction.doc, into);
  if (now !== null) {
    transaction.insert(now.from + 1 + now.node.content.size, Fragment.from(found.node.content));
  }
}

/** Takes a block out; the last one is emptied, since the editor shows at least one. */
function removeBlock(transaction: Transaction, { node, from }: Found): void {
  if (transaction.doc.childCount > 1) {
    transaction.delete(from, from + node.nodeSize);
    return;
  }
  const empty = blockType.create({ id: randomId() });
  transaction.replaceWith(from, from + node.nodeSize, empty);
}

interface CaretPlace {
  readonly id: string;
  readonly anchor: number;
  readonly head: number;
}

function caretOf(state: EditorState): CaretPlace | null {
  const { $anchor, $head } = state.selection;
  if ($anchor.depth !== 1 || $head.parent !== $anchor.parent) return null;
  const id = String($anchor.parent.attrs.id);
  return { id, anchor: $anchor.parentOffset, head: $head.parentOffset };
}

/** A moved block was taken out and put in: the caret in it goes with it. */
function restoreCaret(
  transaction: Transaction,
  caret: CaretPlace | null,
  after: DocumentValue,
): void {
  if (caret === null || after.get(caret.id) === undefined) return;
  const found = findBlock(transaction.doc, caret.id);
  const { $head } = transaction.selection;
  if (found === null || $head.parent.attrs.id === caret.id) return;
  const place = (units: number): number =>
    found.from + 1 + Math.min(units, found.node.content.size);
  transaction.setSelection(
    TextSelection.create(transaction.doc, place(caret.anchor), place(caret.head)),
  );
}

/** A position in a block's text, in code points, as a position in the editor. */
export function toEditorPosition(doc: Node, id: string, position: number): number | null {
  const found = findBlock(doc, id);
  if (found === null) return null;
  const text = found.node.textContent;
  return found.from + 1 + toUnits(text, Math.min(position, codePointLength(text)));
}
