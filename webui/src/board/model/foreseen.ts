/**
 * What a person has asked a thing to do, and how the thing is shown until the order has done it.
 *
 * What comes of most acts is known before: a lamp that is off will be on. It is kept as properties,
 * not as the act, so that showing it over a state that has it already changes nothing. A die falls by
 * its place in the order: nothing is foreseen of it.
 */

import { lit, type Moment, operated } from "../../place/behaviours";
import { type Properties, prop, type Thing, withProps } from "../../place/thing";
import type { Things } from "./arrows";

export interface Act {
  readonly id: string;
  readonly action: string;
  readonly given: readonly number[];
  /** Tells the person from others of the same principal; empty: the principal says who it is. */
  readonly by: string;
  /** In whose name a vote is shown. */
  readonly who: string;
  /** The properties that the thing will have. */
  readonly shows: Properties;
}

/** Acts of which nothing is known before the order has done them. */
const UNFORESEEN: ReadonlySet<string> = new Set(["roll", "kick"]);

/** `time_ms`: of the order. */
export function actFor(
  thing: Thing,
  action: string,
  given: readonly number[],
  time_ms: number,
  { by, who }: Pick<Act, "by" | "who">,
): Act {
  const act = { id: thing.id, action, given, by, who };
  const after = UNFORESEEN.has(action) ? thing : attempted(thing, act, time_ms);
  const before = new Map(thing.props);
  const shows = after.props.filter(([name, value]) => before.get(name) !== value);
  return { ...act, shows };
}

/** What is refused is shown as it is: the cell says why. */
function attempted(thing: Thing, act: Omit<Act, "shows">, timeMs: number): Thing {
  const moment: Moment = { position: 0, timeMs, who: act.who };
  try {
    return operated(thing, act.action, act.given, moment);
  } catch {
    return thing;
  }
}

/** The things as they are behind an act, as far as that is known: also the lamps of a switch. */
export function foreseen(act: Act, things: Things): Thing[] {
  const before = things.get(act.id);
  if (before === undefined) return [];
  if (act.action === "choose") return [attempted(before, act, 0)];
  const thing = act.shows.length === 0 ? before : withProps(before, Object.fromEntries(act.shows));
  const isSwitched = thing.kind === "switch" && act.shows.length > 0;
  const lamps = isSwitched ? thing.links.flatMap((id) => things.get(id) ?? []) : [];
  return [thing, ...lamps.map((lamp) => lit(lamp, prop(thing, "on") !== 0))];
}
