/**
 * What things that stand are made of: boxes, cylinders, spheres and cones, no more than a few each.
 *
 * A part lies about the foot of its thing: right, up and near, in metres, before the thing is turned.
 */

import { fillColour, lineColour, type Theme } from "../../board/model/palette";
import { PIPS } from "../../board/model/pips";
import { faceOf, isOn, isUp } from "../../board/model/settings";
import { styleOf } from "../../board/model/style";
import type { Thing } from "../../place/thing";
import { type Body, bodyOf, furnitureOf, plateOf } from "./forms";

export type Primitive = "box" | "cylinder" | "sphere" | "cone";

export interface Part {
  readonly form: Primitive;
  readonly at: readonly [right: number, up: number, near: number];
  readonly size: readonly [across: number, high: number, deep: number];
  readonly colour: string;
  /** Shines by itself. */
  readonly isLit: boolean;
}

const WOOD = { light: "#c39a6b", dark: "#8c6a45" } as const;
const METAL = { light: "#7d8696", dark: "#6b7484" } as const;
const POT = { light: "#b9684a", dark: "#8d4f39" } as const;
const LEAF = { light: "#4f9d5b", dark: "#3d7f49" } as const;
const LIT = "#ffe9a8";
const UNLIT = { light: "#cfd5de", dark: "#4a5362" } as const;
const PALE = { light: "#f4f6fa", dark: "#d8dde6" } as const;
const GO = "#3fbf6b";
const STOP = "#c4504a";

function part(
  form: Primitive,
  at: Part["at"],
  size: Part["size"],
  colour: string,
  isLit = false,
): Part {
  return { form, at, size, colour, isLit };
}

/** The colour that a thing was given, as an area; else another one. */
function ownColour(thing: Thing, theme: Theme, other: string): string {
  const style = styleOf(thing);
  return fillColour(style.fill, theme.isDark) ?? other;
}

export function partsOf(thing: Thing, theme: Theme): Part[] {
  const body = bodyOf(thing);
  const shade = theme.isDark ? "dark" : "light";
  const line = lineColour(styleOf(thing).colour, theme.isDark) ?? theme.text;
  switch (thing.kind) {
    case "furniture":
      return furniture(thing, body, theme);
    case "light":
      return lamp(thing, body, METAL[shade], UNLIT[shade]);
    case "switch":
      return switchParts(thing, body, METAL[shade], PALE[shade]);
    case "dice":
      return dice(thing, body, PALE[shade]);
    case "token":
      return token(thing, body, ownColour(thing, theme, "#e0a83c"), line);
    case "ball":
      return ball(body, ownColour(thing, theme, "#e2574c"), PALE[shade]);
    case "clock":
    case "timer":
      return sign(thing, METAL[shade], METAL[shade], "sphere");
    case "vote":
    case "link":
      return sign(thing, METAL[shade], METAL[shade], "box");
    case "door":
      return door(body, WOOD[shade], ownColour(thing, theme, "#5b83d6"));
    default:
      return [box(body, ownColour(thing, theme, PALE[shade]))];
  }
}

function box({ across, deep, high }: Body, colour: string): Part {
  return part("box", [0, high / 2, 0], [across, high, deep], colour);
}

function furniture(thing: Thing, body: Body, theme: Theme): Part[] {
  const { across, deep, high } = body;
  const shade = theme.isDark ? "dark" : "light";
  const colour = ownColour(thing, theme, WOOD[shade]);
  switch (furnitureOf(thing)) {
    case "table": {
      const top = Math.min(0.08, high / 3);
      return [
        part("box", [0, high - top / 2, 0], [across, top, deep], colour),
        ...legs(body, high - top, METAL[shade]),
      ];
    }
    case "round": {
      const top = Math.min(0.08, high / 3);
      const foot = Math.min(across, deep);
      return [
        part("cylinder", [0, high - top / 2, 0], [across, top, deep], colour),
        part("cylinder", [0, (high - top) / 2, 0], [0.1, high - top, 0.1], METAL[shade]),
        part("cylinder", [0, 0.02, 0], [foot * 0.5, 0.04, foot * 0.5], METAL[shade]),
      ];
    }
    case "chair": {
      const seat = high * 0.48;
      const back = Math.min(0.08, deep / 4);
      return [
        part("box", [0, seat, 0], [across, 0.07, deep], colour),
        part(
          "box",
          [0, (seat + high) / 2, back / 2 - deep / 2],
          [across, high - seat, back],
          colour,
        ),
        ...legs(body, seat, METAL[shade]),
      ];
    }
    case "sofa": {
      const seat = high * 0.5;
      const arm = Math.min(0.18, across / 6);
      const back = Math.min(0.25, deep / 3);
      return [
        part("box", [0, seat / 2, 0], [across, seat, deep], colour),
        part("box", [0, high / 2, back / 2 - deep / 2], [across, high, back], colour),
        part("box", [arm / 2 - across / 2, high * 0.36, 0], [arm, high * 0.72, deep], colour),
        part("box", [across / 2 - arm / 2, high * 0.36, 0], [arm, high * 0.72, deep], colour),
      ];
    }
    case "plant": {
      const wide = Math.min(across, deep);
      const pot = Math.min(0.45, high * 0.3);
      const crown = high - pot;
      return [
        part("cylinder", [0, pot / 2, 0], [wide * 0.55, pot, wide * 0.55], POT[shade]),
        part("sphere", [0, pot + crown * 0.4, 0], [wide, crown * 0.8, wide], LEAF[shade]),
        part(
          "sphere",
          [wide * 0.1, pot + crown * 0.74, 0],
          [wide * 0.66, crown * 0.5, wide * 0.66],
          LEAF[shade],
        ),
      ];
    }
    case "shelf": {
      const side = Math.min(0.06, across / 8);
      const boards = [0.02, 0.34, 0.66, 0.98].map((share) =>
        part("box", [0, high * share, 0], [across, 0.05, deep], colour),
      );
      const wall = (right: number) => part("box", [right, high / 2, 0], [side, high, deep], colour);
      return [...boards, wall(side / 2 - across / 2), wall(across / 2 - side / 2)];
    }
    case "rug":
      return [
        part("box", [0, 0.012, 0], [across, 0.024, deep], ownColour(thing, theme, "#a9606c")),
      ];
    case "wall":
      return [box(body, ownColour(thing, theme, PALE[shade]))];
    default:
      return [box(body, colour)];
  }
}

function legs({ across, deep }: Body, high: number, colour: string): Part[] {
  const thick = Math.min(0.07, across / 5, deep / 5);
  const [right, near] = [across / 2 - thick, deep / 2 - thick];
  return ([-1, 1] as const).flatMap((x) =>
    ([-1, 1] as const).map((y) =>
      part("box", [x * right, high / 2, y * near], [thick, high, thick], colour),
    ),
  );
}

function lamp(thing: Thing, { across, high }: Body, metal: string, unlit: string): Part[] {
  const shade = Math.max(0.35, Math.min(across, 0.8));
  const lit = isOn(thing);
  return [
    part("cylinder", [0, 0.03, 0], [shade * 0.8, 0.06, shade * 0.8], metal),
    part("cylinder", [0, high / 2, 0], [0.06, high, 0.06], metal),
    part("cone", [0, high, 0], [shade, shade * 0.75, shade], lit ? LIT : unlit, lit),
    ...(lit ? [part("sphere", [0, high - shade * 0.42, 0], [0.2, 0.2, 0.2], "#ffffff", true)] : []),
  ];
}

/** Where the light of a lamp comes from, over its foot. */
export function bulbHeight(thing: Thing): number {
  return bodyOf(thing).high - 0.2;
}

function switchParts(thing: Thing, { high }: Body, metal: string, pale: string): Part[] {
  const on = isOn(thing);
  const knob = part(
    "box",
    [0, high + (on ? 0.06 : -0.06), 0.06],
    [0.12, 0.16, 0.1],
    on ? GO : STOP,
    on,
  );
  return [
    part("cylinder", [0, 0.03, 0], [0.4, 0.06, 0.4], metal),
    part("cylinder", [0, high / 2, 0], [0.08, high, 0.08], metal),
    part("box", [0, high, 0], [0.3, 0.4, 0.08], pale),
    knob,
  ];
}

/** The face that was thrown lies above, and looks at who stands before it, too. */
function dice(thing: Thing, { across: side }: Body, pale: string): Part[] {
  const pips = PIPS[faceOf(thing)] ?? [];
  const wide = side * 0.17;
  const above = pips.map(([x, y]) =>
    part("cylinder", [x * side * 0.25, side, y * side * 0.25], [wide, 0.02, wide], "#1c2330"),
  );
  const before = pips.map(([x, y]) =>
    part(
      "sphere",
      [x * side * 0.25, side / 2 - y * side * 0.25, side / 2],
      [wide, wide, 0.03],
      "#1c2330",
    ),
  );
  return [part("box", [0, side / 2, 0], [side, side, side], pale), ...above, ...before];
}

function token(thing: Thing, { across, deep, high }: Body, colour: string, line: string): Part[] {
  return [
    part("cylinder", [0, high / 2, 0], [across, high, deep], colour),
    part(
      "cylinder",
      [0, high + 0.005, 0],
      [across * 0.7, 0.02, deep * 0.7],
      isUp(thing) ? line : colour,
    ),
  ];
}

function ball({ across: wide }: Body, colour: string, pale: string): Part[] {
  return [
    part("sphere", [0, wide / 2, 0], [wide, wide, wide], colour),
    part("cylinder", [0, wide / 2, 0], [wide * 0.985, wide * 0.16, wide * 0.985], pale),
  ];
}

/** What stands on the plate is drawn by the board's marks, on a picture before it. */
function sign(thing: Thing, metal: string, back: string, form: "box" | "sphere"): Part[] {
  const { width, height, foot } = plateOf(thing);
  return [
    part("cylinder", [0, 0.03, 0], [0.45, 0.06, 0.45], metal),
    part("cylinder", [0, foot / 2, -0.02], [0.07, foot, 0.07], metal),
    part(form, [0, foot + height / 2, -0.03], [width * 0.94, height * 0.94, 0.05], back),
  ];
}

function door({ across, high }: Body, wood: string, colour: string): Part[] {
  const post = 0.12;
  return [
    part("box", [post / 2 - across / 2, high / 2, 0], [post, high, 0.2], wood),
    part("box", [across / 2 - post / 2, high / 2, 0], [post, high, 0.2], wood),
    part("box", [0, high + post / 2, 0], [across, post, 0.2], wood),
    part("box", [0, high / 2, 0], [across - 2 * post, high, 0.05], colour),
    part("sphere", [across / 2 - 2.4 * post, high * 0.47, 0.06], [0.09, 0.09, 0.09], "#e9c46a"),
  ];
}
