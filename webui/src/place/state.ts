/** What a page has of one cell of a place; as groupcore/shared/places/handover.py and parts.py. */

import type { Edit, Thing } from "./thing";

export type Role = "unborn" | "leaf" | "inner" | "out";

export interface Holder {
  readonly process: string;
  readonly by: string;
}

export interface Signal {
  readonly lamp: string;
  readonly on: boolean;
}

export interface Verdict {
  readonly joint: string;
  readonly done: boolean;
  readonly over: boolean;
  readonly asked: string;
  readonly things: readonly string[];
}

export interface Parcel {
  readonly number: number;
  readonly things: readonly Thing[];
  readonly signals: readonly Signal[];
  readonly verdicts: readonly Verdict[];
  readonly by: string;
}

export interface Joint {
  readonly id: string;
  readonly cells: readonly string[];
  readonly edits: readonly Edit[];
  readonly process: string;
}

export interface Outcome {
  readonly done: boolean;
  readonly cells: readonly string[];
  readonly told: readonly string[];
  readonly things: readonly string[];
  readonly passed: readonly string[];
}

/** Who calls an operation, and where in the order that has its place. */
export interface Context {
  readonly process: string;
  readonly node: string;
  readonly principal: string;
  /** Whether the process is in the cell's group. */
  readonly isMember: boolean;
  readonly position: number;
  readonly timeMs: number;
}

/** The state of a cell; its tables keep the order in which they were filled. */
export interface CellState {
  path: string;
  role: Role;
  roleVersion: number;
  ticks: number;
  things: Map<string, Thing>;
  grabs: Map<string, Holder>;
  active: Map<string, boolean>;
  owes: Map<string, readonly Parcel[]>;
  received: Map<string, number>;
  went: Map<string, string>;
  gone: Map<string, number>;
  joints: Map<string, Joint>;
  busy: Map<string, string>;
  outcomes: Map<string, Outcome>;
  over: readonly string[];
  given: Map<string, number>;
}

export function newCell(): CellState {
  return {
    path: "",
    role: "unborn",
    roleVersion: 0,
    ticks: 0,
    things: new Map(),
    grabs: new Map(),
    active: new Map(),
    owes: new Map(),
    received: new Map(),
    went: new Map(),
    gone: new Map(),
    joints: new Map(),
    busy: new Map(),
    outcomes: new Map(),
    over: [],
    given: new Map(),
  };
}

/** Another one that is equal, and shares what cannot be changed. */
export function copyOf(cell: CellState): CellState {
  return {
    ...cell,
    things: new Map(cell.things),
    grabs: new Map(cell.grabs),
    active: new Map(cell.active),
    owes: new Map(cell.owes),
    received: new Map(cell.received),
    went: new Map(cell.went),
    gone: new Map(cell.gone),
    joints: new Map(cell.joints),
    busy: new Map(cell.busy),
    outcomes: new Map(cell.outcomes),
    given: new Map(cell.given),
  };
}

/** Note a value as the latest, and forget the oldest beyond `most`. */
export function noteLast<T>(table: Map<string, T>, key: string, value: T, most: number): void {
  table.delete(key);
  table.set(key, value);
  for (const oldest of table.keys()) {
    if (table.size <= most) break;
    table.delete(oldest);
  }
}
