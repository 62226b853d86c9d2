/**
 * A card: the name of its document, and as much of its text as there is room for.
 *
 * It is drawn from what is known of the document (`model/card.ts`), so that a board, a wall of the
 * room and a file show the same.
 */

import type { Thing } from "../../../place/thing";
import { boardWords } from "../../../words/board";
import { type CardBlock, type CardView, cardTitle } from "../../model/card";
import { documentOf } from "../../model/settings";
import { cardButton, sizeOf } from "../../model/zones";
import { circle, type Mark, path, plate } from "../mark";
import { LINE_HEIGHT, type Measure, wrapped } from "../text-layout";
import { BASE, BOLD, cut, line, type Paints, paintsOf, type Scene } from "./parts";

const INSET = 16;
const TEXT = 14;
const HEADINGS = [20, 18, 16] as const;
const GAP = 6;
const INDENT = 18;
const NOTICE = 14;
const NOTICE_LINES = 6;
/** Of one block, before what stands below it has no room in any card. */
const LINES_MAX = 60;
const ROWS_MAX = 20;
const COLUMNS_MAX = 8;
const ROW = 22;

/** Where drawing has come to, and where it ends. */
interface Sheet {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly scene: Scene;
  readonly paints: Paints;
  readonly marks: Mark[];
  y: number;
}

export function cardMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme, measure } = scene;
  const { width, height } = sizeOf(thing);
  const paints = paintsOf(thing, theme);
  const document = documentOf(thing);
  const view = document === null ? null : scene.now.card(document);
  const [left, top] = [-width / 2, -height / 2];
  const paper = { fill: theme.paper, stroke: paints.edge, width: 1.5, hasShadow: true };
  const marks: Mark[] = [path(plate(left, top, width, height, 12), paper)];
  const button = cardButton(thing);
  marks.push(...openSign(button.left, button.top, button.width, paints, document !== null));
  const head = Math.min(56, height);
  const size = Math.min(18, height * 0.3);
  const title = cardTitle(thing, scene.now) || boardWords.card;
  const room = button.left - left - INSET - 6;
  if (room > 12) {
    const begin = left + INSET;
    const look = { align: "left", isBold: true, room } as const;
    marks.push(line(title, begin, top + head / 2, size, theme.text, look, measure));
  }
  if (height < head + 40 || width < 80) return marks;
  const below = top + head;
  marks.push(path(`M${left + INSET} ${below}H${-left - INSET}`, { stroke: paints.soft, width: 2 }));
  if (view?.state === "live") {
    marks.push(path(circle(left + INSET + 3, below, 3.5), { fill: liveColour(theme.isDark) }));
  }
  const sheet: Sheet = {
    left: left + INSET,
    right: -left - INSET,
    bottom: -top - INSET,
    scene,
    paints,
    marks,
    y: below + 14,
  };
  const notice = document === null ? boardWords.noDocument : (view?.notice ?? "");
  if (notice !== "") drawNotice(sheet, notice);
  if (view !== null) drawBlocks(sheet, view, measure);
  return marks;
}

const liveColour = (isDark: boolean): string => (isDark ? "#4ade80" : "#15803d");

/** Two arrows that go apart: it becomes larger. */
function openSign(
  left: number,
  top: number,
  side: number,
  paints: Paints,
  isThere: boolean,
): Mark[] {
  const [x, y, arm] = [left + side / 2, top + side / 2, side * 0.2];
  const sign =
    `M${x + arm * 0.25} ${y - arm}H${x + arm}V${y - arm * 0.25}M${x + arm} ${y - arm}L${x + arm * 0.25} ${y - arm * 0.25}` +
    `M${x - arm * 0.25} ${y + arm}H${x - arm}V${y + arm * 0.25}M${x - arm} ${y + arm}L${x - arm * 0.25} ${y + arm * 0.25}`;
  const stroke = isThere ? paints.strong : paints.edge;
  return [
    path(plate(left, top, side, side, 10), { fill: paints.soft }),
    path(sign, { stroke, width: Math.max(1.5, side * 0.055) }),
  ];
}

function drawNotice(sheet: Sheet, notice: string): void {
  const { theme, measure } = sheet.scene;
  const lines = wrapped(notice, NOTICE, sheet.right - sheet.left, measure);
  draw(sheet, lines.slice(0, NOTICE_LINES), NOTICE, 0, theme.soft);
  sheet.y += GAP;
}

function drawBlocks(sheet: Sheet, { blocks, state }: CardView, measure: Measure): void {
  if (blocks.length === 0 && state === "live") {
    draw(sheet, [boardWords.emptyDocument], TEXT, 0, sheet.scene.theme.soft);
  }
  for (const block of blocks) {
    if (sheet.y + TEXT * LINE_HEIGHT > sheet.bottom) return;
    drawBlock(sheet, block, measure);
    sheet.y += GAP;
  }
}

/** Lines from where drawing has come to; the last one that has room says that there are more. */
function draw(
  sheet: Sheet,
  lines: readonly string[],
  size: number,
  indent: number,
  colour: string,
  isBold = false,
): void {
  const high = size * LINE_HEIGHT;
  const room = Math.max(0, Math.floor((sheet.bottom - sheet.y) / high));
  const shown = lines.slice(0, room);
  if (shown.length === 0) return;
  if (room < lines.length) {
    const wide = sheet.right - sheet.left - indent;
    const last = `${shown[room - 1] ?? ""} …${" ".repeat(1)}`;
    shown[room - 1] = cut(last, isBold ? size * BOLD : size, wide, sheet.scene.measure);
  }
  const y = sheet.y + high / 2 + size * BASE;
  const look = { align: "left", colour, isBold } as const;
  sheet.marks.push({ kind: "text", lines: shown, x: sheet.left + indent, y, size, ...look });
  sheet.y += shown.length * high;
}

function drawBlock(sheet: Sheet, block: CardBlock, measure: Measure): void {
  switch (block.kind) {
    case "divider":
      sheet.marks.push(
        path(`M${sheet.left} ${sheet.y + 6}H${sheet.right}`, {
          stroke: sheet.paints.edge,
          width: 1.5,
        }),
      );
      sheet.y += 12;
      return;
    case "table":
      drawTable(sheet, block);
      return;
    case "picture":
      drawPicture(sheet, block, measure);
      return;
    default:
      drawText(sheet, block, measure);
  }
}

function drawText(sheet: Sheet, block: CardBlock, measure: Measure): void {
  const { kind, level, text, sign, isDone } = block;
  const { theme } = sheet.scene;
  const isHeading = kind === "heading";
  const size = isHeading ? (HEADINGS[level - 1] ?? HEADINGS[2]) : kind === "code" ? 13 : TEXT;
  const isListed = kind === "bullet" || kind === "numbered" || kind === "todo";
  const depth = isListed ? Math.min(level, 4) * INDENT : 0;
  const signed = isListed ? Math.max(INDENT, measure(sign, size) + 6) : 0;
  const indent = depth + signed + (kind === "quote" ? 14 : kind === "code" ? 10 : 0);
  const room = Math.max(24, sheet.right - sheet.left - indent);
  const wide = isHeading ? size * BOLD : size;
  const lines = wrapped(text, wide, room, measure).slice(0, LINES_MAX);
  const top = sheet.y;
  const mark = sheet.marks.length;
  const colour = isDone || kind === "quote" ? theme.soft : theme.text;
  draw(sheet, lines, size, indent, colour, isHeading);
  if (sheet.y === top) return;
  const middle = top + (size * LINE_HEIGHT) / 2;
  const x = sheet.left + depth;
  if (kind === "todo") sheet.marks.push(...box(x + 1, middle - 6, isDone, sheet.paints));
  else if (isListed)
    sheet.marks.push(line(sign, x + 4, middle, size, theme.soft, { align: "left" }));
  else if (kind === "quote") {
    const bar = path(plate(sheet.left, top, 3, sheet.y - top, 1.5), { fill: sheet.paints.edge });
    sheet.marks.push(bar);
  } else if (kind === "code") {
    const fill = theme.isDark ? "#232934" : "#f1f3f7";
    const back = plate(sheet.left, top - 3, sheet.right - sheet.left, sheet.y - top + 6, 6);
    sheet.marks.splice(mark, 0, path(back, { fill }));
  }
}

function box(x: number, y: number, isDone: boolean, paints: Paints): Mark[] {
  const look = isDone ? { fill: paints.strong } : { stroke: paints.edge, width: 1.5 };
  const marks: Mark[] = [path(plate(x, y, 12, 12, 3), look)];
  if (isDone) {
    marks.push(path(`M${x + 3} ${y + 6}l2.2 2.6l4 -5`, { stroke: paints.onStrong, width: 1.8 }));
  }
  return marks;
}

function drawTable(sheet: Sheet, { rows }: CardBlock): void {
  const { theme, measure } = sheet.scene;
  const columns = Math.min(COLUMNS_MAX, Math.max(1, ...rows.map((row) => row.length)));
  const wide = (sheet.right - sheet.left) / columns;
  for (const [at, row] of rows.slice(0, ROWS_MAX).entries()) {
    if (sheet.y + ROW > sheet.bottom) return;
    const isHead = at === 0;
    if (isHead) {
      const back = plate(sheet.left, sheet.y, sheet.right - sheet.left, ROW, 4);
      sheet.marks.push(path(back, { fill: theme.isDark ? "#232934" : "#f1f3f7" }));
    }
    row.slice(0, columns).forEach((cell, column) => {
      const look = { align: "left", isBold: isHead, room: wide - 10 } as const;
      const x = sheet.left + column * wide + 5;
      sheet.marks.push(line(cell, x, sheet.y + ROW / 2, 12.5, theme.text, look, measure));
    });
    sheet.y += ROW;
    const under = path(`M${sheet.left} ${sheet.y}H${sheet.right}`, {
      stroke: sheet.paints.soft,
      width: 1,
    });
    sheet.marks.push(under);
  }
}

/** A picture with room of its own is drawn; else what it shows is said. */
function drawPicture(sheet: Sheet, block: CardBlock, measure: Measure): void {
  const width = sheet.right - sheet.left;
  const height = Math.min(width * block.shape, 180);
  const isIn = sheet.y + height <= sheet.bottom;
  if (block.picture !== "" && isIn) {
    const across = Math.min(width, height / Math.max(0.05, block.shape));
    const back = plate(sheet.left, sheet.y, across, height, 6);
    const instead = [path(back, { fill: sheet.paints.soft })];
    const at = { x: sheet.left + across / 2, y: sheet.y + height / 2 };
    const { picture, text } = block;
    sheet.marks.push({ kind: "picture", picture, width: across, height, says: text, instead, at });
    sheet.y += height + 4;
  }
  if (block.text !== "") {
    const lines = wrapped(block.text, 12.5, width, measure).slice(0, 2);
    draw(sheet, lines, 12.5, 0, sheet.scene.theme.soft);
  }
}
