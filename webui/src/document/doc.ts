/** A document as one value, the verbs that change it, and what leads from one to another. */

import {
  applyRich,
  cutRich,
  joinRich,
  type Rich,
  type RichDelta,
  richLength,
  sameMarks,
  sameRich,
} from "../shared/rich";
import { diffRich } from "../shared/rich-diff";
import { patched } from "./block";
import { Blocks } from "./blocks";
import type { AttributePatch, Attributes, NewBlock, ShownBlock, ShownChange } from "./types";

/** A document; never changed in place. */
export interface Doc {
  readonly title: string;
  readonly order: readonly string[];
  readonly blocks: Blocks;
}

export const EMPTY_DOC: Doc = { title: "", order: [], blocks: Blocks.of(new Map()) };

/**
 * The text of `block` goes into `into` at `at`; the block goes. A `join` is one at the end.
 * `behind`: the text that stands behind that place.
 */
export type Merge = readonly [
  "merge",
  block: string,
  into: string,
  at: number,
  text: Rich,
  behind?: Rich | undefined,
];
/** A verb, also where a text goes to any place of another. */
export type Step = ShownChange | Merge;

export function blockOf(id: string, attributes: Attributes, content: Rich): ShownBlock {
  return { id, attributes, content, length: richLength(content) };
}

/** A document that is being changed; copies what it changes. */
export class Work {
  title: string;
  private order: readonly string[];
  private blocks: Blocks;
  private changed = new Map<string, ShownBlock | null>();

  /** `gone`: behind what a block stood that is not there any more. */
  constructor(
    doc: Doc,
    private readonly gone: ReadonlyMap<string, string>,
  ) {
    this.title = doc.title;
    this.order = doc.order;
    this.blocks = doc.blocks;
  }

  get doc(): Doc {
    this.blocks = this.blocks.with(this.changed);
    this.changed = new Map();
    const { title, order, blocks } = this;
    return { title, order, blocks };
  }

  get(id: string): ShownBlock | undefined {
    const one = this.changed.get(id);
    return one === undefined ? this.blocks.get(id) : (one ?? undefined);
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** The text of a block; null where there is none to be seen. */
  content(id: string): Rich | null {
    return this.get(id)?.content ?? null;
  }

  /** Does one; false where it cannot be done, and nothing has changed then. */
  apply(step: Step): boolean {
    switch (step[0]) {
      case "edit":
        return this.edit(step[1], step[2]);
      case "set":
        return this.set(step[1], step[2]);
      case "split":
        return this.split(step[1], step[2], step[3], step[4]);
      case "join":
        return this.merge(step[1], step[2], null);
      case "merge":
        return this.merge(step[1], step[2], step[3]);
      case "insert": {
        const blocks = step[2].filter((block) => !this.has(block.id));
        for (const { id, attributes, content } of blocks) {
          this.put(blockOf(id, attributes, content));
        }
        this.place(
          step[1],
          blocks.map((block) => block.id),
        );
        return true;
      }
      case "remove":
        this.remove(step[1]);
        return true;
      case "move":
        this.place(
          step[2],
          step[1].filter((id) => this.has(id)),
        );
        return true;
      case "rename":
        this.title = step[1];
        return true;
      case "letters":
        return true;
      case "show":
        if (!this.has(step[1].id)) return false;
        this.put(step[1]);
        return true;
    }
  }

  private edit(id: string, delta: RichDelta): boolean {
    const block = this.get(id);
    if (block === undefined || block.content === null) return false;
    try {
      this.put(blockOf(id, block.attributes, applyRich(delta, block.content)));
    } catch {
      return false;
    }
    return true;
  }

  private set(id: string, patch: AttributePatch): boolean {
    const block = this.get(id);
    if (block === undefined) return false;
    this.put({ ...block, attributes: patched(block.attributes, patch) });
    return true;
  }

  private split(id: string, at: number, fresh: string, attributes: Attributes): boolean {
    const block = this.get(id);
    const content = block?.content ?? null;
    // The outline may have told of the fresh one already: then it has a place, and gets its text.
    const known = this.get(fresh);
    const isThere = known !== undefined && known.content !== null;
    if (block === undefined || content === null || isThere || at > block.length) return false;
    this.put(blockOf(id, block.attributes, cutRich(content, 0, at)));
    this.put(blockOf(fresh, known?.attributes ?? attributes, cutRich(content, at)));
    if (known === undefined) this.place(id, [fresh]);
    return true;
  }

  private merge(id: string, into: string, at: number | null): boolean {
    const block = this.get(id);
    const other = this.get(into);
    if (block === undefined || other === undefined || block === other) return false;
    if (block.content === null || other.content === null) return false;
    const place = Math.min(at ?? other.length, other.length);
    const before = cutRich(other.content, 0, place);
    const text = joinRich(joinRich(before, block.content), cutRich(other.content, place));
    this.put(blockOf(into, other.attributes, text));
    this.remove([id]);
    return true;
  }

  private remove(ids: readonly string[]): void {
    const leaving = new Set(ids.filter((id) => this.has(id)));
    if (leaving.size === 0) return;
    this.order = this.order.filter((id) => !leaving.has(id));
    for (const id of leaving) this.changed.set(id, null);
  }

  /** Puts blocks behind `after`, or behind what stood before it when that is gone. */
  private place(after: string, ids: readonly string[]): void {
    if (ids.length === 0) return;
    const chosen = new Set(ids);
    let anchor = after;
    for (let hops = 0; anchor !== "" && hops < 1_000; hops += 1) {
      if (chosen.has(anchor)) anchor = this.order[this.order.indexOf(anchor) - 1] ?? "";
      else if (!this.has(anchor)) anchor = this.gone.get(anchor) ?? this.order.at(-1) ?? "";
      else break;
    }
    const left = this.order.filter((id) => !chosen.has(id));
    left.splice(anchor === "" ? 0 : left.indexOf(anchor) + 1, 0, ...ids);
    this.order = left;
  }

  private put(block: ShownBlock): void {
    this.changed.set(block.id, block);
  }
}

/** The changes that lead from one document to another. */
export function diffDocs(before: Doc, after: Doc): ShownChange[] {
  if (before === after) return [];
  const changes: ShownChange[] = [];
  if (before.title !== after.title) changes.push(["rename", after.title]);
  if (before.order !== after.order) diffOrder(before, after, changes);
  for (const id of after.blocks.differing(before.blocks)) {
    const old = before.blocks.get(id);
    const block = after.blocks.get(id);
    if (old !== undefined && block !== undefined) diffBlock(old, block, changes);
    else if (block?.content === null) changes.push(["show", block]);
  }
  return changes;
}

function diffOrder(before: Doc, after: Doc, changes: ShownChange[]): void {
  if (before.order.length === after.order.length) {
    if (before.order.every((id, at) => after.order[at] === id)) return;
  }
  const left = before.order.filter((id) => !after.blocks.has(id));
  if (left.length > 0) changes.push(["remove", left]);
  const places = new Map<string, number>();
  let count = 0;
  for (const id of before.order) if (after.blocks.has(id)) places.set(id, count++);
  const staying = longestRun(after.order.flatMap((id) => places.get(id) ?? []));
  let previous = "";
  let fresh: NewBlock[] = []; // neighbours come by one change, or a long document is slow to open
  for (const id of after.order) {
    const place = places.get(id);
    const block = after.blocks.get(id);
    if (place === undefined && block !== undefined) {
      const { attributes, content } = block;
      if (fresh.length === 0) changes.push(["insert", previous, fresh]);
      fresh.push({ id, attributes, content: content ?? [] });
    } else {
      fresh = [];
      if (place !== undefined && !staying.has(place)) changes.push(["move", [id], previous]);
    }
    previous = id;
  }
}

/** The longest part of these numbers that grows. */
function longestRun(numbers: readonly number[]): Set<number> {
  if (numbers.every((number, at) => number === at)) return new Set(numbers);
  const tails: number[] = [];
  const former = new Map<number, number | undefined>();
  for (const number of numbers) {
    let low = 0;
    for (let high = tails.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((tails[middle] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    former.set(number, tails[low - 1]);
    tails[low] = number;
  }
  const run = new Set<number>();
  for (let one = tails.at(-1); one !== undefined; one = former.get(one)) run.add(one);
  return run;
}

function diffBlock(old: ShownBlock, block: ShownBlock, changes: ShownChange[]): void {
  const { id, attributes, content } = block;
  if (old.content === null || content === null) {
    const isSame = old.content === content && old.length === block.length;
    if (!isSame || !sameMarks(old.attributes, attributes)) changes.push(["show", block]);
    return;
  }
  if (!sameMarks(old.attributes, attributes)) {
    const patch: Record<string, string | number | boolean | null> = {};
    for (const name of Object.keys(old.attributes)) if (!(name in attributes)) patch[name] = null;
    for (const [name, value] of Object.entries(attributes)) {
      if (old.attributes[name] !== value) patch[name] = value;
    }
    changes.push(["set", id, patch]);
  }
  if (!sameRich(old.content, content)) changes.push(["edit", id, diffRich(old.content, content)]);
}
