/** Folding, which comes when there is a long document: until it is here all blocks are drawn. */

import type { Folds } from "./folds";

/** Up to this many blocks nothing is folded. */
export const LONG_BLOCKS = 200;

let loaded: typeof import("./folds") | null = null;

/** Ends when it is here; when it cannot be loaded, the next call tries again. */
export async function loadFolds(): Promise<void> {
  try {
    loaded ??= await import("./folds");
  } catch {
    // A long document is slow without it, and no less right.
  }
}

/** The folds of these blocks; null: not here yet. */
export function foldsOf(root: HTMLElement, opened: () => void): Folds | null {
  return loaded === null ? null : new loaded.Folds(root, opened);
}

/** The block is needed now: it is laid out from here on, and those beside it. */
export function unfold(block: Element): void {
  loaded?.unfold(block);
}

/** The first of these blocks whose edge is below this height; binary search. */
export function firstBelow(
  blocks: ArrayLike<Element>,
  height: number,
  edge: "top" | "bottom" = "bottom",
): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const block = blocks[middle];
    const box = block && (loaded?.boxOf(block) ?? block.getBoundingClientRect());
    if (box !== undefined && box[edge] <= height) low = middle + 1;
    else high = middle;
  }
  return low;
}
