/** Keeps what the person edits within the model: fresh ids, and texts that may travel. */

import type { Node } from "prosemirror-model";
import { type EditorState, Plugin, type Transaction } from "prosemirror-state";
import { randomId } from "../ids";
import { cleanText, isForbidden } from "../shared/text";
import { changedChildren } from "./changed";
import { divide } from "./lengths";
import { REMOTE } from "./remote";
import { awayType, schema, tableType } from "./schema";
import { normaliseTable } from "./table-normal";

/** Ids of new blocks that are known already: a list of them, in a transaction. */
export const KEPT_IDS = "kept-ids";

/**
 * Every block that was not there before gets a fresh id: the second half of a split, and a copy, as
 * the id names a group, which is that of another block or has ended.
 */
export function normalise(
  before: Node,
  state: EditorState,
  kept: readonly string[] = [],
): Transaction | null {
  const { doc } = state;
  const changed = changedChildren(before, doc);
  const old = new Set<unknown>();
  for (let index = changed.from; index < changed.oldTo; index += 1) {
    old.add(before.child(index).attrs.id);
  }
  const transaction = state.tr;
  let position = changed.position;
  for (let index = changed.from; index < changed.newTo; index += 1) {
    const node = doc.child(index);
    const place = transaction.mapping.map(position);
    const { id } = node.attrs as { id: string | null };
    if (id === null || !(old.delete(id) || kept.includes(id))) {
      transaction.setNodeAttribute(place, "id", randomId());
    }
    if (node.type === tableType) normaliseTable(transaction, place);
    const now = transaction.doc.nodeAt(place);
    if (now !== null && isForbidden(now.textContent)) clean(transaction, now, place);
    const whole = transaction.doc.nodeAt(place);
    if (whole !== null) divide(transaction, place, whole);
    position += node.nodeSize;
  }
  return transaction.docChanged ? transaction : null;
}

function clean(transaction: Transaction, node: Node, position: number): void {
  const { mapping } = transaction;
  const first = mapping.maps.length;
  node.descendants((child, inner) => {
    if (!child.isText) return;
    const at = mapping.slice(first).map(position + 1 + inner);
    const text = cleanText(child.text ?? "");
    if (text === "") transaction.delete(at, at + child.nodeSize);
    else if (text !== child.text) {
      transaction.replaceWith(at, at + child.nodeSize, schema.text(text, child.marks));
    }
  });
}

/** The plugin that normalises after every transaction of the person that changed the document. */
export function normalisePlugin(): Plugin {
  return new Plugin({
    appendTransaction: (transactions, before, state) => {
      const isOwn = transactions.some((one) => one.docChanged && one.getMeta(REMOTE) !== true);
      const kept = transactions.flatMap((one) => (one.getMeta(KEPT_IDS) ?? []) as string[]);
      return isOwn ? normalise(before.doc, state, kept) : null;
    },
  });
}

/**
 * Refuses to take out blocks whose text is not here: undo could not bring them back. `needed` is
 * told their ids, so that it works soon.
 */
export function guardPlugin(needed: (ids: readonly string[]) => void): Plugin {
  return new Plugin({
    filterTransaction: (transaction, state) => {
      if (!transaction.docChanged || transaction.getMeta(REMOTE) === true) return true;
      const lost = lostAway(state.doc, transaction.doc);
      if (lost.length > 0) needed(lost);
      return lost.length === 0;
    },
  });
}

function lostAway(before: Node, after: Node): string[] {
  const changed = changedChildren(before, after);
  const away = new Set<string>();
  for (let index = changed.from; index < changed.oldTo; index += 1) {
    const node = before.child(index);
    if (node.type === awayType) away.add(String(node.attrs.id));
  }
  if (away.size === 0) return [];
  for (let index = changed.from; index < changed.newTo; index += 1) {
    away.delete(String(after.child(index).attrs.id));
  }
  return [...away];
}
