/**
 * An ordered outline: a title, and blocks in an order, each with an id, attributes and a text.
 *
 * Blocks are named by id, so an operation means the same block wherever others have moved it. What
 * is asked for says which version it was made against, and the node carries it over what others
 * did meanwhile (docs/transactions.md); it is seen when it is done. Places in texts are UTF-16
 * units, as in JavaScript.
 */

import { applyDelta, type Delta, DeltaBuilder } from "../shared/delta";
import { cleanText, codePointLength, slice, toCodePoints } from "../shared/text";
import type { Item } from "./messages";
import { type Change, Confirmed, changeOf } from "./object";

export type Attribute = string | number | boolean;
export type Attributes = Readonly<Record<string, Attribute>>;
/** Null takes an attribute away. */
export type AttributePatch = Readonly<Record<string, Attribute | null>>;

export interface OutlineBlock {
  readonly id: string;
  readonly attributes: Attributes;
  readonly text: string;
}

/** One change of a transaction, as docs/transactions.md has it: deltas count code points. */
export type OutlineEdit =
  /** `isGoingOn`: it extends what its writer wrote last (decision 202). */
  | readonly ["text", block: string, delta: Delta, isGoingOn?: boolean]
  | readonly ["insert", block: string, after: string | null, attributes: Attributes, text: string]
  | readonly ["delete", block: string, previous: string | null]
  | readonly ["move", block: string, after: string | null, previous: string | null]
  | readonly ["set", block: string, attributes: AttributePatch]
  | readonly ["split", block: string, at: number, added: string, attributes: Attributes]
  | readonly ["join", block: string, into: string, offset: number, previous: string | null]
  | readonly ["title", text: string];

interface OutlineState {
  readonly title: string;
  readonly version: number;
  readonly blocks: readonly (readonly [string, Attributes, string])[];
}

export class Outline extends Confirmed {
  static readonly type = "Outline";
  title = "";
  /** Edits up to now: what `submit` names as the version that its changes were made against. */
  edits = 0;
  private order: string[] = [];
  private readonly byId = new Map<string, OutlineBlock>();

  /** The blocks in their order. */
  blocks(): OutlineBlock[] {
    return this.order.map((id) => this.block(id));
  }

  has(id: string): boolean {
    return this.byId.has(id);
  }

  get length(): number {
    return this.order.length;
  }

  /** A block as it is now; RangeError when there is none of this id. */
  block(id: string): OutlineBlock {
    const found = this.byId.get(id);
    if (found === undefined) throw new RangeError(`there is no block ${id}`);
    return found;
  }

  // --- writing ---

  /** Puts a new block behind `after` (null: at the start); gives its id. */
  insert(text: string, after: string | null = null, attributes: Attributes = {}): Promise<string> {
    const pairs = Object.entries(attributes);
    const call = this.call("create", this.edits, after, cleanText(text), pairs);
    return call as Promise<string>;
  }

  /**
   * Puts `text` in the place of `count` units of the block's text from `at` on; `isGoingOn`: where the
   * writer wrote last, and nothing that others have put there meanwhile may stand between.
   */
  write(id: string, at: number, count: number, text: string, isGoingOn = false): Promise<number> {
    const before = this.block(id).text;
    if (at < 0 || count < 0 || at + count > before.length) {
      throw new RangeError(`${at} and ${count} more of ${before.length} units`);
    }
    const from = toCodePoints(before, at);
    const builder = new DeltaBuilder();
    builder.retain(from);
    builder.insert(cleanText(text));
    builder.delete(toCodePoints(before, at + count) - from);
    const delta = builder.finish();
    return this.one(isGoingOn ? ["text", id, delta, true] : ["text", id, delta]);
  }

  /** Sets attributes of the block. */
  set(id: string, attributes: AttributePatch): Promise<number> {
    return this.one(["set", id, attributes]);
  }

  /** Puts the block behind `after` (null: at the start). */
  move(id: string, after: string | null): Promise<number> {
    return this.one(["move", id, after, this.previous(id)]);
  }

  /** Takes the block out. */
  delete(id: string): Promise<number> {
    return this.one(["delete", id, this.previous(id)]);
  }

  /** Moves the text from `at` on into the new block `added`, right behind. */
  split(id: string, at: number, added: string, attributes: Attributes = {}): Promise<number> {
    const { text } = this.block(id);
    if (at < 0 || at > text.length) throw new RangeError(`${at} of ${text.length} units`);
    const place = toCodePoints(text, at);
    return this.one(["split", id, place, added, attributes]);
  }

  /** Appends the block's text to `into` and takes the block out. */
  join(id: string, into: string): Promise<number> {
    const offset = codePointLength(this.block(into).text);
    return this.one(["join", id, into, offset, this.previous(id)]);
  }

  rename(title: string): Promise<number> {
    return this.one(["title", title]);
  }

  /** Several changes, all or none, made against `base`; gives the new number of edits. */
  edit(changes: readonly OutlineEdit[], base = this.edits): Promise<number> {
    return this.call("submit", base, changes) as Promise<number>;
  }

  private one(change: OutlineEdit): Promise<number> {
    return this.edit([change]);
  }

  private previous(id: string): string | null {
    this.block(id);
    return this.order[this.order.indexOf(id) - 1] ?? null;
  }

  // --- from the node ---

  protected override show(state: unknown): void {
    const { title, version, blocks } = state as OutlineState;
    this.title = title;
    this.edits = version;
    this.order = blocks.map(([id]) => id);
    this.byId.clear();
    for (const [id, attributes, text] of blocks) this.byId.set(id, { id, attributes, text });
  }

  protected override done(item: Item, mine: boolean): Change {
    for (const detail of item[3]) {
      if (!Array.isArray(detail)) continue;
      const [version, changes] = detail as [number, OutlineEdit[]];
      for (const change of changes) this.apply(change);
      this.edits = version;
    }
    return changeOf(item, mine);
  }

  private apply(change: OutlineEdit): void {
    switch (change[0]) {
      case "text":
        this.put(change[1], { text: applyDelta(change[2], this.block(change[1]).text) });
        break;
      case "insert": {
        const [, id, after, attributes, text] = change;
        this.byId.set(id, { id, attributes, text });
        this.place(id, after);
        break;
      }
      case "delete":
        this.remove(change[1]);
        break;
      case "move":
        this.order.splice(this.order.indexOf(change[1]), 1);
        this.place(change[1], change[2]);
        break;
      case "set":
        this.put(change[1], {
          attributes: present({ ...this.block(change[1]).attributes, ...change[2] }),
        });
        break;
      case "split": {
        const [, id, at, added, attributes] = change;
        const { text } = this.block(id);
        this.put(id, { text: slice(text, 0, at) });
        this.byId.set(added, { id: added, attributes, text: slice(text, at) });
        this.place(added, id);
        break;
      }
      case "join": {
        const [, id, into] = change;
        this.put(into, { text: this.block(into).text + this.block(id).text });
        this.remove(id);
        break;
      }
      case "title":
        this.title = change[1];
        break;
      default:
    }
  }

  private put(id: string, changed: Partial<OutlineBlock>): void {
    this.byId.set(id, { ...this.block(id), ...changed });
  }

  private place(id: string, after: string | null): void {
    this.order.splice(after === null ? 0 : this.order.indexOf(after) + 1, 0, id);
  }

  private remove(id: string): void {
    this.byId.delete(id);
    this.order.splice(this.order.indexOf(id), 1);
  }
}

/** Without what was taken away. */
function present(attributes: AttributePatch): Attributes {
  const kept = Object.entries(attributes).filter((entry): entry is [string, Attribute] => {
    return entry[1] !== null;
  });
  return Object.fromEntries(kept);
}
