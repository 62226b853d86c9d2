/** New things, as tools make them. */

import { randomId } from "../../ids";
import type { Properties, Thing, Value } from "../../place/thing";
import { arrowFields, type Bound, type Ends } from "./arrows";
import { boxAround, type Frame, frameOf, type Point } from "./geometry";
import { placed, sized, units, whole } from "./units";

export const STICKY_SIDE = units(200);
/** Of a document's card, in units. */
export const CARD_SIZE = { width: 320, height: 400 } as const;
/** So many numbers of a drawing are kept: more do not fit into a thing. */
const POINTS_MAX = 2_400;

export type Look = Readonly<Record<string, Value>>;

const BLANK: Thing = {
  id: "",
  kind: "shape",
  x: 0,
  y: 0,
  z: 0,
  turn: 0,
  width: 0,
  height: 0,
  depth: 0,
  order: 0,
  text: "",
  group: "",
  locked: false,
  style: [],
  props: [],
  points: [],
  links: [],
  votes: [],
  version: 0,
  hops: 0,
};

export function sortedProperties(values: Look): Properties {
  return Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1));
}

/** A thing of a kind in a frame; ids are never used again, so each is drawn anew. */
export function newThing(kind: string, frame: Frame, look: Look, more: Partial<Thing> = {}): Thing {
  return {
    ...BLANK,
    id: randomId(),
    kind,
    x: placed(frame.x),
    y: placed(frame.y),
    width: sized(frame.width),
    height: sized(frame.height),
    turn: frame.turn,
    style: sortedProperties(look),
    ...more,
  };
}

export function newShape(shape: string, frame: Frame, look: Look, order: number): Thing {
  return newThing("shape", frame, look, { order, props: [["shape", shape]] });
}

export function newSticky(at: Point, look: Look, order: number): Thing {
  const frame = { ...at, width: STICKY_SIDE, height: STICKY_SIDE, turn: 0 };
  return newThing("sticky", frame, look, { order });
}

/** A card of a document, with a point as its middle. */
export function newCard(document: string, at: Point, order: number): Thing {
  const { width, height } = CARD_SIZE;
  const frame = { ...at, width: units(width), height: units(height), turn: 0 };
  return newThing("card", frame, {}, { order, props: [["document", document]] });
}

export function newArrow(
  ends: Ends,
  links: Bound,
  look: Look,
  order: number,
  heads: "none" | "end" | "both",
): Thing {
  const { ends: props, ...frame } = arrowFields(ends);
  const known = sortedProperties({ ...props, heads });
  return newThing("arrow", { ...frame, turn: 0 }, look, { order, props: known, links });
}

/** A drawing through these points. */
export function newInk(points: readonly Point[], look: Look, order: number): Thing {
  const kept = thinned(points);
  const frame = frameOf(boxAround(kept));
  const [x, y] = [placed(frame.x), placed(frame.y)];
  const [across, down] = [0, 1].map((which) => {
    const far = kept.map((one) => Math.abs(which === 0 ? one.x - x : one.y - y));
    return Math.max(1, ...far.map(Math.ceil));
  }) as [number, number];
  const numbers = kept.flatMap((one) => [whole(one.x - x), whole(one.y - y)]);
  const size = { x, y, width: 2 * across, height: 2 * down, turn: 0 };
  return newThing("ink", size, look, { order, points: numbers });
}

/** Without points that say little: within half a unit, or every other one of too many. */
export function thinned(points: readonly Point[]): Point[] {
  let kept = points.filter((point, at) => {
    const before = points[at - 1];
    return before === undefined || Math.hypot(point.x - before.x, point.y - before.y) >= 32;
  });
  while (kept.length * 2 > POINTS_MAX) {
    const last = kept.length - 1;
    kept = kept.filter((_, at) => at % 2 === 0 || at === last);
  }
  return kept;
}

/** A copy of a timer does not run, one of a ball lies still. */
const UNDER_WAY: ReadonlySet<string> = new Set(["due", "vx", "vy"]);

/** Copies with ids of their own, moved; arrows and groups among them hold together. */
export function copiesOf(things: readonly Thing[], dx: number, dy: number, order: number): Thing[] {
  const ids = new Map(things.map(({ id }) => [id, randomId()]));
  const groups = new Map<string, string>();
  for (const { group } of things)
    if (group !== "" && !groups.has(group)) groups.set(group, randomId());
  const sorted = [...things].sort((one, other) => one.order - other.order);
  return sorted.map((thing, at) => ({
    ...thing,
    id: ids.get(thing.id) ?? randomId(),
    x: placed(thing.x + dx),
    y: placed(thing.y + dy),
    order: order + at,
    group: groups.get(thing.group) ?? "",
    links: thing.links.map((link) => ids.get(link) ?? (thing.kind === "arrow" ? "-" : link)),
    locked: false,
    props: thing.props.filter(([name]) => !UNDER_WAY.has(name)),
    votes: [],
    version: 0,
    hops: 0,
  }));
}
