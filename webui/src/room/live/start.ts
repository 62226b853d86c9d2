/** Where somebody comes into the room: where they stood last, else before what the board shows. */

import type { BoardController } from "../../board/live/controller";
import type { Point } from "../../board/model/geometry";
import { radians } from "../../board/model/units";
import type { Box } from "../../place/squares";
import { type Heading, METRE } from "../model/metres";

/** So far before what there is one begins. */
const BEFORE = 1.6 * METRE;
/** Nobody begins further from the middle of what the board shows. */
const FAR = 7 * METRE;
/** In an empty place: a few steps before its middle. */
const EMPTY = 3 * METRE;

type Start = Point & { readonly heading: Heading };

export function start({
  whereabouts,
  board,
  place,
}: Pick<BoardController, "whereabouts" | "board" | "place">): Start {
  const { stance } = whereabouts;
  if (stance !== null) return { x: stance.x, y: stance.y, heading: radians(stance.turn) };
  const { bounds } = place;
  const { camera } = board;
  if (camera.width > 0) return before(camera.box, bounds ?? camera.box);
  return bounds === null ? { x: 0, y: EMPTY, heading: 0 } : before(bounds, bounds);
}

/** Before the lower edge of what is there, as far as it is shown. */
function before([left, top, right, bottom]: Box, there: Box): Start {
  const middle = (top + bottom) / 2;
  const edge = Math.min(bottom, Math.max(middle, there[3])) + BEFORE;
  return { x: (left + right) / 2, y: Math.min(middle + FAR, edge), heading: 0 };
}
