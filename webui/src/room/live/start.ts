/** Where somebody comes into the room: where they stood last, else before what the board shows. */

import type { BoardController } from "../../board/live/controller";
import type { Point } from "../../board/model/geometry";
import { radians } from "../../board/model/units";
import type { Box } from "../../place/squares";
import { type Heading, METRE } from "../model/metres";

/** Nobody begins further from the middle of what they see. */
const BEFORE = 6 * METRE;
/** In an empty place: a few steps before its middle. */
const EMPTY = 3 * METRE;

export function start({
  whereabouts,
  board,
  place,
}: Pick<BoardController, "whereabouts" | "board" | "place">): Point & {
  readonly heading: Heading;
} {
  const { stance } = whereabouts;
  if (stance !== null) return { x: stance.x, y: stance.y, heading: radians(stance.turn) };
  const { camera } = board;
  if (camera.width > 0) return before(camera.box);
  return place.bounds === null ? { x: 0, y: EMPTY, heading: 0 } : before(place.bounds);
}

function before([left, top, right, bottom]: Box): Point & { readonly heading: Heading } {
  const y = (top + bottom) / 2 + Math.min(BEFORE, (bottom - top) / 2);
  return { x: (left + right) / 2, y, heading: 0 };
}
