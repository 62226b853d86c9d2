/** Text in lines that are no wider than there is room. */

/** How wide a text is, in units; `size` of its letters. */
export type Measure = (text: string, size: number) => number;

export const LINE_HEIGHT = 1.3;
const LINES_MAX = 400;

/** The lines of a text; words longer than a line are cut. Infinity: only where it says so. */
export function wrapped(text: string, size: number, room: number, measure: Measure): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    if (lines.length >= LINES_MAX) break;
    lines.push(...linesOf(paragraph, size, room, measure));
  }
  return lines.slice(0, LINES_MAX);
}

function linesOf(paragraph: string, size: number, room: number, measure: Measure): string[] {
  if (room === Number.POSITIVE_INFINITY || measure(paragraph, size) <= room) return [paragraph];
  const lines: string[] = [];
  let line = "";
  for (const word of paragraph.split(/(?<=\s)/)) {
    if (line !== "" && measure((line + word).trimEnd(), size) > room) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += word;
    while (measure(line.trimEnd(), size) > room && [...line].length > 1) {
      const head = fitting(line, size, room, measure);
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  return [...lines, line.trimEnd()];
}

/** As many letters from the start as there is room for, one at least. */
function fitting(line: string, size: number, room: number, measure: Measure): string {
  const letters = [...line];
  let [least, most] = [1, letters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (measure(letters.slice(0, middle).join(""), size) <= room) least = middle;
    else most = middle - 1;
  }
  return letters.slice(0, least).join("");
}

export interface Fitted {
  readonly size: number;
  readonly lines: readonly string[];
}

/** The largest size up to `size` at which all of the text has room; at the least of them it is cut. */
export function fitted(
  text: string,
  size: number,
  room: number,
  height: number,
  measure: Measure,
): Fitted {
  const least = Math.min(size, 10);
  for (let now = size; ; now = Math.max(least, now - Math.max(1, Math.round(now / 10)))) {
    const lines = wrapped(text, now, room, measure);
    const isIn = lines.length * now * LINE_HEIGHT <= height;
    if (isIn) return { size: now, lines };
    if (now <= least)
      return {
        size: now,
        lines: lines.slice(0, Math.max(1, Math.floor(height / (now * LINE_HEIGHT)))),
      };
  }
}

/** How much room a text takes that has all the room it wants. */
export function sizeOfText(
  text: string,
  size: number,
  measure: Measure,
): { width: number; height: number } {
  const lines = wrapped(text, size, Number.POSITIVE_INFINITY, measure);
  const width = Math.max(size / 2, ...lines.map((line) => measure(line, size)));
  return { width: Math.ceil(width) + 2, height: Math.ceil(lines.length * size * LINE_HEIGHT) };
}
