/**
 * A text that many type into, seen by its writer at once. Places are UTF-16 units, as in JavaScript.
 */

import {
  applyDelta,
  composeDelta,
  type Delta,
  DeltaBuilder,
  transformDelta,
  transformPosition,
} from "../shared/delta";
import { cleanText, toCodePoints, toUnits } from "../shared/text";
import type { Change } from "./object";
import { type Algebra, Typed, type TypedState } from "./typed";

export interface TextChange extends Change {
  /** Where a place of the text before is now. */
  readonly move: (position: number) => number;
}

const ALGEBRA: Algebra<Delta, string> = {
  apply: applyDelta,
  compose: composeDelta,
  transform: (delta, other, _otherFirst, otherLeft) => transformDelta(delta, other, otherLeft),
  nothing: [],
};

export class Text extends Typed<Delta, string, TextChange> {
  static readonly type = "Text";
  protected readonly algebra = ALGEBRA;
  protected shown = "";

  /** The text as its writer should see it. */
  get value(): string {
    return this.shown;
  }

  get length(): number {
    return this.shown.length;
  }

  override toString(): string {
    return this.shown;
  }

  insert(at: number, text: string): void {
    this.replace(at, 0, text);
  }

  delete(at: number, count: number): void {
    this.replace(at, count, "");
  }

  append(text: string): void {
    this.replace(this.shown.length, 0, text);
  }

  /** Puts `text` in the place of `count` units from `at` on, at once. */
  replace(at: number, count: number, text: string): void {
    if (at < 0 || count < 0 || at + count > this.shown.length) {
      throw new RangeError(`${at} and ${count} more of ${this.shown.length} units`);
    }
    const from = toCodePoints(this.shown, at);
    const builder = new DeltaBuilder();
    builder.retain(from);
    builder.insert(cleanText(text));
    builder.delete(toCodePoints(this.shown, at + count) - from);
    this.write(builder.finish());
  }

  /** Makes it this text by the smallest replacement: what an `input` event of a field needs. */
  set(text: string): void {
    const before = this.shown;
    const most = Math.min(before.length, text.length);
    let head = 0;
    while (head < most && before[head] === text[head]) head += 1;
    if (isInsidePair(before, head) || isInsidePair(text, head)) head -= 1;
    let tail = 0;
    while (tail < most - head && before.at(-1 - tail) === text.at(-1 - tail)) tail += 1;
    if (isInsidePair(before, before.length - tail) || isInsidePair(text, text.length - tail)) {
      tail -= 1;
    }
    this.replace(head, before.length - tail - head, text.slice(head, text.length - tail));
  }

  protected override read(state: unknown): TypedState<Delta, string> {
    const { text, version, recent } = state as {
      text: string;
      version: number;
      recent: Delta[] | null;
    };
    return { value: text, version, recent };
  }

  protected override told(change: Change, before: string, moved: Delta): TextChange {
    return { ...change, move: mover(before, moved) };
  }

  protected override replaced(): TextChange {
    return { ...super.replaced(), move: (position) => Math.min(position, this.shown.length) };
  }
}

function mover(before: string, delta: Delta): (position: number) => number {
  return (position) => {
    if (delta.length === 0) return position;
    const after = applyDelta(delta, before);
    return toUnits(after, transformPosition(toCodePoints(before, position), delta));
  };
}

function isInsidePair(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  const former = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && former >= 0xd800 && former <= 0xdbff;
}
