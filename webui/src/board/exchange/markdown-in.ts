/**
 * Notes of a Markdown text: each item of a list and each paragraph is a sticky note, each heading a
 * frame around the notes below it. Frames stand beside each other, notes in rows.
 */

import { TEXT_MAX } from "../../place/limits";
import type { Thing } from "../../place/thing";
import { newSticky, newThing, STICKY_SIDE } from "../model/make";
import { units } from "../model/units";
import { FILE_MAX, ImportRefusal, THINGS_MAX } from "./refusal";

const GAP = units(24);
const STEP = STICKY_SIDE + GAP;
/** Notes beside each other: as many as make it about square, in a frame no more than these. */
const COLUMNS_MAX = 4;

const HEADING = /^ {0,3}#{1,6}\s+(.+?)\s*#*$/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$/;

interface Part {
  readonly heading: string | null;
  readonly notes: string[];
}

/** Whether a text that is pasted is a list of at least two items, with headings at most. */
export function isList(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const items = lines.filter((line) => ITEM.test(line)).length;
  return items >= 2 && lines.every((line) => ITEM.test(line) || HEADING.test(line));
}

/** The notes and frames, from the place's middle to the right; ImportRefusal. */
export function markdownIn(text: string): Thing[] {
  if (text.length > FILE_MAX) throw new ImportRefusal("too_large");
  const things: Thing[] = [];
  let left = 0;
  for (const part of partsOf(text)) left = put(part, left, things);
  if (things.length > THINGS_MAX) throw new ImportRefusal("too_many");
  return things;
}

function partsOf(text: string): Part[] {
  const parts: Part[] = [{ heading: null, notes: [] }];
  let isOpen = false;
  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    const notes = (parts.at(-1) as Part).notes;
    const heading = HEADING.exec(line)?.[1];
    const item = ITEM.exec(line)?.[1];
    if (heading !== undefined) parts.push({ heading: cut(heading), notes: [] });
    else if (item !== undefined) notes.push(cut(item));
    else if (line.trim() !== "") {
      // A paragraph goes on, and so does an item that is longer than its line.
      if (isOpen) notes.push(cut(`${notes.pop() ?? ""} ${line.trim()}`));
      else notes.push(cut(line.trim()));
    }
    isOpen = heading === undefined && line.trim() !== "" && notes.length > 0;
  }
  return parts.filter(({ heading, notes }) => heading !== null || notes.length > 0);
}

const cut = (text: string): string => [...text].slice(0, TEXT_MAX).join("");

/** Puts a part to the right of what is there; where the next one begins. */
function put({ heading, notes }: Part, left: number, things: Thing[]): number {
  const columns = Math.max(1, Math.min(COLUMNS_MAX, Math.ceil(Math.sqrt(notes.length))));
  const rows = Math.max(1, Math.ceil(notes.length / columns));
  const [width, height] = [columns * STEP + GAP, rows * STEP + GAP];
  if (heading !== null) {
    const frame = { x: left + width / 2, y: height / 2, width, height, turn: 0 };
    things.push(newThing("frame", frame, {}, { text: heading, order: things.length }));
  }
  notes.forEach((text, at) => {
    const [column, row] = [at % columns, Math.floor(at / columns)];
    const [x, y] = [column, row].map((which) => GAP + which * STEP + STICKY_SIDE / 2) as [
      number,
      number,
    ];
    things.push({ ...newSticky({ x: left + x, y }, {}, things.length), text });
  });
  return left + width + GAP;
}
