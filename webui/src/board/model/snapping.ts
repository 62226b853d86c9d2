/** Moving edges to the edges and middles of other things, or to the grid. */

import type { Box } from "../../place/squares";
import type { Point } from "./geometry";

/** A line that shows what something was moved to. */
export interface Guide {
  readonly from: Point;
  readonly to: Point;
}

export interface Snapped {
  readonly dx: number;
  readonly dy: number;
  readonly guides: readonly Guide[];
}

interface Line {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** How far a box has to go on so that it lies in line with others, if they are `near`. */
export function snapped(box: Box, others: readonly Box[], near: number): Snapped {
  const across = best(
    spotsOf(box, 0),
    others.flatMap((one) => linesOf(one, 0)),
    near,
  );
  const down = best(
    spotsOf(box, 1),
    others.flatMap((one) => linesOf(one, 1)),
    near,
  );
  const [dx, dy] = [across?.by ?? 0, down?.by ?? 0];
  const guides: Guide[] = [];
  if (across !== null) {
    const { at, from, to } = across.line;
    const [top, bottom] = [Math.min(from, box[1] + dy), Math.max(to, box[3] + dy)];
    guides.push({ from: { x: at, y: top }, to: { x: at, y: bottom } });
  }
  if (down !== null) {
    const { at, from, to } = down.line;
    const [left, right] = [Math.min(from, box[0] + dx), Math.max(to, box[2] + dx)];
    guides.push({ from: { x: left, y: at }, to: { x: right, y: at } });
  }
  return { dx, dy, guides };
}

function spotsOf(box: Box, axis: 0 | 1): number[] {
  const [least, most] = axis === 0 ? [box[0], box[2]] : [box[1], box[3]];
  return [least, (least + most) / 2, most];
}

function linesOf(box: Box, axis: 0 | 1): Line[] {
  const [from, to] = axis === 0 ? [box[1], box[3]] : [box[0], box[2]];
  return spotsOf(box, axis).map((at) => ({ at, from, to }));
}

function best(
  spots: readonly number[],
  lines: readonly Line[],
  near: number,
): { by: number; line: Line } | null {
  let found: { by: number; line: Line } | null = null;
  for (const line of lines) {
    for (const spot of spots) {
      const by = line.at - spot;
      if (Math.abs(by) <= near && (found === null || Math.abs(by) < Math.abs(found.by))) {
        found = { by, line };
      }
    }
  }
  return found;
}

/** To the next lines of a grid. */
export function toGrid(box: Box, step: number): Snapped {
  const next = (value: number) => Math.round(value / step) * step - value;
  return { dx: next(box[0]), dy: next(box[1]), guides: [] };
}
