/** What stands in the way of who walks: upright boxes, and the way around them. */

import type { Point } from "../../board/model/geometry";
import { radians } from "../../board/model/units";
import type { Thing } from "../../place/thing";
import { bodyOf, isSolid, PANEL_THICKNESS, type Panel } from "./forms";
import { ahead, METRE } from "./metres";

/** A box on the floor, turned about its middle; in metres. */
export interface Solid extends Point {
  readonly across: number;
  readonly deep: number;
  readonly high: number;
  readonly sin: number;
  readonly cos: number;
}

/** Of the squares by which solids are found. */
const SQUARE = 4;
/** What reaches over more squares is asked of everywhere. */
const SQUARES_MAX = 64;
const LARGE_MAX = 100;
const NEAR_MAX = 60;
const ROUNDS = 3;

function solid(at: Point, across: number, deep: number, high: number, heading: number): Solid {
  const [sin, cos] = [Math.sin(heading), Math.cos(heading)];
  return { x: at.x, y: at.y, across, deep, high, sin, cos };
}

export function solidOf(thing: Thing): Solid {
  const { across, deep, high } = bodyOf(thing);
  const at = { x: thing.x / METRE, y: thing.y / METRE };
  return solid(at, across, deep, high, radians(thing.turn));
}

export function solidPanel(panel: Panel): Solid {
  return solid(panel, panel.width, PANEL_THICKNESS, panel.height, panel.heading);
}

/** A point as seen from a solid's middle. */
function local({ x, y }: Point, box: Solid): Point {
  const [dx, dy] = [x - box.x, y - box.y];
  return { x: dx * box.cos + dy * box.sin, y: dy * box.cos - dx * box.sin };
}

function global({ x, y }: Point, box: Solid): Point {
  return { x: box.x + x * box.cos - y * box.sin, y: box.y + x * box.sin + y * box.cos };
}

/**
 * The point moved out of a box so that a circle about it touches it at most.
 *
 * Who stands deep inside of one may walk out of it: what was put over somebody throws nobody far.
 */
function pushed(point: Point, radius: number, box: Solid): Point {
  const at = local(point, box);
  const [across, deep] = [box.across / 2, box.deep / 2];
  const near = {
    x: Math.min(across, Math.max(-across, at.x)),
    y: Math.min(deep, Math.max(-deep, at.y)),
  };
  const [dx, dy] = [at.x - near.x, at.y - near.y];
  const far = Math.hypot(dx, dy);
  if (far >= radius) return point;
  if (far > 1e-9) {
    const by = radius / far;
    return global({ x: near.x + dx * by, y: near.y + dy * by }, box);
  }
  const [left, right] = [across - Math.abs(at.x), deep - Math.abs(at.y)];
  if (Math.min(left, right) > radius) return point;
  if (left < right) return global({ x: Math.sign(at.x || 1) * (across + radius), y: at.y }, box);
  return global({ x: at.x, y: Math.sign(at.y || 1) * (deep + radius) }, box);
}

export class Solids {
  private readonly squares = new Map<string, Solid[]>();
  private readonly large: Solid[] = [];

  constructor(things: readonly Thing[], panels: readonly Panel[]) {
    for (const panel of panels) this.add(solidPanel(panel));
    for (const thing of things) if (isSolid(thing)) this.add(solidOf(thing));
  }

  private add(box: Solid): void {
    const reach = Math.hypot(box.across, box.deep) / 2;
    const at = (value: number) => Math.floor(value / SQUARE);
    const [left, right] = [at(box.x - reach), at(box.x + reach)];
    const [top, bottom] = [at(box.y - reach), at(box.y + reach)];
    if ((right - left + 1) * (bottom - top + 1) > SQUARES_MAX) {
      if (this.large.length < LARGE_MAX) this.large.push(box);
      return;
    }
    for (let x = left; x <= right; x++) {
      for (let y = top; y <= bottom; y++) {
        const known = this.squares.get(`${x} ${y}`);
        if (known === undefined) this.squares.set(`${x} ${y}`, [box]);
        else if (known.length < NEAR_MAX) known.push(box);
      }
    }
  }

  /** Those that may touch what is nearer than a square to the point. */
  near({ x, y }: Point): Solid[] {
    const found = new Set<Solid>(this.large);
    const [column, row] = [Math.floor(x / SQUARE), Math.floor(y / SQUARE)];
    for (let dx = -1; dx <= 1; dx++) {
      for (let dy = -1; dy <= 1; dy++) {
        for (const box of this.squares.get(`${column + dx} ${row + dy}`) ?? []) found.add(box);
      }
    }
    return [...found];
  }

  /** Where a circle about the point may be: out of all boxes that it touches. */
  freed(point: Point, radius: number): Point {
    const boxes = this.near(point);
    let at = point;
    for (let round = 0; round < ROUNDS; round++) {
      const before = at;
      for (const box of boxes) at = pushed(at, radius, box);
      if (at === before) break;
    }
    return at;
  }

  /** How far one sees from a point before something higher than `high` stands there; `most` else. */
  clear(from: Point, heading: number, most: number, high: number): number {
    const by = ahead(heading);
    let far = most;
    for (const box of this.near(from)) {
      if (box.high >= high) far = Math.min(far, hitAlong(from, by, box, far));
    }
    return far;
  }
}

/** Where a line from a point enters a box; `most` where it does not, or begins inside. */
function hitAlong(from: Point, by: Point, box: Solid, most: number): number {
  const at = local(from, box);
  const way = local({ x: box.x + by.x, y: box.y + by.y }, box);
  let [enter, leave] = [0, most];
  for (const [start, step, half] of [
    [at.x, way.x, box.across / 2],
    [at.y, way.y, box.deep / 2],
  ] as const) {
    if (Math.abs(step) < 1e-9) {
      if (Math.abs(start) > half) return most;
      continue;
    }
    const [one, other] = [(-half - start) / step, (half - start) / step];
    enter = Math.max(enter, Math.min(one, other));
    leave = Math.min(leave, Math.max(one, other));
  }
  return enter > 0 && enter <= leave ? enter : most;
}
