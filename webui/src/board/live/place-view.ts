/**
 * A place as a page has it: the cells that it needs, and what the person did that has no answer yet.
 *
 * Rules.
 *   V1  What is shown is what the open cells show, with one's own unanswered wishes done on it.
 *   V2  A wish is asked once, of the cells where its things are; what is in several cells is one
 *       joint move, which is seen whole.
 *   V3  What could not be done because a thing had gone to another cell is asked again there.
 */

import { randomId } from "../../ids";
import { interest, type View } from "../../place/interest";
import { seen } from "../../place/shown";
import { type Box, leafAt } from "../../place/squares";
import type { CellState } from "../../place/state";
import { type Edit, edited, type Thing } from "../../place/thing";
import type { Wish } from "../model/own-changes";
import { type CellDoor, codeOf, type Doors, type Far } from "./doors";

/** Why something was not done; `holder`: who has hold of it. */
export interface NotDone {
  readonly code: string;
  readonly holder: string;
}

interface Own {
  readonly wish: Wish;
}

/** Reasons that pass: a thing is on its way to another cell, or a cell learns what it is. */
const PASSING = new Set(["not_here", "no_such_thing", "thing_busy", "not_open"]);
const ATTEMPTS_MAX = 8;
const AGAIN_MS = 120;
/** So many things fit into an operation, by their number and their size. */
const PUTS_MAX = 20;
const EDITS_MAX = 100;

export class PlaceView {
  onChange: (() => void) | null = null;
  private readonly cells = new Map<string, CellDoor>();
  private own: Own[] = [];
  private shown: ReadonlyMap<string, Thing> | null = null;
  private paths = new Map<string, string>();
  private box: Box = [0, 0, 1, 1];
  private asked: readonly string[] = [];

  constructor(private readonly doors: Doors) {
    doors.onChange = () => {
      this.open();
      this.changed();
    };
  }

  // --- what is shown --------------------------------------------------------------------------

  /** V1. */
  get things(): ReadonlyMap<string, Thing> {
    this.shown ??= this.look();
    return this.shown;
  }

  private look(): ReadonlyMap<string, Thing> {
    const states = new Map<string, CellState>();
    for (const [path, cell] of this.cells) if (cell.isLoaded) states.set(path, cell.state);
    const found = new Map<string, Thing>();
    this.paths = new Map();
    for (const [path, thing] of seen(states)) {
      found.set(thing.id, thing);
      this.paths.set(thing.id, path);
    }
    for (const { wish } of this.own) this.overlay(found, wish);
    return found;
  }

  private overlay(found: Map<string, Thing>, { puts, edits, deletions }: Wish): void {
    for (const thing of puts) {
      if (found.has(thing.id)) continue;
      found.set(thing.id, thing);
      this.paths.set(thing.id, this.leaf(thing));
    }
    for (const edit of edits) {
      const thing = found.get(edit.id);
      if (thing !== undefined) found.set(edit.id, attempted(thing, edit));
    }
    for (const [id] of deletions) found.delete(id);
  }

  /** Parts of the place in sight that are not here: as they are from afar. */
  get sketches(): readonly Far[] {
    const view = interest(
      { box: this.box, dx: 0, dy: 0 },
      this.doors.tree,
      new Set(this.cells.keys()),
    );
    const missing = [...view.far, ...view.needed].filter((path) => !this.cells.get(path)?.isLoaded);
    return missing.flatMap((path) => this.doors.far.get(path) ?? []);
  }

  /** The box around everything, as far as it is known; null: there is nothing. */
  get bounds(): Box | null {
    const boxes = [...this.doors.far.values()]
      .filter(({ count }) => count > 0)
      .map(({ box }) => box);
    if (boxes.length === 0) return null;
    const [lefts, tops, rights, bottoms] = [0, 1, 2, 3].map((at) =>
      boxes.map((box) => box[at] ?? 0),
    ) as [number[], number[], number[], number[]];
    return [Math.min(...lefts), Math.min(...tops), Math.max(...rights), Math.max(...bottoms)];
  }

  /** Whether all of what is in sight has come. */
  get isLoaded(): boolean {
    return this.asked.length > 0 && this.asked.every((path) => this.cells.get(path)?.isLoaded);
  }

  /** The cells that are here. */
  get loaded(): readonly string[] {
    return [...this.cells].flatMap(([path, { isLoaded }]) => (isLoaded ? [path] : []));
  }

  get unsaved(): number {
    let count = 0;
    for (const { unsaved } of this.cells.values()) count += unsaved;
    return Math.max(count, this.own.length);
  }

  /** Who has hold of a thing; "": nobody, or this session. */
  holderOf(id: string): string {
    for (const { state } of this.cells.values()) {
      const holder = state.grabs.get(id);
      if (holder !== undefined && holder.process !== this.doors.who) return holder.process;
    }
    return "";
  }

  // --- which cells are open -------------------------------------------------------------------

  view(view: View): void {
    this.box = view.box;
    const { needed } = interest(view, this.doors.tree, new Set(this.cells.keys()));
    this.asked = needed.slice(0, this.doors.most);
    this.open();
  }

  private open(): void {
    const { tree, most } = this.doors;
    for (const path of this.asked) {
      const isLeaf = tree.get(path) !== "inner";
      if (isLeaf && !this.cells.has(path) && this.cells.size < most) this.cell(path);
    }
    const wanted = new Set(this.asked);
    for (const [path, cell] of [...this.cells]) {
      if (wanted.has(path) && tree.get(path) !== "inner") continue;
      if (cell.unanswered > 0 || this.isOwing(path, cell)) continue;
      this.cells.delete(path);
      cell.close();
      this.changed();
    }
  }

  /** What a cell gives away is shown from there until the others have it. */
  private isOwing(path: string, { state }: CellDoor): boolean {
    return this.asked.some((one) => one.startsWith(path)) && state.owes.size > 0;
  }

  private cell(path: string): CellDoor {
    const found = this.cells.get(path) ?? this.doors.open(path);
    this.cells.set(path, found);
    return found;
  }

  private leaf({ x, y }: Thing): string {
    return leafAt(this.doors.tree, x, y);
  }

  private changed(): void {
    this.shown = null;
    this.onChange?.();
  }

  // --- what the person does -------------------------------------------------------------------

  /** Shows a wish at once, and asks for it; NotDone is thrown with what was not done. */
  async wish(wish: Wish): Promise<void> {
    const before = this.things;
    const paths = new Map(this.paths);
    const own = { wish };
    this.own = [...this.own, own];
    this.changed();
    try {
      const all: Promise<void>[] = [];
      for (const some of portions(wish.puts, PUTS_MAX)) all.push(this.put(some));
      for (const some of portions(wish.edits, EDITS_MAX)) all.push(this.change(some, paths));
      for (const [id, version] of wish.deletions) all.push(this.remove(id, version, paths));
      const ends = await Promise.allSettled(all);
      const failed = ends.find((end) => end.status === "rejected");
      if (failed !== undefined) throw this.notDone(failed.reason, wish, before);
    } finally {
      this.own = this.own.filter((one) => one !== own);
      this.open();
      this.changed();
    }
  }

  private notDone(error: unknown, wish: Wish, before: ReadonlyMap<string, Thing>): NotDone {
    const ids = [...wish.edits.map(({ id }) => id), ...wish.deletions.map(([id]) => id)];
    const holder = ids.filter((id) => before.has(id)).map((id) => this.holderOf(id));
    return { code: codeOf(error) || "unknown", holder: holder.find((one) => one !== "") ?? "" };
  }

  private async put(things: readonly Thing[]): Promise<void> {
    const ways = grouped(things, (one) => this.leaf(one));
    await Promise.all(
      [...ways.values()].map((some) =>
        this.again(() => {
          // The tree may be another one by the next attempt: then each goes its own way.
          const paths = new Set(some.map((one) => this.leaf(one)));
          return Promise.all(
            [...paths].map((path) =>
              this.cell(path).put(some.filter((one) => this.leaf(one) === path)),
            ),
          );
        }),
      ),
    );
  }

  /** V2. `paths`: where things were when it was wished, for those that are only on their way. */
  private change(edits: readonly Edit[], paths: ReadonlyMap<string, string>): Promise<void> {
    return this.again(async () => {
      const ways = grouped(edits, ({ id }) => this.whereIs(id, paths));
      const [only, ...others] = [...ways];
      if (only === undefined) return;
      if (others.length === 0) await this.cell(only[0]).change(this.routed(only[1]));
      else await this.jointly(ways);
    });
  }

  /** What goes into another leaf is told which, so that it need not ask its way. */
  private routed(edits: readonly Edit[]): Edit[] {
    return edits.map((edit) => {
      const [x, y] = ["x", "y"].map((name) => edit.changes.find(([field]) => field === name)?.[1]);
      if (typeof x !== "number" && typeof y !== "number") return edit;
      const now = this.things.get(edit.id);
      const at = { x: Number(x ?? now?.x ?? 0), y: Number(y ?? now?.y ?? 0) };
      return { ...edit, to: leafAt(this.doors.tree, at.x, at.y) };
    });
  }

  private async jointly(ways: ReadonlyMap<string, readonly Edit[]>): Promise<void> {
    const joint = `${this.doors.who}-${randomId(8)}`;
    const paths = [...ways.keys()].sort();
    const [first = "", ...others] = paths;
    const prepare = (path: string) =>
      this.cell(path).prepare(joint, paths, this.routed(ways.get(path) ?? []));
    await prepare(first);
    const ends = await Promise.allSettled(others.map(prepare));
    const failed = ends.find((end) => end.status === "rejected");
    const isDone = await this.cell(first).decide(joint, failed === undefined);
    if (failed !== undefined) throw failed.reason;
    // It was given up meanwhile: who began it was away.
    if (isDone === false) throw Object.assign(new Error("given up"), { code: "thing_busy" });
  }

  private remove(id: string, version: number, paths: ReadonlyMap<string, string>): Promise<void> {
    return this.again(async () => {
      await this.cell(this.whereIs(id, paths)).delete([id], version);
    });
  }

  private whereIs(id: string, paths: ReadonlyMap<string, string>): string {
    void this.things;
    const path = this.paths.get(id) ?? paths.get(id);
    if (path === undefined) throw Object.assign(new Error(id), { code: "no_such_thing" });
    const went = this.cells.get(path)?.state.went.get(id);
    return went !== undefined && !this.cells.get(path)?.state.things.has(id) ? went : path;
  }

  /** V3. */
  private async again(act: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await act();
        return;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || !PASSING.has(codeOf(error))) throw error;
        await new Promise<void>((resolve) => this.doors.after(AGAIN_MS * attempt, resolve));
      }
    }
  }

  /** Takes hold of things; NotDone is thrown where somebody else has one. */
  async grab(ids: readonly string[]): Promise<void> {
    const ways = grouped(ids, (id) => this.paths.get(id) ?? "");
    for (const [path, some] of ways) {
      if (path === "" || !this.doors.isOnline) continue;
      try {
        await this.cell(path).grab(some);
      } catch (error) {
        if (PASSING.has(codeOf(error)) || codeOf(error) === "not_member") continue;
        throw {
          code: codeOf(error),
          holder: some.map((id) => this.holderOf(id)).find(Boolean) ?? "",
        };
      }
    }
  }

  release(ids: readonly string[]): void {
    for (const [path, cell] of this.cells) {
      const mine = ids.filter((id) => cell.state.grabs.get(id)?.process === this.doors.who);
      if (mine.length > 0 && path !== "") cell.release(mine).catch(() => undefined);
    }
  }

  /** Toggles, rolls, votes: what other faces do with the same things. */
  operate(id: string, action: string, given: readonly number[]): Promise<void> {
    return this.again(async () => {
      await this.cell(this.whereIs(id, new Map())).operate(id, action, given);
    });
  }

  close(): void {
    for (const cell of this.cells.values()) cell.close();
    this.cells.clear();
  }
}

/** An edit that cannot be shown is judged where it is ordered. */
function attempted(thing: Thing, edit: Edit): Thing {
  try {
    return edited(thing, edit);
  } catch {
    return thing;
  }
}

function grouped<T>(some: readonly T[], key: (one: T) => string): Map<string, T[]> {
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
