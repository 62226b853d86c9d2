/**
 * Parts of the person's edits that went after their text to blocks of which this page shows nothing:
 * each is followed, parcel by parcel, until it is known what has become of it.
 */

import type { Rich } from "../shared/rich";
import type { BlockObject, Place } from "./block";
import type { Confirmed } from "./confirmed";
import { type Stretch, stretchBehind } from "./words";

/** Blocks that are told to be joined to each other, for a moment, send nothing round for ever. */
const HOPS_MAX = 50;

/** What has become of a part: what has no place, and where the rest has gone to; null: not known. */
type Fate = { readonly draft: Rich; readonly next: readonly Chased[] } | null;

/** Where words stand in a text, as of a version of it; 0: as of when it came to where it went. */
export type Words = readonly [version: number, ...Stretch];

/** A part on its way to a block, as a parcel of `source`. */
export interface Chased {
  readonly block: string;
  readonly source: string;
  readonly number: number;
  /** What the person has written: of all parts of one edit the same value. */
  readonly text: Rich;
  /** Of one that has come to the block, or comes with a text: where its words stand, as far as that is known. */
  readonly words?: Words | undefined;
}

/** Where a part goes from a block. */
export function chased(
  source: string,
  [block, number]: Place,
  text: Rich,
  words?: Words | undefined,
): Chased {
  return { block, source, number, text, words };
}

/** Where words stand that came to a block in this parcel; null: nowhere; undefined: that is not known (any more). */
function placeNow({ words }: Chased, { past, steps, frames }: BlockObject, key: string) {
  const frame = words?.[0] ? [words[0], 0] : frames.get(key);
  if (!words || !frame) return;
  const [version = 0, at = 0] = frame;
  const first = past.length - steps + version;
  if (first < 0) return;
  let now: Stretch | null = [words[1] + at, words[2] + at];
  for (const [, step] of past.slice(first))
    if (now && (step[0] === "edit" || step[0] === "cut")) now = stretchBehind(now, step[1]);
  return now;
}

/** `isIn`: whether a block is in the outline. */
function fateOf(
  one: Chased,
  blocks: ReadonlyMap<string, BlockObject>,
  isIn: (id: string) => boolean,
): Fate {
  const { block, source, number, text } = one;
  const there = blocks.get(block);
  if (there?.isReady !== true) return null;
  const from = blocks.get(source);
  const at = (id: string, found: BlockObject, other: string): Fate => {
    const key = `${other}:${number}`;
    const draft = found.drafts.get(key)?.[1] ?? [];
    const passed = found.onward.get(key); // with a text that came when its own had gone
    const parts = (passed ? [passed] : (found.parted.get(key) ?? [])).filter((to) => to[1] > 0);
    const next = parts.map((to) => chased(id, to, text));
    if (draft.length + next.length > 0) return { draft, next };
    // It is in the text, which may have gone on, or have been on its way out when it came.
    const { status, via, into } = found;
    const place = placeNow(one, found, key);
    if (place === null) return { draft, next }; // somebody has taken it out, or split it off
    const words: Words | undefined = place && [0, ...place];
    if (status === "joined")
      return { draft, next: [chased(via || id, [into, found.number], text, words)] };
    if (status === "deleted") return { draft: text, next };
    return isIn(id) ? { draft, next } : null;
  };
  if (from?.isReady && from.parted.has(`>${block}:${number}`)) return at(source, from, `>${block}`);
  // What was refused comes back with its text.
  return there.has(source, number) ? at(block, there, source) : null;
}

export class Chases {
  all: readonly Chased[] = [];
  private readonly given = new WeakSet<Rich>();

  constructor(
    private readonly confirmed: Confirmed,
    private readonly give: (code: string, text: Rich) => void,
  ) {}

  /** The blocks that have to be open for it: what a block refuses comes back to where it was. */
  get blocks(): readonly string[] {
    return this.all.flatMap(({ block, source }) => [block, source]);
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
