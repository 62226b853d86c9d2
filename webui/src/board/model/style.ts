/** How a thing looks: its properties with what holds where one is missing. */

import type { Thing, Value } from "../../place/thing";
import { colourIn, NO_COLOUR } from "./palette";

export type Dash = "solid" | "dashed" | "dotted";
export type Align = "left" | "center" | "right";
export type Heads = "none" | "end" | "both";

export interface Style {
  /** Of lines and texts. */
  readonly colour: string;
  readonly fill: string;
  /** Of lines, in units; 0: none. */
  readonly width: number;
  readonly dash: Dash;
  /** Of letters, in units. */
  readonly size: number;
  readonly align: Align;
}

export const WIDTHS = [2, 4, 8] as const;
export const SIZES = [16, 20, 28, 44] as const;
export const DASHES: readonly Dash[] = ["solid", "dashed", "dotted"];
export const ALIGNS: readonly Align[] = ["left", "center", "right"];

const PLAIN: Style = {
  colour: "ink",
  fill: NO_COLOUR,
  width: 2,
  dash: "solid",
  size: 20,
  align: "center",
};

const OF_KINDS: Readonly<Record<string, Partial<Style>>> = {
  sticky: { fill: "yellow", width: 0 },
  text: { align: "left" },
  frame: { colour: "grey", align: "left", size: 16 },
  ink: { width: 4 },
  light: { fill: "yellow" },
  switch: { fill: "grey" },
  timer: { fill: "teal" },
  clock: { fill: "grey" },
  dice: { fill: "grey" },
  vote: { fill: "violet" },
  token: { fill: "red" },
  ball: { fill: "orange" },
  door: { fill: "blue" },
  link: { fill: "blue" },
};

const read = new WeakMap<Thing, Style>();

export function plainStyle(kind: string): Style {
  return { ...PLAIN, ...OF_KINDS[kind] };
}

export function styleOf(thing: Thing): Style {
  let style = read.get(thing);
  if (style === undefined) {
    const given = Object.fromEntries(thing.style) as Record<string, Value>;
    const plain = plainStyle(thing.kind);
    style = {
      colour: colourIn(given.colour) ?? plain.colour,
      fill: colourIn(given.fill) ?? plain.fill,
      width: within(given.width, 0, 64, plain.width),
      dash: DASHES.find((one) => one === given.dash) ?? plain.dash,
      size: within(given.size, 4, 400, plain.size),
      align: ALIGNS.find((one) => one === given.align) ?? plain.align,
    };
    read.set(thing, style);
  }
  return style;
}

function within(value: Value | undefined, least: number, most: number, plain: number): number {
  return typeof value === "number" ? Math.min(most, Math.max(least, value)) : plain;
}

export function propText(thing: Thing, name: string): string {
  const value = thing.props.find(([known]) => known === name)?.[1];
  return typeof value === "string" ? value : "";
}

export function headsOf(thing: Thing): Heads {
  const heads = propText(thing, "heads");
  return heads === "none" || heads === "both" ? heads : "end";
}

/** Which shape a shape is; rectangles are what is not known. */
export function shapeOf(thing: Thing): "rectangle" | "ellipse" | "diamond" {
  const shape = propText(thing, "shape");
  return shape === "ellipse" || shape === "diamond" ? shape : "rectangle";
}
