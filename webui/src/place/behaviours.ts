/** How things react, the same everywhere; as groupcore/shared/places/behaviours.py. */

import { END, START, VOTES_MAX } from "./limits";
import { PlaceRefusal } from "./refusal";
import type { Box } from "./squares";
import { compareTexts, prop, type Thing, withProps } from "./thing";

export const SPEED_MAX = 2_048;
export const TIMER_MAX_MS = 7 * 24 * 3_600 * 1_000;
export const FACES_MAX = 1_000;
export const CHOICES_MAX = 100;

/** The place in the order where something is asked; `who` asks. */
export interface Moment {
  readonly position: number;
  readonly timeMs: number;
  readonly who: string;
}

export function mixed(value: number): number {
  let bits = value >>> 0;
  bits ^= bits >>> 16;
  bits = Math.imul(bits, 0x7feb352d);
  bits ^= bits >>> 15;
  bits = Math.imul(bits, 0x846ca68b);
  bits ^= bits >>> 16;
  return bits >>> 0;
}

/** 32 bits for the roll of a die, from its place in the order. */
export function chance(thing: string, position: number, rolls: number): number {
  let bits = mixed(position);
  for (const letter of thing) bits = mixed(bits ^ letter.charCodeAt(0));
  return mixed(bits ^ rolls);
}

export function operated(
  thing: Thing,
  action: string,
  given: readonly number[],
  moment: Moment,
): Thing {
  const changed = reaction(thing, action, given, moment);
  if (changed === null) throw new PlaceRefusal("bad_action");
  return { ...changed, version: thing.version + 1 };
}

function reaction(
  thing: Thing,
  action: string,
  given: readonly number[],
  moment: Moment,
): Thing | null {
  const [first = 0, second = 0] = given;
  switch (`${thing.kind}/${action}/${given.length}`) {
    case "switch/toggle/0":
    case "light/toggle/0":
      return withProps(thing, { on: !prop(thing, "on") });
    case "timer/start/1":
      if (first <= 0 || first > TIMER_MAX_MS) return null;
      return withProps(thing, { due: moment.timeMs + first });
    case "timer/stop/0":
      return withProps(thing, { due: 0 });
    case "dice/roll/0":
      return rolled(thing, moment);
    case "vote/choose/1":
      return voted(thing, first, moment.who);
    case "token/flip/0":
      return withProps(thing, { up: !prop(thing, "up") });
    case "ball/kick/2":
      if (Math.max(Math.abs(first), Math.abs(second)) > SPEED_MAX) return null;
      return withProps(thing, { vx: first, vy: second });
    default:
      return null;
  }
}

function rolled(thing: Thing, moment: Moment): Thing | null {
  const faces = prop(thing, "faces", 6);
  if (faces < 2 || faces > FACES_MAX) return null;
  const rolls = prop(thing, "rolls") + 1;
  return withProps(thing, { face: 1 + (chance(thing.id, moment.position, rolls) % faces), rolls });
}

function voted(thing: Thing, choice: number, who: string): Thing | null {
  const votes = new Map(thing.votes);
  const choices = Math.min(prop(thing, "choices", 2), CHOICES_MAX);
  if (choice === -1) votes.delete(who);
  else if (choice < 0 || choice >= choices) return null;
  else if (!votes.has(who) && votes.size >= VOTES_MAX) return null;
  else votes.set(who, choice);
  return { ...thing, votes: [...votes].sort(([one], [other]) => compareTexts(one, other)) };
}

/** How many have chosen what, by choice. */
export function counted(thing: Thing): number[] {
  const choices = Math.max(0, Math.min(prop(thing, "choices", 2), CHOICES_MAX));
  const counts = new Array<number>(choices).fill(0);
  for (const [, choice] of thing.votes) {
    if (choice < choices) counts[choice] = (counts[choice] ?? 0) + 1;
  }
  return counts;
}

/** A lamp behind a signal; anything else, and a lamp without `on`, stays as it is. */
export function lit(thing: Thing, on: boolean): Thing {
  if (thing.kind !== "light" || !thing.props.some(([name]) => name === "on")) return thing;
  return { ...withProps(thing, { on }), version: thing.version + 1 };
}

/** A timer that rings now; null: not yet. */
export function rung(thing: Thing, timeMs: number): Thing | null {
  const due = prop(thing, "due");
  if (due <= 0 || due > timeMs) return null;
  const done = withProps(thing, { due: 0, rings: prop(thing, "rings") + 1 });
  return { ...done, version: thing.version + 1 };
}

export function wallsOf(things: Iterable<Thing>): Box[] {
  const walls: Box[] = [];
  for (const one of things) {
    if (one.kind === "furniture" || (one.kind === "shape" && prop(one, "solid") !== 0)) {
      walls.push(boxOf(one));
    }
  }
  return walls;
}

export function boxOf({ x, y, width, height }: Thing): Box {
  const [across, down] = [Math.floor(width / 2), Math.floor(height / 2)];
  return [x - across, y - down, x + across, y + down];
}

/** A ball one tick on: it rolls, bounces, and gets slower. */
export function stepped(ball: Thing, walls: readonly Box[]): Thing {
  let [vx, vy] = [slowed(prop(ball, "vx")), slowed(prop(ball, "vy"))];
  const radius = Math.floor(ball.width / 2);
  let x = ball.x + vx;
  if (hits(x, ball.y, radius, walls)) [x, vx] = [ball.x, 0 - vx];
  let y = ball.y + vy;
  if (hits(x, y, radius, walls)) [y, vy] = [ball.y, 0 - vy];
  return { ...withProps(ball, { vx, vy }), x, y, version: ball.version + 1 };
}

function slowed(speed: number): number {
  const most = Math.max(-SPEED_MAX, Math.min(speed, SPEED_MAX));
  const less = Math.floor((Math.abs(most) * 63) / 64);
  return most > 0 ? less : 0 - less;
}

function hits(x: number, y: number, radius: number, walls: readonly Box[]): boolean {
  const isInside = (one: number) => START + radius <= one && one < END - radius;
  if (!isInside(x) || !isInside(y)) return true;
  return walls.some(
    ([left, top, right, bottom]) =>
      left - radius < x && x < right + radius && top - radius < y && y < bottom + radius,
  );
}
