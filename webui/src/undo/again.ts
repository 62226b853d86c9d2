/**
 * Letters that have only gone to another place.
 *
 * What others do at once may be told as a text that comes here and, before or behind that, one that
 * goes there. Where both say the same it is taken to be one text, and its letters the same ones.
 */

import type { Rich } from "../shared/rich";
import { type Letter, lettersOf, longest } from "./common";
import { OwnText, type Run, seenOf, written } from "./text";

/** A text that went, with its letters. */
export interface Lost {
  readonly content: Rich;
  readonly runs: readonly Run[];
  /** It is told to go on in what came: what is alike is it, and not so by chance. */
  readonly isTold?: boolean;
}

/** A text that came; meanwhile its letters have this origin. */
export interface Gained {
  readonly origin: number;
  readonly content: Rich;
}

/** More is not compared: of so many letters that went with so many that came. */
const COMPARED_MAX = 4_000_000;

/** The letters that each text that came has, by its origin. */
export function foundAgain(
  lost: readonly Lost[],
  gained: readonly Gained[],
): ReadonlyMap<number, readonly Run[]> {
  const pool = lost.map((one) => ({ ...one, letters: lettersOf(one.content, false) }));
  const came = gained.map(({ origin, content }) => [origin, lettersOf(content, false)] as const);
  const product = sum(pool.map((one) => one.letters)) * sum(came.map(([, letters]) => letters));
  const found = new Map<number, readonly Run[]>();
  if (product > COMPARED_MAX) return found;
  for (const [origin, letters] of came) found.set(origin, runsOf(letters, pool, origin));
  return found;
}

function sum(texts: readonly (readonly Letter[])[]): number {
  return texts.reduce((all, letters) => all + letters.length, 0);
}

interface Left extends Lost {
  letters: Letter[];
}

function runsOf(letters: readonly Letter[], pool: readonly Left[], origin: number): Run[] {
  if (letters.length === 0) return [];
  const others = pool.filter(({ runs }) => runs.every((run) => run.origin !== origin));
  const whole = others.find((one) => isSame(one.letters, letters));
  let [from, best] = [whole, { at: 0, to: 0, length: letters.length }];
  for (const one of whole === undefined ? others : []) {
    const stretch = longest(one.letters, letters, one.isTold !== true);
    if (from === undefined ? stretch.length > 0 : stretch.length > best.length)
      [from, best] = [one, stretch];
  }
  if (from === undefined) return [written(0, 0, letters.length)];
  const { at, to, length } = best;
  // A letter is found once.
  from.letters = from.letters.map((letter, place) =>
    place < at || place >= at + length ? letter : { ...letter, key: `gone ${place}` },
  );
  return [
    ...runsOf(letters.slice(0, to), pool, origin),
    ...stretchOf(from.runs, at, at + length),
    ...runsOf(letters.slice(to + length), pool, origin),
  ];
}

function isSame(one: readonly Letter[], other: readonly Letter[]): boolean {
  return one.length === other.length && one.every(({ key }, at) => other[at]?.key === key);
}

/** A part of some runs, of what is seen of them from here to there, with what is hidden in it. */
export function stretchOf(runs: readonly Run[], from: number, to: number): readonly Run[] {
  const text = new OwnText([...runs]);
  const length = runs.reduce((all, run) => all + seenOf(run), 0);
  if (to < length) text.cut(to);
  return from > 0 ? text.cut(from) : text.all;
}
