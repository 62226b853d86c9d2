/** Files of a board: what is selected of it, or all of it, out and in. */

import { canvasMeasure } from "../draw/paint";
import type { Board } from "../model/board";
import { PAPER } from "../page/theme";
import { about } from "./clipboard";
import { excalidrawIn } from "./excalidraw-in";
import { excalidrawOf } from "./excalidraw-out";
import { jsonOf, thingsIn } from "./json";
import { pngOf } from "./png";
import { FILE_MAX, ImportRefusal } from "./refusal";
import { svgOf } from "./svg";

export type Format = "png" | "svg" | "excalidraw" | "json";

/** Saves a file; how many things it holds, null where it could not be drawn. */
export async function exported(
  format: Format,
  board: Board,
  title: string,
): Promise<number | null> {
  const { chosen, things } = board;
  const some = chosen.length > 0 ? chosen : [...things.values()];
  const content = await contentOf(format, board, some);
  if (content === null) return null;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = `${fileName(title)}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
  return some.length;
}

function contentOf(
  format: Format,
  { things }: Board,
  some: Parameters<typeof svgOf>[0],
): Promise<Blob | null> {
  const text = (content: string, type: string) => Promise.resolve(new Blob([content], { type }));
  switch (format) {
    case "png":
      return pngOf(some, things, PAPER, canvasMeasure());
    case "svg":
      return text(svgOf(some, things, PAPER, canvasMeasure()), "image/svg+xml");
    case "excalidraw":
      return text(excalidrawOf(some, things), "application/json");
    case "json":
      return text(jsonOf(some), "application/json");
  }
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
export async function imported(file: File, board: Board): Promise<{ count: number; left: number }> {
  if (file.size > 4 * FILE_MAX) throw new ImportRefusal("too_large");
  const text = await file.text();
  const isOurs = /"type"\s*:\s*"groupcore-board"/.test(text.slice(0, 200));
  const { things, left } = isOurs ? { things: thingsIn(text), left: 0 } : excalidrawIn(text);
  const copies = about(things, board.camera.centre, board.nextOrder);
  if (copies.length > 0) {
    board.put(copies);
    board.select(copies.map(({ id }) => id));
    board.fit(true);
  }
  return { count: copies.length, left };
}
