/** Places of a document as it is shown, behind what changes it and ahead of that. */

import {
  goesBehind,
  isInsert,
  type RichDelta,
  richLength,
  type Side,
  span,
  transformRichPosition,
} from "../shared/rich";
import type { Step } from "./doc";
import type { DocumentModel } from "./types";

/** A place in the text of a block, in code points. */
export interface Place {
  readonly block: string;
  readonly offset: number;
}

/** Where a place is behind a step; `lengthOf`: how long a text is ahead of that. */
export function behind(
  place: Place,
  step: Step,
  side: Side,
  lengthOf: (block: string) => number,
): Place {
  const { block, offset } = place;
  switch (step[0]) {
    case "edit":
      return step[1] === block
        ? { block, offset: transformRichPosition(offset, step[2], side) }
        : place;
    case "split":
      if (step[1] !== block || !goesBehind(offset, step[2], side)) return place;
      return { block: step[3], offset: offset - step[2] };
    case "join":
      return step[1] === block ? { block: step[2], offset: lengthOf(step[2]) + offset } : place;
    case "merge":
      if (step[1] === block) return { block: step[2], offset: step[3] + offset };
      if (step[2] !== block) return place;
      return { block, offset: transformRichPosition(offset, [step[3], ...step[4]], side) };
    default:
      return place;
  }
}

/** Where a place was ahead of an edit; of what that inserts, where it is inserted. */
export function unmoved(offset: number, delta: RichDelta): number {
  let [was, now] = [0, 0];
  for (const item of delta) {
    if (now >= offset) break;
    if (isInsert(item)) now = Math.min(offset, now + richLength([item]));
    else if (typeof item === "number" && item < 0) was -= item;
    else {
      const count = Math.min(span(item), offset - now);
      was += count;
      now += count;
    }
  }
  return was + offset - now;
}

/** Where a place was ahead of a step of one's own; null: its block is made by that. */
export function ahead(place: Place, step: Step): Place | null {
  const { block, offset } = place;
  if (step[0] === "edit" && step[1] === block) return { block, offset: unmoved(offset, step[2]) };
  if (step[0] === "split" && step[3] === block) return { block: step[1], offset: step[2] + offset };
  if (step[0] === "insert" && step[2].some(({ id }) => id === block)) return null;
  if (step[0] !== "merge" || step[2] !== block || offset <= step[3]) return place;
  const length = richLength(step[4]);
  if (offset > step[3] + length) return { block, offset: offset - length };
  return { block: step[1], offset: offset - step[3] };
}

/** A place of a version of the nodes' text. */
export interface NamedPlace extends Place {
  readonly version: number | null;
}

/** A place that is shown, as all know it; null: its text is not at the nodes yet. */
export function named(model: DocumentModel, place: Place): NamedPlace | null {
  let known: Place | null = place;
  for (const step of model.unconfirmed.toReversed()) known = known && ahead(known, step);
  return known && { ...known, version: model.past(known.block)?.lastShown ?? 0 };
}
