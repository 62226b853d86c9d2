/**
 * A text with marks that many type into, seen by its writer at once. Places are code points, as in
 * the nodes; an embed is one.
 */

import {
  applyRich,
  baseLength,
  canonicalRich,
  composeRich,
  EMBED,
  type MarkPatch,
  type Marks,
  marksAt,
  plainText,
  type Rich,
  type RichDelta,
  richLength,
  transformRich,
  transformRichPosition,
} from "../shared/rich";
import { cleanText } from "../shared/text";
import type { Change } from "./object";
import { type Algebra, Typed, type TypedState } from "./typed";

export interface RichTextChange extends Change {
  /** What others did to what is shown; empty when the text was taken anew. */
  readonly delta: RichDelta;
  /** Where a place of the text before is now. */
  readonly move: (position: number) => number;
}

const ALGEBRA: Algebra<RichDelta, Rich> = {
  apply: applyRich,
  compose: composeRich,
  transform: transformRich,
  nothing: [],
};

export class RichText extends Typed<RichDelta, Rich, RichTextChange> {
  static readonly type = "RichText";
  protected readonly algebra = ALGEBRA;
  protected shown: Rich = [];

  /** The text as its writer should see it: strings, and `[text, marks]`. */
  get content(): Rich {
    return this.shown;
  }

  /** In code points. */
  get length(): number {
    return richLength(this.shown);
  }

  /** The text without its marks. */
  override toString(): string {
    return plainText(this.shown);
  }

  /** Inserts before the code point at `at`; without marks, with those that go on there. */
  insert(at: number, text: string, marks?: Marks): void {
    this.edit([at, [cleanText(text), marks ?? marksAt(this.shown, at)]]);
  }

  delete(at: number, count: number): void {
    this.edit([at, -count]);
  }

  /** Sets marks of `count` code points from `at` on; null removes one. */
  format(at: number, count: number, marks: MarkPatch): void {
    this.edit([at, [count, marks]]);
  }

  /** Puts an embed of this id (an image, a mention) before the code point at `at`. */
  embed(at: number, id: string, attributes: Marks = {}): void {
    this.insert(at, EMBED, { ...attributes, embed: id });
  }

  /** Does this edit of what is shown, at once. */
  edit(delta: RichDelta): void {
    const canonical = canonicalRich(delta);
    if (baseLength(canonical) > this.length) {
      throw new RangeError(`${baseLength(canonical)} of ${this.length} code points`);
    }
    this.write(canonical);
  }

  protected override read(state: unknown): TypedState<RichDelta, Rich> {
    const { content, version, recent } = state as {
      content: Rich;
      version: number;
      recent: RichDelta[] | null;
    };
    return { value: content, version, recent };
  }

  protected override told(change: Change, _before: Rich, delta: RichDelta): RichTextChange {
    return { ...change, delta, move: (position) => transformRichPosition(position, delta) };
  }

  protected override replaced(): RichTextChange {
    const move = (position: number): number => Math.min(position, this.length);
    return { ...super.replaced(), delta: [], move };
  }
}
