/** Dice with their faces, tokens with two sides, and balls. */

import type { Thing } from "../../../place/thing";
import { boardWords } from "../../../words/board";
import { number } from "../../../words/formats";
import { PIPS } from "../../model/pips";
import { faceOf, facesOf, isCard, isUp } from "../../model/settings";
import { propText, styleOf } from "../../model/style";
import { sizeOf } from "../../model/zones";
import { circle, ellipse, type Mark, path, plate } from "../mark";
import { fitted, LINE_HEIGHT, type Measure } from "../text-layout";
import { caption, line, paintsOf, type Scene } from "./parts";

/** Dice of these colours are as paper is, with dark pips. */
const PLAIN: ReadonlySet<string> = new Set(["none", "grey", "ink"]);
/** As much of a card has room for its text. */
const CARD_ROOM = 0.7;

export function diceMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme, now, measure } = scene;
  const { width, height } = sizeOf(thing);
  const side = Math.min(width, height);
  const paints = paintsOf(thing, theme);
  const faces = facesOf(thing);
  const isCube = faces === 6;
  const body = isCube ? plate(-side / 2, -side / 2, side, side, side * 0.18) : hexagon(side / 2);
  const isPlain = PLAIN.has(styleOf(thing).fill);
  const fill = isPlain ? theme.paper : paints.soft;
  const ink = isPlain ? theme.text : paints.strong;
  const marks: Mark[] = [path(body, { fill, stroke: paints.edge, width: 1.5, hasShadow: true })];
  const face = now.isRolling(thing.id) && now.isCalm ? 0 : faceOf(thing);
  const pips = isCube ? PIPS[face] : undefined;
  if (pips !== undefined && face > 0) {
    const step = side * 0.25;
    for (const [x, y] of pips) {
      marks.push(path(circle(x * step, y * step, side * 0.085), { fill: ink }));
    }
  } else {
    const text =
      faces === null ? "!" : face > 0 ? number(face) : now.isRolling(thing.id) ? "…" : "?";
    const size = Math.min(side * 0.44, (side * 0.9) / Math.max(1, text.length * 0.62));
    marks.push(line(text, 0, 0, size, ink, { isBold: true }));
  }
  if (!isCube && faces !== null) {
    const kind = boardWords.die(faces);
    const size = side * 0.13;
    if (side > 48)
      marks.push(line(kind, 0, side * 0.33, size, theme.soft, { room: side }, measure));
  }
  return [...marks, ...caption(thing, scene)];
}

function hexagon(radius: number): string {
  const corners = Array.from({ length: 6 }, (_, at) => {
    const angle = (at / 6) * 2 * Math.PI - Math.PI / 2;
    const [x, y] = [Math.cos(angle) * radius, Math.sin(angle) * radius];
    return `${Math.round(x * 100) / 100} ${Math.round(y * 100) / 100}`;
  });
  return `M${corners.join("L")}Z`;
}

export function tokenMarks(thing: Thing, scene: Scene): Mark[] {
  return isCard(thing) ? cardMarks(thing, scene) : pieceMarks(thing, scene);
}

function pieceMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme } = scene;
  const { width, height } = sizeOf(thing);
  const [across, down] = [width / 2, height / 2];
  const { strong, soft, onStrong } = paintsOf(thing, theme);
  const up = isUp(thing);
  const rim = up ? { fill: strong } : { fill: soft, stroke: strong, width: 2 };
  const ring = { stroke: up ? onStrong : strong, width: 1.5, opacity: 0.55 };
  const marks: Mark[] = [
    path(ellipse(across, down), { ...rim, hasShadow: true }),
    path(ellipse(across * 0.8, down * 0.8), ring),
  ];
  return [...marks, ...sideText(thing, scene, 0.62, up ? onStrong : strong)];
}

function cardMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme } = scene;
  const { width, height } = sizeOf(thing);
  const { strong, soft, onStrong, edge } = paintsOf(thing, theme);
  const up = isUp(thing);
  const whole = plate(-width / 2, -height / 2, width, height, 10);
  const inner = plate(
    8 - width / 2,
    8 - height / 2,
    Math.max(1, width - 16),
    Math.max(1, height - 16),
    6,
  );
  if (up) {
    return [
      path(whole, { fill: theme.paper, stroke: edge, width: 1.5, hasShadow: true }),
      path(inner, { stroke: strong, width: 1.5, opacity: 0.6 }),
      ...sideText(thing, scene, CARD_ROOM, theme.text),
    ];
  }
  return [
    path(whole, { fill: strong, hasShadow: true }),
    path(inner, { stroke: onStrong, width: 1.5, opacity: 0.7 }),
    path(lattice(width - 24, height - 24), { stroke: soft, width: 1, opacity: 0.5 }),
    ...sideText(thing, scene, CARD_ROOM, onStrong),
  ];
}

/** Lozenges on the back of a card. */
function lattice(width: number, height: number): string {
  const [across, down] = [Math.max(1, width) / 2, Math.max(1, height) / 2];
  const parts: string[] = [];
  for (let share = -1; share < 1; share += 0.25) {
    const [x, y] = [share * across, share * down];
    parts.push(`M${x} ${-down}L${across} ${-y}`, `M${-across} ${y}L${-x} ${down}`);
    parts.push(`M${-x} ${-down}L${-across} ${-y}`, `M${across} ${y}L${x} ${down}`);
  }
  return parts.join("");
}

/** What stands on the side that is up: what is face down shows nothing of the other one. */
function sideText(thing: Thing, { measure }: Scene, share: number, colour: string): Mark[] {
  const text = isUp(thing) ? thing.text : propText(thing, "back");
  if (text.trim() === "") return [];
  const { width, height } = sizeOf(thing);
  const [wide, high] = [width * share, height * share];
  const most = wholeWords(text, Math.min(28, high * 0.5), wide, measure);
  const { size, lines } = fitted(text, most, wide, high, measure);
  const top = (-lines.length * size * LINE_HEIGHT) / 2 + size * 0.98;
  return [{ kind: "text", lines, x: 0, y: top, size, align: "center", colour, isBold: false }];
}

/** The size at which no word of the text is cut, if that can still be read. */
function wholeWords(text: string, size: number, room: number, measure: Measure): number {
  const widest = Math.max(1, ...text.split(/\s+/, 60).map((word) => measure(word, size)));
  return Math.max(Math.min(size, 10), Math.min(size, (size * room) / widest));
}

export function ballMarks(thing: Thing, scene: Scene): Mark[] {
  const { width, height } = sizeOf(thing);
  const radius = Math.min(width, height) / 2;
  const { strong, soft } = paintsOf(thing, scene.theme);
  const seam = radius * 0.78;
  const shine = { fill: "#ffffff", opacity: 0.5 };
  return [
    path(circle(0, 0, radius), { fill: soft, stroke: strong, width: 2, hasShadow: true }),
    path(`M${-seam} ${-seam * 0.6}Q0 0 ${-seam} ${seam * 0.6}`, { stroke: strong, width: 1.5 }),
    path(`M${seam} ${-seam * 0.6}Q0 0 ${seam} ${seam * 0.6}`, { stroke: strong, width: 1.5 }),
    path(`M0 ${-radius}V${radius}`, { stroke: strong, width: 1.5 }),
    path(circle(-radius * 0.34, -radius * 0.42, radius * 0.16), shine),
    ...caption(thing, scene),
  ];
}
