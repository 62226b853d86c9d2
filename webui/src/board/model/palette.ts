/** The colours of things: names, so that they suit light and dark screens; or of one's own. */

export const COLOURS = [
  "ink",
  "grey",
  "red",
  "orange",
  "yellow",
  "green",
  "teal",
  "blue",
  "violet",
  "pink",
] as const;
export type ColourName = (typeof COLOURS)[number];

export const NO_COLOUR = "none";

type Shades = readonly [line: string, fill: string];
type Shading = Readonly<Record<ColourName, Shades>>;

const LIGHT: Shading = {
  ink: ["#1c2330", "#e3e7ee"],
  grey: ["#6b7484", "#eceff3"],
  red: ["#c4302b", "#fbd5d1"],
  orange: ["#b85b00", "#fddfb8"],
  yellow: ["#8f6b00", "#fff0a8"],
  green: ["#23803f", "#cdeed3"],
  teal: ["#0b7a80", "#c5ecec"],
  blue: ["#2456c9", "#d3e1ff"],
  violet: ["#6a3fc4", "#e3d8fb"],
  pink: ["#ab2a77", "#fbd5e9"],
};

const DARK: Shading = {
  ink: ["#e7eaf0", "#3a4250"],
  grey: ["#a2abbb", "#2f3642"],
  red: ["#ff9d95", "#5f2724"],
  orange: ["#f2b36b", "#5c3a12"],
  yellow: ["#ecd66a", "#564808"],
  green: ["#85d996", "#1f4a2a"],
  teal: ["#6fd6dc", "#12474a"],
  blue: ["#8fb0ff", "#243c74"],
  violet: ["#c0a5ff", "#432d75"],
  pink: ["#ff9fd0", "#5e2145"],
};

export interface Theme {
  readonly isDark: boolean;
  readonly back: string;
  readonly grid: string;
  readonly text: string;
  readonly soft: string;
  readonly accent: string;
  readonly paper: string;
  /** By the number of a person's colour. */
  readonly people: readonly string[];
}

const HEX = /^#[0-9a-f]{6}$/;

export function isName(colour: string): colour is ColourName {
  return (COLOURS as readonly string[]).includes(colour);
}

/** A colour as it may be kept: a name, `none`, or `#rrggbb`; null for anything else. */
export function colourIn(value: unknown): string | null {
  if (typeof value !== "string") return null;
  const colour = value.toLowerCase();
  if (colour === NO_COLOUR || isName(colour) || HEX.test(colour)) return colour;
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(colour);
  if (short === null) return null;
  const [, red = "", green = "", blue = ""] = short;
  return `#${red}${red}${green}${green}${blue}${blue}`;
}

/** Of a line or a text. */
export function lineColour(colour: string, isDark: boolean): string | null {
  return shade(colour, isDark, 0);
}

/** Of an area. */
export function fillColour(colour: string, isDark: boolean): string | null {
  return shade(colour, isDark, 1);
}

function shade(colour: string, isDark: boolean, which: 0 | 1): string | null {
  if (isName(colour)) return (isDark ? DARK : LIGHT)[colour][which];
  return HEX.test(colour) ? colour : null;
}

/** Black or white: what can be read on this area. */
export function readableOn(fill: string): string {
  const [red, green, blue] = channels(fill);
  return red * 0.299 + green * 0.587 + blue * 0.114 > 140 ? "#1c2330" : "#f4f6fa";
}

function channels(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** The name of the colour that is nearest, as a line (0) or an area (1). */
export function nearestName(hex: string, which: 0 | 1): ColourName {
  const wanted = channels(hex);
  let best: ColourName = "ink";
  let least = Number.POSITIVE_INFINITY;
  for (const name of COLOURS) {
    const found = channels(LIGHT[name][which]);
    const far = wanted.reduce((sum, one, at) => sum + (one - (found[at] ?? 0)) ** 2, 0);
    if (far < least) [best, least] = [name, far];
  }
  return best;
}
