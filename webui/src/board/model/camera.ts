/** What part of the plane a screen shows, and how large. */

import type { Box } from "../../place/squares";
import type { Point } from "./geometry";
import { UNIT } from "./units";

export const ZOOM_MIN = 0.05;
export const ZOOM_MAX = 8;
/** Around what is fitted into the screen, in pixels of the screen. */
const MARGIN = 48;
/** What is small is not blown up to be fitted. */
const FIT_MAX = 1;

/** So much of a screen is covered, or left free, in its pixels. */
export interface Edges {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

/** Tools lie above on wide screens, and below on narrow ones. */
const EDGES: Edges = { top: 120, right: MARGIN, bottom: 76, left: MARGIN };
export const NARROW_EDGES: Edges = { top: 76, right: 24, bottom: 136, left: 24 };
export const NO_EDGES: Edges = { top: 0, right: 0, bottom: 0, left: 0 };

export class Camera {
  /** `x`, `y`: the place at the left upper corner; `zoom`: pixels for a unit. */
  constructor(
    readonly x: number,
    readonly y: number,
    readonly zoom: number,
    readonly width = 0,
    readonly height = 0,
  ) {}

  /** Lengths of the place that a pixel of the screen is. */
  get step(): number {
    return UNIT / this.zoom;
  }

  toPlace({ x, y }: Point): Point {
    return { x: this.x + x * this.step, y: this.y + y * this.step };
  }

  toScreen({ x, y }: Point): Point {
    return { x: (x - this.x) / this.step, y: (y - this.y) / this.step };
  }

  get box(): Box {
    const { x, y, width, height, step } = this;
    return [x, y, x + width * step, y + height * step];
  }

  get centre(): Point {
    return this.toPlace({ x: this.width / 2, y: this.height / 2 });
  }

  /** Moved so that the content goes along with so many pixels. */
  panned(dx: number, dy: number): Camera {
    const { step } = this;
    return new Camera(this.x - dx * step, this.y - dy * step, this.zoom, this.width, this.height);
  }

  /** The place under this point of the screen stays there. */
  zoomed(zoom: number, at: Point = { x: this.width / 2, y: this.height / 2 }): Camera {
    const within = Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, zoom));
    const { x, y } = this.toPlace(at);
    const step = UNIT / within;
    return new Camera(x - at.x * step, y - at.y * step, within, this.width, this.height);
  }

  /** On a screen of another size the middle stays. */
  resized(width: number, height: number): Camera {
    if (this.width === 0 || this.height === 0) {
      return new Camera(this.x, this.y, this.zoom, width, height).centred({ x: 0, y: 0 });
    }
    const { centre } = this;
    return new Camera(this.x, this.y, this.zoom, width, height).centred(centre);
  }

  centred({ x, y }: Point): Camera {
    const { step, width, height } = this;
    return new Camera(x - (width / 2) * step, y - (height / 2) * step, this.zoom, width, height);
  }

  /** All of the box is seen, between what covers the edges of the screen; `most`: no larger than so. */
  fitting([left, top, right, bottom]: Box, edges: Edges = EDGES, most = FIT_MAX): Camera {
    const { width, height } = this;
    const wide = Math.max(1, width - edges.left - edges.right);
    const high = Math.max(1, height - edges.top - edges.bottom);
    const across = wide / Math.max(1, (right - left) / UNIT);
    const down = high / Math.max(1, (bottom - top) / UNIT);
    const zoom = Math.min(most, Math.max(ZOOM_MIN, Math.min(across, down)));
    const middle = { x: (left + right) / 2, y: (top + bottom) / 2 };
    const camera = new Camera(this.x, this.y, zoom, width, height).centred(middle);
    return camera.panned((edges.left - edges.right) / 2, (edges.top - edges.bottom) / 2);
  }

  /** Moved as little as brings the box into sight. */
  showing([left, top, right, bottom]: Box): Camera {
    const [west, north, east, south] = this.box;
    const margin = MARGIN * this.step;
    const across = nearer(left - margin, right + margin, west, east);
    const down = nearer(top - margin, bottom + margin, north, south);
    return new Camera(this.x + across, this.y + down, this.zoom, this.width, this.height);
  }
}

function nearer(least: number, most: number, from: number, to: number): number {
  if (most - least > to - from) return (least + most) / 2 - (from + to) / 2;
  if (least < from) return least - from;
  return most > to ? most - to : 0;
}
