/**
 * What leads from one document to another, as a transaction.
 *
 * Blocks are told apart by id. A block whose text lost its end to a new block right behind it was
 * split; a block whose whole text was appended to the one before it was joined; what is left are
 * inserts, deletes, moves, attributes and one small edit per text.
 */

import { type Delta, DeltaBuilder } from "../shared/delta";
import { codePointLength, toCodePoints } from "../shared/text";
import type { AttributePatch, Attributes, Change } from "./changes";
import type { Block, DocumentValue } from "./document";

/** Where the caret stands after the edit: tells equal letters apart. */
export interface CaretHint {
  readonly block: string;
  /** UTF-16 offset in the block's new text. */
  readonly offset: number;
}

/** The smallest single edit from one text to another; with a caret, the one that ends there. */
export function diffText(before: string, after: string, caret?: number): Delta {
  if (before === after) return [];
  const shorter = Math.min(before.length, after.length);
  const behindMax = caret === undefined ? shorter : Math.min(shorter, after.length - caret);
  let behind = 0;
  while (
    behind < behindMax &&
    before[before.length - 1 - behind] === after[after.length - 1 - behind]
  ) {
    behind += 1;
  }
  let ahead = 0;
  while (ahead < shorter - behind && before[ahead] === after[ahead]) ahead += 1;
  // Never cut a surrogate pair in two.
  if (ahead > 0 && /[\ud800-\udbff]/.test(before[ahead - 1] ?? "")) ahead -= 1;
  if (behind > 0 && /[\udc00-\udfff]/.test(before[before.length - behind] ?? "")) behind -= 1;
  const builder = new DeltaBuilder();
  builder.retain(toCodePoints(before, ahead));
  builder.insert(after.slice(ahead, after.length - behind));
  builder.delete(codePointLength(before.slice(ahead, before.length - behind)));
  return builder.finish();
}

/** The patch from one set of attributes to another; null when they are equal. */
export function diffAttributes(before: Attributes, after: Attributes): AttributePatch | null {
  if (before === after) return null;
  const patch: Record<string, string | number | boolean | null> = {};
  for (const name of Object.keys(before)) if (!(name in after)) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    if (before[name] !== value) patch[name] = value;
  }
  return Object.keys(patch).length > 0 ? patch : null;
}

/** The transaction from one document to another. */
export function diffDocuments(
  before: DocumentValue,
  after: DocumentValue,
  caret?: CaretHint,
): Change[] {
  const changes: Change[] = [];
  if (before.title !== after.title) changes.push(["title", after.title]);
  const [from, behind] = commonEnds(before.blocks, after.blocks);
  const old = before.blocks.slice(from, before.blocks.length - behind);
  const now = after.blocks.slice(from, after.blocks.length - behind);
  if (old.length === 0 && now.length === 0) return changes;
  const start = before.blocks[from - 1]?.id ?? null;
  const work = new WorkingOrder(old, start, changes);
  findSplits(work, now);
  findJoins(work, now, caret);
  work.deleteMissing(new Set(now.map((block) => block.id)));
  work.arrange(now);
  for (const block of now) work.rewrite(block, caret);
  return changes;
}

function isSame(one: Block | undefined, other: Block | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  if (one.id !== other.id || one.text !== other.text) return false;
  return diffAttributes(one.attributes, other.attributes) === null;
}

/** How many blocks at the start and at the end are the same. */
function commonEnds(before: readonly Block[], after: readonly Block[]): [number, number] {
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
  readonly blocks: Block[];

  constructor(
    old: readonly Block[],
    private readonly start: string | null,
    private readonly changes: Change[],
  ) {
    this.blocks = [...old];
  }

  get(id: string): Block | undefined {
    return this.blocks.find((block) => block.id === id);
  }

  previous(id: string): string | null {
    return this.blocks[this.place(id) - 1]?.id ?? this.start;
  }

  split(block: Block, units: number, fresh: Block): void {
    const place = this.place(block.id);
    const behind = { ...fresh, text: block.text.slice(units) };
    this.blocks.splice(place, 1, { ...block, text: block.text.slice(0, units) }, behind);
    const at = toCodePoints(block.text, units);
    this.changes.push(["split", block.id, at, fresh.id, fresh.attributes]);
  }

  join(block: Block, into: Block): void {
    const prev = this.previous(block.id);
    this.blocks[this.place(into.id)] = { ...into, text: into.text + block.text };
    this.blocks.splice(this.place(block.id), 1);
    this.changes.push(["join", block.id, into.id, codePointLength(into.text), prev]);
  }

  deleteMissing(kept: ReadonlySet<string>): void {
    for (const block of [...this.blocks]) {
      if (kept.has(block.id)) continue;
      this.changes.push(["delete", block.id, this.previous(block.id)]);
      this.blocks.splice(this.place(block.id), 1);
    }
  }

  /** Inserts the new blocks and moves those that stand elsewhere, from first to last. */
  arrange(now: readonly Block[]): void {
    const known = new Set(this.blocks.map((block) => block.id));
    const resting = longestRun(this.blocks, now);
    let after = this.start;
    for (const block of now) {
      if (!known.has(block.id)) {
        this.changes.push(["insert", block.id, after, block.attributes, block.text]);
        this.put(block, after);
      } else if (!resting.has(block.id) && this.previous(block.id) !== after) {
        this.changes.push(["move", block.id, after, this.previous(block.id)]);
        const [taken] = this.blocks.splice(this.place(block.id), 1);
        if (taken !== undefined) this.put(taken, after);
      }
      after = block.id;
    }
  }

  /** Brings attributes and text of one block to what they are to be. */
  rewrite(block: Block, caret?: CaretHint): void {
    const mine = this.get(block.id);
    if (mine === undefined || mine === block) return;
    const patch = diffAttributes(mine.attributes, block.attributes);
    if (patch !== null) this.changes.push(["set", block.id, patch]);
    const at = caret?.block === block.id ? caret.offset : undefined;
    const delta = diffText(mine.text, block.text, at);
    if (delta.length > 0) this.changes.push(["text", block.id, delta]);
  }

  private put(block: Block, after: string | null): void {
    const place = after === this.start ? 0 : this.place(after ?? "") + 1;
    this.blocks.splice(place, 0, block);
  }

  private place(id: string): number {
    return this.blocks.findIndex((block) => block.id === id);
  }
}

/** A new block right behind one whose text ended with the new block's text. */
function findSplits(work: WorkingOrder, now: readonly Block[]): void {
  const old = new Map(work.blocks.map((block) => [block.id, block]));
  for (let place = now.length - 1; place > 0; place -= 1) {
    const fresh = now[place];
    const before = now[place - 1];
    if (fresh === undefined || before === undefined || old.has(fresh.id)) continue;
    const whole = old.get(before.id);
    if (whole === undefined || before.text.length >= whole.text.length) continue;
    if (fresh.text === "" || !whole.text.endsWith(fresh.text)) continue;
    const units = whole.text.length - fresh.text.length;
    const isPair = /[\udc00-\udfff]/.test(whole.text[units] ?? "");
    if (before.text.length <= units && !isPair) work.split(whole, units, fresh);
  }
}

/** An old block that is gone, and whose text stands at the end of the block before it. */
function findJoins(work: WorkingOrder, now: readonly Block[], caret?: CaretHint): void {
  const kept = new Map(now.map((block) => [block.id, block]));
  let into: string | null = null;
  for (const block of [...work.blocks]) {
    if (kept.has(block.id)) {
      into = block.id;
      continue;
    }
    const target = kept.get(into ?? "");
    const grown = work.get(into ?? "");
    if (target === undefined || grown === undefined || block.text === "") continue;
    if (isJoined(grown, block, target, caret)) work.join(block, grown);
  }
}

/** Whether the target's text is the two texts after each other, but for one cut at the caret. */
function isJoined(into: Block, block: Block, target: Block, caret?: CaretHint): boolean {
  if (target.text === into.text) return false;
  if (target.text.startsWith(into.text + block.text)) return true;
  if (caret?.block !== target.id) return false;
  // A selection over the seam was replaced: what is left of the block stands behind the caret.
  const right = target.text.slice(caret.offset);
  return right !== "" && block.text.endsWith(right) && into.text.length > 0;
}

/** The ids of the longest run of blocks that stand in the same order in both. */
function longestRun(before: readonly Block[], now: readonly Block[]): Set<string> {
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
