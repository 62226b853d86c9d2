/** Lengths of the room: 100 units of the plane are a metre, and its y goes from far to near. */

import type { Point } from "../../board/model/geometry";
import { units, whole } from "../../board/model/units";
import { END, START } from "../../place/limits";

/** Lengths of the place in a metre. */
export const METRE = units(100);

export const metres = (length: number): number => length / METRE;
export const lengths = (metre: number): number => whole(metre * METRE);

/** A point of the plane in metres. */
export function inMetres({ x, y }: Point): Point {
  return { x: x / METRE, y: y / METRE };
}

/** A point of the room in lengths of the place. */
export function inLengths({ x, y }: Point): Point {
  return { x: x * METRE, y: y * METRE };
}

/** Radians clockwise, as things are turned; 0 looks to smaller y, which is up on the board. */
export type Heading = number;

export function ahead(heading: Heading): Point {
  return { x: Math.sin(heading), y: -Math.cos(heading) };
}

export function headingTo(from: Point, to: Point): Heading {
  return Math.atan2(to.x - from.x, from.y - to.y);
}

/** The same angle between -π and π. */
export function even(angle: number): number {
  const turn = 2 * Math.PI;
  return angle - turn * Math.round(angle / turn);
}

/** Who walks stays so far from the end of the world, in metres. */
const MARGIN = 1;
const [LEAST, MOST] = [START / METRE + MARGIN, END / METRE - MARGIN];

/** A coordinate within the place; what is no number is its middle. */
export function within(metre: number): number {
  return Number.isFinite(metre) ? Math.min(Math.max(metre, LEAST), MOST) : 0;
}
