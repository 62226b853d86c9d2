/** Which thing lies under a point. */

import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { endsOf, isArrow, type Things } from "./arrows";
import {
  boxAround,
  boxOf,
  distanceToLine,
  inside,
  isWithin,
  type Point,
  pointsOf,
  touches,
} from "./geometry";
import { NO_COLOUR } from "./palette";
import { shapeOf, styleOf } from "./style";
import { units } from "./units";

/** Whether the point is on the thing, or `near` to its line. */
export function isHit(thing: Thing, point: Point, near: number, things: Things): boolean {
  if (isArrow(thing)) {
    const [from, to] = endsOf(thing, things);
    return distanceToLine(point, from, to) <= near + units(styleOf(thing).width / 2);
  }
  const at = inside(point, thing);
  const [across, down] = [thing.width / 2 + near, thing.height / 2 + near];
  if (Math.abs(at.x) > across || Math.abs(at.y) > down) return false;
  if (thing.kind === "ink") return isOnInk(thing, at, near);
  if (thing.kind === "frame") return isOnEdge(thing, at, near);
  if (thing.kind !== "shape") return true;
  const isHollow = styleOf(thing).fill === NO_COLOUR && thing.text === "";
  return isInShape(thing, at, near) && !(isHollow && isInShape(thing, at, -near * 2));
}

function isOnInk(thing: Thing, at: Point, near: number): boolean {
  const points = pointsOf(thing);
  const far = near + units(styleOf(thing).width / 2);
  const [first] = points;
  if (first !== undefined && points.length === 1) return distanceToLine(at, first, first) <= far;
  return points.some((to, place) => {
    const from = points[place - 1];
    return from !== undefined && distanceToLine(at, from, to) <= far;
  });
}

/** Of frames their edge and their name are there to be taken. */
function isOnEdge({ width, height }: Thing, at: Point, near: number): boolean {
  return Math.abs(at.x) >= width / 2 - near * 2 || Math.abs(at.y) >= height / 2 - near * 2;
}

function isInShape(thing: Thing, { x, y }: Point, near: number): boolean {
  const [across, down] = [thing.width / 2 + near, thing.height / 2 + near];
  if (across <= 0 || down <= 0) return false;
  const shape = thing.kind === "shape" ? shapeOf(thing) : "rectangle";
  if (shape === "ellipse") return Math.hypot(x / across, y / down) <= 1;
  if (shape === "diamond") return Math.abs(x) / across + Math.abs(y) / down <= 1;
  return Math.abs(x) <= across && Math.abs(y) <= down;
}

/** The one in front at a point; `drawn`: those behind first. */
export function topAt(
  drawn: readonly Thing[],
  point: Point,
  near: number,
  things: Things,
): Thing | null {
  for (let place = drawn.length - 1; place >= 0; place--) {
    const thing = drawn[place];
    if (thing !== undefined && isHit(thing, point, near, things)) return thing;
  }
  return null;
}

/** The thing in front that a point lies in, hollow or not, among those that `is` names. */
export function holderAt(
  drawn: readonly Thing[],
  point: Point,
  near: number,
  is: (thing: Thing) => boolean,
): Thing | null {
  for (let place = drawn.length - 1; place >= 0; place--) {
    const thing = drawn[place];
    if (thing !== undefined && is(thing) && isIn(thing, point, near)) return thing;
  }
  return null;
}

function isIn(thing: Thing, point: Point, near: number): boolean {
  const at = inside(point, thing);
  if (thing.kind === "frame") return isOnEdge(thing, at, near) && isInShape(thing, at, near);
  return isInShape(thing, at, near);
}

/** Those that a marquee takes: frames whole, other things where they touch it. */
export function inMarquee(drawn: readonly Thing[], box: Box, things: Things): Thing[] {
  return drawn.filter((thing) => {
    const own = isArrow(thing) ? boxAround(endsOf(thing, things)) : boxOf(thing);
    return thing.kind === "frame" ? isWithin(own, box) : touches(own, box);
  });
}
