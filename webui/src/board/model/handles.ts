/** The handles of what is selected: corners and edges to resize it, one above to turn it. */

import { distance, type Frame, outside, type Point, rotated } from "./geometry";
import { radians } from "./units";

export type HandleName = "nw" | "n" | "ne" | "e" | "se" | "s" | "sw" | "w" | "turn";

export interface Handle {
  readonly name: HandleName;
  readonly at: Point;
}

const SIDES: Readonly<Record<Exclude<HandleName, "turn">, readonly [x: number, y: number]>> = {
  nw: [-1, -1],
  n: [0, -1],
  ne: [1, -1],
  e: [1, 0],
  se: [1, 1],
  s: [0, 1],
  sw: [-1, 1],
  w: [-1, 0],
};
/** Pixels: the handle to turn is so far above, and others are around. */
const ABOVE = 28;
const AROUND = 6;
/** Edges shorter than this have no handle of their own. */
const EDGE_MIN = 48;

/** `step`: lengths of the place that a pixel is. */
export function handlesOf(frame: Frame, step: number): Handle[] {
  const [across, down] = [frame.width / 2 + AROUND * step, frame.height / 2 + AROUND * step];
  const found: Handle[] = [];
  for (const [name, [x, y]] of Object.entries(SIDES)) {
    if (x === 0 && frame.width < EDGE_MIN * step) continue;
    if (y === 0 && frame.height < EDGE_MIN * step) continue;
    found.push({ name: name as HandleName, at: outside({ x: x * across, y: y * down }, frame) });
  }
  const top = outside({ x: 0, y: -down - ABOVE * step }, frame);
  return [...found, { name: "turn", at: top }];
}

export function handleAt(
  handles: readonly Handle[],
  point: Point,
  near: number,
): HandleName | null {
  let found: HandleName | null = null;
  let least = near;
  for (const { name, at } of handles) {
    const far = distance(at, point);
    if (far <= least) [found, least] = [name, far];
  }
  return found;
}

export interface Resized {
  readonly frame: Frame;
  /** Whether it is seen as in a mirror: sides have been drawn past each other. */
  readonly factors: readonly [across: number, down: number];
}

/** A frame whose handle is drawn to a point; `keepsShape`: with the same proportions; `isCentred`. */
export function resized(
  frame: Frame,
  name: Exclude<HandleName, "turn">,
  to: Point,
  keepsShape: boolean,
  isCentred: boolean,
  least: number,
): Resized {
  const [sx, sy] = SIDES[name];
  const anchor = isCentred
    ? { x: frame.x, y: frame.y }
    : outside({ x: (-sx * frame.width) / 2, y: (-sy * frame.height) / 2 }, frame);
  const aim = rotated(to, anchor, -radians(frame.turn));
  const share = isCentred ? 2 : 1;
  let width = sx === 0 ? frame.width : Math.max(least, sx * (aim.x - anchor.x) * share);
  let height = sy === 0 ? frame.height : Math.max(least, sy * (aim.y - anchor.y) * share);
  if (keepsShape && frame.width > 0 && frame.height > 0) {
    const by = [sx === 0 ? 0 : width / frame.width, sy === 0 ? 0 : height / frame.height];
    const factor = Math.max(...by);
    [width, height] = [frame.width * factor, frame.height * factor];
  }
  const away = isCentred ? { x: 0, y: 0 } : { x: (sx * width) / 2, y: (sy * height) / 2 };
  const { x, y } = rotated(
    { x: anchor.x + away.x, y: anchor.y + away.y },
    anchor,
    radians(frame.turn),
  );
  const factors = [width / Math.max(1, frame.width), height / Math.max(1, frame.height)] as const;
  return { frame: { ...frame, x, y, width, height }, factors };
}

const CURSORS = ["ns-resize", "nesw-resize", "ew-resize", "nwse-resize"] as const;
const ANGLES: Readonly<Record<string, number>> = {
  n: 0,
  ne: 1,
  e: 2,
  se: 3,
  s: 4,
  sw: 5,
  w: 6,
  nw: 7,
};

/** Which pointer a handle has, as it is turned. */
export function cursorOf(name: HandleName, turn: number): string {
  if (name === "turn") return "grab";
  const eighth = (ANGLES[name] ?? 0) + Math.round((radians(turn) / Math.PI) * 4);
  return CURSORS[eighth % 4] ?? "default";
}
