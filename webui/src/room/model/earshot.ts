/**
 * Who hears whom in the room.
 *
 * A person's nimbus is how far their words carry, their focus how far they listen; both follow from
 * how they have set themselves. Somebody is heard by those who are in their nimbus and have them in
 * their focus. The floor is parted into squares, each of them a topic: `server/places/earshot.py`.
 */

import type { Nimbus } from "../../board/live/others";
import type { Point } from "../../board/model/geometry";
import { lengths } from "./metres";

/** As in `server/places/earshot.py`. */
export const SIDE = lengths(24);
export const ALL = "all";
export const TEXT_MAX = 300;

const USUAL_M = 10;
const QUIET_M = 3;
/** Squares are opened a little before they are needed, and let go of a little later. */
const IN = 1.15;
const OUT = 1.3;

/** How far one listens, in lengths. */
export function focus(nimbus: Nimbus): number {
  return lengths(nimbus === "quiet" ? QUIET_M : USUAL_M);
}

/** How far one's words carry, in lengths; 0: to all. */
export function reach(nimbus: Nimbus): number {
  return nimbus === "all" ? 0 : focus(nimbus);
}

/** Whether what was said there, and carries so far, is heard by who stands here. */
export function isHeard(
  said: Point & { readonly reach: number },
  at: Point,
  nimbus: Nimbus,
): boolean {
  const far = Math.hypot(said.x - at.x, said.y - at.y);
  // Who wants quiet is not spoken to from afar, not even by those who speak to all.
  if (said.reach === 0) return nimbus !== "quiet" || far <= focus(nimbus);
  return far <= said.reach && far <= focus(nimbus);
}

export function squareOf({ x, y }: Point): string {
  return `${Math.floor(x / SIDE)}:${Math.floor(y / SIDE)}`;
}

/** The squares that lie within so many lengths of a point. */
export function squaresAround({ x, y }: Point, far: number): string[] {
  const found: string[] = [];
  const square = (one: number): number => Math.floor(one / SIDE);
  for (let across = square(x - far); across <= square(x + far); across += 1) {
    for (let down = square(y - far); down <= square(y + far); down += 1) {
      const right = Math.max(across * SIDE - x, 0, x - (across + 1) * SIDE);
      const below = Math.max(down * SIDE - y, 0, y - (down + 1) * SIDE);
      if (Math.hypot(right, below) <= far) found.push(`${across}:${down}`);
    }
  }
  return found;
}

/** The squares that are to be open for who stands there, of which these are now. */
export function squaresFor(at: Point, nimbus: Nimbus, open: Iterable<string>): string[] {
  const needed = [ALL, ...squaresAround(at, focus(nimbus) * IN)];
  const kept = new Set(squaresAround(at, focus(nimbus) * OUT));
  return [...needed, ...[...open].filter((one) => kept.has(one) && !needed.includes(one))];
}
