/**
 * What many type into at once, seen by its writer at once, whatever its edits are.
 *
 * What is shown is the confirmed value, the edits that are on their way, and those that wait behind
 * them. One bunch is on its way at a time; what is typed meanwhile is gathered and goes next. Edits
 * of others come in between, and both sides are carried over each other
 * (groupcore/shared/types/editor.py does the same).
 *
 * Rules.
 *   T1  An own edit is never applied twice: it is known by who made it, or by its verdict.
 *   T2  What is shown is the confirmed value with `sent` and `later` applied.
 */

import { type RichDelta, transformRichPosition } from "../shared/rich";
import { canGather, extended } from "../shared/typing";
import { CallError } from "./errors";
import type { Item, Verdict } from "./messages";
import { type Change, changeOf, Shared } from "./object";

/** What can be done with edits `D` of values `V`. */
export interface Algebra<D, V> {
  readonly apply: (delta: D, value: V) => V;
  readonly compose: (first: D, second: D) => D;
  readonly transform: (delta: D, other: D, otherFirst: boolean, otherLeft: boolean) => D;
  readonly nothing: D;
}

/** A snapshot: the value, how many edits led to it, and those since the own edits' base. */
export interface TypedState<D, V> {
  readonly value: V;
  readonly version: number;
  readonly recent: readonly D[] | null;
}

/** Own edits that go to the node as one; whether they extend what was written before (decision 202). */
interface Bunch<D> {
  readonly delta: D;
  readonly isGoingOn: boolean | null;
}

export abstract class Typed<D extends RichDelta, V, C extends Change = Change> extends Shared<C> {
  /** Why an own edit was not taken. The value stays as it is: save it and open the object anew. */
  error: CallError | null = null;
  protected abstract readonly algebra: Algebra<D, V>;
  protected abstract shown: V;
  private edits = 0;
  private sent: Bunch<D> | null = null;
  private sentNumber = 0;
  private sentVersion = 0;
  private later: readonly Bunch<D>[] = [];
  /** Behind what was written last, in what is shown. */
  private typing: number | null = null;
  private isAsked = false;

  /** How many edits the confirmed value has. */
  get confirmedEdits(): number {
    return this.edits;
  }

  /** Whether own edits have not come to their place in the order yet. */
  get unconfirmed(): boolean {
    return this.sent !== null || this.later.length > 0;
  }

  /** What a snapshot says. */
  protected abstract read(state: unknown): TypedState<D, V>;
  /** What is told of edits that led from `before` to what is shown now; `moved`: of others'. */
  protected abstract told(change: Change, before: V, moved: D): C;

  /** Does an own edit of what is shown. */
  protected write(delta: D): void {
    if (delta.length === 0) return;
    this.shown = this.algebra.apply(delta, this.shown);
    this.gather(delta);
    this.sendNext();
  }

  private gather(delta: D): void {
    const [isGoingOn, end] = extended(this.typing, delta);
    this.typing = end;
    const last = this.later.at(-1);
    if (last === undefined || !canGather(last.isGoingOn, isGoingOn)) {
      this.later = [...this.later, { delta, isGoingOn }];
      return;
    }
    const both = {
      delta: this.algebra.compose(last.delta, delta),
      isGoingOn: last.isGoingOn ?? isGoingOn,
    };
    this.later = [...this.later.slice(0, -1), both].filter((one) => one.delta.length > 0);
  }

  protected override get base(): number | undefined {
    return this.birth === undefined ? undefined : this.edits;
  }

  override ask(): void {
    this.isAsked = this.birth !== undefined;
    super.ask();
  }

  private sendNext(): void {
    const [next, ...others] = this.later;
    if (this.sent !== null || next === undefined || this.error !== null) return;
    this.sent = next;
    this.later = others;
    this.sentNumber = this.nextNumber;
    this.sentVersion = 0;
    const number = this.sentNumber;
    const more = next.isGoingOn ? [true] : [];
    this.call("edit", this.edits, next.delta, ...more).catch((error: CallError) => {
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
    const { value, version, recent } = this.read(state);
    if (!this.unconfirmed || this.error !== null) {
      if (this.error === null) [this.shown, this.typing] = [value, null];
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

  protected override done(item: Item, mine: boolean): C | null {
    const before = this.shown;
    let moved = this.algebra.nothing;
    for (const detail of item[3]) {
      const [version, delta] = detail as [number, D];
      if (version <= this.edits) continue;
      this.edits = version;
      if (mine && this.sent !== null) this.confirmed();
      else moved = this.algebra.compose(moved, this.takeOver(delta));
    }
    this.sendNext();
    return this.told(changeOf(item, mine), before, moved);
  }

  /** T1: what is on its way has its place; it is shown already. */
  private confirmed(): void {
    this.sent = null;
  }

  /** T2: an edit of somebody else; what it does to what is shown. */
  private takeOver(delta: D): D {
    const { apply, transform } = this.algebra;
    let theirs = delta;
    const carried = (mine: Bunch<D>): Bunch<D> => {
      const isLeft = mine.isGoingOn !== true;
      const over = transform(mine.delta, theirs, true, isLeft);
      theirs = transform(theirs, mine.delta, false, !isLeft);
      return { ...mine, delta: over };
    };
    this.sent = this.sent && carried(this.sent);
    this.later = this.later.map(carried).filter((one) => one.delta.length > 0);
    this.shown = apply(theirs, this.shown);
    if (this.typing !== null) this.typing = transformRichPosition(this.typing, theirs, "left");
    return theirs;
  }
}
