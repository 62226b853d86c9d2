/** The order in which things are read: frame by frame, and in each by rows from the top. */

import type { Thing } from "../../place/thing";
import { boxOf, isWithin } from "./geometry";
import { units } from "./units";

/** What begins within so much of a row's top stands in it. */
const ROW = units(80);

export interface Entry {
  readonly thing: Thing;
  /** The frame that it lies in; "": none. */
  readonly frame: string;
}

export function inReadingOrder(things: Iterable<Thing>): Entry[] {
  const all = [...things];
  const frames = rows(all.filter(({ kind }) => kind === "frame"));
  const left = new Set(all.filter(({ kind }) => kind !== "frame"));
  const found: Entry[] = [];
  for (const frame of frames) {
    const box = boxOf(frame);
    const within = [...left].filter((thing) => isWithin(boxOf(thing), box));
    found.push({ thing: frame, frame: "" });
    for (const thing of rows(within)) {
      left.delete(thing);
      found.push({ thing, frame: frame.id });
    }
  }
  return [...found, ...rows([...left]).map((thing) => ({ thing, frame: "" }))];
}

function rows(things: readonly Thing[]): Thing[] {
  const top = ({ y, height }: Thing) => y - height / 2;
  const sorted = [...things].sort((one, other) => top(one) - top(other) || byId(one, other));
  const found: Thing[] = [];
  let row: Thing[] = [];
  for (const thing of sorted) {
    const [first] = row;
    if (first !== undefined && top(thing) - top(first) > ROW) {
      found.push(...row.sort(across));
      row = [];
    }
    row.push(thing);
  }
  return [...found, ...row.sort(across)];
}

function across(one: Thing, other: Thing): number {
  return one.x - one.width / 2 - (other.x - other.width / 2) || byId(one, other);
}

function byId(one: Thing, other: Thing): number {
  return one.id < other.id ? -1 : 1;
}

/** The things whose text holds the words, in the order of reading. */
export function holding(entries: readonly Entry[], words: string): Thing[] {
  const wanted = words.trim().toLocaleLowerCase();
  if (wanted === "") return [];
  return entries.flatMap(({ thing }) => {
    return thing.text.toLocaleLowerCase().includes(wanted) ? [thing] : [];
  });
}
