/** What a ray from the eye meets first: a thing that stands or hangs, somebody, or the floor. */

import type { Things } from "../../board/model/arrows";
import type { Point } from "../../board/model/geometry";
import { topAt } from "../../board/model/hit";
import { radians, units } from "../../board/model/units";
import type { Thing } from "../../place/thing";
import { bodyOf, FOOT, onPanel, PANEL_THICKNESS, type Panel } from "./forms";
import type { Layout } from "./layout";
import { inLengths, METRE } from "./metres";

/** In metres: the plane's x and y, and up; the direction need not be of length one. */
export interface Ray {
  readonly from: Spatial;
  readonly by: Spatial;
}

export interface Spatial extends Point {
  readonly up: number;
}

export type Picked =
  | { readonly kind: "thing"; readonly id: string; readonly at: Point; readonly far: number }
  | { readonly kind: "floor"; readonly at: Point; readonly far: number };

/** The floor ends where nobody sees it any more. */
const FAR_MAX = 120;
const NEAR = units(8);

interface Block extends Point {
  readonly foot: number;
  readonly across: number;
  readonly deep: number;
  readonly high: number;
  readonly heading: number;
}

/** How far along the ray it enters the block; null: it does not. */
export function enters({ from, by }: Ray, block: Block): number | null {
  const [sin, cos] = [Math.sin(block.heading), Math.cos(block.heading)];
  const [dx, dy] = [from.x - block.x, from.y - block.y];
  const axes = [
    [dx * cos + dy * sin, by.x * cos + by.y * sin, block.across / 2],
    [dy * cos - dx * sin, by.y * cos - by.x * sin, block.deep / 2],
    [from.up - block.foot - block.high / 2, by.up, block.high / 2],
  ] as const;
  let [enter, leave] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const [start, step, half] of axes) {
    if (Math.abs(step) < 1e-12) {
      if (Math.abs(start) > half) return null;
      continue;
    }
    const [one, other] = [(-half - start) / step, (half - start) / step];
    enter = Math.max(enter, Math.min(one, other));
    leave = Math.min(leave, Math.max(one, other));
  }
  return enter <= leave && leave >= 0 ? Math.max(0, enter) : null;
}

function along({ from, by }: Ray, far: number): Spatial {
  return { x: from.x + by.x * far, y: from.y + by.y * far, up: from.up + by.up * far };
}

export function blockOf(thing: Thing): Block {
  const { across, deep, high } = bodyOf(thing);
  const foot = thing.z / METRE;
  return {
    x: thing.x / METRE,
    y: thing.y / METRE,
    foot,
    across,
    deep,
    high,
    heading: radians(thing.turn),
  };
}

export function pick(ray: Ray, layout: Layout, all: Things): Picked | null {
  let best: Picked | null = null;
  const closer = (far: number | null): far is number =>
    far !== null && Number.isFinite(far) && far < (best?.far ?? FAR_MAX);
  for (const thing of layout.standing) {
    const far = enters(ray, blockOf(thing));
    if (closer(far)) best = { kind: "thing", id: thing.id, at: along(ray, far), far };
  }
  for (const panel of layout.panels) {
    const far = enters(ray, {
      ...panel,
      foot: FOOT,
      deep: PANEL_THICKNESS,
      across: panel.width,
      high: panel.height,
    });
    if (!closer(far)) continue;
    const at = along(ray, far);
    best = { kind: "thing", id: hungAt(panel, at, layout, all) ?? panel.thing.id, at, far };
  }
  const floor = ray.by.up < 0 ? -ray.from.up / ray.by.up : null;
  if (!closer(floor)) return best;
  const at = along(ray, floor);
  const lying = topAt(lyingAt(layout, at), inLengths(at), NEAR, all);
  if (lying === null) return { kind: "floor", at, far: floor };
  return { kind: "thing", id: lying.id, at, far: floor };
}

function hungAt(panel: Panel, at: Spatial, layout: Layout, all: Things): string | null {
  const [sin, cos] = [Math.sin(panel.heading), Math.cos(panel.heading)];
  const right = (at.x - panel.x) * cos + (at.y - panel.y) * sin;
  const point = onPanel(panel, right, at.up);
  return topAt(layout.hung.get(panel.thing.id) ?? [], point, NEAR, all)?.id ?? null;
}

function lyingAt(layout: Layout, at: Point): readonly Thing[] {
  const { x, y } = inLengths(at);
  for (const { box, things } of layout.tiles.values()) {
    if (box[0] <= x && x < box[2] && box[1] <= y && y < box[3]) return things;
  }
  return [];
}
