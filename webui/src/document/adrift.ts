/**
 * Unsent edits of texts that went to where they are not known here (F5): each is sent, as a late
 * edit, to the block that had its text, as soon as that block is open.
 */

import { insertedText, type Rich } from "../shared/rich";
import { callOf, type OwnCall } from "./carry";
import type { Confirmed } from "./confirmed";
import type { Adrift } from "./overlay";
import type { UnsavedTexts } from "./unsaved";

export class AdriftEdits {
  all: readonly Adrift[] = [];
  /** Blocks that the outline lacks since its order has begun anew: nobody has deleted them. */
  private readonly lost = new Set<string>();

  /** `calls`: where sent edits whose text is not shown here are noted, by block and number. */
  constructor(
    private readonly confirmed: Confirmed,
    private readonly unsaved: UnsavedTexts,
    private readonly calls: Map<string, OwnCall>,
    private readonly giveBack: (code: string, text: Rich) => void,
  ) {}

  add(one: Adrift): void {
    this.all = [...this.all, one];
  }

  /** The order of the outline has begun anew, and lacks these blocks. */
  noteLost(ids: Iterable<string>): void {
    for (const id of ids) this.lost.add(id);
  }

  /** What has become of a block of which the nodes know nothing. */
  private codeOf(id: string): string {
    return this.lost.has(id) ? "power_lost" : "block_deleted";
  }

  /** Asks the blocks that are open again. */
  send(author: string): void {
    this.all = this.all.flatMap((one) => this.trySending(one, author));
  }

  /** This block cannot be had. */
  refuse(id: string, code: string): void {
    const isNowhere = code === "no_such_block"; // it was taken out before anybody had written in it
    for (const { block, delta } of this.all) {
      if (block === id) this.giveBack(isNowhere ? this.codeOf(id) : code, insertedText(delta));
    }
    this.all = this.all.filter(({ block }) => block !== id);
  }

  /** What stays adrift of an edit: itself until it is sent or given back. */
  private trySending(one: Adrift, author: string): readonly Adrift[] {
    const { block: id, base, delta } = one;
    const block = this.confirmed.blocks.get(id);
    if (block === undefined || !block.isReady) return [one];
    const isOut = block.status === "open" && !this.confirmed.outline.entries.has(id);
    if (isOut && one.asked === undefined) {
      // Taken out, unless it is joined in what this node has not told yet: behind a call it has.
      return [{ ...one, asked: block.submitCall("set", []) }];
    }
    if (isOut && block.isWaitingFor(one.asked ?? 0)) return [one];
    const lost = insertedText(delta);
    if (isOut || block.status === "unborn") {
      this.giveBack(isOut ? "block_deleted" : this.codeOf(id), lost);
      return [];
    }
    const n = block.submitCall("edit", base, delta, author);
    this.calls.set(`${id} ${n}`, { ...callOf(id, "edit", n), lost });
    this.unsaved.note(id, n, lost);
    return [];
  }
}
