/** The drawings on the floor by squares of it: each square is one picture. */

import { byOrder, seenBox } from "../../board/draw/sight";
import { endsOf, isArrow, type Things } from "../../board/model/arrows";
import { units } from "../../board/model/units";
import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { METRE } from "./metres";

/** Metres. */
export const TILE = 8;
const SIDE = TILE * METRE;
/** So many things are drawn of a square: those before the others. */
const THINGS_MAX = 500;
/** Shadows and wide lines go over the edge. */
const AROUND = units(16);

export interface Tile {
  readonly key: string;
  readonly box: Box;
  /** Those behind first. */
  readonly things: readonly Thing[];
  /** What it is drawn from: as long as all of it is the same, so is the picture. */
  readonly made: readonly unknown[];
}

/** The squares within `around` on which something lies. */
export function tilesOf(lying: readonly Thing[], all: Things, around: Box): Map<string, Tile> {
  const found = new Map<string, { box: Box; things: Thing[] }>();
  const at = (length: number) => Math.floor(length / SIDE);
  const edges = around.map(at) as [number, number, number, number];
  // What is in front comes first, so that it is what has room.
  for (const thing of [...lying].sort(byOrder).reverse()) {
    const box = seenBox(thing, all);
    const [left, top] = [
      Math.max(edges[0], at(box[0] - AROUND)),
      Math.max(edges[1], at(box[1] - AROUND)),
    ];
    const [right, bottom] = [
      Math.min(edges[2], at(box[2] + AROUND)),
      Math.min(edges[3], at(box[3] + AROUND)),
    ];
    for (let column = left; column <= right; column++) {
      for (let row = top; row <= bottom; row++) {
        const key = `${column} ${row}`;
        const tile = found.get(key) ?? { box: boxAt(column, row), things: [] };
        if (tile.things.length < THINGS_MAX) tile.things.push(thing);
        found.set(key, tile);
      }
    }
  }
  return new Map(
    [...found].map(([key, { box, things }]) => {
      things.reverse();
      return [key, { key, box, things, made: madeOf(things, all) }];
    }),
  );
}

function boxAt(column: number, row: number): Box {
  return [column * SIDE, row * SIDE, (column + 1) * SIDE, (row + 1) * SIDE];
}

/** What a picture of things is drawn from; arrows go with what they are bound to. */
export function madeOf(things: readonly Thing[], all: Things): unknown[] {
  return things.flatMap((thing) => {
    if (!isArrow(thing)) return [thing];
    const [from, to] = endsOf(thing, all);
    return [thing, from.x, from.y, to.x, to.y];
  });
}

export function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((made, place) => made === other[place]);
}
