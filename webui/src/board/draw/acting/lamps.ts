/** Lamps, which glow while they are on, and switches, whose lever is up then. */

import type { Thing } from "../../../place/thing";
import { isOn } from "../../model/settings";
import { sizeOf } from "../../model/zones";
import { circle, type Mark, path, plate } from "../mark";
import { caption, paintsIn, paintsOf, type Scene } from "./parts";

/** How far the light goes, as shares of the bulb: it gets weaker by steps that nobody sees. */
const GLOW = [2.2, 2.05, 1.9, 1.75, 1.6, 1.45, 1.3, 1.15] as const;

export function lampMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme } = scene;
  const { width, height } = sizeOf(thing);
  const side = Math.min(width, height);
  const { strong, soft, edge } = paintsOf(thing, theme);
  const isLit = isOn(thing);
  const [radius, y] = [side * 0.33, -side * 0.12];
  const glass = isLit ? lightOf(soft, strong, theme.isDark) : theme.paper;
  const marks: Mark[] = [];
  if (isLit) {
    const opacity = theme.isDark ? 0.045 : 0.12;
    for (const far of GLOW) marks.push(path(circle(0, y, radius * far), { fill: glass, opacity }));
  }
  const neck = side * 0.16;
  const [foot, low] = [y + radius * 0.82, side * 0.2];
  const bulb = { fill: glass, stroke: isLit ? strong : edge, width: Math.max(1.5, side * 0.025) };
  marks.push(path(circle(0, y, radius), { ...bulb, hasShadow: true }));
  const wire = side * 0.1;
  const filament = `M${-wire} ${y + wire * 0.6}L${-wire * 0.4} ${y - wire}L${wire * 0.4} ${y + wire * 0.6}L${wire} ${y - wire}`;
  marks.push(path(filament, { stroke: isLit ? strong : edge, width: Math.max(1.2, side * 0.022) }));
  const metal = theme.isDark ? "#8b95a5" : "#7a8494";
  marks.push(path(plate(-neck, foot, 2 * neck, low, side * 0.04), { fill: metal }));
  const threads = [0.35, 0.68].map((share) => foot + low * share);
  for (const at of threads) {
    marks.push(
      path(`M${-neck} ${at}H${neck}`, {
        stroke: theme.isDark ? "#4a5361" : "#dfe3ea",
        width: 1.5,
      }),
    );
  }
  const tip = plate(-neck * 0.5, foot + low, neck, side * 0.06, side * 0.03);
  return [...marks, path(tip, { fill: metal }), ...caption(thing, scene)];
}

/** Glass that shines: on a dark board it is the brighter of both colours. */
function lightOf(soft: string, strong: string, isDark: boolean): string {
  return isDark ? strong : soft;
}

export function switchMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme } = scene;
  const { width, height } = sizeOf(thing);
  const { soft, edge } = paintsOf(thing, theme);
  const isUp = isOn(thing);
  const green = paintsIn("green", theme.isDark);
  const body = { fill: soft, stroke: edge, width: 1.5, hasShadow: true };
  const marks = [path(plate(-width / 2, -height / 2, width, height, 10), body)];
  for (const y of [-height / 2 + 8, height / 2 - 8]) {
    marks.push(path(circle(0, y, 2), { fill: edge }));
  }
  const track = Math.min(width * 0.5, height * 0.4);
  const long = Math.min(height - 32, track * 2);
  const back = { fill: isUp ? green.strong : theme.isDark ? "#4a5361" : "#b4bcc9" };
  marks.push(path(plate(-track / 2, -long / 2, track, long, track / 2), back));
  const knob = track / 2 - 3;
  const y = (isUp ? -1 : 1) * (long / 2 - track / 2);
  marks.push(path(circle(0, y, knob), { fill: "#ffffff", hasShadow: true }));
  const sign = isUp ? `M0 ${y - knob * 0.4}V${y + knob * 0.4}` : circle(0, y, knob * 0.35);
  const ink = { stroke: isUp ? "#23803f" : "#6b7484", width: Math.max(1.5, knob * 0.14) };
  return [...marks, path(sign, ink), ...caption(thing, scene)];
}
