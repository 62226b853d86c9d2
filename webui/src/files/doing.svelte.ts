/** What one does with files: each says what was done, and how to take it back. */

import { messageOf } from "../api";
import { commonWords } from "../words/common";
import { filesWords } from "../words/files";
import {
  deleteForGood,
  duplicate,
  move,
  renameDocument,
  renameFolder,
  renamePlace,
  restore,
  type Target,
  throwAway,
} from "./asking";
import type { FileRow } from "./types";

export interface Said {
  readonly text: string;
  readonly isProblem: boolean;
  readonly undo: (() => Promise<void>) | null;
}

const TITLE_MAX = 200;

/** A title of at most as many characters as there may be. */
export function copyTitle(title: string): string {
  return [...filesWords.copyOf(title || commonWords.untitled)].slice(0, TITLE_MAX).join("");
}

export class Doing {
  said = $state.raw<Said | null>(null);
  /** The list may show what a deed has done before its answer is here: undoing waits for that. */
  private underWay: Promise<unknown> | null = null;

  private tell(text: string, undo: (() => Promise<void>) | null = null): void {
    this.said = { text, isProblem: false, undo };
  }

  /** Does it; what goes wrong is said in the place of what was done. */
  attempt(act: () => Promise<void>): Promise<void> {
    return this.follow(async () => {
      try {
        await act();
      } catch (error) {
        this.said = { text: messageOf(error), isProblem: true, undo: null };
      }
    });
  }

  /** Does it, and has it known as under way until it is over. */
  private follow(act: () => Promise<void>): Promise<void> {
    const deed = act();
    const over = Promise.allSettled([this.underWay, deed]).then(() => {
      if (this.underWay === over) this.underWay = null;
    });
    this.underWay = over;
    return deed;
  }

  /** Whether there is something to undo, now or once its answer is here. */
  get mayUndo(): boolean {
    return this.underWay !== null || !!this.said?.undo;
  }

  leave(): void {
    this.said = null;
  }

  async undo(): Promise<void> {
    await this.underWay;
    const undo = this.said?.undo;
    if (undo === null || undo === undefined) return;
    this.said = null;
    await this.attempt(async () => {
      await undo();
      this.tell(filesWords.undone);
    });
  }

  throwAway(items: readonly string[]): Promise<void> {
    return this.attempt(async () => {
      await throwAway(items);
      this.tell(filesWords.thrown(items.length), () => restore(items));
    });
  }

  restore(items: readonly string[]): Promise<void> {
    return this.attempt(async () => {
      await restore(items);
      this.tell(filesWords.restored(items.length), () => throwAway(items));
    });
  }

  delete(items: readonly string[]): Promise<void> {
    return this.follow(async () => {
      await deleteForGood(items);
      this.tell(filesWords.deleted(items.length));
    });
  }

  move(rows: readonly FileRow[], to: Target, name: string): Promise<void> {
    return this.follow(() => this.moveAll(rows, to, name));
  }

  private async moveAll(rows: readonly FileRow[], to: Target, name: string): Promise<void> {
    const items = rows.map(({ id }) => id);
    const back = new Map<string, { at: Target; items: string[] }>();
    for (const { id, workspace, folder } of rows) {
      const key = `${workspace}/${folder}`;
      const known = back.get(key) ?? { at: { workspace, folder }, items: [] };
      known.items.push(id);
      back.set(key, known);
    }
    await move(items, to);
    const isBack = [...back.values()].every(({ at }) => at.workspace !== "");
    this.tell(filesWords.moved(items.length, name), isBack ? () => moveBack(back.values()) : null);
  }

  rename(row: FileRow, name: string): Promise<void> {
    const give = row.kind === "folder" ? renameFolder : row.isPlace ? renamePlace : renameDocument;
    return this.follow(async () => {
      await give(row.id, name);
      this.tell(filesWords.renamed(name), row.title === "" ? null : () => give(row.id, row.title));
    });
  }

  duplicate(row: FileRow): Promise<void> {
    return this.attempt(async () => {
      const title = copyTitle(row.title);
      const made = await duplicate(
        row.id,
        title,
        row.kind === "folder" || !row.isPlace ? "documents" : "places",
      );
      this.tell(filesWords.duplicated(title), () => throwAway([made]));
    });
  }
}

async function moveBack(parts: Iterable<{ at: Target; items: string[] }>): Promise<void> {
  for (const { at, items } of parts) await move(items, at);
}
