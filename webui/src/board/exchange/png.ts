/** A picture of things as PNG. */

import type { Thing } from "../../place/thing";
import { marksOf } from "../draw/marks";
import { type Images, paint } from "../draw/paint";
import { byOrder, seenBox } from "../draw/sight";
import type { Measure } from "../draw/text-layout";
import { isArrow, type Things } from "../model/arrows";
import { grown, joined } from "../model/geometry";
import type { Theme } from "../model/palette";
import { type Now, STILL } from "../model/states";
import { pixels, radians, units } from "../model/units";

const MARGIN = units(24);
const DENSITY = 2;
/** What browsers draw on at most, with something to spare. */
const SIDE_MAX = 8_000;

/** null: this browser draws no such picture. */
export function pngOf(
  things: readonly Thing[],
  all: Things,
  theme: Theme,
  measure: Measure,
  images: Images,
  now: Now = STILL,
): Promise<Blob | null> {
  const sorted = [...things].sort(byOrder);
  const box = joined(sorted.map((thing) => seenBox(thing, all))) ?? ([0, 0, 1, 1] as const);
  const [left, top, right, bottom] = grown(box, MARGIN);
  const [width, height] = [pixels(right - left), pixels(bottom - top)];
  const scale = Math.min(DENSITY, SIDE_MAX / width, SIDE_MAX / height);
  const element = document.createElement("canvas");
  element.width = Math.max(1, Math.round(width * scale));
  element.height = Math.max(1, Math.round(height * scale));
  const canvas = element.getContext("2d");
  if (canvas === null) return Promise.resolve(null);
  canvas.fillStyle = theme.back;
  canvas.fillRect(0, 0, element.width, element.height);
  for (const thing of sorted) {
    canvas.save();
    canvas.scale(scale, scale);
    canvas.translate(pixels(thing.x - left), pixels(thing.y - top));
    if (!isArrow(thing)) canvas.rotate(radians(thing.turn));
    paint(canvas, marksOf(thing, all, theme, measure, now), images);
    canvas.restore();
  }
  return new Promise((resolve) => element.toBlob(resolve, "image/png"));
}
