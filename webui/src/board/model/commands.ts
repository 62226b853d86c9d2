/** What keys, buttons and menus do to the board. */

import { randomId } from "../../ids";
import { prop, type Thing, withProps } from "../../place/thing";
import {
  aligned,
  type Depth,
  distributed,
  grouped,
  restacked,
  type Side,
  withContents,
} from "./arrange";
import { isArrow } from "./arrows";
import type { Board } from "./board";
import { boxOfAll } from "./geometry";
import { isLoose, moved } from "./transform";
import { units } from "./units";
import { wiringOf } from "./wires";

const STEP = units(1);
const LARGE_STEP = units(16);
const COPY_STEP = units(20);

export function isMovable(board: Board): boolean {
  return board.mayWrite && board.chosen.length > 0 && board.chosen.some(({ locked }) => !locked);
}

function free(board: Board): Thing[] {
  return board.chosen.filter(({ locked }) => !locked);
}

/** By a step of the grid that nobody sees, or a large one. */
export function nudge(board: Board, dx: number, dy: number, isLarge: boolean): void {
  if (!isMovable(board)) return;
  const step = isLarge ? LARGE_STEP : STEP;
  const all = withContents(free(board), board.things).filter(({ locked }) => !locked);
  const some = all.filter((thing) => !isArrow(thing) || isLoose(thing, board.things));
  board.change(moved(some, dx * step, dy * step));
}

export function duplicate(board: Board): void {
  if (board.mayWrite && board.chosen.length > 0) board.copyBy(board.chosen, COPY_STEP, COPY_STEP);
}

export function remove(board: Board): void {
  if (board.mayWrite) board.remove(board.selected);
}

export function align(board: Board, side: Side): void {
  if (board.mayWrite) board.change(aligned(free(board), side));
}

export function distribute(board: Board, axis: "across" | "down"): void {
  if (board.mayWrite) board.change(distributed(free(board), axis));
}

export function restack(board: Board, depth: Depth): void {
  if (board.mayWrite) board.change(restacked(free(board), board.things, depth));
}

export function group(board: Board): void {
  if (board.mayWrite && board.chosen.length > 1) board.change(grouped(free(board), randomId()));
}

export function ungroup(board: Board): void {
  if (board.mayWrite) board.change(grouped(free(board), ""));
}

/** Locks what is selected, or unlocks all of it where all is locked. */
export function toggleLock(board: Board): void {
  const { chosen } = board;
  if (!board.mayWrite || chosen.length === 0) return;
  const isLocked = chosen.every(({ locked }) => locked);
  board.change(chosen.map((thing) => ({ ...thing, locked: !isLocked })));
}

/** Has the selected switches light the selected lamps, or no more; false: one has no room for them. */
export function connect(board: Board): boolean {
  const wiring = board.mayWrite ? wiringOf(board.chosen) : null;
  if (wiring === null || wiring.isTooMany) return wiring === null;
  board.change(wiring.changed);
  return true;
}

export function selectAll(board: Board): void {
  board.select([...board.things.keys()]);
}

/** The next thing in the order of reading is selected, and brought into sight. */
export function step(board: Board, order: readonly Thing[], by: 1 | -1): void {
  const [now] = board.selected;
  const at = order.findIndex(({ id }) => id === now);
  const next =
    order[at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length];
  if (next === undefined) return;
  board.select([next.id]);
  reveal(board, [next]);
}

export function reveal(board: Board, things: readonly Thing[]): void {
  const box = boxOfAll(things);
  if (box !== null) board.look(board.camera.showing(box));
}

/** Frames and shapes stand in the room as walls; `null`: nothing of these is selected. */
export function isWall(board: Board): boolean | null {
  const some = board.chosen.filter(mayBeWall);
  return some.length === 0 ? null : some.every((thing) => prop(thing, "wall") !== 0);
}

export function toggleWall(board: Board): void {
  const wall = isWall(board) !== true;
  if (board.mayWrite)
    board.change(
      free(board)
        .filter(mayBeWall)
        .map((one) => withProps(one, { wall })),
    );
}

export function mayBeWall({ kind }: Thing): boolean {
  return kind === "frame" || kind === "shape";
}
