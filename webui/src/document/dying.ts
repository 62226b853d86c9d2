/**
 * Words that came to a text which somebody has taken out: who took it out did not see them. When the
 * text is deleted they are a draft, unless a split has taken them elsewhere, or the letters among which
 * they stood were pasted and they went after these.
 */

import type { Rich, RichDelta } from "../shared/rich";
import type { BlockDetail, BlockObject } from "./block";
import { type Chases, chased } from "./chasing";
import type { Confirmed } from "./confirmed";
import type { Step } from "./doc";
import { MARK } from "./own";
import { insertsIn, stretchBehind } from "./words";

/** Own words in a text that is out, and stands yet. */
interface Words {
  readonly block: string;
  readonly from: number;
  readonly to: number;
  readonly text: Rich;
}

/** Own words in a text that is deleted, and their draft. */
interface Cut {
  readonly block: string;
  readonly text: Rich;
  readonly draft: string;
}

interface Drafts {
  onDraft(code: string, text: Rich): string;
  discardDraft(id: string): void;
}

export class Dying {
  private all: readonly Words[] = [];
  private cut: readonly Cut[] = [];

  constructor(
    private readonly confirmed: Confirmed,
    private readonly drafts: Drafts,
    private readonly chases: Chases,
    /** What is left of words that a step marks. */
    private readonly leftOf: (step: Step) => Rich | null,
  ) {}

  /** What has become of the text of a block. `isOwn`: an edit among these details is one's own. */
  follow(block: string, details: readonly BlockDetail[], isOwn: boolean): void {
    const isOut = isOwn && this.confirmed.isOut(block);
    for (const detail of details) {
      const given: Words[] = [];
      this.all = this.all.flatMap((words) =>
        words.block === block ? carriedOver(words, detail, given) : [words],
      );
      for (const { text, from, to } of given) {
        const mark: RichDelta = [[to - from, { [MARK]: true }]];
        this.lostIn(block, this.leftOf(["edit", block, from > 0 ? [from, ...mark] : mark]) ?? text);
      }
      if (isOut && detail[0] === "edited") this.note(block, detail[2]);
    }
  }

  private note(block: string, delta: RichDelta): void {
    const words = insertsIn(delta).map(([from, to, item]) => ({ block, from, to, text: [item] }));
    this.all = [...this.all, ...words];
  }

  /** Own words were done in a text that is deleted by now: they may have gone after their letters. */
  lostIn(id: string, text: Rich): void {
    if (text.length === 0) return;
    const block = this.confirmed.blocks.get(id);
    const isSent = block !== undefined && block.sentAfter.length > 0;
    const draft = isSent ? "" : this.drafts.onDraft("block_deleted", text);
    this.cut = [...this.cut, { block: id, text, draft }];
    if (block !== undefined) this.sendAfter(block);
  }

  /** The block has said where what was written in it, and taken out with letters, has gone. */
  sendAfter(block: BlockObject): void {
    const id = this.confirmed.idOf(block);
    if (block.sentAfter.length === 0) return;
    for (const { text, draft } of this.cut.filter((one) => one.block === id)) {
      for (const to of block.sentAfter) this.chases.add(chased(id, to, text));
      this.drafts.discardDraft(draft);
    }
    this.cut = this.cut.filter((one) => one.block !== id);
  }
}

function carriedOver(words: Words, detail: BlockDetail, given: Words[]): readonly Words[] {
  if (detail[0] === "edited" || detail[0] === "cut") {
    const now = stretchBehind([words.from, words.to], detail[2]);
    return now === null ? [] : [{ ...words, from: now[0], to: now[1] }];
  }
  if (detail[0] !== "closed") return [words];
  if (detail[2] === null) given.push(words);
  return [];
}
