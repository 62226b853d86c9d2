/** Boards over a place in this process, and pointers on them. */

import type { LocalPlace } from "../../src/board/live/local-doors";
import type { NotDone } from "../../src/board/live/place-view";
import { PlaceView } from "../../src/board/live/place-view";
import { Board } from "../../src/board/model/board";
import { Camera } from "../../src/board/model/camera";
import { newShape, newSticky } from "../../src/board/model/make";
import { units } from "../../src/board/model/units";
import type { Press } from "../../src/board/tools/tool";
import type { Thing } from "../../src/place/thing";

export interface Seat {
  readonly board: Board;
  readonly said: string[];
  readonly written: Thing[];
}

/** Somebody in front of the place, who sees 1,000 by 800 pixels from the origin on. */
export function seat(place: LocalPlace, who: string): Seat {
  const [said, written]: [string[], Thing[]] = [[], []];
  const board = new Board(new PlaceView(place.session(who)), {
    changed: () => undefined,
    write: (thing) => written.push(thing),
    notDone: ({ code }: NotDone) => said.push(code),
    lost: ({ holder }: NotDone) => said.push(`lost to ${holder}`),
  });
  board.look(new Camera(0, 0, 1, 1_000, 800));
  return { board, said, written };
}

/** What was asked has been answered: cells of this process answer at once. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

export function press(board: Board, x: number, y: number, more: Partial<Press> = {}): Press {
  const screen = { x, y };
  const keys = { isShift: false, isAlt: false, isFree: true } as const;
  return { screen, at: board.camera.toPlace(screen), ...keys, kind: "mouse", count: 1, ...more };
}

export function drag(
  board: Board,
  from: readonly [number, number],
  to: readonly [number, number],
  more: Partial<Press> = {},
): void {
  board.down(press(board, ...from, more));
  board.move(press(board, (from[0] + to[0]) / 2, (from[1] + to[1]) / 2, more));
  board.move(press(board, ...to, more));
  board.up(press(board, ...to, more));
}

export function click(board: Board, x: number, y: number, more: Partial<Press> = {}): void {
  board.down(press(board, x, y, more));
  board.up(press(board, x, y, more));
}

/** A shape of 100 by 60 pixels whose middle is here, filled. */
export function shape(x: number, y: number, more: Partial<Thing> = {}): Thing {
  const frame = { x: units(x), y: units(y), width: units(100), height: units(60), turn: 0 };
  return { ...newShape("rectangle", frame, { fill: "blue" }, 1), ...more };
}

export function sticky(x: number, y: number, text = ""): Thing {
  return { ...newSticky({ x: units(x), y: units(y) }, {}, 1), text };
}

export function at(thing: Thing | undefined): [number, number] {
  return [Math.round((thing?.x ?? 0) / 64), Math.round((thing?.y ?? 0) / 64)];
}
