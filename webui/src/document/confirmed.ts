/**
 * The document as the nodes have it, as far as it is open here.
 *
 * A text that is being handed over is where it was until it is where it goes: so it is never
 * missing, and never there twice. groupcore/shared/documents/shown.py does the same.
 */

import { type BlockObject, type BlockState, keyOf, type Place } from "./block";
import { blockOf, type Doc, EMPTY_DOC } from "./doc";
import { Histories } from "./histories";
import type { OutlineDetail, OutlineObject } from "./outline";
import type { Attributes, ShownBlock } from "./types";

/** Most blocks that are remembered to have gone. */
const GONE_MAX = 4_000;

export class Confirmed {
  doc: Doc = EMPTY_DOC;
  /** Blocks that are open here, whether they have a text already or not. */
  readonly blocks = new Map<string, BlockObject>();
  /** Blocks that were split off here, and what they began with. */
  readonly born = new Map<string, ShownBlock>();
  /** What blocks have gone through that are closed here. */
  readonly histories = new Histories();
  /** Behind what a block stood that has gone. */
  readonly gone = new Map<string, string>();

  /** Blocks whose texts have come to others, before they themselves are known to be joined. */
  private readonly come = new Set<string>();

  /** Blocks that have left the outline as they were joined: their texts live on. */
  private readonly joined = new Set<string>();

  /** Blocks that own verbs need, and what own ones begin with: they are being opened. */
  awaited: ReadonlyMap<string, ShownBlock | null> = new Map();
  /** The blocks that were open when the objects were looked at last. */
  private looked: readonly string[] = [];
  /** Whether some were shown then that the outline did not know. */
  private wasComing = false;
  /** Whether since then a text has come from a block that may not be open. */
  private hasCome = false;

  /** Whether own verbs rest on the text of a block. */
  isRestedOn: (id: string) => boolean = () => false;

  constructor(readonly outline: OutlineObject) {}

  /** A block with a text that is here. */
  open(id: string): BlockObject | null {
    const block = this.blocks.get(id);
    return block !== undefined && block.status === "open" ? block : null;
  }

  /** The text of a block that has none of its own here, from what has led to it. */
  know(block: ShownBlock | undefined): void {
    if (block === undefined || block.content === null || this.hasText(block.id)) return;
    this.born.set(block.id, block);
  }

  /**
   * A text has come from a block that is shown, and is not joined as far as is known here. Whether
   * it has; it `isThere`, or that block has been passed by.
   */
  comes(source: string, number: number, into: string, isThere: boolean): boolean {
    const from = this.blocks.get(source);
    const isClosed = from?.status === "joined" || from?.status === "deleted";
    if (source === "" || source === into || isClosed) return false;
    // It may be another one's, that this one has passed on; or it has come before, and is back.
    if (from?.cameAs([into, number]) || this.blocks.get(into)?.has(source, number)) return false;
    if (!isThere || !(this.outline.entries.has(source) || this.doc.blocks.has(source)))
      return false;
    this.come.add(source);
    this.hasCome = true;
    return true;
  }

  /** Whether a block that is not there any more was joined to another one, as far as is known. */
  wasJoined(id: string): boolean {
    return this.joined.has(id) || this.come.has(id) || this.blocks.get(id)?.status === "joined";
  }

  /** Whether somebody has opened a block, or may have meanwhile: else nothing of it can have gone elsewhere. */
  isLive(id: string): boolean {
    const entry = this.outline.entries.get(id);
    return this.blocks.has(id) || (entry !== undefined && (entry.isLive || !this.outline.isReady));
  }

  /** Of which version the text of a block is that was shown last. */
  versionOf(id: string): number {
    const block = this.blocks.get(id);
    if (block === undefined || block.status === "unborn") return 0; // what it begins with
    return block.status === "open" ? block.steps : block.lastOpen;
  }

  /** A block is open, whatever had become of its text before. */
  isOpenAgain(id: string): void {
    if (this.come.delete(id)) this.hasCome = true;
  }

  /** Looks at the objects anew: at all only where the order may be another one. */
  refresh(): void {
    this.passOn();
    const news = this.outline.takeNews();
    if (news === null || !this.refreshed(news)) this.lookAtAll();
    this.looked = [...this.blocks.keys(), ...this.awaited.keys()];
  }

  /** Looks at these, and at what is or was open; false where more than their texts has changed. */
  private refreshed(news: ReadonlySet<string>): boolean {
    const { outline, doc: before } = this;
    const isAnother = this.wasComing || this.hasCome || this.born.size > 0;
    this.hasCome = false;
    if (isAnother || this.isHandingOver()) return false;
    const changes = new Map<string, ShownBlock>();
    for (const ids of [news, this.looked, this.blocks.keys()]) {
      for (const id of ids) {
        const old = before.blocks.get(id);
        const block = this.shown(id, old);
        if (block === old || (old === undefined && !outline.entries.has(id))) continue;
        if (block === null ? old !== undefined : old === undefined) return false;
        if (block !== null) changes.set(id, block);
      }
    }
    const blocks = before.blocks.with(changes);
    this.doc = { title: outline.title, order: before.order, blocks };
    return true;
  }

  /** Whether there is a block that is `coming`, or `lingering`. */
  private isHandingOver(): boolean {
    for (const [id, block] of this.blocks) {
      if (block.births.size > 0 && [...block.births.keys()].some((one) => this.isComing(one)))
        return true;
      if (this.isLingering(id)) return true;
    }
    return false;
  }

  private isComing(fresh: string): boolean {
    return !this.outline.entries.has(fresh) && !this.gone.has(fresh);
  }

  private lookAtAll(): void {
    const { outline, doc: before } = this;
    const blocks = new Map<string, ShownBlock>();
    const changes = new Map<string, ShownBlock | null>();
    const order = this.orderNow();
    this.wasComing = order !== outline.order;
    for (const id of order) {
      const old = before.blocks.get(id);
      const block = this.shown(id, old);
      if (block === null) continue;
      blocks.set(id, block);
      if (block !== old) changes.set(id, block);
    }
    const shown = [...blocks.keys()];
    const isOrdered =
      shown.length === before.order.length && shown.every((id, at) => before.order[at] === id);
    if (!isOrdered) {
      this.remember(before.order, blocks);
      for (const id of before.order) if (!blocks.has(id)) changes.set(id, null);
    }
    this.doc = {
      title: outline.title,
      order: isOrdered ? before.order : shown,
      blocks: before.blocks.with(changes),
    };
    for (const id of this.born.keys()) {
      const isKnown = outline.entries.has(id) && !this.isOpening(id);
      if (isKnown || this.hasText(id) || !blocks.has(id)) this.born.delete(id);
    }
  }

  /** Blocks that are about to come, by the one that they are split off. */
  private coming(): Map<string, string[]> {
    const coming = new Map<string, string[]>();
    for (const [id, block] of this.blocks) {
      if (block.births.size === 0) continue;
      for (const fresh of block.births.keys()) {
        if (!this.isComing(fresh)) continue;
        coming.set(id, [...(coming.get(id) ?? []), fresh]);
      }
    }
    return coming;
  }

  /**
   * Whether a block has left the outline, and its text has not come to where it goes, or was passed on to;
   * nor back to the block that has passed it on, where it was refused.
   */
  isPassing(id: string): boolean {
    const block = this.blocks.get(id);
    if (block?.status !== "joined" || this.outline.entries.has(id)) return false;
    const { into, number, via } = block;
    const there = this.blocks.get(into);
    if (there?.refused.has(`${via}:${number}`))
      return this.blocks.get(via)?.cameAs([into, number]) !== undefined;
    return there !== undefined && (there.received.get(via || id) ?? 0) < number;
  }

  /**
   * Whether a block was taken out of the outline, own verbs rest on its text, and it is not told that
   * this is deleted. Until then a split that is on its way may still save a part of it.
   */
  isStaying(id: string): boolean {
    if (this.outline.entries.has(id) || this.blocks.get(id)?.status !== "open") return false;
    if (this.joined.has(id) || this.come.has(id) || !this.doc.blocks.has(id)) return false;
    return this.isRestedOn(id);
  }

  /** Whether a block has left the outline, and its text is not deleted: it was taken out, or has come back. */
  isOut(id: string): boolean {
    if (this.outline.entries.has(id) || this.blocks.get(id)?.status !== "open") return false;
    return this.isStaying(id) || this.joined.has(id) || this.gone.has(id);
  }

  /** Whether a block that has left the outline is shown where it was. */
  isLingering(id: string): boolean {
    return this.isPassing(id) || this.isStaying(id);
  }

  private lingering(): string[] {
    return [...this.blocks.keys()].filter((id) => this.isLingering(id));
  }

  /** All blocks of the outline, with those that are about to come, or to be where they go. */
  private orderNow(): string[] {
    const { outline } = this;
    const coming = this.coming();
    const lingering = this.lingering().filter((id) => !isIn(coming, id));
    if (coming.size === 0 && lingering.length === 0) return outline.order;
    const order: string[] = [];
    const put = (id: string): void => {
      order.push(id);
      const fresh = coming.get(id);
      coming.delete(id);
      for (const one of fresh?.reverse() ?? []) put(one);
    };
    for (const id of outline.order) put(id);
    const putBehind = (before: string, ids: readonly string[]): void => {
      let after = before;
      while (after !== "" && !order.includes(after)) after = this.behind(after);
      order.splice(order.indexOf(after) + 1, 0, ...ids);
    };
    for (const id of lingering) putBehind(this.behind(id), [id]);
    for (const [source, fresh] of coming) putBehind(source, fresh.reverse());
    return order;
  }

  /** Behind what a block stood that has gone, just now or before. */
  private behind(id: string): string {
    return this.gone.get(id) ?? this.doc.order[this.doc.order.indexOf(id) - 1] ?? "";
  }

  /** A detail of the outline. That a text is owed still to a block that has left brings it not back. */
  follow(detail: OutlineDetail): void {
    this.outline.follow(detail);
    for (const id of detail[0] === "left" ? detail[1] : []) {
      if (this.come.delete(id)) this.hasCome = true;
      if (detail[0] === "left" && detail[2]) this.joined.add(id);
      if (!this.isLingering(id)) this.gone.set(id, this.behind(id));
    }
  }

  private isOpening(id: string): boolean {
    return this.blocks.has(id) || this.awaited.has(id);
  }

  private hasText(id: string): boolean {
    const block = this.blocks.get(id);
    return block !== undefined && block.status !== "unborn";
  }

  /** A block as it is to be shown; null when it is not (any more). */
  private shown(id: string, old: ShownBlock | undefined): ShownBlock | null {
    if (this.come.has(id)) return null;
    const block = this.blocks.get(id);
    if (block !== undefined && block.status !== "unborn") {
      if (block.status === "deleted" || this.isThere(block)) return null;
      const content = block.status === "joined" ? block.leaving : block.content;
      if (old?.content === content && old.attributes === block.attributes) return old;
      return blockOf(id, block.attributes, content);
    }
    const { outline } = this;
    const entry = outline.entries.get(id);
    const seed = outline.seeds.get(id);
    if (seed !== undefined && (this.isOpening(id) || entry?.isLive !== true)) {
      if (old?.content === seed.content && old.attributes === seed.attributes) return old;
      return blockOf(id, seed.attributes, seed.content);
    }
    const isOpening = this.isOpening(id);
    // What it began with would be there twice; where own verbs need it, they go after it.
    const isElsewhere =
      isOpening && entry !== undefined && !this.awaited.has(id) && this.hasGiven(id);
    if ((isOpening || entry === undefined) && !isElsewhere) {
      const born = this.born.get(id) ?? this.birthOf(id);
      if (born !== undefined) return born;
    }
    // It is being opened, and its text is known: from the seed, or the block that it was split off.
    if (isOpening && !isElsewhere && old !== undefined && old.content !== null) return old;
    const own = this.awaited.get(id);
    if (own !== undefined && own !== null && entry !== undefined) return own;
    const length = entry?.length ?? 0;
    const type = entry?.type ?? "paragraph";
    if (old?.content === null && old.length === length && old.attributes.type === type) return old;
    const attributes: Attributes = { type };
    return { id, attributes, content: null, length };
  }

  /** Whether something has come from a block, of which nothing else is here yet, to another one. */
  private hasGiven(id: string): boolean {
    for (const block of this.blocks.values()) if (block.received.has(id)) return true;
    return false;
  }

  /** What the block that gives a new one its text says of it. */
  birthOf(id: string): ShownBlock | undefined {
    for (const block of this.blocks.values()) {
      const birth = block.births.get(id);
      if (birth === undefined) continue;
      const born = blockOf(id, birth.attributes, birth.content);
      this.born.set(id, born);
      return born;
    }
    return undefined;
  }

  /** Whether a joined block's text has come to where it goes. */
  private isThere(block: BlockObject): boolean {
    if (block.status !== "joined") return false;
    if (block.number === 0) return true;
    const source = block.via || this.idOf(block);
    return this.blocks.get(block.into)?.has(source, block.number) === true;
  }

  /** The joined block whose text is this parcel; null where it is not open here. */
  leaving(source: string, number: number, into: string): [string, BlockObject] | null {
    this.passOn();
    for (const [id, block] of this.blocks) {
      if (block.status !== "joined" || block.into !== into || block.number !== number) continue;
      if ((block.via || id) === source) return [id, block];
    }
    return null;
  }

  /**
   * A text that a block had passed on in this parcel was refused, and is at its end now: there the block
   * that had it is joined, as before. Gives in which parcel it had come; undefined: it was its own text.
   */
  cameBack(block: BlockObject, to: Place): Place | undefined {
    const from = block.cameAs(to);
    if (from === undefined) return from;
    const id = this.idOf(block);
    this.leaving(id, to[1], to[0])?.[1].passed([id, from[1]], from[0]);
    block.onward.delete(keyOf(from));
    return from;
  }

  /** So with all that a block had passed on, but for what its state says. */
  lookBack(block: BlockObject, { onward = [] }: BlockState): void {
    const away = new Set(onward.map(([, , ...to]) => keyOf(to)));
    for (const to of block.onward.values()) if (!away.has(keyOf(to))) this.cameBack(block, to);
  }

  /** Texts that were passed on by the blocks that they went to are shown where they were until they have come. */
  private passOn(): void {
    for (const [id, block] of this.blocks) {
      while (block.status === "joined") {
        const { via, into, number } = block;
        const to = this.blocks.get(into)?.onward.get(`${via || id}:${number}`);
        if (to === undefined) break;
        block.passed(to);
      }
    }
  }

  /** The id of an open block. */
  idOf(block: BlockObject): string {
    return block.name.slice(this.outline.name.length + 1);
  }

  private remember(order: readonly string[], left: ReadonlyMap<string, ShownBlock>): void {
    let previous = "";
    for (const id of order) {
      if (left.has(id)) previous = id;
      else this.gone.set(id, previous);
    }
    for (const id of left.keys()) this.gone.delete(id);
    for (const one of [this.gone, this.joined]) {
      const keys = one.keys();
      while (one.size > GONE_MAX) one.delete(keys.next().value ?? "");
    }
  }
}

function isIn(coming: ReadonlyMap<string, readonly string[]>, id: string): boolean {
  return [...coming.values()].some((fresh) => fresh.includes(id));
}
