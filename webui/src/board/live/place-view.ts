/**
 * A place as a page has it: the cells that it needs, and what the person did that has no answer yet.
 *
 * Rules.
 *   V1  What is shown is what the open cells show, with one's own unanswered wishes done on it.
 *   V2  A wish is asked once, of the cells where its things are; what is in several cells is one
 *       joint move, which is seen whole (errands.ts).
 */

import { interest, type View } from "../../place/interest";
import { seen } from "../../place/shown";
import { type Box, isDivided, leafAt } from "../../place/squares";
import type { CellState } from "../../place/state";
import { type Edit, edited, type Thing } from "../../place/thing";
import { type Act, foreseen } from "../model/foreseen";
import { NOTHING, type Wish } from "../model/own-changes";
import { type CellDoor, codeOf, type Doors, type Far } from "./doors";
import { Errands, type Ground, grouped, PASSING, type StoredErrand } from "./errands";

/** Why something was not done; `holder`: who has hold of it. */
export interface NotDone {
  readonly code: string;
  readonly holder: string;
}

/** A thing that goes through more cells than these is looked for again. */
const HOPS_MAX = 4;

export class PlaceView implements Ground {
  onChange: (() => void) | null = null;
  private readonly cells = new Map<string, CellDoor>();
  readonly errands = new Errands(this);
  private isClosed = false;
  /** What this page has hold of, or wants to. */
  private holding: readonly string[] = [];
  private shown: ReadonlyMap<string, Thing> | null = null;
  private paths = new Map<string, string>();
  private now: View = { box: [0, 0, 1, 1], dx: 0, dy: 0 };
  /** Whether something is looked at. */
  private isLooking = false;
  private asked: readonly string[] = [];

  constructor(private readonly doors: Doors) {
    doors.onChange = () => {
      this.ask();
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
    for (const { wish } of this.errands.all) this.overlay(found, wish);
    return found;
  }

  private overlay(found: Map<string, Thing>, { puts, edits, deletions, act }: Wish): void {
    for (const thing of puts) {
      if (found.has(thing.id)) continue;
      found.set(thing.id, thing);
      this.paths.set(thing.id, this.leafOf(thing));
    }
    for (const edit of edits) {
      const thing = found.get(edit.id);
      if (thing !== undefined) found.set(edit.id, attempted(thing, edit));
    }
    for (const [id] of deletions) found.delete(id);
    if (act === undefined) return;
    for (const thing of foreseen(act, found)) found.set(thing.id, thing);
  }

  /** Parts of the place in sight that are not here: as they are from afar. */
  get sketches(): readonly Far[] {
    const view = interest(
      { box: this.now.box, dx: 0, dy: 0 },
      this.doors.tree,
      new Set(this.cells.keys()),
    );
    const missing = [...view.far, ...view.needed].filter((path) => !this.cells.get(path)?.isLoaded);
    return missing.flatMap((path) => this.doors.far.get(path) ?? []);
  }

  /** The box around everything, as far as it is known; null: there is nothing. */
  get bounds(): Box | null {
    const { tree, far } = this.doors;
    const boxes = [...far]
      .filter(([path, { count }]) => count > 0 && !isDivided(tree, path))
      .map(([, { box }]) => box);
    if (boxes.length === 0) return null;
    const [lefts, tops, rights, bottoms] = [0, 1, 2, 3].map((at) =>
      boxes.map((box) => box[at] ?? 0),
    ) as [number[], number[], number[], number[]];
    return [Math.min(...lefts), Math.min(...tops), Math.max(...rights), Math.max(...bottoms)];
  }

  /** Whether all of what is in sight has come. */
  get isLoaded(): boolean {
    const isSeen = this.asked.length > 0 || (this.isLooking && this.sketches.length > 0);
    return isSeen && this.asked.every((path) => this.cells.get(path)?.isLoaded);
  }

  /** The cells that are here. */
  get loaded(): readonly string[] {
    return [...this.cells].flatMap(([path, { isLoaded }]) => (isLoaded ? [path] : []));
  }

  get unsaved(): number {
    let count = 0;
    for (const { unsaved } of this.cells.values()) count += unsaved;
    return Math.max(count, this.errands.all.length);
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
    this.now = view;
    this.isLooking = true;
    this.doors.look(view.box);
    this.ask();
    this.open();
  }

  /** Which cells are needed for what is looked at, by what is known of the tree. */
  private ask(): void {
    if (!this.isLooking) return;
    const { needed } = interest(this.now, this.doors.tree, new Set(this.cells.keys()));
    this.asked = needed.slice(0, this.doors.most);
  }

  private open(): void {
    const { tree, most } = this.doors;
    for (const path of this.asked) {
      const isLeaf = tree.get(path) !== "inner";
      if (isLeaf && !this.cells.has(path) && this.cells.size < most) this.cell(path);
    }
    // What is here without a connection could not be had again.
    if (!this.doors.isOnline) return;
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

  cell(path: string): CellDoor {
    const found = this.cells.get(path) ?? this.doors.open(path);
    this.cells.set(path, found);
    return found;
  }

  /** Of what lies where the tree is not known, a cell that gives it on. */
  leafOf({ x, y }: Thing): string {
    const { tree } = this.doors;
    const path = leafAt(tree, x, y);
    if (tree.get(path) !== "inner") return path;
    return this.asked[0] ?? path;
  }

  after(delay_ms: number, act: () => void): void {
    this.doors.after(delay_ms, act);
  }

  get who(): string {
    return this.doors.who;
  }

  get isOver(): boolean {
    return this.isClosed || this.doors.isStopped;
  }

  private changed(): void {
    this.shown = null;
    this.onChange?.();
  }

  // --- what the person does -------------------------------------------------------------------

  /** Shows a wish at once, and asks for it; NotDone is thrown with what was not done. */
  async wish(wish: Wish): Promise<void> {
    const before = this.things;
    const ends = this.errands.begin(wish, new Map(this.paths));
    this.changed();
    const failed = (await ends).find((end) => end.status === "rejected");
    this.open();
    this.changed();
    if (failed !== undefined) throw this.notDone(failed.reason, wish, before);
  }

  /** Goes on with what a page before has asked for; gives why some of it is not done. */
  async takeUp(stored: readonly StoredErrand[]): Promise<NotDone[]> {
    const ends = this.errands.takeUp(stored);
    this.changed();
    const failed = (await ends).filter((end) => end.status === "rejected");
    this.letGo();
    this.open();
    this.changed();
    return failed.map(({ reason }) => ({ code: codeOf(reason) || "unknown", holder: "" }));
  }

  private notDone(error: unknown, wish: Wish, before: ReadonlyMap<string, Thing>): NotDone {
    const ids = [...wish.edits.map(({ id }) => id), ...wish.deletions.map(([id]) => id)];
    if (wish.act !== undefined) ids.push(wish.act.id);
    const holder = ids.filter((id) => before.has(id)).map((id) => this.holderOf(id));
    return { code: codeOf(error) || "unknown", holder: holder.find((one) => one !== "") ?? "" };
  }

  /** What goes into another leaf is told which, so that it need not ask its way. */
  routed(edits: readonly Edit[]): Edit[] {
    return edits.map((edit) => {
      const [x, y] = ["x", "y"].map((name) => edit.changes.find(([field]) => field === name)?.[1]);
      if (typeof x !== "number" && typeof y !== "number") return edit;
      const now = this.things.get(edit.id);
      const at = { x: Number(x ?? now?.x ?? 0), y: Number(y ?? now?.y ?? 0) };
      return { ...edit, to: leafAt(this.doors.tree, at.x, at.y) };
    });
  }

  whereIs(id: string, paths: ReadonlyMap<string, string>): string {
    void this.things;
    const known = this.paths.get(id) ?? paths.get(id);
    if (known === undefined) throw Object.assign(new Error(id), { code: "no_such_thing" });
    let path = known;
    for (let hop = 0; hop < HOPS_MAX; hop++) {
      const state: CellState | undefined = this.cells.get(path)?.state;
      const next = state?.things.has(id) ? undefined : state?.went.get(id);
      if (next === undefined) break;
      path = next;
    }
    return path;
  }

  /** A node may take this page for the one before: what that one held nobody holds any more. */
  private letGo(): void {
    const held = [...this.cells.values()].flatMap(({ state }) => [...state.grabs.keys()]);
    const mine = new Set(this.holding);
    this.release(held.filter((id) => !mine.has(id)));
  }

  /** Takes hold of things; NotDone is thrown where somebody else has one. */
  async grab(ids: readonly string[]): Promise<void> {
    this.holding = ids;
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
    this.holding = this.holding.filter((id) => !ids.includes(id));
    for (const [path, cell] of this.cells) {
      const mine = ids.filter((id) => cell.state.grabs.get(id)?.process === this.doors.who);
      if (mine.length > 0 && path !== "") cell.release(mine).catch(() => undefined);
    }
  }

  /** Has a thing act, as `wish` does what people change. */
  operate(act: Act): Promise<void> {
    return this.wish({ ...NOTHING, act });
  }

  lampsOf(id: string): Readonly<Record<string, string>> {
    const links = this.things.get(id)?.links ?? [];
    const known = links.flatMap((lamp) => {
      const path = this.paths.get(lamp);
      return path === undefined ? [] : [[lamp, path] as const];
    });
    return Object.fromEntries(known);
  }

  /** The order's time now, as far as it is known here. */
  get orderTime_ms(): number {
    return this.doors.orderTime_ms;
  }

  get isOnline(): boolean {
    return this.doors.isOnline;
  }

  close(): void {
    this.isClosed = true;
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
