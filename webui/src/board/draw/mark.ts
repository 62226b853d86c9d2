/** What marks are: paths, lines of text and pictures, in units about the middle of a thing. */

import type { Dash } from "../model/style";

export interface PathMark {
  readonly kind: "path";
  readonly d: string;
  readonly fill: string | null;
  readonly stroke: string | null;
  readonly width: number;
  readonly dash: Dash;
  readonly hasShadow: boolean;
  /** 1: nothing shines through. */
  readonly opacity: number;
}

export interface TextMark {
  readonly kind: "text";
  readonly lines: readonly string[];
  /** Of the first line's base, by `align`. */
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly align: "left" | "center" | "right";
  readonly colour: string;
  readonly isBold: boolean;
}

export interface PictureMark {
  readonly kind: "picture";
  /** Its hash; of a document's picture `DOCUMENT/HASH`; empty: there is none. */
  readonly picture: string;
  readonly width: number;
  readonly height: number;
  readonly says: string;
  /** Its middle, where that is not the thing's. */
  readonly at?: { readonly x: number; readonly y: number };
  /** What is drawn where the picture cannot be. */
  readonly instead: readonly (PathMark | TextMark)[];
}

export type Mark = PathMark | TextMark | PictureMark;

export function path(d: string, more: Partial<PathMark>): PathMark {
  const plain = { fill: null, stroke: null, width: 0, dash: "solid" } as const;
  return { kind: "path", d, ...plain, hasShadow: false, opacity: 1, ...more };
}

/** An ellipse about the middle. */
export function ellipse(across: number, down: number): string {
  return `M${-across} 0A${across} ${down} 0 1 1 ${across} 0A${across} ${down} 0 1 1 ${-across} 0Z`;
}

/** A rectangle with round corners, about the middle. */
export function rectangle(across: number, down: number, radius: number): string {
  const r = Math.min(radius, across, down);
  const corner = (x: number, y: number) => `A${r} ${r} 0 0 1 ${x} ${y}`;
  const top = `M${r - across} ${-down}H${across - r}${corner(across, r - down)}V${down - r}`;
  const bottom = `${corner(across - r, down)}H${r - across}${corner(-across, down - r)}V${r - down}`;
  return `${top}${bottom}${corner(r - across, -down)}Z`;
}

/** A circle anywhere. */
export function circle(x: number, y: number, radius: number): string {
  const arc = `A${radius} ${radius} 0 1 1`;
  return `M${x - radius} ${y}${arc} ${x + radius} ${y}${arc} ${x - radius} ${y}Z`;
}

/** A rectangle with round corners, anywhere. */
export function plate(
  left: number,
  top: number,
  width: number,
  height: number,
  radius: number,
): string {
  const r = Math.max(0, Math.min(radius, width / 2, height / 2));
  const [right, bottom] = [left + width, top + height];
  const arc = `A${r} ${r} 0 0 1`;
  return (
    `M${left + r} ${top}H${right - r}${arc} ${right} ${top + r}V${bottom - r}` +
    `${arc} ${right - r} ${bottom}H${left + r}${arc} ${left} ${bottom - r}V${top + r}${arc} ${left + r} ${top}Z`
  );
}
