/** What is done to selected things at once: alignment, distribution, order, groups. */

import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { isArrow, type Things } from "./arrows";
import { boxOf, boxOfAll, isWithin } from "./geometry";
import { moved } from "./transform";

export type Side = "left" | "center" | "right" | "top" | "middle" | "bottom";
export type Depth = "front" | "forward" | "backward" | "back";

/** Things that go together count as one. */
function unitsOf(things: readonly Thing[]): Thing[][] {
  const groups = new Map<string, Thing[]>();
  for (const thing of things) {
    const key = thing.group === "" ? `/${thing.id}` : thing.group;
    groups.set(key, [...(groups.get(key) ?? []), thing]);
  }
  return [...groups.values()];
}

const boxOfUnit = (unit: readonly Thing[]): Box => boxOfAll(unit) ?? [0, 0, 0, 0];

export function aligned(things: readonly Thing[], side: Side): Thing[] {
  const all = boxOfAll(things);
  if (all === null) return [];
  return unitsOf(things).flatMap((unit) => {
    const [left, top, right, bottom] = boxOfUnit(unit);
    const by = {
      left: all[0] - left,
      center: (all[0] + all[2] - left - right) / 2,
      right: all[2] - right,
      top: all[1] - top,
      middle: (all[1] + all[3] - top - bottom) / 2,
      bottom: all[3] - bottom,
    }[side];
    const isAcross = side === "left" || side === "center" || side === "right";
    return moved(unit, isAcross ? by : 0, isAcross ? 0 : by);
  });
}

/** The same room between each two; the outer ones stay. */
export function distributed(things: readonly Thing[], axis: "across" | "down"): Thing[] {
  const [from, to] = axis === "across" ? ([0, 2] as const) : ([1, 3] as const);
  const units = unitsOf(things).map((unit) => ({ unit, box: boxOfUnit(unit) }));
  units.sort((one, other) => one.box[from] - other.box[from]);
  const [first, last] = [units[0], units.at(-1)];
  if (first === undefined || last === undefined || units.length < 3) return [...things];
  const taken = units.reduce((sum, { box }) => sum + box[to] - box[from], 0);
  const room = (last.box[to] - first.box[from] - taken) / (units.length - 1);
  let next = first.box[from];
  return units.flatMap(({ unit, box }) => {
    const by = next - box[from];
    next += box[to] - box[from] + room;
    return moved(unit, axis === "across" ? by : 0, axis === "across" ? 0 : by);
  });
}

/** Behind or before the others, as they are among themselves. */
export function restacked(things: readonly Thing[], all: Things, depth: Depth): Thing[] {
  const chosen = new Set(things.map(({ id }) => id));
  const sorted = [...all.values()].sort(
    (one, other) => one.order - other.order || (one.id < other.id ? -1 : 1),
  );
  const some = sorted.filter(({ id }) => chosen.has(id));
  const others = sorted.filter(({ id }) => !chosen.has(id));
  if (some.length === 0 || others.length === 0) return [];
  const [first, last] = [others[0] as Thing, others.at(-1) as Thing];
  if (depth === "front") return some.map((thing, at) => ({ ...thing, order: last.order + 1 + at }));
  if (depth === "back") {
    return some.map((thing, at) => ({ ...thing, order: first.order - some.length + at }));
  }
  return stepped(some, others, depth);
}

/** One step past the next one that they overlap; those in between make room. */
function stepped(some: readonly Thing[], others: readonly Thing[], depth: Depth): Thing[] {
  const box = boxOfAll(some) as Box;
  const isNear = (one: Thing) => {
    const [left, top, right, bottom] = boxOf(one);
    return left < box[2] && box[0] < right && top < box[3] && box[1] < bottom;
  };
  const isForward = depth === "forward";
  const edge = isForward
    ? Math.max(...some.map(({ order }) => order))
    : Math.min(...some.map(({ order }) => order));
  const beyond = others.filter(({ order }) => (isForward ? order >= edge : order <= edge));
  const near = beyond.filter(isNear);
  const next = isForward ? (near[0] ?? beyond[0]) : (near.at(-1) ?? beyond.at(-1));
  if (next === undefined) return [];
  const order = isForward ? next.order + 1 : next.order - some.length;
  return some.map((thing, at) => ({ ...thing, order: order + at }));
}

export function grouped(things: readonly Thing[], group: string): Thing[] {
  return things.map((thing) => ({ ...thing, group }));
}

/** With all that goes along: the whole groups of these things. */
export function withGroups(things: readonly Thing[], all: Things): Thing[] {
  const groups = new Set(things.map(({ group }) => group).filter((group) => group !== ""));
  const ids = new Set(things.map(({ id }) => id));
  const also = [...all.values()].filter(({ id, group }) => groups.has(group) && !ids.has(id));
  return [...things, ...also];
}

/** What lies in these frames goes with them. */
export function withContents(things: readonly Thing[], all: Things): Thing[] {
  const frames = things.filter(({ kind }) => kind === "frame").map(boxOf);
  if (frames.length === 0) return [...things];
  const ids = new Set(things.map(({ id }) => id));
  const also = [...all.values()].filter(
    (thing) =>
      !ids.has(thing.id) &&
      !isArrow(thing) &&
      frames.some((frame) => isWithin(boxOf(thing), frame)),
  );
  return [...things, ...also];
}
