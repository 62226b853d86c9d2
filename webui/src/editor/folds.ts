/**
 * A long document's blocks far from the sight, folded: of each run of them one element is laid out,
 * as high as all of them were or will be, and the others are not. So what a browser does for a
 * keystroke depends on what is near, not on how long the document is.
 *
 * Blocks are folded in chunks. What is new is drawn until its chunk is looked at again; a chunk
 * knows how high it was, and how many lines it has more or fewer since, or else how many it will
 * have.
 */

import "./long.css";
import { Anchor } from "./anchor";
import type { Changed } from "./changed";
import { assigned } from "./chunking";
import { firstBelow, LONG_BLOCKS } from "./folding";
import { asStyle, both, type Counts, countsOf, NOT_COUNTED } from "./numbering";

/** So many blocks are folded together. */
const CHUNK = 25;
/** So many blocks above and below the sight are drawn, and so many stay drawn that were. */
const NEAR = 40;
const KEPT = 90;
/** As many beside the ends of what is selected: arrow keys go there. */
const BESIDE = 25;
/** What is between two blocks, in lines. */
const BETWEEN = 0.37;
/** A block that is not laid out, and the one that stands for a run of them: long.css. */
const FAR = "far";
const GAP = "gap";

/** Blocks from the one index up to the other, both included. */
export type Range = readonly [first: number, last: number];

/** How high what was never drawn is thought to be. */
export interface Measure {
  readonly line_px: number;
  readonly lettersOnLine: number;
  /** How many letters the block of this index has. */
  readonly letters: (index: number) => number;
}

/** How high blocks were, and would have been by their letters. */
interface Known {
  readonly measured_px: number;
  readonly guessed_px: number;
}

/** Neighbouring blocks that are folded or drawn together. */
interface Chunk {
  readonly folds: Folds;
  blocks: Element[];
  /** Whether it has been drawn for a frame: what was not is not measured, as all would be laid out. */
  wasDrawn: boolean;
  /** While it is folded: what stands for the run that it is in. */
  gap: Element | null;
  /** As high as when it was drawn last, and as was thought of it then; null: it never was. */
  known: Known | null;
  /** As high as it is taken for while it is folded, of a change as high as it was before it. */
  height_px: number;
  /** Whether it has changed since that was said. */
  isStale: boolean;
  counts: Counts | null;
}

const chunkOf = new WeakMap<Element, Chunk>();

/** The block is needed now: it is laid out from here on, and those beside it. */
export function unfold(block: Element): void {
  const chunk = chunkOf.get(block);
  if (chunk !== undefined && chunk.gap !== null) chunk.folds.open(chunk);
}

/** Where a block is; of one that is folded, where the run is in which it is. */
export function boxOf(block: Element): DOMRect {
  return (chunkOf.get(block)?.gap ?? block).getBoundingClientRect();
}

/** `scrollIntoView` of a folded block, for whoever calls it: what has no box cannot be scrolled to. */
function drawAndScroll(this: Element, how?: boolean | ScrollIntoViewOptions): void {
  unfold(this);
  Element.prototype.scrollIntoView.call(this, how);
}

function fold(block: Element): void {
  block.classList.add(FAR);
  block.scrollIntoView = drawAndScroll;
}

function draw(block: Element): void {
  block.classList.remove(FAR);
  Reflect.deleteProperty(block, "scrollIntoView");
}

/** A run of chunks that are folded. */
interface Run {
  readonly gap: HTMLElement;
  height_px: number;
  counts: Counts;
}

export class Folds {
  readonly anchor: Anchor;
  private chunks: Chunk[] = [];
  private gaps: ReadonlySet<HTMLElement> = new Set();
  private isStale = true;

  /** `root` has one element a block. `opened`: more is drawn than was arranged. */
  constructor(
    private readonly root: HTMLElement,
    private readonly opened: () => void,
  ) {
    this.anchor = new Anchor(root);
    root.classList.add("folded");
  }

  /** The blocks from `from` to `oldTo` have become those up to `newTo`. */
  changed({ from, oldTo, newTo }: Changed): void {
    if (this.chunks.length === 0) return;
    const fresh = this.elements(from, newTo);
    let [place, start] = this.place(from);
    const own = this.chunks[place] as Chunk;
    // What comes between two chunks goes into the one that is drawn.
    const before = this.chunks[place - 1];
    const isBehind = from === start && own.gap !== null && before?.gap === null;
    if (isBehind) {
      place -= 1;
      start -= before.blocks.length;
    }
    const touched: [chunk: Chunk, head: Element[], tail: Element[]][] = [];
    const old: [block: Element, chunk: Chunk][] = [];
    for (const chunk of this.chunks.slice(place)) {
      const { blocks } = chunk;
      const [first, end] = [Math.max(0, from - start), Math.max(0, oldTo - start)];
      touched.push([chunk, blocks.slice(0, first), blocks.slice(end)]);
      for (const block of blocks.slice(first, end)) old.push([block, chunk]);
      start += blocks.length;
      if (start >= oldTo && start > from) break;
    }
    const chunks = assigned(old, fresh, isBehind ? before : own, ({ gap }) => gap === null);
    const mine = new Map<Chunk, Element[]>(touched.map(([chunk]) => [chunk, []]));
    for (const [at, block] of fresh.entries()) mine.get(chunks[at] as Chunk)?.push(block);
    let isOther = false;
    for (const [chunk, head, tail] of touched) {
      const blocks = [...head, ...(mine.get(chunk) ?? []), ...tail];
      const isSame = isEqual(blocks, chunk.blocks);
      isOther ||= !isSame;
      if (!isSame || chunk.gap !== null) this.renew(chunk, blocks);
    }
    if (!isOther) return;
    this.chunks = this.chunks.flatMap((chunk) => this.divided(chunk));
    // At once: without the element that stood for a run, the page would be shorter for who asks now.
    if (touched.some(([{ gap }]) => gap !== null)) this.show(null);
  }

  private elements(from: number, to: number): Element[] {
    const found: Element[] = [];
    let next = this.root.children[from] ?? null;
    for (let at = from; at < to && next !== null; at += 1) {
      found.push(next);
      next = next.nextElementSibling;
    }
    return found;
  }

  /** These are in the chunk now, or are other ones than before. */
  private renew(chunk: Chunk, blocks: Element[]): void {
    const before = new Set(chunk.blocks);
    chunk.blocks = blocks;
    chunk.counts = null;
    chunk.isStale = true;
    this.isStale = true;
    for (const block of blocks) {
      if (before.has(block)) continue;
      chunkOf.set(block, chunk);
      if (chunk.gap === null) draw(block);
      else fold(block);
    }
  }

  /** The widths of lines are others: what was measured holds no longer. */
  forget(): void {
    for (const chunk of this.chunks) {
      chunk.known = null;
      chunk.isStale = true;
    }
    this.isStale = true;
  }

  /**
   * Draws the chunks near the sight, which is from `first` to `last`, and near the ends of what is
   * selected, and folds the others, but for those that are drawn and a little farther. Whether
   * anything is another way than before.
   */
  arrange(first: number, last: number, ends: Range, measure: Measure): boolean {
    this.look();
    if (this.chunks.length === 0) return false;
    const around = (near: number): Range[] => [
      [first - near, last + near],
      ...ends.map((end): Range => [end - BESIDE, end + BESIDE]),
    ];
    const [ranges, kept] = [around(NEAR), around(KEPT)];
    let start = 0;
    const opening: Chunk[] = [];
    const closing: Chunk[] = [];
    const starts: number[] = [];
    for (const chunk of this.chunks) {
      const end = start + chunk.blocks.length;
      const reaches = ([first, last]: Range): boolean => first < end && last >= start;
      if (chunk.gap !== null && ranges.some(reaches)) opening.push(chunk);
      if (chunk.gap === null && !kept.some(reaches)) {
        closing.push(chunk);
        starts.push(start);
      }
      start = end;
    }
    if (opening.length === 0 && closing.length === 0 && !this.isStale) return false;
    this.measured(closing, starts, measure);
    for (const chunk of closing) {
      chunk.gap = chunk.blocks[0] as Element;
      for (const block of chunk.blocks) fold(block);
    }
    for (const chunk of opening) this.draw(chunk);
    for (const chunk of this.chunks) chunk.wasDrawn ||= chunk.gap === null;
    this.show(measure);
    return true;
  }

  /** Draws the block with this index at once, if it is folded. */
  openAt(index: number): void {
    const [place] = this.place(index);
    const chunk = this.chunks[place];
    if (chunk !== undefined && chunk.gap !== null) this.open(chunk);
  }

  /** Draws this chunk at once; what else is near comes with the next frame. */
  open(chunk: Chunk): void {
    this.draw(chunk);
    this.show(null);
    this.opened();
  }

  private draw(chunk: Chunk): void {
    chunk.gap = null;
    for (const block of chunk.blocks) draw(block);
  }

  /** Which block stands at this height of what the window shows; past the end: the last one. */
  indexAt(y: number): number {
    const { children } = this.root;
    if (this.chunks.length === 0) return Math.min(firstBelow(children, y), children.length - 1);
    const firsts = this.chunks.map(({ blocks }) => blocks[0] as Element);
    let place = Math.max(0, firstBelow(firsts, y, "top") - 1);
    const gap = this.chunks[place]?.gap ?? null;
    // All of a run are where it begins.
    while (gap !== null && this.chunks[place - 1]?.gap === gap) place -= 1;
    let start = 0;
    for (const { blocks } of this.chunks.slice(0, place)) start += blocks.length;
    let chunk = this.chunks[place] as Chunk;
    if (gap === null) return Math.min(start + firstBelow(chunk.blocks, y), children.length - 1);
    let down = y - gap.getBoundingClientRect().top;
    while (down > chunk.height_px && this.chunks[place + 1]?.gap === gap) {
      down -= chunk.height_px;
      start += chunk.blocks.length;
      place += 1;
      chunk = this.chunks[place] as Chunk;
    }
    const share = Math.min(0.999, Math.max(0, down / Math.max(1, chunk.height_px)));
    return start + Math.floor(share * chunk.blocks.length);
  }

  /** Begins anew where the elements are not those that are known: the editor has drawn all again. */
  private look(): void {
    const { children, firstElementChild, lastElementChild } = this.root;
    const count = this.chunks.reduce((sum, { blocks }) => sum + blocks.length, 0);
    const isSame =
      this.chunks[0]?.blocks[0] === firstElementChild &&
      this.chunks.at(-1)?.blocks.at(-1) === lastElementChild;
    if (count === children.length && (isSame || count === 0)) return;
    if (this.chunks.length === 0 && children.length <= LONG_BLOCKS) return;
    for (const chunk of this.chunks) this.draw(chunk);
    const all = [...children];
    this.chunks = [];
    for (let from = 0; from < all.length; from += CHUNK) {
      this.chunks.push(this.chunk(all.slice(from, from + CHUNK), null, 0));
    }
    this.isStale = true;
  }

  /** The chunk of the block with this index, and the index of its first one. */
  private place(index: number): [place: number, start: number] {
    let start = 0;
    for (let place = 0; place < this.chunks.length - 1; place += 1) {
      const count = this.chunks[place]?.blocks.length ?? 0;
      if (index < start + count) return [place, start];
      start += count;
    }
    return [this.chunks.length - 1, start];
  }

  /** Notes how high they are, as long as they are drawn; they begin at these indices. */
  private measured(chunks: readonly Chunk[], starts: readonly number[], measure: Measure): void {
    for (const [at, chunk] of chunks.entries()) {
      chunk.isStale = true;
      if (!chunk.wasDrawn) continue;
      const { blocks } = chunk;
      const last = blocks.at(-1);
      const next = last?.nextElementSibling;
      const end = next ? next.getBoundingClientRect().top : last?.getBoundingClientRect().bottom;
      const measured_px = (end ?? 0) - (blocks[0]?.getBoundingClientRect().top ?? 0);
      const guessed_px = guess(starts[at] ?? 0, blocks.length, measure);
      // What was never laid out is not high.
      chunk.known = measured_px > 0 ? { measured_px, guessed_px } : null;
    }
  }

  /** Has one element of each run stand for it; without a measure, as high as it was before. */
  private show(measure: Measure | null): void {
    const runs: Run[] = [];
    let start = 0;
    let isFolded = false;
    for (const chunk of this.chunks) {
      if (chunk.gap !== null) {
        const gap = chunk.blocks[0] as HTMLElement;
        if (!isFolded) runs.push({ gap, height_px: 0, counts: NOT_COUNTED });
        if (measure !== null && chunk.isStale) think(chunk, start, measure);
        chunk.counts ??= countsOf(chunk.blocks);
        const run = runs.at(-1) as Run;
        run.height_px += chunk.height_px;
        run.counts = both(run.counts, chunk.counts);
        chunk.gap = run.gap;
      }
      isFolded = chunk.gap !== null;
      start += chunk.blocks.length;
    }
    const gaps = new Set(runs.map(({ gap }) => gap));
    for (const gap of this.gaps) if (!gaps.has(gap)) gap.classList.remove(GAP);
    for (const run of runs) write(run);
    this.gaps = gaps;
    this.isStale = measure === null;
  }

  /** The chunk, in several where it has become large; none where nothing is left of it. */
  private divided(chunk: Chunk): Chunk[] {
    const { blocks, gap, height_px } = chunk;
    if (blocks.length > 0 && blocks.length <= 2 * CHUNK) return [chunk];
    const chunks: Chunk[] = [];
    for (let from = 0; from < blocks.length; from += CHUNK) {
      const some = blocks.slice(from, from + CHUNK);
      chunks.push(this.chunk(some, gap, (height_px * some.length) / blocks.length));
    }
    return chunks;
  }

  private chunk(blocks: Element[], gap: Element | null, height_px: number): Chunk {
    const unknown = { wasDrawn: false, known: null, isStale: true, counts: null };
    const chunk = { folds: this, blocks, gap, height_px, ...unknown };
    for (const block of blocks) chunkOf.set(block, chunk);
    return chunk;
  }
}

function isEqual(some: readonly Element[], others: readonly Element[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at]);
}

function write({ gap, height_px, counts }: Run): void {
  const [increment, set] = asStyle(counts);
  gap.classList.add(GAP);
  gap.style.setProperty("--gap", `${Math.round(height_px)}px`);
  gap.style.setProperty("--gap-increment", increment);
  gap.style.setProperty("--gap-set", set);
}

/** Says how high the chunk is while it is folded; its first block has the index `start`. */
function think(chunk: Chunk, start: number, measure: Measure): void {
  const guessed_px = guess(start, chunk.blocks.length, measure);
  const { known } = chunk;
  const grown_px = known === null ? 0 : guessed_px - known.guessed_px;
  chunk.height_px = known === null ? guessed_px : Math.max(0, known.measured_px + grown_px);
  chunk.isStale = false;
}

function guess(start: number, count: number, measure: Measure): number {
  const { line_px, lettersOnLine, letters } = measure;
  let lines = 0;
  for (let index = start; index < start + count; index += 1) {
    lines += Math.max(1, Math.ceil(letters(index) / lettersOnLine));
  }
  return (lines + count * BETWEEN) * line_px;
}
