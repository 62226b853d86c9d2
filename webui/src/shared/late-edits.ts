/** An edit of a block's text as it was, carried over what has happened to the block since then. */

import {
  divideRich,
  insertedText,
  joinRich,
  type Rich,
  type RichDelta,
  transformRich,
} from "./rich";

/**
 * One step of a block's history: kind, delta, where the text went, as which frame, from where on.
 * `edit`: this delta; it came as the parcel `frame` of the block, if one is named: the text of that, or (place 1) an
 * edit of a text that it had. `cut`: all from the place on went to a block; `all`: the whole text did;
 * `gone`: the text was deleted.
 */
export type Step = readonly [
  kind: "edit" | "cut" | "all" | "gone",
  delta: RichDelta,
  block: string,
  frame: number,
  at: number,
];

/** Marks a step that is not the text of a block, but an edit of that, which came as its parcel. */
export const PART = 1;

/** The part of a late edit that is `here`, those for texts that have `gone`, and what is `lost`. */
export interface Located {
  readonly here: RichDelta;
  readonly gone: readonly (readonly [block: string, frame: number, delta: RichDelta])[];
  readonly lost: Rich;
}

/** The edit behind these steps, as groupcore/shared/documents/late_edits.py does it. */
export function carried(delta: RichDelta, steps: Iterable<Step>, extendsIt = false): Located {
  const gone: [string, number, RichDelta][] = [];
  let here = delta;
  let lost: Rich = [];
  for (const [kind, edit, block, frame, at] of steps) {
    let behind: RichDelta = [];
    if (kind === "edit") {
      const isFirst = block === "" || at === PART;
      here = transformRich(here, edit, isFirst, isFirst && !extendsIt);
    } else if (kind === "cut") [here, behind] = divideRich(here, at);
    else if (kind === "all") [here, behind] = [[], here];
    else [lost, here] = [joinRich(lost, insertedText(here)), []];
    if (behind.length > 0) gone.push([block, frame, behind]);
  }
  return { here, gone, lost };
}
