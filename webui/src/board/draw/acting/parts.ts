/** What drawings of things that act have in common: their colours, names below them, buttons. */

import type { Thing } from "../../../place/thing";
import type { Things } from "../../model/arrows";
import {
  type ColourName,
  fillColour,
  lineColour,
  NO_COLOUR,
  readableOn,
  type Theme,
} from "../../model/palette";
import type { Now } from "../../model/states";
import { styleOf } from "../../model/style";
import { sizeOf, type Zone } from "../../model/zones";
import { type Mark, path, plate, type TextMark } from "../mark";
import type { Measure } from "../text-layout";

/** What marks of a thing are drawn from, beside it. */
export interface Scene {
  readonly things: Things;
  readonly theme: Theme;
  readonly measure: Measure;
  readonly now: Now;
}

export interface Paints {
  /** Of lines, and of what is to be seen at once. */
  readonly strong: string;
  /** Of areas. */
  readonly soft: string;
  /** What can be read on what is strong. */
  readonly onStrong: string;
  /** The lines of all things: between the paper and the text. */
  readonly edge: string;
}

/** Letters stand so far below their upper edge, as a share of their size. */
export const BASE = 0.35;
const CAPTION = 14;
/** How much wider bold letters are than those that are measured. */
export const BOLD = 1.12;

export function paintsOf(thing: Thing, { isDark }: Theme): Paints {
  const { fill } = styleOf(thing);
  const name = fill === NO_COLOUR ? "grey" : fill;
  return paintsIn(name, isDark);
}

export function paintsIn(name: ColourName | string, isDark: boolean): Paints {
  const strong = lineColour(name, isDark) ?? "#6b7484";
  const soft = fillColour(name, isDark) ?? "#eceff3";
  const edge = isDark ? "#5a6474" : "#aab2c0";
  return { strong, soft, onStrong: readableOn(strong), edge };
}

/** One line of text whose middle is at `y`, cut to its room. */
export function line(
  text: string,
  x: number,
  y: number,
  size: number,
  colour: string,
  more: Partial<Pick<TextMark, "align" | "isBold">> & { readonly room?: number } = {},
  measure?: Measure,
): TextMark {
  const { room, ...look } = more;
  const wide = look.isBold ? size * BOLD : size;
  const shown = room === undefined || measure === undefined ? text : cut(text, wide, room, measure);
  const plain = { align: "center", isBold: false } as const;
  return { kind: "text", lines: [shown], x, y: y + size * BASE, size, colour, ...plain, ...look };
}

/** As many letters as have room, with a sign that there are more. */
export function cut(text: string, size: number, room: number, measure: Measure): string {
  const flat = text.replace(/\s+/g, " ").trim();
  if (measure(flat, size) <= room) return flat;
  const letters = [...flat.slice(0, 400)];
  let [least, most] = [0, letters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (measure(`${letters.slice(0, middle).join("")}…`, size) <= room) least = middle;
    else most = middle - 1;
  }
  return `${letters.slice(0, least).join("").trimEnd()}…`;
}

/** The name of a thing, below it. */
export function caption(thing: Thing, { theme, measure }: Scene): Mark[] {
  const text = thing.text.split("\n")[0] ?? "";
  if (text.trim() === "") return [];
  const { width, height } = sizeOf(thing);
  const more = { room: Math.max(120, width * 1.6) };
  return [line(text, 0, height / 2 + CAPTION, CAPTION, theme.text, more, measure)];
}

/** A button with a word. */
export function pill(
  zone: Zone,
  text: string,
  { fill, colour }: { readonly fill: string; readonly colour: string },
  measure: Measure,
): Mark[] {
  const { left, top, width, height } = zone;
  const size = Math.min(15, height * 0.45);
  const word = { isBold: true, room: width - 12 };
  return [
    path(plate(left, top, width, height, height / 2), { fill }),
    line(text, left + width / 2, top + height / 2, size, colour, word, measure),
  ];
}
