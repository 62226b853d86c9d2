/** What a file or the clipboard brings onto a board: things, and pictures that are to be sent first. */

import type { Thing } from "../../place/thing";
import type { Board } from "../model/board";
import { propText } from "../model/style";
import type { PictureDesk, Placed } from "../pictures/desk";
import { picturesIn } from "./picture-data";

export interface Brought {
  readonly things: readonly Thing[];
  readonly pictures: readonly Placed[];
  /** So many elements are of kinds that are not taken. */
  readonly left: number;
  /** The place whose pictures the things show; empty: this one, or none. */
  readonly from: string;
}

/** Stands before the name of a file in the property of a thing whose picture no node has yet. */
export const IN_FILE = "file:";

/** Those whose picture is a file are told apart. */
export function separated(
  all: readonly Thing[],
  files: ReadonlyMap<string, File> = new Map(),
): Brought {
  const pictures: Placed[] = [];
  const things: Thing[] = [];
  for (const thing of all) {
    const name = thing.kind === "picture" ? propText(thing, "picture") : "";
    const file = name.startsWith(IN_FILE) ? files.get(name.slice(IN_FILE.length)) : undefined;
    if (file === undefined) things.push(thing);
    else pictures.push({ file, spot: thing });
  }
  return { things, pictures, left: 0, from: "" };
}

/** Puts it onto the board; what is there at once is selected. */
export function bring(
  { things, pictures, from }: Brought,
  board: Board,
  desk: PictureDesk,
): number {
  if (things.length > 0) {
    if (from !== "") desk.adopt(from, picturesIn(things));
    board.put(things);
    board.select(things.map(({ id }) => id));
  }
  desk.place(pictures);
  return things.length + pictures.length;
}
