/**
 * What is drawn of a thing: paths and lines of text, in units about its middle, upright.
 *
 * The screen, SVG and PNG all draw these, so a picture looks as the board does.
 */

import { getStroke } from "perfect-freehand";
import type { Thing } from "../../place/thing";
import { boardWords } from "../../words/board";
import { endsOf, type Things } from "../model/arrows";
import { type Point, pointsOf } from "../model/geometry";
import { fillColour, lineColour, readableOn, type Theme } from "../model/palette";
import { type Now, STILL } from "../model/states";
import { headsOf, propText, type Style, shapeOf, styleOf } from "../model/style";
import { pixels } from "../model/units";
import { pictureIn } from "../pictures/album";
import { drawnActing } from "./acting-drawings";
import { ellipse, type Mark, type PictureMark, path, rectangle, type TextMark } from "./mark";
import { fitted, LINE_HEIGHT, type Measure, wrapped } from "./text-layout";

/** Between a text and the edge of what it is in. */
export const PADDING = 12;
const BASE = 0.98;
const RADIUS = 8;

/** All marks of a thing, those behind first; `now`: how those that act stand. */
export function marksOf(
  thing: Thing,
  things: Things,
  theme: Theme,
  measure: Measure,
  now: Now = STILL,
): Mark[] {
  const style = styleOf(thing);
  switch (thing.kind) {
    case "ink":
      return inkMarks(thing, style, theme);
    case "arrow":
      return arrowMarks(thing, things, style, theme, measure);
    case "text":
      return textMarks(thing, style, theme, measure);
    case "sticky":
      return boxed(thing, { ...style, width: 0 }, theme, measure, roundedRectangle(thing, 3), true);
    case "frame":
      return frameMarks(thing, style, theme);
    case "shape":
      return boxed(thing, style, theme, measure, outlineOf(thing), false);
    case "picture":
      return [pictureMark(thing, style, theme, measure)];
    default:
      return (
        drawnActing(thing, { things, theme, measure, now }) ??
        otherMarks(thing, style, theme, measure)
      );
  }
}

function outlineOf(thing: Thing): string {
  const [across, down] = [pixels(thing.width) / 2, pixels(thing.height) / 2];
  const shape = shapeOf(thing);
  if (shape === "diamond") return `M0 ${-down}L${across} 0L0 ${down}L${-across} 0Z`;
  if (shape === "ellipse") return ellipse(across, down);
  return roundedRectangle(thing, RADIUS);
}

function roundedRectangle({ width, height }: Thing, radius: number): string {
  return rectangle(pixels(width) / 2, pixels(height) / 2, radius);
}

function boxed(
  thing: Thing,
  style: Style,
  theme: Theme,
  measure: Measure,
  d: string,
  hasShadow: boolean,
): Mark[] {
  const fill = fillColour(style.fill, theme.isDark);
  const stroke = style.width > 0 ? lineColour(style.colour, theme.isDark) : null;
  const body = path(d, { fill, stroke, width: style.width, dash: style.dash, hasShadow });
  const colour =
    fill !== null && style.width === 0 ? readableOn(fill) : textColour(style, fill, theme);
  return [body, ...textIn(thing, style, colour, measure)];
}

/** Of a text on an area: of the line, unless that would not be read. */
function textColour(style: Style, fill: string | null, theme: Theme): string {
  const own = lineColour(style.colour, theme.isDark) ?? theme.text;
  return fill === null || style.colour !== "ink" ? own : readableOn(fill);
}

/** How much of a thing has room for text. */
export function roomFor(thing: Thing): { width: number; height: number } {
  const isRound = thing.kind === "shape" && shapeOf(thing) !== "rectangle";
  const share = !isRound ? 1 : shapeOf(thing) === "diamond" ? 0.55 : 0.72;
  const width = Math.max(8, pixels(thing.width) * share - 2 * PADDING);
  return { width, height: Math.max(8, pixels(thing.height) * share - 2 * PADDING) };
}

function textIn(thing: Thing, style: Style, colour: string, measure: Measure): TextMark[] {
  if (thing.text === "") return [];
  const room = roomFor(thing);
  const { size, lines } = fitted(thing.text, style.size, room.width, room.height, measure);
  const top = (-lines.length * size * LINE_HEIGHT) / 2;
  const x = { left: -room.width / 2, center: 0, right: room.width / 2 }[style.align];
  return [
    {
      kind: "text",
      lines,
      x,
      y: top + size * BASE,
      size,
      align: style.align,
      colour,
      isBold: false,
    },
  ];
}

function textMarks(thing: Thing, style: Style, theme: Theme, measure: Measure): Mark[] {
  const [width, height] = [pixels(thing.width), pixels(thing.height)];
  const room = propText(thing, "wraps") === "yes" ? width : Number.POSITIVE_INFINITY;
  const lines = wrapped(thing.text, style.size, room, measure);
  const x = { left: -width / 2, center: 0, right: width / 2 }[style.align];
  const colour = lineColour(style.colour, theme.isDark) ?? theme.text;
  const { size, align } = style;
  return [
    { kind: "text", lines, x, y: size * BASE - height / 2, size, align, colour, isBold: false },
  ];
}

function frameMarks(thing: Thing, style: Style, theme: Theme): Mark[] {
  const d = roundedRectangle(thing, 10);
  const stroke = lineColour(style.colour, theme.isDark);
  const fill = style.fill === "none" ? theme.paper : fillColour(style.fill, theme.isDark);
  const [x, y] = [-pixels(thing.width) / 2 + 2, -pixels(thing.height) / 2 - 8];
  const body = path(d, { fill, stroke, width: 1.5, dash: style.dash });
  if (thing.text === "") return [body];
  const lines = [thing.text.split("\n")[0] ?? ""];
  const name = { kind: "text", lines, x, y, size: 14, align: "left", isBold: true } as const;
  return [body, { ...name, colour: stroke ?? theme.soft }];
}

function pictureMark(thing: Thing, style: Style, theme: Theme, measure: Measure): PictureMark {
  const [width, height] = [pixels(thing.width), pixels(thing.height)];
  const back = path(rectangle(width / 2, height / 2, RADIUS), {
    fill: theme.paper,
    stroke: theme.soft,
    width: 1,
    dash: "dashed",
  });
  const text = thing.text || boardWords.picture;
  const instead = [back, ...textIn({ ...thing, text }, style, theme.soft, measure)];
  return { kind: "picture", picture: pictureIn(thing), width, height, says: thing.text, instead };
}

const strokes = new WeakMap<Thing, string>();

function inkMarks(thing: Thing, style: Style, theme: Theme): Mark[] {
  const colour = lineColour(style.colour, theme.isDark);
  let d = strokes.get(thing);
  if (d === undefined) {
    d = inkPath(pointsOf(thing), style.width);
    strokes.set(thing, d);
  }
  return [path(d, { fill: colour })];
}

/** The outline of a pen's stroke through these points, which are lengths of the place. */
export function inkPath(points: readonly Point[], width: number): string {
  const given = points.map(({ x, y }): [number, number] => [pixels(x), pixels(y)]);
  const outline = getStroke(given, {
    size: width * 1.8,
    thinning: 0.55,
    smoothing: 0.6,
    streamline: 0.4,
    last: true,
  });
  const [first] = outline;
  if (first === undefined) return "";
  const at = (value: number) => Math.round(value * 10) / 10;
  const parts = outline.map(([x, y], place) => {
    const [nextX, nextY] = outline[(place + 1) % outline.length] ?? [x, y];
    return `${at(x)} ${at(y)} ${at((x + nextX) / 2)} ${at((y + nextY) / 2)}`;
  });
  return `M${at(first[0])} ${at(first[1])}Q${parts.join(" ")}Z`;
}

function arrowMarks(
  thing: Thing,
  things: Things,
  style: Style,
  theme: Theme,
  measure: Measure,
): Mark[] {
  const stroke = lineColour(style.colour, theme.isDark);
  const { width, dash } = style;
  const [from, to] = endsOf(thing, things).map(({ x, y }) => ({
    x: pixels(x - thing.x),
    y: pixels(y - thing.y),
  })) as [Point, Point];
  const heads = headsOf(thing);
  const line = path(`M${from.x} ${from.y}L${to.x} ${to.y}`, { stroke, width, dash });
  const tips: Mark[] = [];
  if (heads !== "none") tips.push(path(tip(from, to, width), { stroke, width }));
  if (heads === "both") tips.push(path(tip(to, from, width), { stroke, width }));
  const colour = stroke ?? theme.text;
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  return [line, ...tips, ...labelOf(thing, style, colour, theme, middle, measure)];
}

function tip(from: Point, to: Point, width: number): string {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const long = Math.min(10 + 2.5 * width, Math.hypot(to.x - from.x, to.y - from.y) / 2);
  const wing = (turn: number) => {
    const [x, y] = [to.x - long * Math.cos(angle + turn), to.y - long * Math.sin(angle + turn)];
    return `${x} ${y}`;
  };
  return `M${wing(0.5)}L${to.x} ${to.y}L${wing(-0.5)}`;
}

function labelOf(
  thing: Thing,
  style: Style,
  colour: string,
  theme: Theme,
  { x, y }: Point,
  measure: Measure,
): Mark[] {
  if (thing.text === "") return [];
  const size = Math.min(style.size, 20);
  const lines = wrapped(thing.text, size, 240, measure);
  const wide = Math.max(...lines.map((line) => measure(line, size)));
  const high = lines.length * size * LINE_HEIGHT;
  const [left, right, top, bottom] = [
    x - wide / 2 - 4,
    x + wide / 2 + 4,
    y - high / 2,
    y + high / 2,
  ];
  const back = path(`M${left} ${top}H${right}V${bottom}H${left}Z`, { fill: theme.back });
  const first = top + size * BASE;
  return [back, { kind: "text", lines, x, y: first, size, align: "center", colour, isBold: false }];
}

/** Of kinds that this page does not know. */
function otherMarks(thing: Thing, style: Style, theme: Theme, measure: Measure): Mark[] {
  const fill = fillColour(style.fill === "none" ? "grey" : style.fill, theme.isDark);
  const stroke = lineColour(style.colour, theme.isDark);
  const body = path(roundedRectangle(thing, RADIUS), { fill, stroke, width: 2 });
  return [body, ...textIn(thing, style, textColour(style, fill, theme), measure)];
}
