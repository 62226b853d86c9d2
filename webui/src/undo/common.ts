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
interface Letter {
  readonly item: RichInsert;
  readonly key: string;
}

function lettersOf(text: Rich, exact: boolean): Letter[] {
  return text.flatMap((run) => {
    const marks = marksOf(run);
    const key = exact ? JSON.stringify(marks) : String(marks.embed ?? "");
    return Array.from(
      textOf(run),
      (letter) => ({ item: [letter, marks], key: letter + key }) as const,
    );
  });
}

/** One text in place of another: what is in both, in the same order, stays. */
function replace(builder: RichBuilder, old: readonly Letter[], now: readonly Letter[]): void {
  const isLong = old.length > COMPARED_MAX || now.length > COMPARED_MAX;
  const lengths = isLong ? null : commonLengths(old, now);
  const width = now.length + 1;
  let [at, to] = [0, 0];
  while (at < old.length || to < now.length) {
    const isSame = lengths !== null && at < old.length && old[at]?.key === now[to]?.key;
    const [out, put] = [lengths?.[(at + 1) * width + to] ?? 0, lengths?.[at * width + to + 1] ?? 0];
    if (isSame) {
      builder.retain(1);
      at += 1;
      to += 1;
    } else if (to < now.length && (at === old.length || put >= out)) {
      builder.put(now[to]?.item ?? "");
      to += 1;
    } else {
      builder.delete(1);
      at += 1;
    }
  }
}

/** How many letters the rests from each place on have in common, row by row. */
function commonLengths(old: readonly Letter[], now: readonly Letter[]): Uint16Array {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let at = old.length - 1; at >= 0; at -= 1) {
    for (let to = now.length - 1; to >= 0; to -= 1) {
      const place = at * width + to;
      lengths[place] =
        old[at]?.key === now[to]?.key
          ? (lengths[place + width + 1] ?? 0) + 1
          : Math.max(lengths[place + width] ?? 0, lengths[place + 1] ?? 0);
    }
  }
  return lengths;
}
