/** What a cell gives to others and takes from them; as groupcore/shared/places/handover.py. */

import { lit } from "./behaviours";
import { DEPTH_MAX, PARCEL_BYTES, SPLITS_MAX, WENT_MAX } from "./limits";
import { PlaceRefusal } from "./refusal";
import { contains, isPath, parentOf, pathAt } from "./squares";
import {
  type CellState,
  type Context,
  noteLast,
  type Parcel,
  type Role,
  type Signal,
  type Verdict,
} from "./state";
import { checkPlace, prop, sizeBytes, type Thing } from "./thing";

/** What joint moves add to a hand-over; see joining.ts. */
export interface Verdicts {
  verdictsFor(cell: CellState, things: readonly Thing[], to: string): Verdict[];
  takeVerdict(cell: CellState, context: Context, source: string, verdict: Verdict): void;
  onTold(cell: CellState, context: Context, to: string, verdict: Verdict): void;
}

const NONE: ReadonlySet<string> = new Set();

export class Handover {
  constructor(
    readonly cell: CellState,
    readonly context: Context,
    private readonly joint: Verdicts,
  ) {}

  /** As `become` an inner cell, of those below which these are inner, too. */
  quartered(path: string, version: number, below: readonly string[]): void {
    const some = below.slice(0, SPLITS_MAX);
    if (!some.every((one) => isPath(one) && one.startsWith(path))) {
      throw new PlaceRefusal("bad_path");
    }
    this.become(path, version, "inner", new Set(some));
  }

  become(path: string, version: number, role: Role, below: ReadonlySet<string> = NONE): void {
    const { cell } = this;
    if (!isPath(path) || !["", path].includes(cell.path) || role === "unborn") {
      throw new PlaceRefusal("bad_path");
    }
    if (version <= cell.roleVersion) return;
    cell.path = path;
    cell.roleVersion = version;
    if (role === cell.role) return;
    cell.role = role;
    if (role === "leaf") return;
    const leaving = [...cell.things.keys()].filter((id) => !cell.busy.has(id));
    this.hold(
      leaving.map((id) => this.takeOut(id)),
      "",
      below,
    );
  }

  isHere(thing: Thing): boolean {
    return this.cell.role === "leaf" && contains(this.cell.path, thing.x, thing.y);
  }

  /** Have these things here, or owe them to the cell that is nearer to where they belong. */
  hold(things: readonly Thing[], to = "", below: ReadonlySet<string> = NONE): void {
    const there = new Map<string, Thing[]>();
    for (const thing of things) {
      if (this.isHere(thing)) {
        this.keep(thing);
      } else {
        const next = this.nextTo(thing, to, below);
        there.set(next, [...(there.get(next) ?? []), thing]);
      }
    }
    for (const [target, leaving] of there) {
      for (const some of portions(leaving.map((one) => ({ ...one, hops: one.hops + 1 })))) {
        this.owe(target, {
          things: some,
          verdicts: this.joint.verdictsFor(this.cell, some, target),
        });
      }
      for (const { id } of leaving) noteLast(this.cell.went, id, target, WENT_MAX);
    }
  }

  private nextTo({ x, y }: Thing, to: string, below: ReadonlySet<string>): string {
    const { path, role } = this.cell;
    if (role === "inner" && contains(path, x, y)) {
      const lowest = pathAt(x, y, DEPTH_MAX);
      let size = path.length + 1;
      while (below.has(lowest.slice(0, size)) && size < lowest.length) size += 1;
      return lowest.slice(0, size);
    }
    if (role === "leaf" && to !== path && isPath(to) && contains(to, x, y)) return to;
    return parentOf(path);
  }

  private keep(thing: Thing): void {
    this.cell.things.set(thing.id, thing);
    this.cell.went.delete(thing.id);
    if (isActive(thing)) this.cell.active.set(thing.id, true);
    else this.cell.active.delete(thing.id);
  }

  takeOut(id: string): Thing {
    const found = this.cell.things.get(id);
    if (found === undefined) throw new PlaceRefusal("no_such_thing");
    this.cell.things.delete(id);
    this.cell.active.delete(id);
    this.cell.grabs.delete(id);
    return found;
  }

  owe(to: string, what: Partial<Parcel>): void {
    const { given, owes } = this.cell;
    const number = (given.get(to) ?? 0) + 1;
    given.set(to, number);
    const parcel = {
      number,
      things: [],
      signals: [],
      verdicts: [],
      by: this.context.node,
      ...what,
    };
    owes.set(to, [...(owes.get(to) ?? []), parcel]);
  }

  /** Take a parcel; false: it was taken before. */
  accept(source: string, parcel: Parcel): boolean {
    const { cell } = this;
    if (!isPath(source) || source === cell.path || cell.role === "unborn") {
      throw new PlaceRefusal("bad_path");
    }
    parcel.things.forEach(checkPlace);
    if (parcel.number <= (cell.received.get(source) ?? 0)) return false;
    cell.received.set(source, parcel.number);
    for (const verdict of parcel.verdicts) {
      this.joint.takeVerdict(cell, this.context, source, verdict);
    }
    this.hold(parcel.things.map((thing) => this.named(thing)));
    for (const signal of parcel.signals) this.takeSignal(signal);
    return true;
  }

  /** Under another id where somebody has given its own to a thing here as well. */
  private named(thing: Thing): Thing {
    let id = thing.id;
    for (let number = 2; this.cell.things.has(id); number++)
      id = `${thing.id.slice(0, 56)}-${number}`;
    return id === thing.id ? thing : { ...thing, id };
  }

  handed(to: string, number: number): void {
    const { owes } = this.cell;
    const owed = owes.get(to) ?? [];
    const left = owed.filter((parcel) => parcel.number > number);
    if (left.length > 0) owes.set(to, left);
    else owes.delete(to);
    for (const parcel of owed.filter((one) => one.number <= number)) {
      for (const verdict of parcel.verdicts) {
        this.joint.onTold(this.cell, this.context, to, verdict);
      }
    }
  }

  takeSignal(signal: Signal): void {
    const lamp = this.cell.things.get(signal.lamp);
    const went = this.cell.went.get(signal.lamp);
    if (lamp !== undefined) this.cell.things.set(lamp.id, lit(lamp, signal.on));
    else if (went !== undefined) this.owe(went, { signals: [signal] });
  }
}

function portions(things: readonly Thing[]): Thing[][] {
  const all: Thing[][] = [];
  let some: Thing[] = [];
  let used = 0;
  for (const thing of things) {
    const size = sizeBytes(thing);
    if (some.length > 0 && used + size > PARCEL_BYTES) {
      all.push(some);
      some = [];
      used = 0;
    }
    some.push(thing);
    used += size;
  }
  return some.length > 0 ? [...all, some] : all;
}

function isActive(thing: Thing): boolean {
  if (thing.kind === "ball") return prop(thing, "vx") !== 0 || prop(thing, "vy") !== 0;
  return thing.kind === "timer" && prop(thing, "due") > 0;
}
