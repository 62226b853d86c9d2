/**
 * How a thing of the plane is in the room: it stands on the floor, lies there as a drawing, is a
 * panel that stands upright, or hangs on one.
 *
 * Rules.
 *   M1  Things that have a body stand: furniture, balls, dice, tokens, lamps, switches, doors,
 *       clocks, timers; votes and links stand as signs. What is of no known kind is a box.
 *   M2  A frame or shape with the property `wall` is a panel: it stands at its upper edge, as wide
 *       and as high as it is on the plane, and looks to where it lay.
 *   M3  What is drawn (notes, texts, pictures, shapes, ink, arrows, cards, and votes and links)
 *       hangs on the panel in which its middle lies; in several of them, on the smallest.
 *   M4  Everything else lies on the floor.
 */

import { inside, type Point } from "../../board/model/geometry";
import { radians } from "../../board/model/units";
import { prop, type Thing } from "../../place/thing";
import { type Heading, METRE } from "./metres";

const DRAWN = new Set(["ink", "shape", "arrow", "sticky", "text", "picture", "frame", "card"]);
const SIGNS = new Set(["vote", "link"]);
/** Panels larger than this are shown smaller; in metres. */
const HIGHEST = 5;
const WIDEST = 24;
/** Below a panel, in metres. */
export const FOOT = 0.35;
export const PANEL_THICKNESS = 0.12;
const PANELS_MAX = 48;

export function isPanel(thing: Thing): boolean {
  return (thing.kind === "frame" || thing.kind === "shape") && prop(thing, "wall") !== 0;
}

export function isDrawn(thing: Thing): boolean {
  return DRAWN.has(thing.kind);
}

export function mayHang(thing: Thing): boolean {
  return (isDrawn(thing) || SIGNS.has(thing.kind)) && !isPanel(thing);
}

/** A wall with what hangs on it; all but `thing` and `scale` in metres. */
export interface Panel extends Point {
  readonly thing: Thing;
  readonly heading: Heading;
  readonly width: number;
  readonly height: number;
  /** Metres of the panel for a length of the plane. */
  readonly scale: number;
}

export function panelOf(thing: Thing): Panel {
  const [width, height] = [Math.max(0.2, thing.width / METRE), Math.max(0.2, thing.height / METRE)];
  const share = Math.min(1, HIGHEST / height, WIDEST / width);
  const heading = radians(thing.turn);
  const half = thing.height / 2 / METRE;
  return {
    thing,
    x: thing.x / METRE + Math.sin(heading) * half,
    y: thing.y / METRE - Math.cos(heading) * half,
    heading,
    width: width * share,
    height: height * share,
    scale: share / METRE,
  };
}

/** The point of the plane that is shown so far right of a panel's middle and so high, in metres. */
export function onPanel({ thing, scale, height }: Panel, right: number, high: number): Point {
  const down = (FOOT + height / 2 - high) / scale;
  const across = right / scale;
  const [sin, cos] = [Math.sin(radians(thing.turn)), Math.cos(radians(thing.turn))];
  return { x: thing.x + across * cos - down * sin, y: thing.y + across * sin + down * cos };
}

/** The panels among these things; the nearer come first, and some of very many are left out. */
export function panelsOf(things: readonly Thing[]): Panel[] {
  return things.filter(isPanel).slice(0, PANELS_MAX).map(panelOf);
}

/** M3: on which panel a thing hangs; null: on none. */
export function holderOf(thing: Thing, panels: readonly Panel[]): Panel | null {
  let found: Panel | null = null;
  for (const panel of panels) {
    const { x, y } = inside(thing, panel.thing);
    const { width, height } = panel.thing;
    if (Math.abs(x) > width / 2 || Math.abs(y) > height / 2) continue;
    const isSmaller = found === null || width * height < found.thing.width * found.thing.height;
    if (isSmaller) found = panel;
  }
  return found;
}

const FURNITURE = [
  ...["box", "table", "round", "chair", "sofa", "shelf", "plant", "wall", "rug"],
] as const;
export type Furniture =
  | ("box" | "table" | "round" | "chair" | "sofa")
  | ("shelf" | "plant" | "wall" | "rug");

/** What a piece of furniture is made as; a table where nothing is known, as on the board. */
export function furnitureOf(thing: Thing): Furniture {
  for (const [name, value] of [...thing.props, ...thing.style]) {
    const isForm = name === "form" || name === "shape";
    if (isForm && FURNITURE.some((one) => one === value)) return value as Furniture;
  }
  return "table";
}

/** Metres that a thing takes: across and deep on the floor, and high. */
export interface Body {
  readonly across: number;
  readonly deep: number;
  readonly high: number;
}

const BODY_MIN = 0.12;
const BODY_MAX = 40;
const HIGH: Readonly<Record<Furniture, number>> = {
  ...{ box: 0.9, table: 0.75, round: 0.75, chair: 0.95, plant: 1.5 },
  ...{ wall: 2.6, shelf: 1.9, sofa: 0.85, rug: 0.02 },
};
const HIGH_OF_KINDS: Readonly<Record<string, number>> = { light: 1.9, switch: 1.15 };
/** Stand as a plate on a post, with what the board shows of them. */
const PLATES: ReadonlySet<string> = new Set(["vote", "link", "clock", "timer"]);
const PLATE_WIDE = 1.8;
const PLATE_HIGH = 1.3;

/** The plate of a sign, in metres. */
export interface Plate {
  readonly width: number;
  readonly height: number;
  /** Of its lower edge, over the floor. */
  readonly foot: number;
}

export function isSign({ kind }: Thing): boolean {
  return PLATES.has(kind);
}

export function plateOf(thing: Thing): Plate {
  const [width, height] = [bounded(thing.width / METRE), bounded(thing.height / METRE)];
  const share = Math.min(1, PLATE_WIDE / width, PLATE_HIGH / height);
  const [across, down] = [Math.max(0.3, width * share), Math.max(0.2, height * share)];
  return { width: across, height: down, foot: Math.max(0.75, 1.5 - down / 2) };
}

function bounded(metre: number, most = BODY_MAX): number {
  return Math.min(most, Math.max(BODY_MIN, metre));
}

export function bodyOf(thing: Thing): Body {
  const [across, deep] = [bounded(thing.width / METRE), bounded(thing.height / METRE)];
  const depth = thing.depth > 0 ? bounded(thing.depth / METRE, 12) : null;
  switch (thing.kind) {
    case "ball":
      return { across, deep: across, high: across };
    case "dice": {
      const side = bounded(Math.min(across, deep), 2);
      return { across: side, deep: side, high: side };
    }
    case "token":
      return { across, deep, high: depth ?? Math.max(0.06, Math.min(across, deep) * 0.18) };
    case "furniture":
      return { across, deep, high: depth ?? HIGH[furnitureOf(thing)] };
    case "light":
    case "switch": {
      const high = depth ?? HIGH_OF_KINDS[thing.kind] ?? 1;
      return { across: bounded(across, 1.2), deep: bounded(deep, 1.2), high };
    }
    case "vote":
    case "link":
    case "clock":
    case "timer": {
      const { width, height, foot } = plateOf(thing);
      return { across: width, deep: 0.3, high: foot + height };
    }
    case "door":
      return { across: Math.max(0.9, bounded(across, 4)), deep: 0.2, high: depth ?? 2.2 };
    default:
      return { across, deep, high: depth ?? Math.min(1, across, deep) };
  }
}

/** Who walks does not go through it. */
export function isSolid(thing: Thing): boolean {
  if (thing.kind === "furniture") return furnitureOf(thing) !== "rug";
  return thing.kind === "shape" && prop(thing, "solid") !== 0;
}

/** A drawing that floats over the floor rather than lying on it. */
const RAISED = METRE / 4;

export function isRaised(thing: Thing): boolean {
  return isDrawn(thing) && Math.abs(thing.z) >= RAISED;
}
