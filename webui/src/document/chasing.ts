/**
 * Parts of the person's edits that went after their text to blocks of which this page shows nothing:
 * each is followed, parcel by parcel, until it is known what has become of it.
 */

import type { Rich } from "../shared/rich";
import type { BlockObject, Place } from "./block";
import type { Confirmed } from "./confirmed";

/** Blocks that are told to be joined to each other, for a moment, send nothing round for ever. */
const HOPS_MAX = 50;

/** What has become of a part: what has no place, and where the rest has gone to; null: not known. */
type Fate = { readonly draft: Rich; readonly next: readonly Chased[] } | null;

/** A part on its way to a block, as a parcel of `source`. */
export interface Chased {
  readonly block: string;
  readonly source: string;
  readonly number: number;
  /** It goes after the whole text of `source`, which may come back. */
  readonly isJoin: boolean;
  /** What the person has written: of all parts of one edit the same value. */
  readonly text: Rich;
}

/** Where a part goes from a block. */
export function chased(
  source: string,
  from: BlockObject | undefined,
  [block, number]: Place,
  text: Rich,
): Chased {
  const isJoin = from?.status === "joined" && from.into === block;
  return { block, source, number, isJoin, text };
}

/** `isIn`: whether a block is in the outline. */
function fateOf(
  one: Chased,
  blocks: ReadonlyMap<string, BlockObject>,
  isIn: (id: string) => boolean,
): Fate {
  const { block, source, number, isJoin, text } = one;
  const there = blocks.get(block);
  if (there?.isReady !== true) return null;
  const from = isJoin ? blocks.get(source) : undefined;
  const isBack = from?.isReady === true && from.parted.has(`${block}:${number}`);
  const isRefused = there.refused.has(`${source}:${number}`);
  const has = (there.received.get(source) ?? 0) >= number && !isRefused;
  const at = (id: string, found: BlockObject, other: string): Fate => {
    const key = `${other}:${number}`;
    const draft = found.drafts.get(key)?.[1] ?? [];
    const parts = (found.parted.get(key) ?? []).filter((to) => to[1] > 0);
    const next = parts.map((to) => chased(id, found, to, text));
    if (draft.length + next.length > 0) return { draft, next };
    // It is in the text, which may have gone on, or have been on its way out when it came.
    const { status, via, into } = found;
    if (status === "joined")
      return { draft, next: [chased(via || id, found, [into, found.number], text)] };
    if (status === "deleted") return { draft: text, next };
    return isIn(id) ? { draft, next } : null;
  };
  if (isBack) return at(source, from, block);
  // Refused with its text, which is back without it.
  if (isRefused && from?.isReady && from.status !== "joined") return { draft: text, next: [] };
  return has ? at(block, there, source) : null;
}

export class Chases {
  all: readonly Chased[] = [];
  private readonly given = new WeakSet<Rich>();

  constructor(
    private readonly confirmed: Confirmed,
    private readonly give: (code: string, text: Rich) => void,
  ) {}

  /** The blocks that have to be open for it. */
  get blocks(): readonly string[] {
    return this.all.flatMap(({ block, source, isJoin }) => (isJoin ? [block, source] : [block]));
  }

  add(one: Chased): void {
    this.all = [...this.all, one];
  }

  /** Looks for the parts in the blocks that are open by now. */
  settle(): void {
    const { blocks, outline } = this.confirmed;
    let due = this.all;
    const left: Chased[] = [];
    for (let hops = 0; due.length > 0 && hops < HOPS_MAX; hops += 1) {
      const next: Chased[] = [];
      for (const one of due) {
        const fate = fateOf(one, blocks, (id) => outline.entries.has(id));
        if (fate === null) left.push(one);
        else if (fate.draft.length > 0) this.giveOnce("block_deleted", fate.draft);
        next.push(...(fate?.next ?? []));
      }
      due = next;
    }
    this.all = [...left, ...due];
  }

  /** What these are cannot be known any more. */
  giveUp(isIt: (one: Chased) => boolean, code: string): void {
    for (const one of this.all.filter(isIt)) this.giveOnce(code, one.text);
    this.all = this.all.filter((one) => !isIt(one));
  }

  /** Parts of one edit have one text, which is given back once. */
  private giveOnce(code: string, text: Rich): void {
    if (!this.given.has(text)) this.give(code, text);
    this.given.add(text);
  }
}
