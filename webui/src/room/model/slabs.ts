/** Drawings that float over the floor: each slab is one picture of things that go together. */

import { byOrder, seenBox } from "../../board/draw/sight";
import type { Things } from "../../board/model/arrows";
import { joined } from "../../board/model/geometry";
import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { METRE, metres } from "./metres";

export interface Slab {
  readonly key: string;
  /** As they are now, those behind first. */
  readonly things: readonly Thing[];
  /** What the picture shows of the plane. */
  readonly box: Box;
  /** Over the floor, in metres. */
  readonly up: number;
  /** What it is drawn from: as long as all of it is the same, so is the picture. */
  readonly made: readonly unknown[];
}

const AROUND = METRE / 8;
const THINGS_MAX = 120;
/** Nothing floats further from the floor, in metres. */
const UP_MAX = 30;

/** null: nothing of it is a drawing. */
export function slabOf(
  key: string,
  given: readonly Thing[],
  up: number,
  things: Things,
): Slab | null {
  const some = given.slice(0, THINGS_MAX).sort(byOrder);
  const box = joined(some.map((thing) => seenBox(thing, things)));
  if (box === null) return null;
  const [left, top, right, bottom] = box;
  const made = some.flatMap((thing) => [
    ...[things.get(thing.id) ?? thing, thing.x - left, thing.y - top],
    ...[thing.width, thing.height, thing.turn],
  ]);
  const around: Box = [left - AROUND, top - AROUND, right + AROUND, bottom + AROUND];
  return { key, things: some, box: around, up: Math.min(UP_MAX, Math.max(0.02, up)), made };
}

/** A thing that lies over the floor by itself. */
export function raisedSlab(thing: Thing, things: Things): Slab | null {
  return slabOf(thing.id, [thing], Math.abs(metres(thing.z)), things);
}
