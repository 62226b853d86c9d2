/**
 * The first view of a place: what is there is shown whole, once, unless the person has begun.
 *
 * The place may come late. Who has drawn, pasted, zoomed or gone elsewhere until then looks at what
 * they want to look at: the view is theirs, however it was moved, and stays.
 */

import type { BoardController } from "../live/controller";
import type { Camera } from "../model/camera";

/** The page sets the view: to the size of its window, and to where the person had been. */
export function setView(controller: BoardController, camera: Camera): void {
  if (isMoved(controller)) keepView(controller);
  controller.givenView = camera;
  controller.board.look(camera);
}

export function showAllOnce(controller: BoardController): void {
  const { board, place } = controller;
  if (controller.isFitted || board.camera.width === 0) return;
  if (isMoved(controller) || place.errands.isBegunHere) {
    controller.isFitted = true;
    return;
  }
  const { bounds, isLoaded } = place;
  if (bounds === null && board.things.size === 0 && !isLoaded) return;
  controller.isFitted = true;
  if (bounds !== null || board.things.size > 0) board.fit();
}

function isMoved({ givenView, board }: BoardController): boolean {
  return givenView !== null && givenView !== board.camera;
}

/** The person has begun to draw: what comes late does not move their view. */
export function keepView(controller: BoardController): void {
  controller.isFitted = true;
}
