/** What tools have in common: they hear of a pointer, and act on the board. */

import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import type { Things } from "../model/arrows";
import type { Camera } from "../model/camera";
import type { Frame, Point } from "../model/geometry";
import type { Handle } from "../model/handles";
import type { Look } from "../model/make";
import type { Guide } from "../model/snapping";

export type ToolName =
  | "select"
  | "hand"
  | "rectangle"
  | "ellipse"
  | "diamond"
  | "arrow"
  | "line"
  | "ink"
  | "text"
  | "sticky"
  | "frame"
  | "eraser"
  | "acting";

/** Where a pointer is, in the place and on the screen. */
export interface Press {
  readonly at: Point;
  readonly screen: Point;
  readonly isShift: boolean;
  readonly isAlt: boolean;
  /** Ctrl, or ⌘: nothing is moved to the edges of others. */
  readonly isFree: boolean;
  readonly kind: "mouse" | "touch" | "pen";
  /** How often one has pressed here, one after the other. */
  readonly count: number;
}

/** Makes things of one sort, which the menu of more things names. */
export interface Maker {
  readonly name: string;
  readonly kind: string;
  make(at: Point, look: Look, order: number): Thing;
}

/** What is seen of what a tool is doing, until it has done it. */
export interface Doing {
  readonly marquee: Box | null;
  readonly guides: readonly Guide[];
  /** Things as they would be, and new ones. */
  readonly drafts: Things;
  readonly ink: readonly Point[];
  readonly erased: ReadonlySet<string>;
  readonly hovered: string | null;
}

export const IDLE: Doing = {
  marquee: null,
  guides: [],
  drafts: new Map(),
  ink: [],
  erased: new Set(),
  hovered: null,
};

/** The board, as tools see it. */
export interface Desk {
  readonly things: Things;
  /** In sight, those behind first. */
  readonly drawn: readonly Thing[];
  readonly camera: Camera;
  readonly chosen: readonly Thing[];
  readonly frame: Frame | null;
  readonly handles: readonly Handle[];
  readonly mayWrite: boolean;
  readonly isSnapping: boolean;
  /** As near counts as on it, in lengths of the place. */
  near(press: Press): number;
  topAt(press: Press): Thing | null;
  /** What lies there of those that `is` names, though it is hollow. */
  holderAt(press: Press, is: (thing: Thing) => boolean): Thing | null;
  /** How a new thing of this kind looks. */
  lookOf(kind: string): Look;
  readonly nextOrder: number;
  /** What the tool for things that act makes; null: nothing was chosen. */
  readonly maker: Maker | null;
  select(ids: readonly string[]): void;
  show(doing: Partial<Doing>): void;
  pan(dx: number, dy: number): void;
  cursor(name: string): void;
  put(things: readonly Thing[]): void;
  /** Makes things be like these; arrows that are bound to them follow. */
  change(things: readonly Thing[]): void;
  remove(ids: readonly string[]): void;
  copyBy(things: readonly Thing[], dx: number, dy: number): void;
  /** Takes hold of things; false is told to the drag, which ends. */
  grab(ids: readonly string[], lost: () => void): void;
  release(): void;
  write(id: string): void;
  /** A second press on it: a document is read, into everything else is written. */
  open(thing: Thing): void;
  /** Whether a press at this point has the thing act, beside selecting it. */
  isUsedAt(thing: Thing, at: Point): boolean;
  useAt(thing: Thing, at: Point): void;
  /** A thing to write into that is not put before there is something in it. */
  writeNew(thing: Thing): void;
  /** The tool has done what it is for. */
  finished(): void;
}

export interface Tool {
  readonly cursor: string;
  down(press: Press): void;
  move(press: Press): void;
  up(press: Press): void;
  /** Nothing of what is under way is done. */
  cancel(): void;
  hover?(press: Press): void;
}

export function asMap(things: readonly Thing[]): Things {
  return new Map(things.map((thing) => [thing.id, thing]));
}
