/** Keeps what the person edits within the model: unique ids, and texts that may travel. */

import type { Node } from "prosemirror-model";
import { type EditorState, Plugin, type Transaction } from "prosemirror-state";
import { randomId } from "../ids";
import { cleanText, isForbidden } from "../shared/text";
import { schema } from "./schema";

/** A split gives both halves one id: the first keeps it, every later one gets a fresh id. */
export function normalise(state: EditorState): Transaction | null {
  const seen = new Set<string>();
  const transaction = state.tr;
  let isChanged = false;
  state.doc.forEach((node, offset) => {
    const id = node.attrs.id as string | null;
    const position = transaction.mapping.map(offset);
    if (id === null || seen.has(id)) {
      transaction.setNodeAttribute(position, "id", randomId());
      isChanged = true;
    } else {
      seen.add(id);
    }
    if (node.isTextblock && isForbidden(node.textContent)) {
      clean(transaction, node, position);
      isChanged = true;
    }
  });
  return isChanged ? transaction : null;
}

function clean(transaction: Transaction, node: Node, position: number): void {
  const text = cleanText(node.textContent);
  const from = position + 1;
  const to = from + node.content.size;
  if (text === "") transaction.delete(from, to);
  else transaction.replaceWith(from, to, schema.text(text));
}

/** The plugin that normalises after every transaction that changed the document. */
export function normalisePlugin(): Plugin {
  return new Plugin({
    appendTransaction: (transactions, _before, state) =>
      transactions.some((transaction) => transaction.docChanged) ? normalise(state) : null,
  });
}
