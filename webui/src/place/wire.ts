/**
 * Places and their cells as the node tells them: arrays of fields, as in groupcore/gateway/place_kinds.py.
 *
 * A cell is followed by doing each operation that it is told (cell.ts). Where that is refused here,
 * which was done there, the state is asked for anew.
 */

import { CallError } from "../client/errors";
import type { About, Item } from "../client/messages";
import { type Change, changeOf, Shared, type StoredObject } from "../client/object";
import { applied, type Operation } from "./cell";
import { PlaceRefusal } from "./refusal";
import type { Box } from "./squares";
import {
  type CellState,
  type Context,
  type Holder,
  type Joint,
  newCell,
  type Outcome,
  type Parcel,
  type Role,
  type Signal,
  type Verdict,
} from "./state";
import type { Changes, Edit, Properties, Thing } from "./thing";

export type WireThing = readonly [
  id: string,
  kind: string,
  x: number,
  y: number,
  z: number,
  turn: number,
  width: number,
  height: number,
  depth: number,
  order: number,
  text: string,
  group: string,
  locked: boolean,
  style: Properties,
  props: Properties,
  points: readonly number[],
  links: readonly string[],
  votes: Thing["votes"],
  version: number,
  hops: number,
];
export type WireEdit = readonly [id: string, changes: Changes, expected: Changes, to: string];
type WireSignal = readonly [lamp: string, on: boolean];
type WireVerdict = readonly [
  joint: string,
  done: boolean,
  over: boolean,
  asked: string,
  things: readonly string[],
];
type WireParcel = readonly [
  number: number,
  things: readonly WireThing[],
  signals: readonly WireSignal[],
  verdicts: readonly WireVerdict[],
  by: string,
];
type WireHolder = readonly [process: string, by: string];
type WireJoint = readonly [
  id: string,
  cells: readonly string[],
  edits: readonly WireEdit[],
  process: string,
];
type WireOutcome = readonly [
  done: boolean,
  cells: readonly string[],
  told: readonly string[],
  things: readonly string[],
  passed: readonly string[],
];
type Pairs<T> = readonly (readonly [string, T])[];

/** A cell, as a snapshot has it. */
export interface WireCell {
  readonly path: string;
  readonly role: Role;
  readonly role_version: number;
  readonly ticks: number;
  readonly things: Pairs<WireThing>;
  readonly grabs: Pairs<WireHolder>;
  readonly active: Pairs<boolean>;
  readonly owes: Pairs<readonly WireParcel[]>;
  readonly received: Pairs<number>;
  readonly went: Pairs<string>;
  readonly gone: Pairs<number>;
  readonly joints: Pairs<WireJoint>;
  readonly busy: Pairs<string>;
  readonly outcomes: Pairs<WireOutcome>;
  readonly over: readonly string[];
  readonly given: Pairs<number>;
}

/** What an item of a cell tells: the operation's arguments, and what decides what it does. */
export type WireDone = readonly [
  args: readonly unknown[],
  timeMs: number,
  isMember: boolean,
  who: string,
];

// --- values ---------------------------------------------------------------------------------------

export function thingOf(wire: WireThing): Thing {
  const [id, kind, x, y, z, turn, width, height, depth, order, text, group, locked] = wire;
  const [, , , , , , , , , , , , , style, props, points, links, votes, version, hops] = wire;
  const size = { x, y, z, turn, width, height, depth, order };
  const more = { style, props, points, links, votes, version, hops };
  return { id, kind, ...size, text, group, locked, ...more };
}

export function thingToWire(thing: Thing): WireThing {
  const { id, kind, x, y, z, turn, width, height, depth, order, text, group, locked } = thing;
  const { style, props, points, links, votes, version, hops } = thing;
  const first = [id, kind, x, y, z, turn, width, height, depth, order, text, group] as const;
  return [...first, locked, style, props, points, links, votes, version, hops];
}

export function editOf([id, changes, expected, to]: WireEdit): Edit {
  return { id, changes, expected, to };
}

export function editToWire({ id, changes, expected, to }: Edit): WireEdit {
  return [id, changes, expected, to];
}

function parcelOf([number, things, signals, verdicts, by]: WireParcel): Parcel {
  return {
    number,
    things: things.map(thingOf),
    signals: signals.map(([lamp, on]): Signal => ({ lamp, on })),
    verdicts: verdicts.map(
      ([joint, done, over, asked, some]): Verdict => ({ joint, done, over, asked, things: some }),
    ),
    by,
  };
}

const holderOf = ([process, by]: WireHolder): Holder => ({ process, by });
const jointOf = ([id, cells, edits, process]: WireJoint): Joint => ({
  id,
  cells,
  edits: edits.map(editOf),
  process,
});
const outcomeOf = ([done, cells, told, things, passed]: WireOutcome): Outcome => ({
  done,
  cells,
  told,
  things,
  passed,
});

function table<W, T>(pairs: Pairs<W>, make: (wire: W) => T): Map<string, T> {
  return new Map(pairs.map(([key, wire]) => [key, make(wire)]));
}

/** The cell that a snapshot shows. */
export function cellOf(wire: WireCell): CellState {
  return {
    path: wire.path,
    role: wire.role,
    roleVersion: wire.role_version,
    ticks: wire.ticks,
    things: table(wire.things, thingOf),
    grabs: table(wire.grabs, holderOf),
    active: new Map(wire.active),
    owes: table(wire.owes, (parcels) => parcels.map(parcelOf)),
    received: new Map(wire.received),
    went: new Map(wire.went),
    gone: new Map(wire.gone),
    joints: table(wire.joints, jointOf),
    busy: new Map(wire.busy),
    outcomes: table(wire.outcomes, outcomeOf),
    over: [...wire.over],
    given: new Map(wire.given),
  };
}

// --- operations -----------------------------------------------------------------------------------

type Lamps = readonly [place: number, pairs: Pairs<string>] | null;

/** What an operation of this name with these arguments is; null: this page knows none. */
export function operationOf(name: string, args: readonly unknown[]): Operation | null {
  switch (name) {
    case "accept":
      return [name, args[0] as string, parcelOf(args[1] as WireParcel)];
    case "prepare": {
      const [joint, cells, edits, by] = args as [string, string[], WireEdit[], string];
      return [name, joint, cells, edits.map(editOf), by];
    }
    case "put":
      return [name, (args[0] as WireThing[]).map(thingOf), args[1] as string];
    case "change":
      return [name, (args[0] as WireEdit[]).map(editOf), args[1] as string];
    case "operate": {
      const [thing, action, given, by, lamps] = args as [string, string, number[], string, Lamps];
      return [name, thing, action, given, by, Object.fromEntries(lamps?.[1] ?? [])];
    }
    case "become":
    case "quartered":
    case "handed":
    case "decide":
    case "delete":
    case "grab":
    case "release":
    case "part":
    case "tick":
    case "departed":
      return [name, ...args] as unknown as Operation;
    default:
      return null;
  }
}

/** The cell behind an item; a refusal is thrown, also for what is of a later version than this. */
export function followed(cell: CellState, item: Item): CellState {
  const [position, process, name, details] = item;
  let next = cell;
  for (const [args, timeMs, isMember, principal] of details as readonly WireDone[]) {
    const operation = operationOf(name, args);
    if (operation === null) throw new PlaceRefusal("bad_action");
    const node = process.slice(0, process.lastIndexOf("/"));
    const context: Context = { process, node, principal, isMember, position, timeMs };
    next = applied(next, context, operation).cell;
  }
  return next;
}

// --- objects --------------------------------------------------------------------------------------

/** How a call of a page before ends. */
interface Ending {
  readonly end: Promise<readonly unknown[]>;
  readonly resolve: (results: readonly unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/** A cell that the page has open; `state` is another value behind each change. */
export class CellObject extends Shared {
  static readonly type = "Cell";
  state: CellState = newCell();
  /** Hears the order's time of each operation. */
  onTime: ((time_ms: number) => void) | null = null;
  private readonly endings = new Map<number, Ending>();

  /** Goes on from what was kept; `state`: of that version, null where none was. */
  resume(stored: StoredObject, state: CellState | null): void {
    this.restore(stored);
    if (state !== null) this.state = state;
    for (const [n] of stored.waiting) {
      let [resolve, reject]: [Ending["resolve"], Ending["reject"]] = [() => {}, () => {}];
      const end = new Promise<readonly unknown[]>((...both) => {
        [resolve, reject] = both;
      });
      end.catch(() => undefined);
      this.endings.set(n, { end, resolve, reject });
    }
  }

  /** The result of the first operation of a call of a page before; null: there is no such call. */
  outcome(n: number): Promise<unknown> | null {
    return this.endings.get(n)?.end.then(([result]) => result) ?? null;
  }

  protected override answered(n: number, results: readonly unknown[] | null, code: string): void {
    const ending = this.endings.get(n);
    if (results !== null) ending?.resolve(results);
    else ending?.reject(new CallError(code, code));
  }

  /** Puts new things; see docs/places.md for what is refused, here and below. */
  put(things: readonly Thing[], to = ""): Promise<unknown> {
    return this.call("put", things.map(thingToWire), to);
  }

  /** Changes things, all or none; gives the ids of those that were changed. */
  change(edits: readonly Edit[], by = ""): Promise<readonly string[]> {
    return this.call("change", edits.map(editToWire), by) as Promise<readonly string[]>;
  }

  delete(things: readonly string[], by = "", version = -1): Promise<readonly string[]> {
    return this.call("delete", things, by, version) as Promise<readonly string[]>;
  }

  grab(things: readonly string[], by = ""): Promise<unknown> {
    return this.call("grab", things, by);
  }

  release(things: readonly string[], by = ""): Promise<unknown> {
    return this.call("release", things, by);
  }

  operate(
    thing: string,
    action: string,
    given: readonly number[] = [],
    by = "",
    lamps: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    return this.call("operate", thing, action, given, by, [0, Object.entries(lamps)]);
  }

  /** Gets ready for a joint move; the first of `cells` is asked first, and decides. */
  prepare(
    joint: string,
    cells: readonly string[],
    edits: readonly Edit[],
    by = "",
  ): Promise<unknown> {
    return this.call("prepare", joint, cells, edits.map(editToWire), by);
  }

  decide(joint: string, done: boolean): Promise<boolean> {
    return this.call("decide", joint, done) as Promise<boolean>;
  }

  protected override show(state: unknown): void {
    this.state = cellOf(state as WireCell);
  }

  protected override done(item: Item, mine: boolean): Change {
    try {
      this.state = followed(this.state, item);
      this.tellTime(item);
    } catch (error) {
      if (!(error instanceof PlaceRefusal)) throw error;
      this.birth = undefined;
      this.host.reopen(this.name);
    }
    return changeOf(item, mine);
  }

  private tellTime(item: Item): void {
    for (const [, time_ms] of item[3] as readonly WireDone[]) this.onTime?.(time_ms);
  }
}

/** What a leaf looks like from afar. */
export interface Far {
  readonly count: number;
  readonly box: Box;
  readonly colours: readonly string[];
}

type WireFar = readonly [path: string, count: number, box: Box, colours: readonly string[]];
type WireRoles = Pairs<Role>;

export interface WireOutline {
  readonly title: string;
  readonly version: number;
  readonly tree: WireRoles;
  readonly far: readonly WireFar[];
  /** This comes to what is here, and what lies below these cells is not followed any more. */
  readonly left?: readonly string[];
}

export type PlaceDetail =
  | readonly ["title", title: string]
  | readonly ["tree", version: number, roles: WireRoles]
  | readonly ["far", news: readonly WireFar[]];

/** What changes who may what: the list itself is not told. */
const LISTINGS: ReadonlySet<string> = new Set(["claim", "entitle", "grant", "revoke"]);

/**
 * A place's name, its tree of cells, and what they look like from afar.
 *
 * With a `sight` that is what concerns what is seen: regions of the tree, and of what lies below
 * them and is not here, what it looks like together (groupcore/gateway/outline_parts.py).
 */
export class PlaceObject extends Shared {
  static readonly type = "PlaceOutline";
  title = "";
  treeVersion = 0;
  readonly tree = new Map<string, Role>();
  readonly far = new Map<string, Far>();
  /** What is seen of the place when it is asked for; null: all. */
  sight: Box | null = null;
  /** Who may what has changed. */
  onRights: (() => void) | null = null;
  /** A call has its answer; "": it was done. */
  onAnswered: ((code: string) => void) | null = null;

  protected override get about(): About {
    return this.sight === null ? {} : { sight: this.sight };
  }

  /** Something else is seen from now on. */
  look(sight: Box): void {
    this.sight = sight;
    this.host.send({ t: "look", name: this.name, sight });
  }

  rename(title: string): Promise<unknown> {
    return this.call("rename", title);
  }

  /** Goes on from what was kept; `state`: of that version, null where none was. */
  resume(stored: StoredObject, state: WireOutline | null): void {
    this.restore(stored);
    if (state !== null) this.show(state);
  }

  protected override answered(_n: number, _results: unknown, code: string): void {
    this.onAnswered?.(code);
  }

  /** Everything here, as a snapshot has it. */
  get state(): WireOutline {
    const far = [...this.far].map(([path, one]): WireFar => {
      return [path, one.count, one.box, one.colours];
    });
    return { title: this.title, version: this.treeVersion, tree: [...this.tree], far };
  }

  protected override show(state: unknown): void {
    const { title, version, tree, far, left = [""] } = state as WireOutline;
    this.title = title;
    this.treeVersion = version;
    for (const root of left) this.leave(root);
    this.take(tree);
    this.know(far);
  }

  private leave(root: string): void {
    for (const known of [this.tree, this.far]) {
      for (const path of known.keys()) {
        if (path.startsWith(root) && path !== root) known.delete(path);
      }
    }
  }

  /** Cells that are out are none any more. */
  private take(roles: WireRoles): void {
    for (const [path, role] of roles) {
      if (role === "out") this.tree.delete(path);
      else this.tree.set(path, role);
      if (role !== "leaf") this.far.delete(path);
    }
  }

  private know(news: readonly WireFar[]): void {
    for (const [path, count, box, colours] of news) this.far.set(path, { count, box, colours });
  }

  protected override done(item: Item, mine: boolean): Change {
    for (const detail of item[3] as readonly PlaceDetail[]) this.follow(detail);
    if (LISTINGS.has(item[2])) this.onRights?.();
    return changeOf(item, mine);
  }

  private follow(detail: PlaceDetail): void {
    switch (detail[0]) {
      case "title":
        this.title = detail[1];
        break;
      case "tree":
        this.treeVersion = detail[1];
        this.take(detail[2]);
        break;
      case "far":
        this.know(detail[1]);
    }
  }
}
