/** What is too long for one block becomes several. */

import type { Node } from "prosemirror-model";
import type { Transaction } from "prosemirror-state";
import { randomId } from "../ids";
import { codePointLength, toUnits } from "../shared/text";
import { blockType, typeOf } from "./schema";

/** Most code points of a block's text; groupcore/shared/documents/limits.py. */
export const BLOCK_MAX = 10_000;

/** Divides the block at this place: code behind a line, a text behind a word, where there is one. */
export function divide(transaction: Transaction, position: number, node: Node): void {
  if (node.type !== blockType || node.content.size <= BLOCK_MAX) return;
  const isCode = typeOf(node) === "code";
  const places: number[] = [];
  const { textContent: text } = node;
  let from = 0;
  while (codePointLength(text.slice(from)) > BLOCK_MAX) {
    const most = from + toUnits(text.slice(from), BLOCK_MAX);
    const end = text.lastIndexOf(isCode ? "\n" : " ", most - 1) + 1;
    from = end > from ? end : most;
    places.push(from);
  }
  for (const place of places.reverse()) {
    const at = position + 1 + place;
    const attrs = { ...node.attrs, id: randomId() };
    transaction.split(at, 1, [{ type: blockType, attrs }]);
    // The end of a line is the end of the block.
    if (isCode && text[place - 1] === "\n") transaction.delete(at - 1, at);
  }
}
