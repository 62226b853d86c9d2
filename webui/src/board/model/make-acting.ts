/** New things that act, and furniture, as the menu "More" names them. */

import type { Thing, Value } from "../../place/thing";
import type { Maker } from "../tools/tool";
import type { Point } from "./geometry";
import { CARD_SIZE, type Look, newThing, sortedProperties } from "./make";
import { FURNITURE, type Furniture } from "./settings";
import { units } from "./units";
import { voteHeight } from "./zones";

export type Made =
  | Furniture
  | ("light" | "switch" | "timer" | "clock" | "dice" | "vote" | "piece" | "card" | "ball")
  | ("door" | "link" | "document");

export const MADE_ACTING: readonly Made[] = [
  ...(["document", "light", "switch", "timer", "clock", "dice", "vote"] as const),
  ...(["piece", "card", "ball", "door", "link"] as const),
];
export const MADE_FURNITURE: readonly Made[] = FURNITURE;

interface Plan {
  readonly kind: string;
  /** In units. */
  readonly size: readonly [width: number, height: number];
  readonly props?: Readonly<Record<string, Value>>;
  /** Height above the floor, for rooms, in units. */
  readonly depth?: number;
}

const CHOICES = 3;

function furniture(form: Furniture, width: number, height: number, depth: number): Plan {
  return { kind: "furniture", size: [width, height], props: { form }, depth };
}

const PLANS: Readonly<Record<Made, Plan>> = {
  // A lamp without `on` is passed over by switches.
  light: { kind: "light", size: [88, 88], props: { on: false } },
  switch: { kind: "switch", size: [64, 104], props: { on: false } },
  timer: { kind: "timer", size: [184, 148], props: { seconds: 300 } },
  clock: { kind: "clock", size: [136, 136] },
  dice: { kind: "dice", size: [80, 80], props: { faces: 6 } },
  vote: { kind: "vote", size: [280, voteHeight(CHOICES)], props: { choices: CHOICES } },
  piece: { kind: "token", size: [72, 72], props: { form: "piece", up: true } },
  card: { kind: "token", size: [104, 148], props: { form: "card", up: true } },
  ball: { kind: "ball", size: [48, 48] },
  door: { kind: "door", size: [140, 184] },
  link: { kind: "link", size: [280, 84] },
  document: { kind: "card", size: [CARD_SIZE.width, CARD_SIZE.height] },
  table: furniture("table", 200, 120, 74),
  round: furniture("round", 140, 140, 74),
  chair: furniture("chair", 64, 68, 46),
  sofa: furniture("sofa", 200, 92, 44),
  shelf: furniture("shelf", 180, 44, 180),
  plant: furniture("plant", 84, 84, 120),
  wall: furniture("wall", 320, 16, 260),
};

export function newActing(made: Made, at: Point, look: Look, order: number): Thing {
  const { kind, size, props = {}, depth = 0 } = PLANS[made];
  const [width, height] = [units(size[0]), units(size[1])];
  const more = { order, depth: units(depth), props: sortedProperties(props) };
  return newThing(kind, { ...at, width, height, turn: 0 }, look, more);
}

export function makerOf(made: Made): Maker {
  const { kind } = PLANS[made];
  return { name: made, kind, make: (at, look, order) => newActing(made, at, look, order) };
}
