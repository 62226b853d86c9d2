/** Draws parts of the plane into pictures, by the marks that the board draws. */

// Drawings of things that act, which boards have later.
import "../../board/draw/acting/acting-marks";
import { marksOf } from "../../board/draw/marks";
import { type Images, paint } from "../../board/draw/paint";
import type { Measure } from "../../board/draw/text-layout";
import { isArrow, type Things } from "../../board/model/arrows";
import { cardPictures } from "../../board/model/card";
import type { Theme } from "../../board/model/palette";
import { documentOf } from "../../board/model/settings";
import type { Now } from "../../board/model/states";
import { radians, UNIT } from "../../board/model/units";
import { pictureIn } from "../../board/pictures/album";
import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";

/** Between the dots of the floor, in units: as on the board. */
const GRID = 32;
/** Between its joints, which say how far things are. */
const JOINT = 160;

export class Painter {
  constructor(
    public theme: Theme,
    private readonly measure: Measure,
    private readonly images: Images,
    private readonly now: Now,
  ) {}

  /** The same with what is here of the pictures and documents among these things. */
  made(made: readonly unknown[], things: readonly Thing[]): unknown[] {
    const loaded = things.flatMap((thing): unknown[] => {
      if (thing.kind === "picture") return [this.images(pictureIn(thing))];
      const document = documentOf(thing);
      if (document === null) return [];
      const pictures = cardPictures(thing, this.now).map((one) => this.images(one));
      return [this.now.card(document), ...pictures];
    });
    return [this.theme, ...made, ...loaded];
  }

  /** Things of a part of the plane, so large that it fills the canvas. */
  draw(
    canvas: HTMLCanvasElement,
    box: Box,
    things: readonly Thing[],
    all: Things,
    back: Back,
  ): void {
    const context = canvas.getContext("2d");
    if (context === null) return;
    const scale = (canvas.width * UNIT) / Math.max(1, box[2] - box[0]);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (back !== "none") {
      context.fillStyle = back === "floor" ? this.theme.back : this.theme.paper;
      context.fillRect(0, 0, canvas.width, canvas.height);
    }
    if (back === "floor") drawGrid(context, canvas.width, scale, box, this.theme);
    for (const thing of things) this.thing(context, thing, box, scale, all);
  }

  private thing(
    context: CanvasRenderingContext2D,
    thing: Thing,
    box: Box,
    scale: number,
    all: Things,
  ): void {
    const by = scale / UNIT;
    context.save();
    context.translate((thing.x - box[0]) * by, (thing.y - box[1]) * by);
    context.scale(scale, scale);
    if (thing.turn !== 0 && !isArrow(thing)) context.rotate(radians(thing.turn));
    paint(context, marksOf(thing, all, this.theme, this.measure, this.now), this.images);
    context.restore();
  }
}

/** What a picture stands on. */
export type Back = "none" | "floor" | "paper";

/** The dots and joints of the floor, from the plane's own zero on. */
export function drawGrid(
  context: CanvasRenderingContext2D,
  side: number,
  scale: number,
  box: Box,
  theme: Theme,
): void {
  if (GRID * scale < 3) return;
  const first = (length: number, step: number) => (((-length / UNIT) % step) + step) % step;
  const marks = (length: number, step: number): number[] => {
    const found: number[] = [];
    for (let at = first(length, step) * scale; at < side; at += step * scale) found.push(at);
    return found;
  };
  context.fillStyle = theme.grid;
  const wide = Math.max(1, 2 * scale);
  for (const x of marks(box[0], GRID)) {
    for (const y of marks(box[1], GRID)) context.fillRect(x - wide / 2, y - wide / 2, wide, wide);
  }
  context.globalAlpha = 0.55;
  const thin = Math.max(1, 1.5 * scale);
  for (const x of marks(box[0], JOINT)) context.fillRect(x - thin / 2, 0, thin, side);
  for (const y of marks(box[1], JOINT)) context.fillRect(0, y - thin / 2, side, thin);
  context.globalAlpha = 1;
}

export function newCanvas(width: number, height: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width));
  canvas.height = Math.max(1, Math.round(height));
  return canvas;
}
