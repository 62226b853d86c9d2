/**
 * What blocks have gone through that are not open here: for anchors of their former versions.
 *
 * A text may have gone through a block that this page never had open, and have been edited there. Where
 * its letters are by now only that block's steps say. So a block that has left the document is asked
 * for them once, when an anchor stands in it. One that had an anchor's letter stays open: it says where
 * that stands again, should somebody bring it back.
 */

import type { Past } from "./block";

/** Of so many closed blocks the steps are remembered. */
const CLOSED_MAX = 100;
/** So many blocks that have left are asked for at once, and so many in all. */
const WANTED_MAX = 8;
const ASKED_MAX = 2_000;
/** So many blocks are kept open for letters that are deleted. */
const LOST_MAX = 8;

export class Histories {
  private readonly closed = new Map<string, Past>();
  /** Blocks that have left, and are being asked for. */
  readonly wanted = new Set<string>();
  private readonly asked = new Set<string>();
  /** Blocks that have left, and had letters that anchors wait for; those asked for last. */
  private readonly lost = new Set<string>();
  private readonly waited = new Set<string>();

  get(block: string): Past | undefined {
    return this.closed.get(block);
  }

  [Symbol.iterator](): Iterator<[string, Past]> {
    return this.closed.entries();
  }

  /** A block that is closed here. */
  keep(id: string, past: Past): void {
    this.closed.set(id, past);
    for (const one of this.closed.keys())
      if (this.closed.size > CLOSED_MAX) this.closed.delete(one);
  }

  /** Whether the block is asked for from now on. */
  ask(id: string): boolean {
    if (this.asked.has(id) || this.wanted.size >= WANTED_MAX || this.asked.size >= ASKED_MAX)
      return false;
    this.asked.add(id);
    this.wanted.add(id);
    return true;
  }

  /** The block has left, and a letter is waited for that was deleted in it. Whether it is to be opened. */
  wait(id: string): boolean {
    const isOpen = this.lost.delete(id);
    if (!isOpen && (this.waited.has(id) || this.waited.size >= ASKED_MAX)) return false; // it had its time
    this.waited.add(id);
    this.lost.add(id);
    for (const one of this.lost) if (this.lost.size > LOST_MAX) this.lost.delete(one);
    return !isOpen;
  }

  /** Blocks that are to be open, though they have left. */
  get open(): ReadonlySet<string> {
    return new Set([...this.wanted, ...this.lost]);
  }
}
