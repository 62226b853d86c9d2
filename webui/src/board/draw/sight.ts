/** Which things are in sight, and which of them lie before others. */

import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { endsOf, isArrow, type Things } from "../model/arrows";
import { boxAround, boxOf, grown, touches } from "../model/geometry";
import { units } from "../model/units";

/** Shadows, names and wide lines go over the edge. */
const AROUND = units(40);

export function inSight(things: Iterable<Thing>, all: Things, box: Box): Thing[] {
  const wide = grown(box, AROUND);
  return [...things].filter((thing) => touches(seenBox(thing, all), wide));
}

/** The box in which a thing is seen; of an arrow it goes with what it is bound to. */
export function seenBox(thing: Thing, all: Things): Box {
  return isArrow(thing) ? boxAround(endsOf(thing, all)) : boxOf(thing);
}

/** By layers: frames lie behind; else by their order. */
export function byOrder(one: Thing, other: Thing): number {
  const layer = Number(other.kind === "frame") - Number(one.kind === "frame");
  return layer || one.order - other.order || (one.id < other.id ? -1 : 1);
}
