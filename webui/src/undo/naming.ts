/** Names for letters that own edits take out: where the nodes have them. Loaded with the history. */

import type { Past } from "../document/block";
import type { Step } from "../document/doc";
import type { Place } from "../document/place";
import type { DocumentModel } from "../document/types";
import type { Spot } from "../shared/anchor";
import { isInsert, type RichDelta, richLength, span } from "../shared/rich";

/** What of a model names letters: it may be kept for when this code is here. */
export interface Known extends Pick<DocumentModel, "unconfirmed"> {
  past(block: string): Pick<Past, "lastShown"> | undefined;
}

/** More letters at once are not named. */
const LETTERS_MAX = 5_000;

/** Letters that stand side by side at the nodes, too: so many, `far` behind the first one asked for. */
export interface Named {
  readonly far: number;
  readonly count: number;
  readonly source: Spot;
}

/** Where a letter was ahead of an edit, both counted from 0; null: it is written by that. */
function unwritten(letter: number, delta: RichDelta): number | null {
  let [was, now] = [0, 0];
  for (const item of delta) {
    if (isInsert(item)) {
      now += richLength([item]);
      if (letter < now) return null;
    } else if (typeof item === "number" && item < 0) was -= item;
    else {
      if (letter < now + span(item)) break;
      was += span(item);
      now += span(item);
    }
  }
  return was + letter - now;
}

/** A letter that is shown, ahead of some steps of one's own, or where the nodes have it. */
type Letter = Place | Spot;

/** Where a letter was ahead of a step of one's own; null: it is made by that. */
function letterAhead(place: Letter, step: Step): Letter | null {
  const { block, offset } = place;
  if ("version" in place) return place;
  // It stands here again by what is on its way.
  if (step[0] === "letters" && step[5] === block && offset >= step[6] && offset < step[6] + step[4])
    return { block: step[1], version: step[2], offset: step[3] + offset - step[6] };
  if (step[0] === "edit" && step[1] === block) {
    const was = unwritten(offset, step[2]);
    return was === null ? null : { block, offset: was };
  }
  if (step[0] === "split" && step[3] === block) return { block: step[1], offset: step[2] + offset };
  if (step[0] === "insert" && step[2].some(({ id }) => id === block)) return null;
  if (step[0] !== "merge" || step[2] !== block || offset < step[3]) return place;
  const far = offset - step[3];
  const length = richLength(step[4]);
  return far < length ? { block: step[1], offset: far } : { block, offset: offset - length };
}

function isBehind({ source, count }: Named, next: Spot): boolean {
  const { block, version, offset } = source;
  return next.block === block && next.version === version && next.offset === offset + count;
}

/**
 * Letters that are shown, from a place on, as all know them; `after`: verbs that were done since. Those
 * that the nodes do not have are left out: nobody else can have written between them.
 */
export function namedStretches(
  model: Known,
  { block, offset }: Place,
  count: number,
  after: readonly Step[] = [],
): Named[] {
  if (count > LETTERS_MAX || after.some(([kind]) => kind === "join")) return [];
  const steps = [...model.unconfirmed, ...after].reverse();
  const all: Named[] = [];
  for (let far = 0; far < count; far += 1) {
    let letter: Letter | null = { block, offset: offset + far };
    for (const step of steps) letter = letter && letterAhead(letter, step);
    if (letter === null) continue;
    const source = { version: model.past(letter.block)?.lastShown ?? 0, ...letter };
    const last = all.at(-1);
    if (last !== undefined && last.far + last.count === far && isBehind(last, source))
      all[all.length - 1] = { ...last, count: last.count + 1 };
    else all.push({ far, count: 1, source });
  }
  return all;
}

/** Where the nodes have letters; null: not all of them, or not side by side. */
export function namedLetters(
  model: Known,
  place: Place,
  count: number,
  after: readonly Step[],
): Spot | null {
  const [one] = namedStretches(model, place, count, after);
  return one?.count === count ? one.source : null;
}
