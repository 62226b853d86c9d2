/**
 * Text edits in one canonical form, and the algebra of operational transformation on them.
 *
 * A delta is read from left to right: a positive number retains that many code points, a negative
 * one deletes them, a string is inserted. Canonical: no zero, no empty string, no two neighbours
 * of one kind, an insert before a delete at the same place, no retain at the end. Every function
 * takes and gives canonical deltas. The same rules as groupcore/objects/delta.py.
 */

import { RefusalError } from "./refusal";
import { codePointLength, isForbidden, slice } from "./text";

export type DeltaItem = number | string;
export type Delta = readonly DeltaItem[];

/** Collects items in any order and gives the canonical delta. */
export class DeltaBuilder {
  private readonly items: DeltaItem[] = [];
  private retained = 0;
  private inserted = "";
  private deleted = 0;

  retain(count: number): void {
    if (count > 0 && (this.inserted !== "" || this.deleted > 0)) this.flush();
    this.retained += count;
  }

  insert(text: string): void {
    this.inserted += text;
  }

  delete(count: number): void {
    this.deleted += count;
  }

  finish(): Delta {
    if (this.inserted !== "" || this.deleted > 0) this.flush();
    return this.items;
  }

  private flush(): void {
    if (this.retained > 0) this.items.push(this.retained);
    if (this.inserted !== "") this.items.push(this.inserted);
    if (this.deleted > 0) this.items.push(-this.deleted);
    this.retained = 0;
    this.inserted = "";
    this.deleted = 0;
  }
}

/** The text after the edit; refused as `out_of_range` when it reaches behind the end. */
export function applyDelta(delta: Delta, text: string): string {
  let result = "";
  let position = 0;
  const length = codePointLength(text);
  for (const item of delta) {
    if (typeof item === "string") {
      result += item;
    } else {
      if (item > 0) result += slice(text, position, position + item);
      position += Math.abs(item);
    }
  }
  if (position > length) {
    throw new RefusalError("out_of_range", `the edit reaches ${position} of ${length} characters`);
  }
  return result + slice(text, position);
}

/** By how many code points the text gets longer (negative: shorter). */
export function growth(delta: Delta): number {
  let total = 0;
  for (const item of delta) {
    if (typeof item === "string") total += codePointLength(item);
    else if (item < 0) total += item;
  }
  return total;
}

/** Whether the edit inserts anything. */
export function insertsText(delta: Delta): boolean {
  return delta.some((item) => typeof item === "string");
}

/** Hands out a delta's items in pieces of a wanted length. */
class Reader {
  private index = 0;
  private rest: DeltaItem | undefined;

  constructor(private readonly delta: Delta) {
    this.rest = delta[0];
  }

  /** The item at hand; undefined behind the end, which means "retain everything". */
  get item(): DeltaItem | undefined {
    return this.rest;
  }

  /** Length of a number at hand, endless behind the end. */
  get span(): number {
    return typeof this.rest === "number" ? Math.abs(this.rest) : Number.POSITIVE_INFINITY;
  }

  next(): void {
    this.index += 1;
    this.rest = this.delta[this.index];
  }

  /** Uses up `count` of the number or the string at hand. */
  take(count: number): void {
    if (typeof this.rest === "number") {
      this.rest = this.rest > 0 ? this.rest - count : this.rest + count;
      if (this.rest === 0) this.next();
    } else if (typeof this.rest === "string") {
      this.rest = slice(this.rest, count);
      if (this.rest === "") this.next();
    }
  }
}

/**
 * What `mine` becomes in the text that `other` has edited already.
 *
 * Both were made against the same text. Of two inserts at one place the one ordered first stands
 * left: `otherFirst` says whether that is the other's.
 */
export function transformDelta(mine: Delta, other: Delta, otherFirst: boolean): Delta {
  const builder = new DeltaBuilder();
  const left = new Reader(mine);
  const right = new Reader(other);
  while (left.item !== undefined) {
    const one = left.item;
    const two = right.item;
    if (typeof two === "string" && (typeof one !== "string" || otherFirst)) {
      builder.retain(codePointLength(two));
      right.next();
    } else if (typeof one === "string") {
      builder.insert(one);
      left.next();
    } else {
      const step = Math.min(left.span, right.span);
      if (two === undefined || (typeof two === "number" && two > 0)) {
        if (one > 0) builder.retain(step);
        else builder.delete(step);
      }
      left.take(step);
      if (two !== undefined) right.take(step);
    }
  }
  return builder.finish();
}

/** One delta that does what `first` and then `second` do. */
export function composeDelta(first: Delta, second: Delta): Delta {
  const builder = new DeltaBuilder();
  const one = new Reader(first);
  const two = new Reader(second);
  while (one.item !== undefined || two.item !== undefined) {
    const a = one.item;
    const b = two.item;
    if (typeof b === "string") {
      builder.insert(b);
      two.next();
    } else if (typeof a === "number" && a < 0) {
      builder.delete(-a);
      one.next();
    } else if (typeof a === "string") {
      const step = Math.min(codePointLength(a), two.span);
      if (b === undefined || b > 0) builder.insert(slice(a, 0, step));
      one.take(step);
      two.take(b === undefined ? 0 : step);
    } else {
      const step = Math.min(one.span, two.span);
      if (b === undefined || b > 0) builder.retain(step);
      else builder.delete(step);
      one.take(step);
      two.take(step);
    }
  }
  return builder.finish();
}

/** The same edit in a text that has `count` code points more before it. */
export function shiftDelta(delta: Delta, count: number): Delta {
  const first = delta[0];
  if (first === undefined || count === 0) return delta;
  if (typeof first === "number" && first > 0) return [first + count, ...delta.slice(1)];
  return [count, ...delta];
}

/** The edit of the text before `at` and of the text from `at` on; an insert at `at` is before. */
export function divideDelta(delta: Delta, at: number): [Delta, Delta] {
  const before = new DeltaBuilder();
  const behind = new DeltaBuilder();
  let position = 0;
  for (const item of delta) {
    if (typeof item === "string") {
      (position <= at ? before : behind).insert(item);
      continue;
    }
    const length = Math.abs(item);
    const left = Math.min(length, Math.max(0, at - position));
    if (item > 0) {
      before.retain(left);
      behind.retain(length - left);
    } else {
      before.delete(left);
      behind.delete(length - left);
    }
    position += length;
  }
  return [before.finish(), behind.finish()];
}

/** Where a place is after the edit; what is inserted exactly there stays left of it. */
export function transformPosition(position: number, delta: Delta): number {
  let seen = 0;
  let moved = position;
  for (const item of delta) {
    if (seen > position) break;
    if (typeof item === "string") {
      moved += codePointLength(item);
    } else if (item > 0) {
      seen += item;
    } else {
      moved -= Math.min(-item, position - seen);
      seen -= item;
    }
  }
  return moved;
}

/** Whether a value from outside is a canonical delta. */
export function isDelta(value: unknown): value is Delta {
  if (!Array.isArray(value)) return false;
  let before = 0;
  for (const item of value as unknown[]) {
    let kind = 2;
    if (typeof item === "number" && Number.isSafeInteger(item) && item !== 0) {
      kind = item > 0 ? 1 : 3;
    } else if (typeof item !== "string" || item === "" || isForbidden(item)) {
      return false;
    }
    if (kind === before || (kind === 2 && before === 3)) return false;
    before = kind;
  }
  return before !== 1;
}
