/** Which cells somebody needs who sees a part of a place; as groupcore/shared/places/interest.py. */

import { END, START } from "./limits";
import { type Box, leavesIn, squareOf, type Tree } from "./squares";

const OUT = [13, 10] as const;
export const HELD_MAX = 64;

/** What somebody sees, and how it has moved since the last look. */
export interface View {
  readonly box: Box;
  readonly dx: number;
  readonly dy: number;
}

/** `needed`: cells to hold, nearest first; `far`: cells to show from their digests. */
export interface Interest {
  readonly needed: readonly string[];
  readonly far: readonly string[];
}

export function interest(view: View, tree: Tree, held: ReadonlySet<string>): Interest {
  const box = clipped(view.box);
  const far = new Map(leavesIn(tree, box).map((path) => [path, distance(box, path)]));
  const met = [...far.keys()].sort(
    (one, other) => (far.get(one) ?? 0) - (far.get(other) ?? 0) || (one < other ? -1 : 1),
  );
  const kept = leavesIn(tree, clipped(scaled(view.box))).filter((path) => held.has(path));
  const ahead = leavesIn(tree, movedAhead(view));
  const wanted = new Set([...met, ...kept.sort(), ...ahead.sort()]);
  const needed = [...wanted].filter((path) => tree.get(path) !== "inner").slice(0, HELD_MAX);
  return { needed, far: met.filter((path) => !needed.includes(path)) };
}

export function clipped([left, top, right, bottom]: Box): Box {
  const [west, north] = [
    Math.min(Math.max(left, START), END - 1),
    Math.min(Math.max(top, START), END - 1),
  ];
  return [
    west,
    north,
    Math.max(Math.min(right, END), west + 1),
    Math.max(Math.min(bottom, END), north + 1),
  ];
}

/** Grown about its centre, rounded outwards. */
export function scaled([left, top, right, bottom]: Box): Box {
  const grow = (length: number) => 0 + Math.ceil((length * (OUT[0] - OUT[1])) / (2 * OUT[1]));
  const [across, down] = [grow(right - left), grow(bottom - top)];
  return [left - across, top - down, right + across, bottom + down];
}

/** Half a view in front of somebody who moves; the view of who stands still. */
export function movedAhead({ box, dx, dy }: View): Box {
  const [left, top, right, bottom] = box;
  const across = Math.floor((right - left) / 2) * Math.sign(dx);
  const down = Math.floor((bottom - top) / 2) * Math.sign(dy);
  return clipped([left + across, top + down, right + across, bottom + down]);
}

function distance(box: Box, path: string): number {
  const square = squareOf(path);
  const across = box[0] + box[2] - square[0] - square[2];
  const down = box[1] + box[3] - square[1] - square[3];
  return Math.abs(across) + Math.abs(down);
}
