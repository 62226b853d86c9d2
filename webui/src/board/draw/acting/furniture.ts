/** Furniture from above, made of simple shapes. */

import type { Thing } from "../../../place/thing";
import { NO_COLOUR, type Theme } from "../../model/palette";
import { type Furniture, furnitureOf } from "../../model/settings";
import { styleOf } from "../../model/style";
import { sizeOf } from "../../model/zones";
import { circle, ellipse, type Mark, path, plate } from "../mark";
import { caption, type Paints, paintsIn, paintsOf, type Scene } from "./parts";

const WOOD = { strong: "#8f6a45", soft: "#ead8bf" };
const DARK_WOOD = { strong: "#b8926a", soft: "#47382a" };

export function furnitureMarks(thing: Thing, scene: Scene): Mark[] {
  return [...bodyOf(thing, scene), ...caption(thing, scene)];
}

function bodyOf(thing: Thing, { theme }: Scene): Mark[] {
  const { width, height } = sizeOf(thing);
  const form = furnitureOf(thing);
  const { strong, soft } = paintsFor(thing, form, theme);
  const [left, top] = [-width / 2, -height / 2];
  const solid = { fill: soft, stroke: strong, width: 2 };
  const raised = { ...solid, hasShadow: true };
  const fine = { stroke: strong, width: 1.25, opacity: 0.55 };
  switch (form) {
    case "round":
      return [
        path(ellipse(width / 2, height / 2), raised),
        path(ellipse(width * 0.42, height * 0.42), fine),
      ];
    case "chair":
      return [
        path(plate(left, top + height * 0.16, width, height * 0.84, 10), raised),
        path(plate(left + width * 0.04, top, width * 0.92, height * 0.22, 8), {
          fill: strong,
        }),
      ];
    case "sofa":
      return [
        path(plate(left, top, width, height, 14), { ...raised, fill: strong }),
        ...[0, 1].map((at) => {
          const wide = (width * 0.8) / 2 - 2;
          const begin = left + width * 0.1 + at * (wide + 4);
          return path(plate(begin, top + height * 0.3, wide, height * 0.64, 8), { fill: soft });
        }),
      ];
    case "shelf":
      return [
        path(plate(left, top, width, height, 3), raised),
        path(shelves(left, top, width, height), { stroke: strong, width: 1.5 }),
      ];
    case "plant":
      return plantMarks(Math.min(width, height) / 2, theme.isDark, solid);
    case "wall":
      return [path(plate(left, top, width, height, 2), { fill: strong })];
    default:
      return [
        path(plate(left, top, width, height, 10), raised),
        path(plate(left + 7, top + 7, Math.max(1, width - 14), Math.max(1, height - 14), 6), fine),
      ];
  }
}

/** What has no colour of its own is of wood, walls of stone. */
function paintsFor(thing: Thing, form: Furniture, theme: Theme): Pick<Paints, "strong" | "soft"> {
  if (styleOf(thing).fill !== NO_COLOUR) return paintsOf(thing, theme);
  if (form === "wall") return paintsIn("grey", theme.isDark);
  return theme.isDark ? DARK_WOOD : WOOD;
}

function shelves(left: number, top: number, width: number, height: number): string {
  const [isLong, count] = [width >= height, 4];
  const parts = Array.from({ length: count - 1 }, (_, at) => {
    const share = (at + 1) / count;
    return isLong
      ? `M${left + width * share} ${top}V${top + height}`
      : `M${left} ${top + height * share}H${left + width}`;
  });
  return parts.join("");
}

function plantMarks(
  radius: number,
  isDark: boolean,
  pot: { readonly fill: string; readonly stroke: string; readonly width: number },
): Mark[] {
  const green = paintsIn("green", isDark);
  const leaves = Array.from({ length: 7 }, (_, at) => {
    const angle = (at / 7) * 2 * Math.PI;
    const [x, y] = [Math.cos(angle), Math.sin(angle)];
    const tip = `${round(x * radius)} ${round(y * radius)}`;
    const side = (sign: 1 | -1) => {
      const [across, along] = [radius * 0.28 * sign, radius * 0.55];
      return `${round(x * along - y * across)} ${round(y * along + x * across)}`;
    };
    return `M0 0Q${side(1)} ${tip}Q${side(-1)} 0 0Z`;
  });
  return [
    path(circle(0, 0, radius * 0.52), { ...pot, hasShadow: true }),
    path(leaves.join(""), { fill: green.soft, stroke: green.strong, width: 1.5 }),
  ];
}

const round = (value: number): number => Math.round(value * 100) / 100;
