/** Files of a board: what is selected of it, or all of it, out and in. */

import type { Thing } from "../../place/thing";
import { canvasMeasure } from "../draw/paint";
import type { BoardController } from "../live/controller";
import type { Board } from "../model/board";
import { type Cards, cardTitle } from "../model/card";
import type { Point } from "../model/geometry";
import { type Now, STILL } from "../model/states";
import { PAPER } from "../page/theme";
import type { Album } from "../pictures/album";
import { type Brought, bring, separated } from "./brought";
import { about, ofOurs } from "./clipboard";
import { excalidrawIn } from "./excalidraw-in";
import { excalidrawOf } from "./excalidraw-out";
import { jsonOf } from "./json";
import { markdownIn } from "./markdown-in";
import { pictureData, picturesDrawn, picturesIn } from "./picture-data";
import { pngOf } from "./png";
import { FILE_MAX, ImportRefusal } from "./refusal";
import { svgOf } from "./svg";

/** What exchange needs of an open place. */
export type Exchanged = Pick<BoardController, "board" | "album" | "pictures" | "id" | "acting">;

export type Format = "png" | "svg" | "excalidraw" | "json";

/** Saves a file; how many things it holds, null where it could not be drawn. */
export async function exported(
  format: Format,
  { board, album, id, acting }: Exchanged,
  title: string,
): Promise<number | null> {
  const { chosen, things } = board;
  const some = chosen.length > 0 ? chosen : [...things.values()];
  const content = await contentOf(format, board, album, id, some, acting);
  if (content === null) return null;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = `${fileName(title)}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
  return some.length;
}

async function contentOf(
  format: Format,
  { things }: Board,
  album: Album,
  place: string,
  some: readonly Thing[],
  cards: Cards,
): Promise<Blob | null> {
  // Nobody's, and nothing moves in it; but the documents are as they are here.
  const now: Now = { ...STILL, card: (document) => cards.card(document) };
  const drawn = picturesDrawn(some, cards);
  const text = (content: string, type: string) => new Blob([content], { type });
  switch (format) {
    case "png":
      await album.gather(drawn);
      return pngOf(some, things, PAPER, canvasMeasure(), (one) => album.image(one), now);
    case "svg":
      return text(
        svgOf(some, things, PAPER, canvasMeasure(), await pictureData(place, drawn), now),
        "image/svg+xml",
      );
    case "excalidraw":
      return text(
        excalidrawOf(some, things, await pictureData(place, picturesIn(some)), now),
        "application/json",
      );
    case "json":
      return text(jsonOf(titled(some, cards), place), "application/json");
  }
}

/** A file says how a card's document is called: whoever saves it may read that. */
function titled(things: readonly Thing[], cards: Cards): Thing[] {
  return things.map((thing) => {
    return thing.kind === "card" ? { ...thing, text: cardTitle(thing, cards) } : thing;
  });
}

/** A name that all file systems take. */
export function fileName(title: string): string {
  return (
    title
      .replace(/[^\p{L}\p{N}._-]+/gu, " ")
      .trim()
      .slice(0, 80) || "board"
  );
}

/** Puts what a file holds in the middle of what is seen; ImportRefusal. */
export async function imported(
  file: File,
  { board, pictures }: Exchanged,
): Promise<{ count: number; left: number }> {
  if (file.size > FILE_MAX) throw new ImportRefusal("too_large");
  const { centre } = board.camera;
  const order = board.nextOrder;
  const text = await file.text();
  const isWords = /\.(?:md|markdown|txt)$/i.test(file.name);
  const isOurs = /"type"\s*:\s*"groupcore-board"/.test(text.slice(0, 200));
  const brought = isWords
    ? separated(about(markdownIn(text), centre, order))
    : isOurs
      ? ofOurs(text, centre, order)
      : ofExcalidraw(text, centre, order);
  const count = bring(brought, board, pictures);
  if (brought.things.length > 0) board.fit(true);
  return { count, left: brought.left };
}

function ofExcalidraw(text: string, at: Point, order: number): Brought {
  const { things, files, left } = excalidrawIn(text);
  return { ...separated(about(things, at, order), files), left };
}
