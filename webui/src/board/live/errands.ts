/**
 * What a person has asked of a place, until it is done or refused for good.
 *
 * Idea. A wish is cut into errands, each of which one operation does, or one joint move. An errand
 * knows the calls by which it is being asked for: cell and number. All of it are plain values, so
 * that it outlives the tab: the page that goes on sends the same calls under the same numbers, and
 * asks again only where they had no good end.
 *
 * Rules.
 *   N1  An errand is there until its end is known: a page that was left, or may not go on, leaves
 *       it to the next one.
 *   N2  What could not be done because a thing had gone to another cell is asked again there.
 *   N3  Of a joint move that was not decided when its page ended, nothing is done: it is said so,
 *       and then it begins anew.
 *   N4  A thing acts once at most: of an act whose end was lost with its page nothing is asked again.
 */

import { randomId } from "../../ids";
import type { Edit, Thing } from "../../place/thing";
import type { Act } from "../model/foreseen";
import type { Wish } from "../model/own-changes";
import { type CellDoor, codeOf } from "./doors";

/** A call of a cell, by its number. */
type Asked = readonly [path: string, n: number];

/** As IndexedDB has it. */
export interface StoredErrand {
  readonly wish: Wish;
  readonly paths: readonly (readonly [id: string, path: string])[];
  readonly calls: readonly Asked[];
  readonly joint: StoredJoint | null;
}

interface StoredJoint {
  readonly id: string;
  /** The cell that decides. */
  readonly first: string;
  /** The call by which it is decided; null: it is not yet. */
  readonly decision: Asked | null;
}

export interface Errand {
  /** Of one kind: new things, edits, one deletion, or one act. */
  wish: Wish;
  /** Where things were when it was wished, for those that are only on their way. */
  readonly paths: ReadonlyMap<string, string>;
  /** The calls of the attempt under way. */
  calls: readonly Asked[];
  joint: StoredJoint | null;
}

/** What errands need of the place. */
export interface Ground {
  cell(path: string): CellDoor;
  leafOf(thing: Thing): string;
  /** The cell to ask about a thing; throws `no_such_thing`. */
  whereIs(id: string, paths: ReadonlyMap<string, string>): string;
  /** What goes into another leaf is told which, so that it need not ask its way. */
  routed(edits: readonly Edit[]): Edit[];
  /** The cells of what a thing is connected with, as far as they are known. */
  lampsOf(id: string): Readonly<Record<string, string>>;
  after(delay_ms: number, act: () => void): void;
  readonly who: string;
  /** The page is left, or its session has stopped: nothing has an end any more. */
  readonly isOver: boolean;
}

/** Reasons that pass: a thing is on its way to another cell, or a cell learns what it is. */
export const PASSING: ReadonlySet<string> = new Set([
  ...["not_here", "no_such_thing", "thing_busy", "not_open"],
]);
/** Who holds it may be oneself, in the page before. */
const OLD_PASSING: ReadonlySet<string> = new Set([...PASSING, "thing_held"]);
/** Reasons for which another page can still do it: the place may come back from the trash. */
const HELD: ReadonlySet<string> = new Set(["closed", "trashed"]);
const ATTEMPTS_MAX = 8;
const AGAIN_MS = 120;
/** Of what a page before has asked: nodes wait some 15 s for it before what it holds is free. */
const OLD_AGAIN_MS = 800;
/** So many things fit into an operation, by their number and their size. */
const PUTS_MAX = 20;
const EDITS_MAX = 100;

export class Errands {
  all: readonly Errand[] = [];
  /** So many were ever begun. */
  begun = 0;
  /** So many of these by a page before. */
  private takenUp = 0;
  /** There is more or less to be kept, or it is asked for by other calls. */
  onChange: (() => void) | null = null;

  constructor(private readonly ground: Ground) {}

  /** Something was asked for in this page. */
  get isBegunHere(): boolean {
    return this.begun > this.takenUp;
  }

  get stored(): StoredErrand[] {
    return this.all.map(({ wish, paths, calls, joint }) => {
      const { puts, edits, deletions, act } = wish;
      const ids = [...edits.map(({ id }) => id), ...deletions.map(([id]) => id)];
      if (act !== undefined) ids.push(act.id);
      const known = ids.flatMap((id) => {
        const path = paths.get(id);
        return path === undefined ? [] : [[id, path] as const];
      });
      const kept = { puts, edits, deletions, ...(act === undefined ? {} : { act }) };
      return { wish: kept, paths: known, calls, joint };
    });
  }

  /** Asks for all of a wish; gives how each part has ended. */
  async begin(
    wish: Wish,
    paths: ReadonlyMap<string, string>,
  ): Promise<PromiseSettledResult<void>[]> {
    const parts: Wish[] = [];
    const [edits, deletions] = [[], []];
    for (const some of grouped(wish.puts, (one) => this.ground.leafOf(one)).values()) {
      for (const puts of portions(some, PUTS_MAX)) parts.push({ puts, edits, deletions });
    }
    for (const some of portions(wish.edits, EDITS_MAX)) {
      parts.push({ puts: [], edits: some, deletions });
    }
    for (const one of wish.deletions) parts.push({ puts: [], edits, deletions: [one] });
    const { act } = wish;
    if (act !== undefined) parts.push({ puts: [], edits, deletions, act });
    const errands = parts.map((part): Errand => ({ wish: part, paths, calls: [], joint: null }));
    this.all = [...this.all, ...errands];
    this.begun += errands.length;
    return Promise.allSettled(errands.map((errand) => this.run(errand, false)));
  }

  /** Goes on with those of a page that has ended; gives how each has ended. */
  takeUp(stored: readonly StoredErrand[]): Promise<PromiseSettledResult<void>[]> {
    const errands = stored.map((one): Errand => ({ ...one, paths: new Map(one.paths) }));
    this.all = [...errands, ...this.all];
    this.begun += errands.length;
    this.takenUp += errands.length;
    return Promise.allSettled(errands.map((errand) => this.run(errand, true)));
  }

  private async run(errand: Errand, isOld: boolean): Promise<void> {
    try {
      if (isOld && (await this.hasEnded(errand))) return;
      const attempt = (): Promise<unknown> => {
        errand.calls = [];
        errand.joint = null;
        return this.attempt(errand);
      };
      if (isOld) await this.again(attempt, OLD_PASSING, OLD_AGAIN_MS);
      else await this.again(attempt);
    } catch (error) {
      // N1: whoever opens the place next goes on with it.
      if (this.ground.isOver || HELD.has(codeOf(error))) await new Promise<never>(() => undefined);
      throw error;
    } finally {
      this.all = this.all.filter((one) => one !== errand);
      this.onChange?.();
    }
  }

  /** N2. */
  async again(act: () => Promise<unknown>, passing = PASSING, again_ms = AGAIN_MS): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await act();
        return;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || !passing.has(codeOf(error))) throw error;
        await new Promise<void>((resolve) => this.ground.after(again_ms * attempt, resolve));
      }
    }
  }

  private attempt(errand: Errand): Promise<unknown> {
    const { puts, edits, deletions, act } = errand.wish;
    if (act !== undefined) return this.operate(errand, act);
    if (puts.length > 0) return this.put(errand, puts);
    const [gone] = deletions;
    return gone === undefined ? this.change(errand, edits) : this.remove(errand, ...gone);
  }

  /** A call of a cell, by which the errand is known again. */
  private ask<T>(errand: Errand, path: string, call: (cell: CellDoor) => Promise<T>): Promise<T> {
    const cell = this.ground.cell(path);
    const answer = call(cell);
    errand.calls = [...errand.calls, [path, cell.lastCall]];
    this.onChange?.();
    return answer;
  }

  // --- what is asked --------------------------------------------------------------------------

  /** The tree may be another one by the next attempt: then each thing goes its own way. */
  private async put(errand: Errand, things: readonly Thing[]): Promise<void> {
    const ways = grouped(things, (one) => this.ground.leafOf(one));
    const ends = await Promise.allSettled(
      [...ways].map(async ([path, some]) => {
        try {
          await this.ask(errand, path, (cell) => cell.put(some));
        } catch (error) {
          if (codeOf(error) !== "thing_exists") throw error;
          await this.putRest(errand, path, some);
        }
        const done = new Set(some);
        const left = errand.wish.puts.filter((one) => !done.has(one));
        // What is left of it, should another part have to be asked for again.
        if (left.length > 0) errand.wish = { ...errand.wish, puts: left };
      }),
    );
    throwFirst(ends);
  }

  /** Nobody else gives these ids: what exists was put by an attempt before. */
  private async putRest(errand: Errand, path: string, things: readonly Thing[]): Promise<void> {
    if (things.length === 1) return;
    const ends = await Promise.allSettled(
      things.map((one) => this.ask(errand, path, (cell) => cell.put([one]))),
    );
    throwFirst(ends.filter((end) => codeOfEnd(end) !== "thing_exists"));
  }

  private async change(errand: Errand, edits: readonly Edit[]): Promise<void> {
    const { ground } = this;
    const ways = grouped(edits, ({ id }) => ground.whereIs(id, errand.paths));
    const [only, ...others] = [...ways];
    if (only === undefined) return;
    const [path, some] = only;
    if (others.length > 0) await this.jointly(errand, ways);
    else await this.ask(errand, path, (cell) => cell.change(ground.routed(some)));
  }

  private async jointly(errand: Errand, ways: ReadonlyMap<string, readonly Edit[]>): Promise<void> {
    const { ground } = this;
    const joint = `${ground.who}-${randomId(8)}`;
    const paths = [...ways.keys()].sort();
    const [first = "", ...others] = paths;
    errand.joint = { id: joint, first, decision: null };
    const prepare = (path: string) =>
      this.ask(errand, path, (cell) =>
        cell.prepare(joint, paths, ground.routed(ways.get(path) ?? [])),
      );
    await prepare(first);
    const ends = await Promise.allSettled(others.map(prepare));
    const failed = ends.find((end) => end.status === "rejected");
    const isDone = await this.decide(errand, joint, first, failed === undefined);
    if (failed !== undefined) throw failed.reason;
    // It was given up meanwhile: who began it was away.
    if (!isDone) throw busy();
  }

  private async decide(
    errand: Errand,
    id: string,
    first: string,
    isDone: boolean,
  ): Promise<boolean> {
    const cell = this.ground.cell(first);
    const answer = cell.decide(id, isDone);
    errand.joint = { id, first, decision: [first, cell.lastCall] };
    this.onChange?.();
    return (await answer) !== false;
  }

  private async remove(errand: Errand, id: string, version: number): Promise<void> {
    const path = this.ground.whereIs(id, errand.paths);
    await this.ask(errand, path, (cell) => cell.delete([id], version));
  }

  private async operate(errand: Errand, { id, action, given, by }: Act): Promise<void> {
    const path = this.ground.whereIs(id, errand.paths);
    const how = { by, lamps: this.ground.lampsOf(id) };
    await this.ask(errand, path, (cell) => cell.operate(id, action, given, how));
  }

  // --- what a page before has asked -----------------------------------------------------------

  /** Whether the calls of a page before have done it; a reason that does not pass is thrown. */
  private async hasEnded(errand: Errand): Promise<boolean> {
    const { calls, joint } = errand;
    const answers = calls.map(([path, n]) => this.ground.cell(path).outcome(n));
    const isLost = answers.length > 0 && answers.every((one) => one === null);
    if (errand.wish.act !== undefined && isLost) return true; // N4
    const ends = await Promise.allSettled(answers.map((one) => one ?? Promise.reject(busy())));
    if (joint !== null) return this.isDecided(errand, joint);
    if (calls.length === 0) return false;
    const codes = ends.map(codeOfEnd);
    if (codes.every((code) => code === "")) return true;
    const isPassing = (code: string) => code === "thing_exists" || OLD_PASSING.has(code);
    throwFirst(ends.filter((_, place) => !isPassing(codes[place] ?? "")));
    return false;
  }

  /** N3. */
  private async isDecided(errand: Errand, { id, first, decision }: StoredJoint): Promise<boolean> {
    const answer = decision && this.ground.cell(first).outcome(decision[1]);
    if (answer) return (await answer.catch(() => false)) !== false;
    return this.decide(errand, id, first, false);
  }
}

function busy(): Error {
  return Object.assign(new Error("given up"), { code: "thing_busy" });
}

function codeOfEnd(end: PromiseSettledResult<unknown>): string {
  return end.status === "rejected" ? codeOf(end.reason) || "unknown" : "";
}

function throwFirst(ends: readonly PromiseSettledResult<unknown>[]): void {
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

export function grouped<T>(some: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const one of some) {
    const name = key(one);
    found.set(name, [...(found.get(name) ?? []), one]);
  }
  return found;
}

function portions<T>(some: readonly T[], most: number): T[][] {
  const found: T[][] = [];
  for (let from = 0; from < some.length; from += most) found.push(some.slice(from, from + most));
  return found;
}
