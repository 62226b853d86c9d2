/**
 * What an edit has left as it was.
 *
 * What changes in several places at once may be told as one edit, from the first letter that is
 * another one to the last: code that is indented, a text that was not here for a while. Letters
 * between them that are in both are taken to be the same ones.
 */

import {
  cutRich,
  isInsert,
  marksOf,
  type Rich,
  RichBuilder,
  type RichDelta,
  type RichInsert,
  type RichItem,
  span,
  textOf,
} from "../shared/rich";

/** Longer texts are not compared letter by letter. */
const COMPARED_MAX = 2_000;
/** So many letters are hardly the same by chance; fewer only where they are nowhere else. */
const SURE = 3;

/** The same edit, of which each part is as small as can be; marks aside, unless it is to be `exact`. */
export function smallest(delta: RichDelta, content: Rich, exact: boolean): RichDelta {
  const isNext = (item: RichItem, at: number): boolean => {
    const next = delta[at + 1];
    return isInsert(item) && typeof next === "number" && next < 0;
  };
  if (!delta.some(isNext)) return delta;
  const builder = new RichBuilder();
  let old = 0;
  let fresh: RichInsert[] = [];
  for (const item of delta) {
    if (isInsert(item)) {
      fresh.push(item);
      continue;
    }
    const isOut = typeof item === "number" && item < 0;
    const before = isOut ? cutRich(content, old, old - item) : [];
    replace(builder, lettersOf(before, exact), lettersOf(fresh, exact));
    fresh = [];
    if (!isOut) builder.put(item);
    old += span(item);
  }
  replace(builder, [], lettersOf(fresh, exact));
  return builder.finish();
}

/** A letter, and what another one has to be like to be the same. */
export interface Letter {
  readonly item: RichInsert;
  readonly key: string;
}

export function lettersOf(text: Rich, exact: boolean): Letter[] {
  return text.flatMap((run) => {
    const marks = marksOf(run);
    const key = exact ? JSON.stringify(marks) : String(marks.embed ?? "");
    return Array.from(
      textOf(run),
      (letter) => ({ item: [letter, marks], key: letter + key }) as const,
    );
  });
}

/** One text in place of another: the longest stretch that is in both stays, and so on beside it. */
function replace(builder: RichBuilder, old: readonly Letter[], now: readonly Letter[]): void {
  const { at, to, length } = longest(old, now);
  if (length === 0) {
    for (const { item } of now) builder.put(item);
    builder.delete(old.length);
    return;
  }
  replace(builder, old.slice(0, at), now.slice(0, to));
  builder.retain(length);
  replace(builder, old.slice(at + length), now.slice(to + length));
}

/** Where a stretch begins in the one and in the other. */
interface Stretch {
  readonly at: number;
  readonly to: number;
  readonly length: number;
}

const NOTHING: Stretch = { at: 0, to: 0, length: 0 };

/**
 * The longest stretch that is in both, if it is hardly so by chance. `isElsewhere`: the texts stand in
 * different places; then neither a part of a word nor a few letters say that they are one text.
 */
export function longest(
  old: readonly Letter[],
  now: readonly Letter[],
  isElsewhere = false,
): Stretch {
  if (old.length * now.length > COMPARED_MAX ** 2) return NOTHING;
  let best = NOTHING;
  // By the end of a stretch in `now`, how long it is up to this letter of `old`.
  let above = new Uint16Array(now.length + 1);
  for (let at = 1; at <= old.length; at += 1) {
    const lengths = new Uint16Array(now.length + 1);
    for (let to = 1; to <= now.length; to += 1) {
      if (old[at - 1]?.key !== now[to - 1]?.key) continue;
      const length = (above[to - 1] ?? 0) + 1;
      lengths[to] = length;
      if (length > best.length) best = { at: at - length, to: to - length, length };
    }
    above = lengths;
  }
  const words = inWords(old, now, best);
  if (isElsewhere) return words.length >= SURE ? words : NOTHING;
  if (words.length >= SURE) best = words;
  const isSure = best.length >= SURE || (isOnce(old, best.at, best) && isOnce(now, best.to, best));
  return isSure ? best : NOTHING;
}

/** The stretch without the parts of words at its ends that go on otherwise. */
function inWords(old: readonly Letter[], now: readonly Letter[], stretch: Stretch): Stretch {
  const isIn = (place: number): boolean => isOfWord(old[place]);
  let { at, to, length } = stretch;
  const [end, next] = [at + length, to + length];
  if (isIn(end) && isOfWord(now[next])) while (length > 0 && isIn(at + length - 1)) length -= 1;
  if (isIn(at - 1) && isOfWord(now[to - 1])) {
    while (length > 0 && isIn(at)) [at, to, length] = [at + 1, to + 1, length - 1];
  }
  return { at, to, length };
}

function isOfWord(letter: Letter | undefined): boolean {
  return letter !== undefined && /[\p{L}\p{N}]/u.test(textOf(letter.item));
}

/** Whether what is there so long is nowhere else. */
function isOnce(letters: readonly Letter[], from: number, { length }: Stretch): boolean {
  const isHere = (at: number): boolean => {
    let count = 0;
    while (count < length && letters[at + count]?.key === letters[from + count]?.key) count += 1;
    return count === length;
  };
  return letters.every((_, at) => at === from || at + length > letters.length || !isHere(at));
}
