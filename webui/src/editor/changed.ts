/** Which blocks are other ones between two documents of the editor: found by identity. */

import type { Node } from "prosemirror-model";

/** The blocks from `from` to `oldTo` of the one stand in the other from `from` to `newTo`. */
export interface Changed {
  readonly from: number;
  readonly oldTo: number;
  readonly newTo: number;
  /** Position right before the block `from`. */
  readonly position: number;
}

/** A block that was not touched is the very same node in both: nothing else is looked at. */
export function changedChildren(before: Node, after: Node): Changed {
  const old = before.children;
  const now = after.children;
  const shorter = Math.min(old.length, now.length);
  let from = 0;
  let position = 0;
  while (from < shorter && old[from] === now[from]) {
    position += old[from]?.nodeSize ?? 0;
    from += 1;
  }
  let behind = 0;
  while (behind < shorter - from && old.at(-1 - behind) === now.at(-1 - behind)) behind += 1;
  return { from, oldTo: old.length - behind, newTo: now.length - behind, position };
}

/** Where the block stood that has this index now; of a new one, where it has come from. */
export function indexBefore({ from, oldTo, newTo }: Changed, index: number): number {
  if (index < from) return index;
  return index >= newTo ? index - newTo + oldTo : Math.max(from, Math.min(index, oldTo - 1));
}
