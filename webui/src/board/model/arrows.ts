/**
 * Arrows and lines: where they begin and end, by themselves or at the things they are bound to.
 *
 * The ends of a loose arrow lie in its properties `ax`, `ay`, `bx`, `by`, as seen from its middle.
 * `links` names the two things that it is bound to, `-` for a loose end; a thing that is gone leaves
 * its end loose, where it was last.
 */

import type { Changes, Thing } from "../../place/thing";
import { prop } from "../../place/thing";
import { boxAround, distance, frameOf, inside, outside, type Point } from "./geometry";
import { shapeOf } from "./style";
import { placed, sized, UNIT, whole } from "./units";

export const LOOSE = "-";
/** Between the tip and the thing that it points at. */
const GAP = 5 * UNIT;

export type Things = ReadonlyMap<string, Thing>;
export type Ends = readonly [from: Point, to: Point];
export type Bound = readonly [from: string, to: string];

export function isArrow(thing: Thing): boolean {
  return thing.kind === "arrow";
}

/** Whether arrows can be bound to it. */
export function mayBeBound(thing: Thing): boolean {
  return !isArrow(thing) && thing.kind !== "ink";
}

export function boundOf(thing: Thing): Bound {
  const [from = LOOSE, to = LOOSE] = thing.links;
  return [from, to];
}

function ownEnds(thing: Thing): Ends {
  const { x, y } = thing;
  return [
    { x: x + prop(thing, "ax"), y: y + prop(thing, "ay") },
    { x: x + prop(thing, "bx"), y: y + prop(thing, "by") },
  ];
}

/** Where an arrow begins and ends now. */
export function endsOf(arrow: Thing, things: Things): Ends {
  const own = ownEnds(arrow);
  const [from, to] = boundOf(arrow).map((id) => bindable(things.get(id)));
  if (from === null && to === null) return own;
  const begin = from ?? own[0];
  const end = to ?? own[1];
  return [from == null ? own[0] : edgeOf(from, end), to == null ? own[1] : edgeOf(to, begin)];
}

function bindable(thing: Thing | undefined): Thing | null {
  return thing !== undefined && mayBeBound(thing) ? thing : null;
}

/** Where the stretch from the middle of a thing towards a point leaves it, and a little beyond. */
export function edgeOf(thing: Thing, towards: Point): Point {
  const aim = inside(towards, thing);
  const [across, down] = [thing.width / 2 + GAP, thing.height / 2 + GAP];
  const far = Math.hypot(aim.x, aim.y);
  if (far === 0) return { x: thing.x, y: thing.y };
  const share = reach(thing, aim, across, down);
  return outside({ x: aim.x * Math.min(1, share), y: aim.y * Math.min(1, share) }, thing);
}

function reach(thing: Thing, { x, y }: Point, across: number, down: number): number {
  const shape = thing.kind === "shape" ? shapeOf(thing) : "rectangle";
  if (shape === "ellipse") return 1 / Math.hypot(x / across, y / down);
  if (shape === "diamond") return 1 / (Math.abs(x) / across + Math.abs(y) / down);
  return 1 / Math.max(Math.abs(x) / across, Math.abs(y) / down);
}

/** What an arrow has to be to go from here to there. */
export function arrowFields([from, to]: Ends): Pick<Thing, "x" | "y" | "width" | "height"> & {
  readonly ends: Readonly<Record<"ax" | "ay" | "bx" | "by", number>>;
} {
  const { x, y, width, height } = frameOf(boxAround([from, to]));
  const [middleX, middleY] = [placed(x), placed(y)];
  const ends = {
    ax: whole(from.x - middleX),
    ay: whole(from.y - middleY),
    bx: whole(to.x - middleX),
    by: whole(to.y - middleY),
  };
  return { x: middleX, y: middleY, width: sized(width), height: sized(height), ends };
}

export function withEnds(arrow: Thing, ends: Ends): Thing {
  const { ends: props, ...frame } = arrowFields(ends);
  const known = new Map(arrow.props);
  for (const [name, value] of Object.entries(props)) known.set(name, value);
  const sorted = [...known].sort(([one], [other]) => (one < other ? -1 : 1));
  return { ...arrow, ...frame, turn: 0, props: sorted };
}

/** The changes that make `before` go as `after` does. */
export function endChanges(before: Thing, after: Thing): Changes {
  const names = ["ax", "ay", "bx", "by"] as const;
  const props = names.map((name) => [`props.${name}`, prop(after, name)] as const);
  const frame = (["x", "y", "width", "height"] as const).map(
    (name) => [name, after[name]] as const,
  );
  return [...frame, ...props].filter(([name, value]) => {
    return (
      (name.startsWith("props.") ? prop(before, name.slice(6)) : before[name as "x"]) !== value
    );
  });
}

/** Arrows that go along with these things, as they lie when those have moved: `moved` by id. */
export function followers(things: Things, moved: Things): Thing[] {
  const now = new Map([...things, ...moved]);
  const found: Thing[] = [];
  for (const arrow of things.values()) {
    if (!isArrow(arrow) || arrow.locked || moved.has(arrow.id)) continue;
    if (!boundOf(arrow).some((id) => moved.has(id))) continue;
    const ends = endsOf(arrow, now);
    const [from, to] = ownEnds(arrow);
    const isSame = distance(ends[0], from) < 1 && distance(ends[1], to) < 1;
    if (!isSame) found.push(withEnds(arrow, ends));
  }
  return found;
}
