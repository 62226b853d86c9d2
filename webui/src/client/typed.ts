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
 *   T2  What is shown is the confirmed value with `sent` and `waiting` applied.
 */

import { CallError } from "./errors";
import type { Item, Verdict } from "./messages";
import { type Change, changeOf, Shared } from "./object";

/** What can be done with edits `D` of values `V`. */
export interface Algebra<D, V> {
  readonly apply: (delta: D, value: V) => V;
  readonly compose: (first: D, second: D) => D;
  readonly transform: (delta: D, other: D, otherFirst: boolean) => D;
  readonly nothing: D;
}

/** A snapshot: the value, how many edits led to it, and those since the own edits' base. */
export interface TypedState<D, V> {
  readonly value: V;
  readonly version: number;
  readonly recent: readonly D[] | null;
}

export abstract class Typed<
  D extends readonly unknown[],
  V,
  C extends Change = Change,
> extends Shared<C> {
  /** Why an own edit was not taken. The value stays as it is: save it and open the object anew. */
  error: CallError | null = null;
  protected abstract readonly algebra: Algebra<D, V>;
  protected abstract shown: V;
  private edits = 0;
  private sent: D | null = null;
  private sentNumber = 0;
  private sentVersion = 0;
  private waitingDelta: D | null = null;
  private isAsked = false;

  /** How many edits the confirmed value has. */
  get confirmedEdits(): number {
    return this.edits;
  }

  /** Whether own edits have not come to their place in the order yet. */
  get unconfirmed(): boolean {
    return this.sent !== null || this.waitingDelta !== null;
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
    const { waitingDelta: waiting } = this;
    const all = waiting === null ? delta : this.algebra.compose(waiting, delta);
    this.waitingDelta = all.length > 0 ? all : null;
  }

  protected override get base(): number | undefined {
    return this.birth === undefined ? undefined : this.edits;
  }

  override ask(): void {
    this.isAsked = this.birth !== undefined;
    super.ask();
  }

  private sendNext(): void {
    if (this.sent !== null || this.waitingDelta === null || this.error !== null) return;
    this.sent = this.waitingDelta;
    this.waitingDelta = null;
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
    const { value, version, recent } = this.read(state);
    if (!this.unconfirmed || this.error !== null) {
      if (this.error === null) this.shown = value;
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
    if (this.sent !== null) {
      const sent = this.sent;
      this.sent = transform(sent, theirs, true);
      theirs = transform(theirs, sent, false);
    }
    if (this.waitingDelta !== null) {
      const waiting = this.waitingDelta;
      const carried = transform(waiting, theirs, true);
      this.waitingDelta = carried.length > 0 ? carried : null;
      theirs = transform(theirs, waiting, false);
    }
    this.shown = apply(theirs, this.shown);
    return theirs;
  }
}
