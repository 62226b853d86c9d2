/** Where a picture that is on its way is to lie: what is kept of it beside its file. */

import type { StoredPicture } from "../../pictures/sending";
import { NAME_MAX, TEXT_MAX, TURN_MAX } from "../../place/limits";
import type { Thing } from "../../place/thing";
import { type Fields, fieldsOf } from "../exchange/refusal";
import type { Point } from "../model/geometry";
import { newThing } from "../model/make";
import { units } from "../model/units";

/** Pixels: a picture is shown no larger than this when it comes. */
const SIDE_MAX = 480;
/** Lengths of the place between pictures that come together. */
const GAP = units(24);

/** A place in the plane; without a size the picture has its own. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly turn: number;
  readonly order: number;
  readonly text: string;
  readonly group: string;
}

/** Where several pictures lie that come together: in a row whose middle is this point. */
export function spotsFor(count: number, at: Point, order: number): Spot[] {
  const step = units(SIDE_MAX) + GAP;
  const first = at.x - ((count - 1) * step) / 2;
  return Array.from({ length: count }, (_, place) => ({
    x: Math.round(first + place * step),
    y: Math.round(at.y),
    width: 0,
    height: 0,
    turn: 0,
    order: order + place,
    text: "",
    group: "",
  }));
}

export function written({ x, y, width, height, turn, order, text, group }: Spot): string {
  return JSON.stringify({ x, y, width, height, turn, order, text, group });
}

/** What was kept of a spot; what cannot be read lies in the middle of the place. */
export function readSpot(kept: string): Spot {
  let given: Fields = {};
  try {
    given = fieldsOf(JSON.parse(kept));
  } catch {
    // the picture is worth more than its place
  }
  const whole = (name: string): number => {
    const value = given[name];
    return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
  };
  const text = (name: string, most: number): string => {
    const value = given[name];
    return typeof value === "string" ? value.slice(0, most) : "";
  };
  return {
    x: whole("x"),
    y: whole("y"),
    width: Math.max(0, whole("width")),
    height: Math.max(0, whole("height")),
    turn: ((whole("turn") % TURN_MAX) + TURN_MAX) % TURN_MAX,
    order: whole("order"),
    text: text("text", TEXT_MAX),
    group: text("group", NAME_MAX),
  };
}

/** The thing that shows a picture which a node has now. */
export function pictureThing(id: string, spot: Spot, stored: StoredPicture): Thing {
  const { x, y, turn, order, text, group } = spot;
  const scale = Math.min(1, SIDE_MAX / Math.max(1, stored.width, stored.height));
  const isSized = spot.width > 0 && spot.height > 0;
  const width = isSized ? spot.width : units(stored.width * scale);
  const height = isSized ? spot.height : units(stored.height * scale);
  const props: Thing["props"] = [["picture", stored.picture]];
  const more = { id, order, text, group, props };
  return newThing("picture", { x, y, width, height, turn }, {}, more);
}
