/**
 * A text that many type into, seen by its writer at once.
 *
 * What is shown is the confirmed text, the edits that are on their way, and those that wait behind
 * them. One bunch is on its way at a time; what is typed meanwhile is gathered and goes next. Edits
 * of others come in between, and both sides are carried over each other
 * (groupcore/shared/types/editor.py does the same). Places are UTF-16 units, as in JavaScript.
 *
 * Rules.
 *   T1  An own edit is never applied twice: it is known by who made it, or by its verdict.
 *   T2  What is shown is the confirmed text with `sent` and `waiting` applied.
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
import { CallError } from "./errors";
import type { Item, Verdict } from "./messages";
import { type Change, changeOf, Shared } from "./object";

export interface TextChange extends Change {
  /** Where a place of the text before is now. */
  readonly move: (position: number) => number;
}

export class Text extends Shared<TextChange> {
  static readonly type = "Text";
  /** Why an own edit was not taken. The text stays as it is: save it and open the text anew. */
  error: CallError | null = null;
  private shown = "";
  private edits = 0;
  private sent: Delta | null = null;
  private sentNumber = 0;
  private sentVersion = 0;
  private waitingDelta: Delta = [];
  private isAsked = false;

  /** The text as its writer should see it. */
  get value(): string {
    return this.shown;
  }

  get length(): number {
    return this.shown.length;
  }

  /** How many edits the confirmed text has. */
  get confirmedEdits(): number {
    return this.edits;
  }

  /** Whether own edits have not come to their place in the order yet. */
  get unconfirmed(): boolean {
    return this.sent !== null || this.waitingDelta.length > 0;
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
    const delta = builder.finish();
    if (delta.length === 0) return;
    this.shown = applyDelta(delta, this.shown);
    this.waitingDelta = composeDelta(this.waitingDelta, delta);
    this.sendNext();
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

  protected override get base(): number | undefined {
    return this.birth === undefined ? undefined : this.edits;
  }

  override ask(): void {
    this.isAsked = this.birth !== undefined;
    super.ask();
  }

  private sendNext(): void {
    if (this.sent !== null || this.waitingDelta.length === 0 || this.error !== null) return;
    this.sent = this.waitingDelta;
    this.waitingDelta = [];
    this.sentNumber = this.nextNumber;
    this.sentVersion = 0;
    const number = this.sentNumber;
    this.call("edit", this.edits, this.sent).catch((error: CallError) => {
      if (number !== this.sentNumber) return;
      this.error = error;
      this.streams.push(this.replaced());
    });
  }

  protected override settle(done: readonly Verdict[]): void {
    const verdict = done.find(([n]) => n === this.sentNumber);
    if (this.sent !== null && verdict !== undefined && verdict[2] === "") {
      this.sentVersion = Number(verdict[1][0]);
    }
    super.settle(done);
  }

  protected override show(state: unknown): void {
    const { text, version, recent } = state as {
      text: string;
      version: number;
      recent: Delta[] | null;
    };
    if (!this.unconfirmed || this.error !== null) {
      if (this.error === null) this.shown = text;
      this.edits = version;
    } else if (recent !== null && this.edits + recent.length === version) {
      for (const delta of recent) {
        this.edits += 1;
        if (this.edits === this.sentVersion) this.confirmed();
        else this.takeOver(delta);
      }
      this.sendNext();
    } else if (this.isAsked) {
      this.error = new CallError("base_too_old", "too much has happened since the own edits");
    } else if (version !== this.edits) {
      // Not asked for with the place of the own edits: ask, and they are carried over.
      this.host.reopen(this.name);
    }
    this.isAsked = false;
  }

  protected override done(item: Item, mine: boolean): TextChange | null {
    const before = this.shown;
    let moved: Delta = [];
    for (const detail of item[3]) {
      const [version, delta] = detail as [number, Delta];
      if (version <= this.edits) continue;
      this.edits = version;
      if (mine && this.sent !== null) this.confirmed();
      else moved = composeDelta(moved, this.takeOver(delta));
    }
    this.sendNext();
    return { ...changeOf(item, mine), move: mover(before, moved) };
  }

  protected override replaced(): TextChange {
    return { ...super.replaced(), move: (position) => Math.min(position, this.shown.length) };
  }

  /** T1: what is on its way has its place; it is shown already. */
  private confirmed(): void {
    this.sent = null;
  }

  /** T2: an edit of somebody else; what it does to what is shown. */
  private takeOver(delta: Delta): Delta {
    let theirs = delta;
    if (this.sent !== null) {
      const sent = this.sent;
      this.sent = transformDelta(sent, theirs, true);
      theirs = transformDelta(theirs, sent, false);
    }
    const waiting = this.waitingDelta;
    this.waitingDelta = transformDelta(waiting, theirs, true);
    theirs = transformDelta(theirs, waiting, false);
    this.shown = applyDelta(theirs, this.shown);
    return theirs;
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
