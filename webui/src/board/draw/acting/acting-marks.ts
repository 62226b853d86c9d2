/** What is drawn of things that act, and of furniture. */

import type { Thing } from "../../../place/thing";
import { knowDrawings } from "../acting-drawings";
import type { Mark } from "../mark";
import { cardMarks } from "./card";
import { furnitureMarks } from "./furniture";
import { ballMarks, diceMarks, tokenMarks } from "./game-pieces";
import { lampMarks, switchMarks } from "./lamps";
import type { Scene } from "./parts";
import { clockMarks, timerMarks } from "./time-pieces";
import { voteMarks } from "./vote";
import { doorMarks, linkMarks } from "./ways";

const DRAWN: Readonly<Record<string, (thing: Thing, scene: Scene) => Mark[]>> = {
  light: lampMarks,
  switch: switchMarks,
  clock: clockMarks,
  timer: timerMarks,
  dice: diceMarks,
  vote: voteMarks,
  token: tokenMarks,
  ball: ballMarks,
  furniture: furnitureMarks,
  door: doorMarks,
  link: linkMarks,
  card: cardMarks,
};

/** null: it is of another kind. */
export function actingMarks(thing: Thing, scene: Scene): Mark[] | null {
  return Object.hasOwn(DRAWN, thing.kind) ? (DRAWN[thing.kind]?.(thing, scene) ?? null) : null;
}

knowDrawings(actingMarks);
