/** The doors of a place over a session with a node. */

import { CallError } from "../../client/errors";
import type { StoredObject } from "../../client/object";
import type { Session } from "../../client/session";
import { clipped } from "../../place/interest";
import type { Box } from "../../place/squares";
import type { CellState } from "../../place/state";
import type { Edit, Thing } from "../../place/thing";
import { CellObject, PlaceObject } from "../../place/wire";
import type { CellDoor, Doors, Far, How } from "./doors";
import { type Backdrop, type StoredPlace, stateless, withoutGrabs } from "./keeping";
import { OrderClock } from "./order-clock";

/** Objects that are no cells: the outline, who is here, the chat, squares in earshot, and some to spare. */
const OTHERS = 12;
/** So long a joint move waits for its parts to be saved. */
const SAVED_MS = 3_000;
const LOOK_MS = 20;
/** Until something is seen: where most people begin. */
const ORIGIN: Box = [0, 0, 1, 1];
/** By this part of itself what is seen has to be another one before the node is told. */
const MOVED = 1 / 4;
const WHOLE: ReadonlyMap<string, string> = new Map([["r", "leaf"]]);

export class SessionDoors implements Doors {
  onChange: (() => void) | null = null;
  /** A cell, or the place, cannot be had any more. */
  onEnd: ((error: unknown) => void) | null = null;
  /** The place does not get the name that it was to have. */
  onNotRenamed: (() => void) | null = null;
  readonly outline: PlaceObject;
  isLoaded = false;
  /** Another name that was asked for and is not given yet. */
  renamed: string | null;
  private readonly cells = new Map<string, CellObject>();
  private readonly opened = new Set<string>();
  private readonly clock = new OrderClock(Date.now);
  private backdrop: Backdrop | null = null;
  /** Of the outline in it. */
  private version = -1;

  /** `kept`: what a page before has left of the place. */
  constructor(
    private readonly session: Session,
    private readonly id: string,
    readonly after: (delay_ms: number, act: () => void) => () => void,
    private readonly kept: StoredPlace | null = null,
  ) {
    const [backdrop] = kept?.outline ?? [];
    this.outline = session.attach(PlaceObject, `place/${id}`, PlaceObject.type, (outline) => {
      outline.sight = ORIGIN;
      if (kept !== null) outline.resume(kept.place, backdrop?.outline ?? null);
    });
    this.outline.onAnswered = (code) => this.answered(code);
    this.renamed = kept?.renamed ?? null;
    this.isLoaded = backdrop !== undefined;
    void this.listen();
  }

  /** The cells of which a page before has left something. */
  get left(): string[] {
    return (this.kept?.cells ?? []).map(([path]) => path);
  }

  rename(title: string): void {
    this.renamed = title;
    // How it ends is heard by all, those of a page before, too.
    this.outline.rename(title).catch(() => undefined);
  }

  private answered(code: string): void {
    if (this.outline.unanswered === 0) this.renamed = null;
    if (code !== "") this.onNotRenamed?.();
    this.onChange?.();
  }

  /** What the next page needs; `isOffline`: it is to show the place as it is here. */
  stored(isOffline: boolean): Omit<StoredPlace, "errands"> {
    const objects = [...this.cells].map(([path, cell]) => [path, cell.stored] as const);
    const needed = objects.filter(([, { waiting, birth }]) => {
      return waiting.length > 0 || (isOffline && birth !== null);
    });
    const place = this.outline.stored;
    const about = { isPlace: true, renamed: this.renamed } as const;
    if (!isOffline || place.birth === null) {
      const cells = needed.map(([path, stored]) => [path, stateless(stored)] as const);
      return { ...about, cells, place: stateless(place) };
    }
    return { ...about, cells: needed, place, outline: [this.seenNow(needed, place.version)] };
  }

  /** The very same value for as long as nothing in it changes. */
  private seenNow(
    objects: readonly (readonly [string, StoredObject])[],
    version: number,
  ): Backdrop {
    const cells = objects.flatMap(([path, { birth }]) => {
      const state = birth === null ? undefined : this.cells.get(path)?.state;
      return state === undefined ? [] : [[path, state] as const];
    });
    const before = this.backdrop?.cells;
    const isSame =
      version === this.version &&
      before?.length === cells.length &&
      cells.every(([, state], at) => state === before[at]?.[1]);
    if (this.backdrop === null || !isSame) this.backdrop = { outline: this.outline.state, cells };
    this.version = version;
    return this.backdrop;
  }

  private async listen(): Promise<void> {
    try {
      const changes = this.outline.changes();
      await this.outline.ready;
      this.isLoaded = true;
      this.onChange?.();
      for await (const _ of changes) this.onChange?.();
    } catch (error) {
      this.onEnd?.(error);
    }
  }

  /** The node tells of what lies around it, too, so small steps make no difference. */
  look(sight: Box): void {
    const before = this.outline.sight ?? ORIGIN;
    const size = Math.min(...[before, sight].map(([left, , right]) => right - left));
    const isOther = sight.some((side, at) => Math.abs(side - (before[at] ?? 0)) > size * MOVED);
    if (isOther) this.outline.look(clipped(sight));
  }

  get tree(): ReadonlyMap<string, string> {
    return this.outline.tree.size > 0 ? this.outline.tree : WHOLE;
  }

  get far(): ReadonlyMap<string, Far> {
    return this.outline.far;
  }

  get who(): string {
    return this.session.who;
  }

  get orderTime_ms(): number {
    return this.clock.now_ms;
  }

  get isOnline(): boolean {
    return this.session.state === "connected";
  }

  get isStopped(): boolean {
    return this.session.stopped !== null;
  }

  get most(): number {
    return this.session.objectsMax - OTHERS;
  }

  open(path: string): CellDoor {
    const [, stored] = this.kept?.cells.find(([one]) => one === path) ?? [];
    const states = this.kept?.outline?.[0].cells ?? [];
    const state = states.find(([one]) => one === path)?.[1] ?? null;
    const isLeft = stored !== undefined && !this.opened.has(path);
    this.opened.add(path);
    const name = `place/${this.id}/${path}`;
    const cell = this.session.attach(CellObject, name, CellObject.type, (one) => {
      if (isLeft) one.resume(withoutGrabs(stored), state);
      one.onTime = (time_ms) => this.clock.hear(time_ms);
    });
    this.cells.set(path, cell);
    const closed = (): boolean => this.cells.delete(path);
    return new SessionDoor(
      cell,
      isLeft && state !== null,
      () => this.onChange?.(),
      this.after,
      closed,
    );
  }
}

class SessionDoor implements CellDoor {
  constructor(
    private readonly cell: CellObject,
    public isLoaded: boolean,
    private readonly changed: () => void,
    private readonly after: Doors["after"],
    private readonly closed: () => void,
  ) {
    void this.listen();
  }

  private async listen(): Promise<void> {
    try {
      const changes = this.cell.changes();
      await this.cell.ready;
      this.isLoaded = true;
      this.changed();
      for await (const _ of changes) this.changed();
    } catch (error) {
      // Too much came at once: the state is here, only its news were not told.
      if (error instanceof CallError && error.code === "too_slow") await this.listen();
    }
  }

  get state(): CellState {
    return this.cell.state;
  }

  get unanswered(): number {
    return this.cell.unanswered;
  }

  get unsaved(): number {
    return this.cell.unsaved;
  }

  get lastCall(): number {
    return this.cell.lastCall;
  }

  outcome(n: number): Promise<unknown> | null {
    return this.cell.outcome(n);
  }

  put(things: readonly Thing[]): Promise<unknown> {
    return this.cell.put(things);
  }

  change(edits: readonly Edit[]): Promise<unknown> {
    return this.cell.change(edits);
  }

  delete(things: readonly string[], version: number): Promise<unknown> {
    return this.cell.delete(things, "", version);
  }

  grab(things: readonly string[]): Promise<unknown> {
    return this.cell.grab(things);
  }

  release(things: readonly string[]): Promise<unknown> {
    return this.cell.release(things);
  }

  async prepare(joint: string, cells: string[], edits: readonly Edit[]): Promise<unknown> {
    const result = await this.cell.prepare(joint, cells, edits);
    await this.saved();
    return result;
  }

  /** A power cut could leave half of a joint move that was decided before all parts were on disk. */
  private async saved(): Promise<void> {
    for (let waited_ms = 0; waited_ms < SAVED_MS && this.cell.unsaved > 0; waited_ms += LOOK_MS) {
      await new Promise<void>((resolve) => this.after(LOOK_MS, resolve));
    }
  }

  decide(joint: string, done: boolean): Promise<unknown> {
    return this.cell.decide(joint, done);
  }

  operate(
    thing: string,
    action: string,
    given: readonly number[],
    { by, lamps }: How,
  ): Promise<unknown> {
    return this.cell.operate(thing, action, given, by, lamps);
  }

  close(): void {
    this.closed();
    this.cell.close();
  }
}
