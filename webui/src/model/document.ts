/**
 * A document's value: title and blocks, never changed in place.
 *
 * Blocks are shared between versions, so comparing two versions costs a look at each block's
 * identity, and only what changed is made anew.
 */

import { applyDelta } from "../shared/delta";
import { RefusalError } from "../shared/refusal";
import { codePointLength, slice } from "../shared/text";
import type {
  AttributePatch,
  Attributes,
  AttributeValue,
  Change,
  JoinChange,
  Transaction,
} from "./changes";

/** One block; `text` is in UTF-16 as all of JavaScript, positions in it count code points. */
export interface Block {
  readonly id: string;
  readonly attributes: Attributes;
  readonly text: string;
}

/** The result of applying: the new document, and the changes with filled-in fields exact. */
export interface Applied {
  readonly document: DocumentValue;
  readonly changes: Transaction;
}

export class DocumentValue {
  private positions: Map<string, number> | null = null;

  constructor(
    readonly title: string,
    readonly blocks: readonly Block[],
  ) {}

  /** The block's place, 0 for the first; -1 when there is none. */
  position(id: string): number {
    if (this.positions === null) {
      this.positions = new Map(this.blocks.map((block, place) => [block.id, place]));
    }
    return this.positions.get(id) ?? -1;
  }

  /** The block of this id, undefined when there is none. */
  get(id: string): Block | undefined {
    return this.blocks[this.position(id)];
  }

  /** Id of the block before this one, null for the first. */
  previous(id: string): string | null {
    return this.blocks[this.position(id) - 1]?.id ?? null;
  }

  /** Applies the changes, all or none; throws RefusalError when one does not apply. */
  apply(changes: Transaction): Applied {
    const draft = new DocumentDraft(this);
    const done: Change[] = [];
    for (const change of changes) {
      const exact = draft.apply(change);
      if (exact !== null) done.push(exact);
    }
    return { document: draft.finish(), changes: done };
  }

  /** Another value whose blocks stand at the same places (texts and attributes differ). */
  withSamePlaces(title: string, blocks: readonly Block[]): DocumentValue {
    const value = new DocumentValue(title, blocks);
    value.positions = this.positions;
    return value;
  }
}

export const EMPTY_DOCUMENT = new DocumentValue("", []);

/** The attributes after a patch. */
export function patched(attributes: Attributes, patch: AttributePatch): Attributes {
  const result: Record<string, AttributeValue> = { ...attributes };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = value;
  }
  return result;
}

/** A document while a transaction is applied to it. */
class DocumentDraft {
  private title: string;
  private readonly blocks: Block[];
  private current: DocumentValue;
  private places = true;

  constructor(private readonly base: DocumentValue) {
    this.title = base.title;
    this.blocks = [...base.blocks];
    this.current = base;
  }

  finish(): DocumentValue {
    return this.places
      ? this.base.withSamePlaces(this.title, this.blocks)
      : new DocumentValue(this.title, this.blocks);
  }

  apply(change: Change): Change | null {
    switch (change[0]) {
      case "text": {
        const [, id, delta] = change;
        const block = this.get(id);
        if (delta.length === 0) return null;
        this.replace({ ...block, text: applyDelta(delta, block.text) });
        return change;
      }
      case "insert":
        this.insert({ id: change[1], attributes: change[3], text: change[4] }, change[2]);
        return change;
      case "delete": {
        const prev = this.take(change[1]);
        return ["delete", change[1], prev];
      }
      case "move":
        return this.move(change[1], change[2]);
      case "set": {
        const block = this.get(change[1]);
        if (Object.keys(change[2]).length === 0) return null;
        this.replace({ ...block, attributes: patched(block.attributes, change[2]) });
        return change;
      }
      case "split":
        return this.split(change[1], change[2], change[3], change[4], change);
      case "join":
        return this.join(change[1], change[2]);
      case "title":
        this.title = change[1];
        return change;
    }
  }

  private move(id: string, after: string | null): Change | null {
    const block = this.get(id);
    if (id === after) throw new RefusalError("bad_change", "a block cannot stand behind itself");
    if (after !== null) this.get(after);
    const prev = this.take(id);
    this.insert(block, after);
    return prev === after ? null : ["move", id, after, prev];
  }

  private split(id: string, at: number, fresh: string, attributes: Attributes, change: Change) {
    const block = this.get(id);
    const length = codePointLength(block.text);
    if (at > length) {
      throw new RefusalError("out_of_range", `the split is at ${at} of ${length} characters`);
    }
    this.insert({ id: fresh, attributes, text: slice(block.text, at) }, id);
    this.replace({ ...block, text: slice(block.text, 0, at) });
    return change;
  }

  private join(id: string, into: string): JoinChange {
    const block = this.get(id);
    const target = this.get(into);
    if (id === into) throw new RefusalError("bad_change", "a block cannot join itself");
    const prev = this.take(id);
    this.replace({ ...target, text: target.text + block.text });
    return ["join", id, into, codePointLength(target.text), prev];
  }

  private place(id: string): number {
    if (this.places) return this.current.position(id);
    return this.blocks.findIndex((block) => block.id === id);
  }

  private get(id: string): Block {
    const block = this.blocks[this.place(id)];
    if (block === undefined) throw new RefusalError("no_such_block", `there is no block ${id}`);
    return block;
  }

  private replace(block: Block): void {
    this.blocks[this.place(block.id)] = block;
  }

  private insert(block: Block, after: string | null): void {
    if (this.place(block.id) >= 0) {
      throw new RefusalError("block_exists", `there is a block ${block.id} already`);
    }
    if (after !== null) this.get(after);
    const place = after === null ? 0 : this.place(after) + 1;
    this.blocks.splice(place, 0, block);
    this.places = false;
  }

  /** Takes the block out and gives the id of the one before it. */
  private take(id: string): string | null {
    this.get(id);
    const place = this.place(id);
    const prev = this.blocks[place - 1]?.id ?? null;
    this.blocks.splice(place, 1);
    this.places = false;
    return prev;
  }
}
