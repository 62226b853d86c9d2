/** Marks on a canvas. */

import type { Dash } from "../model/style";
import type { Mark } from "./mark";
import { LINE_HEIGHT, type Measure } from "./text-layout";

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';

export function fontOf(size: number, isBold = false): string {
  return `${isBold ? 600 : 400} ${size}px ${FONT}`;
}

export function dashesOf(dash: Dash, width: number): number[] {
  if (dash === "solid") return [];
  return dash === "dashed" ? [width * 4 + 2, width * 3] : [0.1, width * 2.2];
}

const paths = new Map<string, Path2D>();
const PATHS_MAX = 4_000;

function pathOf(d: string): Path2D {
  let found = paths.get(d);
  if (found === undefined) {
    if (paths.size >= PATHS_MAX) paths.clear();
    found = new Path2D(d);
    paths.set(d, found);
  }
  return found;
}

/** What can be drawn of a picture now; null: it is on its way, or cannot be had. */
export type Images = (picture: string) => CanvasImageSource | null;

/** Paints on a canvas whose middle is the thing's, and whose unit is a pixel at 100 %. */
export function paint(
  canvas: CanvasRenderingContext2D,
  marks: readonly Mark[],
  images: Images,
): void {
  for (const mark of marks) {
    if (mark.kind === "picture") {
      const image = mark.picture === "" ? null : images(mark.picture);
      const { width, height, at = { x: 0, y: 0 } } = mark;
      if (image === null) paint(canvas, mark.instead, images);
      else canvas.drawImage(image, at.x - width / 2, at.y - height / 2, width, height);
      continue;
    }
    if (mark.kind === "text") {
      canvas.font = fontOf(mark.size, mark.isBold);
      canvas.textAlign = mark.align;
      canvas.fillStyle = mark.colour;
      mark.lines.forEach((line, at) => {
        canvas.fillText(line, mark.x, mark.y + at * mark.size * LINE_HEIGHT);
      });
      continue;
    }
    const drawn = pathOf(mark.d);
    const before = canvas.globalAlpha;
    canvas.globalAlpha = before * mark.opacity;
    if (mark.fill !== null) {
      if (mark.hasShadow) {
        canvas.shadowColor = "rgb(15 23 42 / 22%)";
        canvas.shadowBlur = 8;
        canvas.shadowOffsetY = 3;
      }
      canvas.fillStyle = mark.fill;
      canvas.fill(drawn);
      canvas.shadowColor = "transparent";
    }
    if (mark.stroke !== null && mark.width > 0) {
      canvas.strokeStyle = mark.stroke;
      canvas.lineWidth = mark.width;
      canvas.lineCap = canvas.lineJoin = "round";
      canvas.setLineDash(dashesOf(mark.dash, mark.width));
      canvas.stroke(drawn);
      canvas.setLineDash([]);
    }
    canvas.globalAlpha = before;
  }
}

const WIDTHS_MAX = 5_000;

/** Measures by the browser's own letters, and remembers. */
export function canvasMeasure(): Measure {
  const canvas = document.createElement("canvas").getContext("2d");
  const known = new Map<string, number>();
  return (text, size) => {
    const key = `${size} ${text}`;
    let width = known.get(key);
    if (width === undefined) {
      if (canvas !== null) canvas.font = fontOf(size);
      width = canvas?.measureText(text).width ?? 0;
      if (known.size >= WIDTHS_MAX) known.clear();
      known.set(key, width);
    }
    return width;
  };
}
