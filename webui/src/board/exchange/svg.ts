/**
 * A picture of things as SVG: texts are escaped, and nothing in it runs or loads anything.
 *
 * Pictures stand in it themselves.
 */

import type { Thing } from "../../place/thing";
import type { Mark } from "../draw/mark";
import { marksOf } from "../draw/marks";
import { dashesOf, FONT } from "../draw/paint";
import { byOrder, seenBox } from "../draw/sight";
import { LINE_HEIGHT, type Measure } from "../draw/text-layout";
import { isArrow, type Things } from "../model/arrows";
import { grown, joined } from "../model/geometry";
import type { Theme } from "../model/palette";
import { type Now, STILL } from "../model/states";
import { DEGREE, pixels, units } from "../model/units";
import { documentAddress } from "./addresses";
import type { PictureData } from "./picture-data";

const MARGIN = units(24);
const ANCHORS = { left: "start", center: "middle", right: "end" } as const;

export function escaped(text: string): string {
  const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (sign) => signs[sign] ?? "");
}

/** Letters that XML has no place for. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const NO_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

type Attributes = Readonly<Record<string, string | number | null>>;

function element(name: string, attributes: Attributes, content = ""): string {
  const given = Object.entries(attributes).filter(([, value]) => value !== null);
  const text = given.map(([key, value]) => ` ${key}="${escaped(String(value))}"`).join("");
  return content === "" ? `<${name}${text}/>` : `<${name}${text}>${content}</${name}>`;
}

function markElement(mark: Mark, data: PictureData): string {
  if (mark.kind === "picture") {
    const { width, height, says, at = { x: 0, y: 0 } } = mark;
    const href = data.get(mark.picture);
    if (href === undefined) return mark.instead.map((one) => markElement(one, data)).join("");
    const title = says === "" ? "" : element("title", {}, escaped(says.replace(NO_XML, "")));
    const corner = { x: at.x - width / 2, y: at.y - height / 2 };
    const size = { ...corner, width, height, preserveAspectRatio: "none" };
    return element("image", { href, ...size }, title);
  }
  if (mark.kind === "path") {
    const { d, fill, stroke, width, dash, opacity } = mark;
    const dashes = stroke === null ? [] : dashesOf(dash, width);
    return element("path", {
      d,
      fill: fill ?? "none",
      opacity: opacity === 1 ? null : opacity,
      stroke: width > 0 ? stroke : null,
      "stroke-width": stroke === null ? null : width,
      "stroke-linecap": stroke === null ? null : "round",
      "stroke-linejoin": stroke === null ? null : "round",
      "stroke-dasharray": dashes.length > 0 ? dashes.join(" ") : null,
    });
  }
  const { lines, x, y, size, align, colour, isBold } = mark;
  const spans = lines.map((line, at) => {
    const clean = escaped(line.replace(NO_XML, ""));
    return element("tspan", { x, y: y + at * size * LINE_HEIGHT }, clean || " ");
  });
  const look = { "font-size": size, "text-anchor": ANCHORS[align], fill: colour };
  return element("text", { ...look, "font-weight": isBold ? 600 : null }, spans.join(""));
}

/** These things, as they lie, with some room around. */
export function svgOf(
  things: readonly Thing[],
  all: Things,
  theme: Theme,
  measure: Measure,
  data: PictureData,
  now: Now = STILL,
): string {
  const sorted = [...things].sort(byOrder);
  const box = joined(sorted.map((thing) => seenBox(thing, all))) ?? ([0, 0, 0, 0] as const);
  const [left, top, right, bottom] = grown(box, MARGIN);
  const [width, height] = [Math.ceil(pixels(right - left)), Math.ceil(pixels(bottom - top))];
  const back = element("rect", { width, height, fill: theme.back });
  const drawn = sorted.map((thing) => {
    const [x, y] = [pixels(thing.x - left), pixels(thing.y - top)];
    const turn = thing.turn === 0 || isArrow(thing) ? "" : ` rotate(${thing.turn / DEGREE})`;
    const marks = marksOf(thing, all, theme, measure, now).map((one) => markElement(one, data));
    const href = documentAddress(thing);
    const drawn = href === "" ? marks.join("") : element("a", { href }, marks.join(""));
    return element("g", { transform: `translate(${x} ${y})${turn}` }, drawn);
  });
  const frame = { xmlns: "http://www.w3.org/2000/svg", width, height };
  const view = { viewBox: `0 0 ${width} ${height}`, "font-family": FONT };
  return element("svg", { ...frame, ...view }, back + drawn.join("\n"));
}
