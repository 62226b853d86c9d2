/**
 * Where things are pressed to have them act, in units about their middle; what is drawn there agrees.
 *
 * A lamp, a switch, a die and a token are pressed anywhere: they are there to be used, and used far
 * more often than edited. What cannot be taken back by a second press, a timer, a vote, and what
 * leads away from the board, has a button of its own, so that selecting it does nothing else.
 */

import type { Thing } from "../../place/thing";
import { type Actor, type Deed, deedsOf, kickFrom } from "./acts";
import { inside, type Point } from "./geometry";
import { choicesOf } from "./settings";
import { pixels } from "./units";

export interface Zone {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Row extends Zone {
  /** Which choice. */
  readonly at: number;
}

export interface VoteLayout {
  readonly question: Zone;
  readonly rows: readonly Row[];
  /** So many choices have no room. */
  readonly left: number;
  readonly rest: Zone;
}

const INSET = 14;
const ROW_MIN = 24;
const ROW_MAX = 40;
const GAP = 6;
const QUESTION = 44;
const PILL = 34;

export function sizeOf({ width, height }: Thing): { width: number; height: number } {
  return { width: pixels(width), height: pixels(height) };
}

/** The button of a timer or a door: along the lower edge. */
export function pillOf(thing: Thing): Zone {
  const { width, height } = sizeOf(thing);
  const inset = Math.min(INSET, width / 8);
  const high = Math.min(PILL, height / 3);
  return {
    left: inset - width / 2,
    top: height / 2 - inset - high,
    width: width - 2 * inset,
    height: high,
  };
}

/** The button of a link: at its right end. */
export function linkButton(thing: Thing): Zone {
  const { width, height } = sizeOf(thing);
  const side = Math.max(8, Math.min(44, height - 16, width / 3));
  return { left: width / 2 - side - 8, top: -side / 2, width: side, height: side };
}

/** The button of a card: in its right upper corner. */
export function cardButton(thing: Thing): Zone {
  const { width, height } = sizeOf(thing);
  const side = Math.max(8, Math.min(40, height - 16, width / 3));
  return { left: width / 2 - side - 8, top: 8 - height / 2, width: side, height: side };
}

/** As many choices as there is room for, each at least high enough for a finger at 100 %. */
export function voteLayout(thing: Thing): VoteLayout {
  const { width, height } = sizeOf(thing);
  const [left, wide] = [INSET - width / 2, Math.max(8, width - 2 * INSET)];
  const top = -height / 2 + INSET / 2;
  const question = { left, top, width: wide, height: Math.min(QUESTION, height / 3) };
  const first = top + question.height + GAP / 2;
  const room = height / 2 - INSET - first;
  const count = choicesOf(thing);
  const most = Math.max(1, Math.floor((room + GAP) / (ROW_MIN + GAP)));
  const shown = count <= most ? count : Math.max(0, most - 1);
  const parts = count <= most ? Math.max(1, count) : most;
  const high = Math.max(8, Math.min(ROW_MAX, (room + GAP) / parts - GAP));
  const zone = (at: number): Zone => ({
    left,
    top: first + at * (high + GAP),
    width: wide,
    height: high,
  });
  const rows = Array.from({ length: shown }, (_, at) => ({ ...zone(at), at }));
  return { question, rows, left: count - shown, rest: zone(shown) };
}

/** As high as all choices need. */
export function voteHeight(choices: number): number {
  return INSET / 2 + QUESTION + GAP / 2 + Math.max(1, choices) * (ROW_MAX + GAP) - GAP + INSET;
}

/** What a press on a thing at a point of the place does; null: it is only selected. */
export function deedAt(thing: Thing, at: Point, actor: Actor): Deed | null {
  const deeds = deedsOf(thing, actor);
  const [first] = deeds;
  if (first === undefined) return null;
  const spot = inside(at, thing);
  const point = { x: pixels(spot.x), y: pixels(spot.y) };
  switch (thing.kind) {
    case "ball":
      return { ...first, given: kickFrom(thing, at) };
    case "timer":
      return isIn(pillOf(thing), point) ? first : null;
    case "door":
      return !actor.mayWrite || isIn(pillOf(thing), point) ? first : null;
    case "link":
      return !actor.mayWrite || isIn(linkButton(thing), point) ? first : null;
    case "card":
      return !actor.mayWrite || isIn(cardButton(thing), point) ? first : null;
    case "vote": {
      const row = voteLayout(thing).rows.find((one) => isIn(one, point));
      return row === undefined ? null : (deeds[row.at] ?? null);
    }
    default:
      return first;
  }
}

function isIn({ left, top, width, height }: Zone, { x, y }: Point): boolean {
  return left <= x && x <= left + width && top <= y && y <= top + height;
}
