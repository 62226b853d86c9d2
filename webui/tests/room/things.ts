/** Things of a place as the room meets them. */

import { type Person, personOf } from "../../src/board/live/others";
import { newSticky, newThing } from "../../src/board/model/make";
import type { Theme } from "../../src/board/model/palette";
import type { Thing } from "../../src/place/thing";
import { METRE } from "../../src/room/model/metres";

export const THEME: Theme = {
  isDark: false,
  back: "#fbfbfa",
  grid: "#d9dce2",
  text: "#1c2330",
  soft: "#596273",
  accent: "#2456c9",
  paper: "#ffffff",
  people: [],
};

/** A thing whose middle and size are in metres. */
export function thing(
  kind: string,
  at: readonly [number, number],
  more: Partial<Thing> = {},
): Thing {
  const frame = { x: at[0] * METRE, y: at[1] * METRE, width: METRE, height: METRE, turn: 0 };
  return { ...newThing(kind, frame, {}), ...more };
}

export function note(x: number, y: number, text = ""): Thing {
  return { ...newSticky({ x: x * METRE, y: y * METRE }, {}, 1), text };
}

/** A frame of 6 by 4 metres that stands as a wall. */
export function wall(x: number, y: number, more: Partial<Thing> = {}): Thing {
  const size = { width: 6 * METRE, height: 4 * METRE };
  return thing("frame", [x, y], { ...size, props: [["wall", true]], ...more });
}

export function byId(things: readonly Thing[]): Map<string, Thing> {
  return new Map(things.map((one) => [one.id, one]));
}

export function person(who: string, more: Record<string, unknown>): Person {
  const found = personOf(who, { name: who, ...more });
  if (found === null) throw new Error("shows nothing");
  return found;
}
