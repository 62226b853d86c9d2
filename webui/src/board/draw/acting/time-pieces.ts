/** Clocks, which have the page's time, and timers, which have the order's. */

import type { Thing } from "../../../place/thing";
import { boardWords } from "../../../words/board";
import { dueOf, leftOf, secondsOf } from "../../model/settings";
import { spanOf } from "../../model/states";
import { pillOf, sizeOf } from "../../model/zones";
import { circle, type Mark, path, plate } from "../mark";
import { caption, line, paintsIn, paintsOf, pill, type Scene } from "./parts";

export function clockMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme, now } = scene;
  const { width, height } = sizeOf(thing);
  const radius = Math.min(width, height) / 2;
  const { edge, soft } = paintsOf(thing, theme);
  const marks: Mark[] = [
    path(circle(0, 0, radius), { fill: soft, stroke: edge, width: 2, hasShadow: true }),
    path(circle(0, 0, radius * 0.86), { fill: theme.paper }),
    path(ticks(radius * 0.78, radius * 0.7, 12), { stroke: theme.text, width: radius * 0.035 }),
  ];
  const date = new Date(Number.isFinite(now.time_ms) ? now.time_ms : 0);
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()];
  marks.push(hand(((hours % 12) + minutes / 60) / 12, radius * 0.42, radius * 0.07, theme.text));
  marks.push(hand((minutes + seconds / 60) / 60, radius * 0.64, radius * 0.05, theme.text));
  const red = paintsIn("red", theme.isDark).strong;
  if (!now.isCalm) marks.push(hand(seconds / 60, radius * 0.68, radius * 0.02, red));
  return [...marks, path(circle(0, 0, radius * 0.05), { fill: red }), ...caption(thing, scene)];
}

function ticks(from: number, to: number, count: number): string {
  const parts = Array.from({ length: count }, (_, at) => {
    const [x, y] = direction(at / count);
    return `M${x * from} ${y * from}L${x * to} ${y * to}`;
  });
  return parts.join("");
}

/** Of a share of a turn, from the top to the right. */
function direction(share: number): [number, number] {
  const angle = share * 2 * Math.PI - Math.PI / 2;
  return [round(Math.cos(angle)), round(Math.sin(angle))];
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

function hand(share: number, long: number, width: number, stroke: string): Mark {
  const [x, y] = direction(share);
  return path(`M${-x * long * 0.15} ${-y * long * 0.15}L${x * long} ${y * long}`, {
    stroke,
    width,
  });
}

export function timerMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme, now, measure } = scene;
  const { width, height } = sizeOf(thing);
  const isRinging = now.isRinging(thing.id);
  const isRunning = dueOf(thing) > 0;
  const own = paintsOf(thing, theme);
  const { strong, soft, onStrong } = isRinging ? paintsIn("red", theme.isDark) : own;
  const all_s = secondsOf(thing);
  const left_s = isRunning ? leftOf(thing, now.orderTime_ms) : isRinging ? 0 : all_s;
  const [left, top] = [-width / 2, -height / 2];
  const look = { fill: theme.paper, stroke: strong, width: isRinging ? 3 : 1.5, hasShadow: true };
  const marks: Mark[] = [path(plate(left, top, width, height, 14), look)];
  const button = pillOf(thing);
  const name = thing.text.trim() || boardWords.timer;
  const small = Math.min(14, height * 0.12);
  marks.push(line(name, 0, top + small + 6, small, theme.soft, { room: width - 28 }, measure));
  const bar = { left: button.left, top: button.top - 15, width: button.width, height: 5 };
  const middle = (top + 2 * small + bar.top) / 2;
  const text = spanOf(left_s);
  const room = bar.top - (top + 2 * small + 6);
  const size = Math.max(8, Math.min(room * 0.85, (width - 28) / (text.length * 0.66)));
  marks.push(line(text, 0, middle, size, isRinging ? strong : theme.text, { isBold: true }));
  const share = Math.min(1, left_s / all_s);
  marks.push(path(plate(bar.left, bar.top, bar.width, bar.height, 3), { fill: soft }));
  if (share > 0) {
    const part = Math.max(bar.height, bar.width * share);
    marks.push(path(plate(bar.left, bar.top, part, bar.height, 3), { fill: strong }));
  }
  const word = isRunning ? boardWords.stop : boardWords.start;
  const paint = isRunning ? { fill: soft, colour: theme.text } : { fill: strong, colour: onStrong };
  return [...marks, ...pill(button, word, paint, measure)];
}
