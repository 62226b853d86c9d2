/**
 * Where the editor and the model are known to show the same, so that only what has changed since is
 * compared: an untouched block is the very same value in both, before and after.
 */

import type { Node } from "prosemirror-model";
import type { ShownBlock } from "../document/types";

const agreed = new WeakMap<Node, readonly ShownBlock[]>();

/** The editor's document shows exactly these blocks. */
export function agree(doc: Node, blocks: readonly ShownBlock[]): void {
  agreed.set(doc, blocks);
}

/**
 * How many blocks at the start and at the end of `doc` show those of `blocks`, as neither has
 * changed since they agreed in `before`. What lies between is to be compared.
 */
export function untouched(
  before: Node,
  doc: Node,
  blocks: readonly ShownBlock[],
): readonly [ahead: number, behind: number] {
  const known = agreed.get(before);
  if (known === undefined) return [0, 0];
  const [nodesAhead, nodesBehind] = commonEnds(before.children, doc.children);
  const [blocksAhead, blocksBehind] = commonEnds(known, blocks);
  const ahead = Math.min(nodesAhead, blocksAhead);
  const room = Math.min(doc.childCount, blocks.length) - ahead;
  return [ahead, Math.min(nodesBehind, blocksBehind, room)];
}

/** How many at the start, and how many at the end, are the very same in both. */
function commonEnds(some: readonly unknown[], others: readonly unknown[]): [number, number] {
  const shorter = Math.min(some.length, others.length);
  if (some === others) return [shorter, shorter];
  let ahead = 0;
  while (ahead < shorter && some[ahead] === others[ahead]) ahead += 1;
  let behind = 0;
  const [last, otherLast] = [some.length - 1, others.length - 1];
  while (behind < shorter && some[last - behind] === others[otherLast - behind]) behind += 1;
  return [ahead, behind];
}
