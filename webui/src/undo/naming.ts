/** Names for letters that own edits take out: where the nodes have them. Loaded with the history. */

import type { Step } from "../document/doc";
import { ahead, type Place } from "../document/place";
import type { DocumentModel } from "../document/types";
import type { Spot } from "../shared/anchor";

/** More letters at once are not named. */
const LETTERS_MAX = 5_000;

/**
 * Letters that are shown, from a place on, as all know them; `after`: verbs that were done since. Null: not
 * all of them are at the nodes, or they are not side by side there.
 */
export function namedLetters(
  model: DocumentModel,
  { block, offset }: Place,
  count: number,
  after: readonly Step[],
): Spot | null {
  if (count > LETTERS_MAX || after.some(([kind]) => kind === "join")) return null;
  const steps = [...model.unconfirmed, ...after].reverse();
  let first: Place | null = null;
  for (let far = 0; far <= count; far += 1) {
    let place: Place | null = { block, offset: offset + far };
    for (const step of steps) place = place && ahead(place, step);
    first ??= place;
    if (place?.block !== first?.block || place?.offset !== (first?.offset ?? 0) + far) return null;
  }
  return first && { ...first, version: model.past(first.block)?.lastShown ?? 0 };
}
