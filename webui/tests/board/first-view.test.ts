/** The first view is set once, and never once the person has begun. */

import { describe, expect, it } from "vitest";

import type { BoardController } from "../../src/board/live/controller";
import { Camera } from "../../src/board/model/camera";
import { keepView, setView, showAllOnce } from "../../src/board/page/first-view";

class Board {
  camera = new Camera(0, 0, 1);
  things = new Map<string, unknown>();
  fits = 0;

  look(camera: Camera): void {
    this.camera = camera;
  }

  fit(): void {
    this.fits += 1;
  }
}

function opened() {
  const board = new Board();
  const place = { bounds: null as unknown, isLoaded: false, errands: { isBegunHere: false } };
  const made = { board, place, isFitted: false, givenView: null };
  const controller = made as unknown as BoardController;
  setView(controller, new Camera(0, 0, 1, 800, 600));
  return { board, place, controller };
}

describe("the first view", () => {
  it("is of all that there is, once", () => {
    const { board, place, controller } = opened();
    showAllOnce(controller);
    expect(board.fits).toBe(0);
    place.bounds = [0, 0, 10, 10];
    showAllOnce(controller);
    showAllOnce(controller);
    expect(board.fits).toBe(1);
  });

  it("waits for the window, and is as before where that changes its size", () => {
    const { board, place, controller } = opened();
    setView(controller, board.camera.resized(400, 300));
    place.bounds = [0, 0, 10, 10];
    showAllOnce(controller);
    expect(board.fits).toBe(1);
  });

  it("stays where it is on an empty place", () => {
    const { board, place, controller } = opened();
    place.isLoaded = true;
    showAllOnce(controller);
    board.things.set("a", {});
    showAllOnce(controller);
    expect(board.fits).toBe(0);
  });

  it.each([
    ["zoomed", (b: Board) => b.look(b.camera.zoomed(2))],
    ["moved", (b: Board) => b.look(b.camera.panned(5, 5))],
  ])("is the person's where they have %s it", (_, act) => {
    const { board, place, controller } = opened();
    act(board);
    place.bounds = [0, 0, 10, 10];
    showAllOnce(controller);
    expect(board.fits).toBe(0);
  });

  it("stays the person's where the window changes its size behind that", () => {
    const { board, place, controller } = opened();
    board.look(board.camera.zoomed(2));
    setView(controller, board.camera.resized(400, 300));
    place.bounds = [0, 0, 10, 10];
    showAllOnce(controller);
    expect(board.fits).toBe(0);
  });

  it("is the person's where they have begun something, by whatever means", () => {
    const { board, place, controller } = opened();
    place.errands.isBegunHere = true;
    place.bounds = [0, 0, 10, 10];
    showAllOnce(controller);
    place.errands.isBegunHere = false;
    showAllOnce(controller);
    expect(board.fits).toBe(0);
  });

  it("is kept where they have begun to draw", () => {
    const { board, place, controller } = opened();
    keepView(controller);
    place.bounds = [0, 0, 10, 10];
    showAllOnce(controller);
    expect(board.fits).toBe(0);
  });
});
