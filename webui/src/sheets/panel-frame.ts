/** Where the panel of an opened card is: over the card, as large as reading needs, all in the window. */

import type { Camera } from "../board/model/camera";
import { pixels } from "../board/model/units";
import type { Thing } from "../place/thing";

export interface PanelFrame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const EDGE = 12;
const WIDTH = [560, 760] as const;
const HEIGHT = [420, 820] as const;

/** In pixels of the window; null: there is no room for a part of it, so it takes all. `above`: over the board. */
export function frameOf(card: Thing, camera: Camera, above: number): PanelFrame | null {
  if (camera.width < WIDTH[0] + 200 || camera.height < HEIGHT[0] / 2) return null;
  const { x, y } = camera.toScreen(card);
  const within = (value: number, [least, most]: readonly [number, number], all: number) =>
    Math.min(Math.max(value, least), most, all - 2 * EDGE);
  const width = within(pixels(card.width) * camera.zoom, WIDTH, camera.width);
  const height = within(pixels(card.height) * camera.zoom, HEIGHT, camera.height);
  const held = (value: number, size: number, all: number) =>
    Math.min(Math.max(EDGE, value - size / 2), all - size - EDGE);
  return {
    left: held(x, width, camera.width),
    top: above + held(y, height, camera.height),
    width,
    height,
  };
}
