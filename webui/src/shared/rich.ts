/**
 * Text with marks, edits of it in one canonical form, and operational transformation on them.
 *
 * Everything is as it travels (docs/shared/rich-text.md): a positive number retains that many code
 * points, a negative one deletes them, a string is inserted, `[text, marks]` is inserted with
 * marks, `[count, changes]` retains and changes marks (null removes one). A rich text is a delta of
 * inserts alone. Canonical: nothing empty, no two neighbours that could be one, an insert before a
 * delete at the same place, no plain retain at the end. Every function takes and gives canonical
 * deltas. The same rules as groupcore/objects/rich_delta.py.
 */

import { RefusalError } from "./refusal";
import {
  isFormat,
  isInsert,
  type MarkPatch,
  type Marks,
  type MarkValue,
  marked,
  marksOf,
  NO_MARKS,
  type Rich,
  RichBuilder,
  type RichDelta,
  type RichItem,
  sameMarks,
  span,
  textOf,
} from "./rich-items";
import { codePointLength, slice } from "./text";

export * from "./rich-items";

/** Marks that end at their edges: what is typed there has them only between two that have them. */
const OUTER_MARKS = new Set(["link", "code", "embed"]);

export function canonicalRich(items: Iterable<RichItem>): RichDelta {
  const builder = new RichBuilder();
  for (const item of items) builder.put(item);
  return builder.finish();
}

/** Code points of the text. */
export function richLength(text: Rich): number {
  let length = 0;
  for (const run of text) length += codePointLength(textOf(run));
  return length;
}

/** The text without its marks. */
export function plainText(text: Rich): string {
  return text.map(textOf).join("");
}

export function sameRich(one: RichDelta, other: RichDelta): boolean {
  if (one === other) return true;
  return one.length === other.length && one.every((item, at) => sameItem(item, other[at]));
}

function sameItem(one: RichItem, other: RichItem | undefined): boolean {
  if (typeof one !== "object") return one === other;
  return typeof other === "object" && one[0] === other[0] && sameMarks(one[1], other[1]);
}

/** How long a text must be at least for the delta to apply. */
export function baseLength(delta: RichDelta): number {
  return delta.reduce<number>((total, item) => total + span(item), 0);
}

/** By how many code points the text gets longer (negative: shorter). */
export function growth(delta: RichDelta): number {
  let total = 0;
  for (const item of delta) {
    if (isInsert(item)) total += codePointLength(textOf(item));
    else if (typeof item === "number" && item < 0) total += item;
  }
  return total;
}

/** All that the edit inserts, as one text. */
export function insertedText(delta: RichDelta): Rich {
  return canonicalRich(delta.filter(isInsert)) as Rich;
}

/** The text after the edit; refused as `out_of_range` when it reaches behind the end. */
export function applyRich(delta: RichDelta, text: Rich): Rich {
  if (baseLength(delta) > richLength(text)) {
    throw new RefusalError("out_of_range", `the edit reaches behind ${richLength(text)}`);
  }
  return composeRich(text, delta) as Rich;
}

/** The text from code point `start` up to `end`. */
export function cutRich(text: Rich, start: number, end = Number.POSITIVE_INFINITY): Rich {
  const builder = new RichBuilder();
  let position = 0;
  for (const run of text) {
    if (position >= end) break;
    const length = codePointLength(textOf(run));
    const from = Math.max(0, start - position);
    const to = Math.min(length, end - position);
    if (from < to) builder.insert(slice(textOf(run), from, to), marksOf(run));
    position += length;
  }
  return builder.finish() as Rich;
}

/** One text behind the other. */
export function joinRich(first: Rich, second: Rich): Rich {
  return canonicalRich([...first, ...second]) as Rich;
}

/** The edit that leads from the text after `delta` back to `text`. */
export function invertRich(delta: RichDelta, text: Rich): RichDelta {
  const builder = new RichBuilder();
  let position = 0;
  for (const item of delta) {
    if (isInsert(item)) {
      builder.delete(codePointLength(textOf(item)));
      continue;
    }
    const here = cutRich(text, position, position + span(item));
    if (richLength(here) < span(item)) {
      throw new RefusalError("out_of_range", "the edit reaches behind the end of the text");
    }
    position += span(item);
    for (const run of here) {
      if (isFormat(item)) builder.retain(codePointLength(textOf(run)), back(marksOf(run), item[1]));
      else if (item > 0) builder.retain(codePointLength(textOf(run)));
      else builder.put(run);
    }
  }
  return builder.finish();
}

/** The same edit in a text that has `count` code points more before it. */
export function shiftRich(delta: RichDelta, count: number): RichDelta {
  return count > 0 && delta.length > 0 ? canonicalRich([count, ...delta]) : delta;
}

/**
 * The edit of the text before `at` and of the text from `at` on, each from its own start. What is
 * inserted exactly at `at` belongs to the first.
 */
export function divideRich(delta: RichDelta, at: number): [RichDelta, RichDelta] {
  const before = new RichBuilder();
  const behind = new RichBuilder();
  let position = 0;
  for (const item of delta) {
    if (isInsert(item)) {
      (position <= at ? before : behind).put(item);
      continue;
    }
    const left = Math.min(span(item), Math.max(0, at - position));
    before.put(part(item, left));
    behind.put(part(item, span(item) - left));
    position += span(item);
  }
  return [before.finish(), behind.finish()];
}

/** On which side of a place the letter stands that it stays with. */
export type Side = "left" | "right";

/** Where a place is after the edit; what is inserted exactly there stands on its other side. */
export function transformRichPosition(
  position: number,
  delta: RichDelta,
  side: Side = "right",
): number {
  let seen = 0;
  let moved = position;
  for (const item of delta) {
    if (seen > position || (seen === position && side === "left")) break;
    if (isInsert(item)) {
      moved += codePointLength(textOf(item));
      continue;
    }
    if (typeof item === "number" && item < 0) moved -= Math.min(-item, position - seen);
    seen += span(item);
  }
  return moved;
}

/** Whether a place goes along with what is behind `at`, when the text is cut there. */
export function goesBehind(position: number, at: number, side: Side): boolean {
  return position > at || (position === at && side === "right");
}

/**
 * The edit `delta` for the text that `other` has changed already; both had one base.
 *
 * Where both insert at one place, the other's text stands left if `otherLeft`, else right; where
 * both set one mark, the other's value stands unless `otherFirst`.
 */
export function transformRich(
  delta: RichDelta,
  other: RichDelta,
  otherFirst: boolean,
  otherLeft = otherFirst,
): RichDelta {
  if (other.length === 0 || delta.length === 0) return delta;
  const builder = new RichBuilder();
  const mine = new Items(delta);
  const theirs = new Items(other);
  while (mine.item !== undefined) {
    const one = mine.item;
    const two = theirs.item;
    if (two !== undefined && isInsert(two) && (otherLeft || !isInsert(one))) {
      const isInside = isFormat(one) && mine.isBegun;
      builder.retain(theirs.left, isInside ? one[1] : NO_MARKS);
      theirs.takeAll();
    } else if (isInsert(one)) {
      const changes = two !== undefined && isFormat(two) && theirs.isBegun ? two[1] : NO_MARKS;
      builder.insert(textOf(one), marked(marksOf(one), changes));
      mine.takeAll();
    } else if (two === undefined) {
      builder.put(part(one, mine.left));
      mine.takeAll();
    } else {
      const step = Math.min(mine.left, theirs.left);
      if (isFormat(two)) builder.put(over(part(one, step), two[1], otherFirst));
      else if (typeof two === "number" && two > 0) builder.put(part(one, step));
      mine.take(step);
      theirs.take(step);
    }
  }
  return builder.finish();
}

/** The one edit that does `first` and then `second`. */
export function composeRich(first: RichDelta, second: RichDelta): RichDelta {
  const builder = new RichBuilder();
  const ones = new Items(first);
  const twos = new Items(second);
  while (ones.item !== undefined || twos.item !== undefined) {
    const one = ones.item;
    const two = twos.item;
    if (typeof one === "number" && one < 0) {
      builder.delete(-one);
      ones.takeAll();
    } else if (two !== undefined && isInsert(two)) {
      builder.put(two);
      twos.takeAll();
    } else if (two === undefined) {
      builder.put(ones.rest(ones.left));
      ones.takeAll();
    } else {
      const step = one === undefined ? twos.left : Math.min(ones.left, twos.left);
      then(builder, one === undefined ? undefined : ones.rest(step), part(two, step));
      ones.take(step);
      twos.take(step);
    }
  }
  return builder.finish();
}

/** The marks of what is typed at `at`: those of the code point left of it (docs: Marks). */
export function marksAt(text: Rich, at: number): Marks {
  const [left] = at > 0 ? cutRich(text, at - 1, at) : [];
  const [right] = cutRich(text, at, at + 1);
  if (left === undefined || marksOf(left).embed !== undefined) return NO_MARKS;
  const following = right === undefined ? NO_MARKS : marksOf(right);
  const kept = Object.entries(marksOf(left)).filter(
    ([name, value]) => !OUTER_MARKS.has(name) || following[name] === value,
  );
  return Object.fromEntries(kept);
}

/** One piece of text that `one` has made or kept, and then `two` keeps or deletes. */
function then(builder: RichBuilder, one: RichItem | undefined, two: RichItem): void {
  const changes = isFormat(two) ? two[1] : NO_MARKS;
  if (typeof two === "number" && two < 0) {
    if (one === undefined || !isInsert(one)) builder.delete(-two);
  } else if (one !== undefined && isInsert(one)) {
    builder.insert(textOf(one), marked(marksOf(one), changes));
  } else if (one !== undefined && isFormat(one)) {
    builder.retain(one[0], { ...one[1], ...changes });
  } else {
    builder.retain(span(two), changes);
  }
}

/** Walks over a delta in pieces; `left` code points of `item` are still to be taken. */
class Items {
  item: RichItem | undefined;
  left = 0;
  private whole = 0;
  private index = -1;

  constructor(private readonly delta: RichDelta) {
    this.takeAll();
  }

  /** Whether a part of the item has been taken. */
  get isBegun(): boolean {
    return this.left < this.whole;
  }

  takeAll(): void {
    this.index += 1;
    this.item = this.delta[this.index];
    if (this.item === undefined) return;
    this.whole = isInsert(this.item) ? codePointLength(textOf(this.item)) : span(this.item);
    this.left = this.whole;
  }

  take(count: number): void {
    if (this.item === undefined) return;
    this.left -= count;
    if (this.left === 0) this.takeAll();
  }

  /** What is left of the item, `count` of it. */
  rest(count: number): RichItem {
    const item = this.item ?? 0;
    if (!isInsert(item)) return part(item, count);
    if (count === this.whole) return item;
    const start = this.whole - this.left;
    const text = slice(textOf(item), start, start + count);
    return typeof item === "string" ? text : [text, item[1]];
  }
}

/** The same for `count` code points. */
function part(item: RichItem, count: number): RichItem {
  if (isFormat(item)) return [count, item[1]];
  return typeof item === "number" && item < 0 ? -count : count;
}

/** The item on text whose marks the other one has changed. */
function over(item: RichItem, theirs: MarkPatch, otherFirst: boolean): RichItem {
  if (!isFormat(item) || otherFirst) return item;
  const kept = Object.entries(item[1]).filter(([name]) => !Object.hasOwn(theirs, name));
  return [item[0], Object.fromEntries(kept)];
}

/** What takes these changes back on text that had these marks. */
function back(marks: Marks, changes: MarkPatch): MarkPatch {
  const before: Record<string, MarkValue | null> = {};
  for (const [name, now] of Object.entries(changes)) {
    const old = marks[name] ?? null;
    if (old !== now) before[name] = old;
  }
  return before;
}
