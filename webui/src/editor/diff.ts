/**
 * What leads from one run of blocks to another, as verbs of the model.
 *
 * Blocks are told apart by id. A block whose text lost its end to a new block right behind it was
 * split; a block whose whole text was appended to the one before it was joined; what is left are
 * inserts, removals, moves, attributes and one small edit per text.
 */

import type {
  AttributePatch,
  Attributes,
  AttributeValue,
  NewBlock,
  Rich,
  RichDelta,
  ShownBlock,
  ShownChange,
} from "../document/types";
import { cutRich, joinRich, plainText, richLength, sameRich } from "../shared/rich";
import { diffRich } from "../shared/rich-diff";
import { diffTable, sameTable } from "../shared/table-diff";
import { codePointLength, toCodePoints } from "../shared/text";

/** Where the caret stands after the edit: tells equal letters apart. */
export interface CaretHint {
  readonly block: string;
  /** UTF-16 offset in the block's new text; in a table, in the text of the cell. */
  readonly offset: number;
  /** In a table: which cell it is in. */
  readonly cell?: { readonly row: number; readonly column: number };
}

/** The patch from one set of attributes to another; null when they are equal. */
export function diffAttributes(before: Attributes, after: Attributes): AttributePatch | null {
  if (before === after) return null;
  const patch: Record<string, AttributeValue | null> = {};
  for (const name of Object.keys(before)) if (!(name in after)) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    if (before[name] !== value) patch[name] = value;
  }
  return Object.keys(patch).length > 0 ? patch : null;
}

/** Whether both are the same to a person. */
export function isSame(one: ShownBlock | undefined, other: ShownBlock | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined || one.id !== other.id) return false;
  if (one.content === null || other.content === null) {
    if (one.content !== other.content || one.length !== other.length) return false;
  } else if (!sameRich(one.content, other.content)) {
    if (!isTable(one) || !isTable(other) || !sameTable(one.content, other.content)) return false;
  }
  return diffAttributes(one.attributes, other.attributes) === null;
}

function isTable({ attributes }: ShownBlock): boolean {
  return attributes.type === "table";
}

/** What leads from some neighbouring blocks to others; `start` is the id of the one before. */
export function diffBlocks(
  before: readonly ShownBlock[],
  after: readonly ShownBlock[],
  start: string,
  caret?: CaretHint,
): ShownChange[] {
  const changes: ShownChange[] = [];
  const [from, behind] = commonEnds(before, after);
  const old = before.slice(from, before.length - behind);
  const now = after.slice(from, after.length - behind);
  if (old.length === 0 && now.length === 0) return changes;
  const work = new WorkingOrder(old, before[from - 1]?.id ?? start, changes);
  findSplits(work, now, caret);
  const first = changes.length;
  findJoins(work, now, caret);
  work.removeMissing(new Set(now.map((block) => block.id)), first);
  work.arrange(now);
  now.forEach((block, place) => {
    work.rewrite(place, block, caret);
  });
  return changes;
}

/** How many blocks at the start and at the end are the same. */
function commonEnds(before: readonly ShownBlock[], after: readonly ShownBlock[]): [number, number] {
  const shorter = Math.min(before.length, after.length);
  let ahead = 0;
  while (ahead < shorter && isSame(before[ahead], after[ahead])) ahead += 1;
  let behind = 0;
  while (
    behind < shorter - ahead &&
    isSame(before[before.length - 1 - behind], after[after.length - 1 - behind])
  ) {
    behind += 1;
  }
  return [ahead, behind];
}

/** The old blocks while changes are found: each found change is applied here at once. */
class WorkingOrder {
  readonly blocks: ShownBlock[];

  constructor(
    old: readonly ShownBlock[],
    private readonly start: string,
    private readonly changes: ShownChange[],
  ) {
    this.blocks = [...old];
  }

  get(id: string): ShownBlock | undefined {
    return this.blocks.find((block) => block.id === id);
  }

  /** All from code point `at` on becomes the block `fresh`. */
  split(block: ShownBlock, content: Rich, at: number, fresh: ShownBlock): void {
    const place = this.place(block.id);
    const head = { ...block, content: cutRich(content, 0, at) };
    this.blocks.splice(place, 1, head, { ...fresh, content: cutRich(content, at) });
    this.changes.push(["split", block.id, at, fresh.id, fresh.attributes]);
  }

  /** `kept`: of the first text so much stays at its beginning, and of the other one at its end. */
  join(block: ShownBlock, into: ShownBlock, [start, end]: readonly [number, number]): void {
    const [old, text] = [into.content ?? [], block.content ?? []];
    const [length, count] = [richLength(old), richLength(text)];
    const [out, first] = [length - start, count - end];
    // Before the texts are one: so both blocks know which of their letters are taken out.
    if (out > 0) this.changes.push(["edit", into.id, start > 0 ? [start, -out] : [-out]]);
    if (first > 0) this.changes.push(["edit", block.id, [-first]]);
    const content = joinRich(cutRich(old, 0, start), cutRich(text, first));
    this.blocks[this.place(into.id)] = { ...into, content, length: start + end };
    this.blocks.splice(this.place(block.id), 1);
    this.changes.push(["join", block.id, into.id]);
  }

  /** Told as change number `place`, before joins: undo divides what is joined first, and puts these between. */
  removeMissing(kept: ReadonlySet<string>, place: number): void {
    const missing = this.blocks.filter((block) => !kept.has(block.id)).map(({ id }) => id);
    if (missing.length === 0) return;
    this.changes.splice(place, 0, ["remove", missing]);
    this.blocks.splice(0, this.blocks.length, ...this.blocks.filter(({ id }) => kept.has(id)));
  }

  /** Inserts the new blocks and moves those that stand elsewhere, from first to last. */
  arrange(now: readonly ShownBlock[]): void {
    const known = new Map(this.blocks.map((block) => [block.id, block]));
    const resting = longestRun(this.blocks, now);
    let after = this.start;
    let fresh: NewBlock[] = [];
    let moved: string[] = [];
    for (const block of now) {
      const isNew = !known.has(block.id);
      if (isNew && block.content !== null) {
        const { id, attributes, content } = block;
        if (fresh.length === 0) this.changes.push(["insert", after, fresh]);
        fresh.push({ id, attributes, content });
      } else {
        fresh = [];
      }
      if (isNew || resting.has(block.id)) {
        moved = [];
      } else {
        if (moved.length === 0) this.changes.push(["move", moved, after]);
        moved.push(block.id);
      }
      after = block.id;
    }
    const order = now.map((block) => known.get(block.id) ?? block);
    this.blocks.splice(0, this.blocks.length, ...order);
  }

  /** Brings attributes and text of one block to what they are to be. */
  rewrite(place: number, block: ShownBlock, caret?: CaretHint): void {
    const mine = this.blocks[place];
    if (mine === undefined || mine === block) return;
    if (mine.content === null || block.content === null) {
      if (!isSame(mine, block)) this.changes.push(["show", block]);
      return;
    }
    const patch = diffAttributes(mine.attributes, block.attributes);
    if (patch !== null) this.changes.push(["set", block.id, patch]);
    const delta = diffTexts(mine, block, caret?.block === block.id ? caret : undefined);
    if (delta.length > 0) this.changes.push(["edit", block.id, delta]);
  }

  private place(id: string): number {
    return this.blocks.findIndex((block) => block.id === id);
  }
}

function diffTexts(mine: ShownBlock, block: ShownBlock, caret: CaretHint | undefined): RichDelta {
  const before = mine.content ?? [];
  const after = block.content ?? [];
  if (!isTable(mine) || !isTable(block)) return diffRich(before, after, caret?.offset);
  const cell = caret?.cell;
  return diffTable(before, after, cell && { ...cell, offset: caret.offset });
}

/**
 * A new block that ends with what an old one before it has lost: with other new ones between them
 * something was pasted into the middle.
 */
function findSplits(work: WorkingOrder, now: readonly ShownBlock[], caret?: CaretHint): void {
  const old = new Map(work.blocks.map((block) => [block.id, block]));
  let before: ShownBlock | undefined;
  const pairs: [ShownBlock, ShownBlock][] = [];
  for (const block of now) {
    if (old.has(block.id)) before = block;
    else if (before !== undefined) pairs.push([before, block]);
  }
  for (const [head, fresh] of pairs.reverse()) {
    const whole = work.get(head.id);
    if (!whole?.content || !head.content || !fresh.content) continue;
    if (isTable(whole) || isTable(fresh)) continue;
    const text = plainText(whole.content);
    const left = plainText(head.content);
    const words = plainText(fresh.content);
    const isCaret = caret?.block === fresh.id;
    const tail = isCaret ? words.slice(caret.offset) : words;
    if (tail === "" || !text.endsWith(tail)) continue;
    const units = text.length - tail.length;
    const isLost = left.length <= units || (isCaret && !left.endsWith(tail));
    const isPair = /[\udc00-\udfff]/.test(text[units] ?? "");
    if (isLost && !isPair) work.split(whole, whole.content, toCodePoints(text, units), fresh);
  }
}

/** An old block that is gone, and whose text stands at the end of the block before it. */
function findJoins(work: WorkingOrder, now: readonly ShownBlock[], caret?: CaretHint): void {
  const kept = new Map(now.map((block) => [block.id, block]));
  let into = "";
  for (const block of [...work.blocks]) {
    if (kept.has(block.id)) {
      into = block.id;
      continue;
    }
    const target = kept.get(into)?.content;
    if (isTable(block)) continue;
    const grown = work.get(into);
    if (!target || !grown?.content || isTable(grown) || !block.content || block.length === 0)
      continue;
    const at = caret?.block === into ? caret.offset : undefined;
    const texts = [grown.content, block.content, target].map(plainText) as [string, string, string];
    const parts = joinedBy(...texts, at);
    if (parts !== null) work.join(block, grown, parts);
  }
}

/**
 * How much of two texts the target has, in code points, if it is the two after each other but for one
 * cut at the caret: of the first one at its beginning, of the other one at its end.
 */
function joinedBy(
  into: string,
  block: string,
  target: string,
  caret?: number,
): readonly [number, number] | null {
  if (target === into) return null;
  if (target.startsWith(into + block)) return [codePointLength(into), codePointLength(block)];
  if (caret === undefined) return null;
  // A selection over the seam was replaced: what is left of the block stands behind the caret.
  const right = target.slice(caret);
  if (right === "" || !block.endsWith(right) || into.length === 0) return null;
  let left = 0;
  while (left < Math.min(into.length, caret) && into[left] === target[left]) left += 1;
  return [toCodePoints(into, left), codePointLength(right)];
}

/** The ids of the longest run of blocks that stand in the same order in both. */
function longestRun(before: readonly ShownBlock[], now: readonly ShownBlock[]): Set<string> {
  const places = new Map(before.map((block, place) => [block.id, place]));
  const ids = now.filter((block) => places.has(block.id)).map((block) => block.id);
  const tails: number[] = [];
  const previous: number[] = [];
  const at = (index: number): number => places.get(ids[index] ?? "") ?? -1;
  ids.forEach((_, index) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at(tails[middle] ?? 0) < at(index)) low = middle + 1;
      else high = middle;
    }
    previous[index] = low > 0 ? (tails[low - 1] ?? -1) : -1;
    tails[low] = index;
  });
  const run = new Set<string>();
  for (let index = tails[tails.length - 1] ?? -1; index >= 0; index = previous[index] ?? -1) {
    run.add(ids[index] ?? "");
  }
  return run;
}
