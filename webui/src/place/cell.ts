/**
 * A cell of a place, as a page keeps it: the ordered operations do here what they do at the nodes.
 *
 * groupcore/shared/places/cell.py has the rules; docs/vectors/places.json has cases for both.
 */

import { lit, operated, rung, stepped, wallsOf } from "./behaviours";
import { Handover } from "./handover";
import { decide, departed, free, prepare, requireLeaf, requireMember, VERDICTS } from "./joining";
import { BALLS_MAX, EDITS_MAX, THINGS_MAX, WENT_MAX } from "./limits";
import { PlaceRefusal } from "./refusal";
import { isPath } from "./squares";
import { type CellState, type Context, copyOf, noteLast, type Parcel, type Role } from "./state";
import { checkEdits, checkThing, type Edit, edited, type Thing } from "./thing";

const BY_MAX = 200;

export type Operation =
  | readonly ["become", path: string, version: number, role: Role]
  | readonly ["quartered", path: string, version: number, below: string[]]
  | readonly ["accept", source: string, parcel: Parcel]
  | readonly ["handed", to: string, number: number]
  | readonly ["prepare", joint: string, cells: string[], edits: Edit[], by: string]
  | readonly ["decide", joint: string, done: boolean]
  | readonly ["put", things: Thing[], to: string]
  | readonly ["change", edits: Edit[], by: string]
  | readonly ["delete", things: string[], by: string, version: number]
  | readonly ["grab", things: string[], by: string]
  | readonly ["release", things: string[], by: string]
  | readonly ["part", by: string]
  | readonly [
      "operate",
      thing: string,
      action: string,
      given: number[],
      by: string,
      lamps: Record<string, string>,
    ]
  | readonly ["tick", number: number]
  | readonly ["departed"];

/** The cell behind an operation; a refusal is thrown, and the cell is as it was. */
export function applied(
  cell: CellState,
  context: Context,
  operation: Operation,
): { cell: CellState; result: unknown } {
  const next = copyOf(cell);
  const result = new Acting(next, context).run(operation);
  return { cell: next, result: result ?? null };
}

class Acting {
  private readonly hands: Handover;

  constructor(
    private readonly cell: CellState,
    private readonly context: Context,
  ) {
    this.hands = new Handover(cell, context, VERDICTS);
  }

  run(operation: Operation): unknown {
    const { cell, context, hands } = this;
    switch (operation[0]) {
      case "become":
        return hands.become(operation[1], operation[2], operation[3]);
      case "quartered":
        return hands.quartered(operation[1], operation[2], operation[3]);
      case "accept":
        return hands.accept(operation[1], operation[2]);
      case "handed":
        return hands.handed(operation[1], operation[2]);
      case "prepare":
        return prepare(cell, context, operation[1], operation[2], operation[3], operation[4]);
      case "decide":
        return decide(cell, context, operation[1], operation[2]);
      case "put":
        return this.put(operation[1], operation[2]);
      case "change":
        return this.change(operation[1], operation[2]);
      case "delete":
        return this.remove(operation[1], operation[2], operation[3]);
      case "grab":
        return this.grab(operation[1], operation[2]);
      case "release":
        return this.release(operation[1], operation[2]);
      case "part":
        return this.letGo((process, by) => process === context.process && by === operation[1]);
      case "operate":
        return this.operate(operation[1], operation[2], operation[3], operation[4], operation[5]);
      case "tick":
        return this.tick(operation[1]);
      case "departed":
        departed(cell, context);
        return this.letGo((process) => process === context.process);
    }
  }

  private put(things: readonly Thing[], to: string): void {
    const { cell } = this;
    requireLeaf(cell);
    if (things.length > EDITS_MAX || new Set(things.map(({ id }) => id)).size !== things.length) {
      throw new PlaceRefusal("bad_thing");
    }
    if (cell.things.size + things.length > THINGS_MAX) throw new PlaceRefusal("cell_full");
    for (const thing of things) {
      checkThing(thing);
      const isOld = thing.hops <= (cell.gone.get(thing.id) ?? -1);
      if (cell.things.has(thing.id) || cell.went.has(thing.id) || isOld) {
        throw new PlaceRefusal("thing_exists");
      }
    }
    this.hands.hold(things, to);
  }

  private change(edits: readonly Edit[], by: string): string[] {
    requireLeaf(this.cell);
    checkEdits(edits, EDITS_MAX);
    const changed: [Thing, string][] = [];
    for (const edit of edits) {
      const before = free(this.cell, this.context, edit.id, by);
      const after = edited(before, edit);
      if (after !== before) changed.push([after, edit.to]);
    }
    this.holdChanged(changed);
    return changed.map(([{ id }]) => id);
  }

  private holdChanged(changed: readonly (readonly [Thing, string])[]): void {
    const ways = new Map<string, Thing[]>();
    for (const [thing, to] of changed) {
      if (!this.hands.isHere(thing)) this.hands.takeOut(thing.id);
      ways.set(to, [...(ways.get(to) ?? []), thing]);
    }
    for (const [to, some] of ways) this.hands.hold(some, to);
  }

  private remove(things: readonly string[], by: string, version: number): string[] {
    const { cell } = this;
    requireLeaf(cell);
    const gone: string[] = [];
    for (const id of new Set(things.slice(0, EDITS_MAX))) {
      if (!cell.things.has(id)) continue;
      const thing = free(cell, this.context, id, by);
      if (thing.locked) throw new PlaceRefusal("thing_locked");
      if (version === -1 || version === thing.version) gone.push(id);
    }
    for (const id of gone) noteLast(cell.gone, id, this.hands.takeOut(id).hops, Infinity);
    for (const id of cell.gone.keys()) {
      if (cell.gone.size <= WENT_MAX) break;
      cell.gone.delete(id);
    }
    return gone;
  }

  private grab(things: readonly string[], by: string): void {
    const { cell, context } = this;
    requireLeaf(cell);
    requireMember(context);
    if (things.length > EDITS_MAX || [...by].length > BY_MAX) throw new PlaceRefusal("bad_thing");
    const fresh: string[] = [];
    for (const id of new Set(things)) {
      if (free(cell, context, id, by).locked) throw new PlaceRefusal("thing_locked");
      if (!cell.grabs.has(id)) fresh.push(id);
    }
    for (const id of fresh) cell.grabs.set(id, { process: context.process, by });
  }

  private release(things: readonly string[], by: string): void {
    const some = new Set(things.slice(0, EDITS_MAX));
    const mine = this.context.process;
    this.letGo((process, held, id) => some.has(id) && process === mine && held === by);
  }

  private letGo(is: (process: string, by: string, id: string) => boolean): void {
    for (const [id, { process, by }] of [...this.cell.grabs]) {
      if (is(process, by, id)) this.cell.grabs.delete(id);
    }
  }

  private operate(
    id: string,
    action: string,
    given: readonly number[],
    by: string,
    lamps: Record<string, string>,
  ): void {
    const { cell, context } = this;
    requireLeaf(cell);
    const before = free(cell, context, id, by);
    const who = context.principal || by || context.process;
    const moment = { position: context.position, timeMs: context.timeMs, who };
    const after = operated(before, action, given, moment);
    checkThing(after);
    this.hands.hold([after]);
    if (after.kind !== "switch") return;
    const on = after.props.some(([name, value]) => name === "on" && value === true);
    for (const lamp of after.links) this.signal(lamp, on, lamps);
  }

  private signal(lamp: string, on: boolean, lamps: Record<string, string>): void {
    const { cell } = this;
    const known = Object.hasOwn(lamps, lamp) ? (lamps[lamp] ?? "") : "";
    const to = cell.went.get(lamp) || known;
    const here = cell.things.get(lamp);
    if (here !== undefined) cell.things.set(lamp, lit(here, on));
    else if (to !== cell.path && isPath(to)) this.hands.owe(to, { signals: [{ lamp, on }] });
  }

  private tick(number: number): void {
    const { cell, context } = this;
    if (number !== cell.ticks + 1 || cell.role !== "leaf") return;
    cell.ticks = number;
    const free = [...cell.active.keys()].filter((id) => !cell.busy.has(id));
    const active = free.flatMap((id) => cell.things.get(id) ?? []);
    for (const timer of active.filter(({ kind }) => kind === "timer")) {
      const after = rung(timer, context.timeMs);
      if (after !== null) this.hands.hold([after]);
    }
    const balls = active.filter(({ kind, id }) => kind === "ball" && !cell.grabs.has(id));
    if (balls.length === 0) return;
    const walls = wallsOf(cell.things.values());
    this.holdChanged(balls.slice(0, BALLS_MAX).map((ball) => [stepped(ball, walls), ""] as const));
  }
}
