/** Points, boxes and turned rectangles, in the lengths of the place. */

import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { radians } from "./units";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A rectangle that may be turned about its centre. */
export interface Frame extends Point {
  readonly width: number;
  readonly height: number;
  readonly turn: number;
}

export function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

/** The point turned by an angle about another one. */
export function rotated(point: Point, about: Point, angle: number): Point {
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const [x, y] = [point.x - about.x, point.y - about.y];
  return { x: about.x + x * cos - y * sin, y: about.y + x * sin + y * cos };
}

/** A point of the plane as seen from the middle of an upright frame. */
export function inside(point: Point, frame: Frame): Point {
  const { x, y } = frame.turn === 0 ? point : rotated(point, frame, -radians(frame.turn));
  return { x: x - frame.x, y: y - frame.y };
}

/** A point as seen from the middle of an upright frame, in the plane. */
export function outside(point: Point, frame: Frame): Point {
  const moved = { x: point.x + frame.x, y: point.y + frame.y };
  return frame.turn === 0 ? moved : rotated(moved, frame, radians(frame.turn));
}

export function cornersOf(frame: Frame): Point[] {
  const [across, down] = [frame.width / 2, frame.height / 2];
  const signs = [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ] as const;
  return signs.map(([x, y]) => outside({ x: x * across, y: y * down }, frame));
}

/** The upright box around points. */
export function boxAround(points: readonly Point[]): Box {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** The upright box that a thing takes. */
export function boxOf(frame: Frame): Box {
  if (frame.turn !== 0) return boxAround(cornersOf(frame));
  const [across, down] = [frame.width / 2, frame.height / 2];
  return [frame.x - across, frame.y - down, frame.x + across, frame.y + down];
}

/** The box around all of these; null: around nothing. */
export function boxOfAll(things: readonly Frame[]): Box | null {
  return joined(things.map(boxOf));
}

export function joined(boxes: readonly Box[]): Box | null {
  if (boxes.length === 0) return null;
  let [left, top, right, bottom] = boxes[0] as Box;
  for (const box of boxes) {
    left = Math.min(left, box[0]);
    top = Math.min(top, box[1]);
    right = Math.max(right, box[2]);
    bottom = Math.max(bottom, box[3]);
  }
  return [left, top, right, bottom];
}

export function frameOf([left, top, right, bottom]: Box): Frame {
  const [width, height] = [right - left, bottom - top];
  return { x: left + width / 2, y: top + height / 2, width, height, turn: 0 };
}

export function boxBetween(one: Point, other: Point): Box {
  return boxAround([one, other]);
}

export function grown([left, top, right, bottom]: Box, by: number): Box {
  return [left - by, top - by, right + by, bottom + by];
}

export function isWithin(inner: Box, outer: Box): boolean {
  const isAcross = outer[0] <= inner[0] && inner[2] <= outer[2];
  return isAcross && outer[1] <= inner[1] && inner[3] <= outer[3];
}

/** Whether boxes have a point in common; their edges count. */
export function touches(one: Box, other: Box): boolean {
  const isAcross = one[0] <= other[2] && other[0] <= one[2];
  return isAcross && one[1] <= other[3] && other[1] <= one[3];
}

/** How far a point is from a stretch. */
export function distanceToLine(point: Point, from: Point, to: Point): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : ((point.x - from.x) * dx + (point.y - from.y) * dy) / length;
  const at = Math.min(1, Math.max(0, along));
  return distance(point, { x: from.x + at * dx, y: from.y + at * dy });
}

/** The points of a drawing in the plane: they lie about its middle, and are as large as it is. */
export function pointsOf(thing: Thing): Point[] {
  const { points } = thing;
  let [across, down] = [1, 1];
  for (let at = 0; at < points.length; at += 2) {
    across = Math.max(across, Math.abs(points[at] ?? 0));
    down = Math.max(down, Math.abs(points[at + 1] ?? 0));
  }
  const [wide, high] = [thing.width / 2 / across, thing.height / 2 / down];
  const found: Point[] = [];
  for (let at = 0; at < points.length; at += 2) {
    found.push({ x: (points[at] ?? 0) * wide, y: (points[at + 1] ?? 0) * high });
  }
  return found;
}
