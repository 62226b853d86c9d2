/** What is there is shown whole at first; what one makes on an empty board moves nothing. */

import type { BoardController } from "../live/controller";

export function showAllOnce(controller: BoardController): void {
  const { board, place } = controller;
  if (controller.isFitted || board.camera.width === 0) return;
  const { bounds, isLoaded } = place;
  if (bounds === null && board.things.size === 0 && !isLoaded) return;
  controller.isFitted = true;
  if (bounds !== null || board.things.size > 0) board.fit();
}

/** The person has begun to draw, or goes elsewhere: what comes late does not move their view. */
export function keepView(controller: BoardController): void {
  controller.isFitted = true;
}
