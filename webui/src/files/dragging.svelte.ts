/** Rows on their way into a folder, dragged by mouse; by keyboard it is “Move to…”. */

import type { Target } from "./asking";
import type { FileRow } from "./types";
import { type Files, mayArrange, mayGoInto } from "./views";

const KIND = "application/x-groupcore-files";

export class Dragging {
  rows = $state.raw<readonly FileRow[]>([]);

  constructor(
    private readonly files: Files,
    private readonly move: (rows: readonly FileRow[], to: Target, name: string) => void,
  ) {}

  start(event: DragEvent, rows: readonly FileRow[]): void {
    this.rows = rows.filter((one) => one.trashed === null);
    event.dataTransfer?.setData(KIND, "");
    if (event.dataTransfer) event.dataTransfer.effectAllowed = "move";
  }

  end(): void {
    this.rows = [];
  }

  may(to: Target): boolean {
    const { files, rows } = this;
    const isNew = rows.some((row) => row.workspace !== to.workspace || row.folder !== to.folder);
    return (
      isNew &&
      mayArrange(files, to.workspace) &&
      rows.every((row) => mayGoInto(files, row, to.folder))
    );
  }

  drop(event: DragEvent, to: Target, name: string): void {
    if (!this.may(to)) return;
    event.preventDefault();
    event.stopPropagation();
    const { rows } = this;
    this.end();
    this.move(rows, to, name);
  }
}

/** Files from the computer, not rows of the list. */
export function isFile(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") === true;
}
