/** A vote: its question, and its choices as bars with their counts; one's own has a tick. */

import type { Thing } from "../../../place/thing";
import { boardWords } from "../../../words/board";
import { number } from "../../../words/formats";
import { countsOf, ownChoice } from "../../model/acts";
import { labelsOf } from "../../model/settings";
import { type Row, sizeOf, voteLayout } from "../../model/zones";
import { type Mark, path, plate } from "../mark";
import { wrapped } from "../text-layout";
import { BASE, BOLD, line, paintsOf, type Scene } from "./parts";

const LINES = 2;

export function voteMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme, measure, now } = scene;
  const { width, height } = sizeOf(thing);
  const { strong, edge } = paintsOf(thing, theme);
  const { question, rows, left, rest } = voteLayout(thing);
  const back = { fill: theme.paper, stroke: edge, width: 1.5, hasShadow: true };
  const marks: Mark[] = [path(plate(-width / 2, -height / 2, width, height, 14), back)];
  marks.push(...questionMarks(thing, scene));
  const [labels, counts] = [labelsOf(thing), countsOf(thing)];
  const own = ownChoice(thing, now.isOwn);
  const all = counts.reduce((sum, one) => sum + one, 0);
  for (const row of rows) {
    const label = labels[row.at] || boardWords.choice(row.at + 1);
    marks.push(...rowMarks(thing, row, label, counts[row.at] ?? 0, all, own === row.at, scene));
  }
  if (left > 0) {
    const y = rest.top + Math.min(rest.height, 24) / 2;
    const more = { align: "left", room: question.width } as const;
    marks.push(line(boardWords.moreChoices(left), rest.left, y, 13, strong, more, measure));
  }
  return marks;
}

function questionMarks(thing: Thing, { theme, measure }: Scene): Mark[] {
  const { left, top, width, height } = voteLayout(thing).question;
  const text = thing.text.trim() || boardWords.vote;
  const size = Math.min(17, height * 0.4);
  const lines = wrapped(text, size * BOLD, width, measure);
  const shown = lines.slice(0, LINES);
  if (lines.length > LINES) shown[LINES - 1] = `${shown[LINES - 1] ?? ""}…`;
  const middle = top + height / 2;
  const y = middle - ((shown.length - 1) * size * 1.3) / 2 + size * BASE;
  const look = { align: "left", colour: theme.text, isBold: true } as const;
  return [{ kind: "text", lines: shown, x: left, y, size, ...look }];
}

function rowMarks(
  thing: Thing,
  { left, top, width, height }: Row,
  label: string,
  count: number,
  all: number,
  isOwn: boolean,
  { theme, measure }: Scene,
): Mark[] {
  const { strong, soft } = paintsOf(thing, theme);
  const track = theme.isDark ? "#232934" : "#f3f5f8";
  const outline = isOwn ? { stroke: strong, width: 2 } : {};
  const marks: Mark[] = [path(plate(left, top, width, height, 8), { fill: track })];
  const part = all === 0 ? 0 : (count / all) * width;
  if (part > 0) marks.push(path(plate(left, top, Math.max(16, part), height, 8), { fill: soft }));
  marks.push(path(plate(left, top, width, height, 8), outline));
  const [middle, size] = [top + height / 2, Math.min(15, height * 0.48)];
  const said = number(count);
  const end = measure(said, size) + 12;
  marks.push(
    line(said, left + width - 12, middle, size, theme.text, { align: "right", isBold: true }),
  );
  const begin = left + (isOwn ? 32 : 12);
  if (isOwn) {
    const tick = `M${left + 12} ${middle}l4 4.5l8 -9`;
    marks.push(path(tick, { stroke: strong, width: 2.5 }));
  }
  const room = left + width - end - 12 - begin;
  const look = { align: "left", room } as const;
  return [...marks, line(label, begin, middle, size, theme.text, look, measure)];
}
