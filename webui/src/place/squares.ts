/** The squares of a place: paths of a quadtree; as groupcore/shared/places/squares.py. */

import { DEPTH_MAX, SIDE, START } from "./limits";

export const ROOT = "r";

/** From `left` and `top` up to, and without, `right` and `bottom`. */
export type Box = readonly [left: number, top: number, right: number, bottom: number];
export type Tree = ReadonlyMap<string, string>;

export function meets(one: Box, other: Box): boolean {
  const across = one[0] < other[2] && other[0] < one[2];
  return across && one[1] < other[3] && other[1] < one[3];
}

export function isPath(path: string): boolean {
  return path.length <= 1 + DEPTH_MAX && /^r[0-3]*$/.test(path) && !path.includes("\n");
}

export function squareOf(path: string): Box {
  let [left, top, side] = [START, START, SIDE];
  for (const digit of path.slice(1)) {
    side /= 2;
    if (digit === "1" || digit === "3") left += side;
    if (digit === "2" || digit === "3") top += side;
  }
  return [left, top, left + side, top + side];
}

export function contains(path: string, x: number, y: number): boolean {
  const [left, top, right, bottom] = squareOf(path);
  return left <= x && x < right && top <= y && y < bottom;
}

/** The path of the square that the point lies in, quartered `depth` times. */
export function pathAt(x: number, y: number, depth: number): string {
  let [left, top, side, path] = [START, START, SIDE, ROOT];
  for (let level = 0; level < depth; level++) {
    side /= 2;
    const right = Number(x >= left + side);
    const low = Number(y >= top + side);
    path += String(right + 2 * low);
    left += side * right;
    top += side * low;
  }
  return path;
}

export function quarters(path: string): string[] {
  return ["0", "1", "2", "3"].map((digit) => path + digit);
}

export function parentOf(path: string): string {
  return path.length > 1 ? path.slice(0, -1) : path;
}

/** Whether a cell is quartered, and its quarters are known: of a large place not all are. */
export function isDivided(tree: Tree, path: string): boolean {
  return tree.get(path) === "inner" && tree.has(`${path}0`);
}

/** The cell furthest down in which the point lies, as far as the tree is known: a leaf, or inner. */
export function leafAt(tree: Tree, x: number, y: number): string {
  const path = pathAt(x, y, DEPTH_MAX);
  let size = 1;
  while (size < path.length && isDivided(tree, path.slice(0, size))) size += 1;
  return path.slice(0, size);
}

/** The leaves that a rectangle meets, and inner cells below which nothing is known, larger ones first. */
export function leavesIn(tree: Tree, box: Box): string[] {
  const found: string[] = [];
  let level = [ROOT];
  while (level.length > 0) {
    const met = level.filter((path) => meets(box, squareOf(path)));
    found.push(...met.filter((path) => !isDivided(tree, path)));
    level = met.filter((path) => isDivided(tree, path)).flatMap(quarters);
  }
  return found;
}
