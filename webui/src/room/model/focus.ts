/** What is near who walks, and what of it is in front of them. */

import { isArrow } from "../../board/model/arrows";
import { boxOf, inside, type Point } from "../../board/model/geometry";
import type { Thing } from "../../place/thing";
import { bodyOf, isDrawn, type Panel } from "./forms";
import type { Layout } from "./layout";
import { even, type Heading, headingTo, METRE } from "./metres";
import { distanceTo } from "./sight";

/** So near somebody can do something with it, in metres. */
export const REACH = 3;
/** So near it is told of. */
export const NEAR = 7;
const NEAR_MAX = 24;
/** To the sides of where one looks. */
const ANGLE = 1.15;
/** So much further a drawing on the floor seems than what stands. */
const LYING = 0.9;
const ASIDE = 1.4;
/** Over which one stands. */
const UNDER = 0.4;

export interface Near {
  readonly thing: Thing;
  /** In metres. */
  readonly far: number;
  /** Where it is nearest, or its middle. */
  readonly at: Point;
}

/** How far it is to a thing, wherever it stands, lies or hangs. */
export function reachOf(thing: Thing, layout: Layout, at: Point): Near {
  const panel =
    layout.holders.get(thing.id) ?? layout.panels.find((one) => one.thing.id === thing.id);
  if (panel !== undefined) return panelReach(thing, panel, at);
  const middle = { x: thing.x / METRE, y: thing.y / METRE };
  if (isDrawn(thing)) {
    const [left, top, right, bottom] = boxOf(thing);
    const far = distanceTo([left, top, right, bottom], at.x * METRE, at.y * METRE) / METRE;
    return { thing, far, at: middle };
  }
  const { across, deep } = bodyOf(thing);
  const far = Math.max(
    0,
    Math.hypot(middle.x - at.x, middle.y - at.y) - Math.max(across, deep) / 2,
  );
  return { thing, far, at: middle };
}

/** A panel, or what hangs there: seen from the point of the wall that is nearest. */
function panelReach(thing: Thing, panel: Panel, at: Point): Near {
  const [sin, cos] = [Math.sin(panel.heading), Math.cos(panel.heading)];
  const across = inside(thing, panel.thing).x * panel.scale;
  const own = (at.x - panel.x) * cos + (at.y - panel.y) * sin;
  const half = thing === panel.thing ? panel.width / 2 : (thing.width / 2) * panel.scale;
  const middle = thing === panel.thing ? 0 : across;
  const right = Math.min(middle + half, Math.max(middle - half, own));
  const foot = { x: panel.x + right * cos, y: panel.y + right * sin };
  return { thing, far: Math.hypot(foot.x - at.x, foot.y - at.y), at: foot };
}

/** The things that are near, the nearest first; arrows and ink are told of on the board. */
export function nearOf(layout: Layout, at: Point): Near[] {
  const things = [
    ...layout.standing,
    ...layout.panels.map(({ thing }) => thing),
    ...[...layout.hung.values()].flat(),
    ...layout.lying,
    ...layout.floating,
  ].filter((thing) => !isArrow(thing) && thing.kind !== "ink");
  const found = things.map((thing) => reachOf(thing, layout, at)).filter(({ far }) => far <= NEAR);
  found.sort((one, other) => one.far - other.far || (one.thing.id < other.thing.id ? -1 : 1));
  return found.slice(0, NEAR_MAX);
}

/** What somebody stands before who looks there; null: before nothing. */
export function frontOf(near: readonly Near[], at: Point, heading: Heading): Near | null {
  let best: Near | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const one of near) {
    if (one.far > REACH) continue;
    const isUnder = one.far <= UNDER && isDrawn(one.thing);
    const aside = isUnder ? 0 : Math.abs(even(headingTo(at, one.at) - heading));
    if (aside > ANGLE) continue;
    const cost = one.far + aside * ASIDE + (isDrawn(one.thing) ? LYING : 0);
    if (cost < least) [best, least] = [one, cost];
  }
  return best;
}
