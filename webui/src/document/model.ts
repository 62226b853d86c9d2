/**
 * A document in the page: its groups, the person's verbs on top of them, and what is open of it.
 *
 * Rules.
 *   M1  What is shown is what everybody will see when all is answered and nobody else does anything.
 *   M2  A verb of the person is shown, sent once, confirmed, or a draft; `stored` has all that is
 *       not confirmed, and `openModel` goes on with it under the same numbers.
 *   M3  "Saved" is said only when every verb is on disk at a quorum.
 */

import { CallError } from "../client/errors";
import type { ObjectMessage } from "../client/messages";
import type { Session } from "../client/session";
import { randomId } from "../ids";
import { plainText, type Rich } from "../shared/rich";
import { BlockObject, type BlockState, type Past } from "./block";
import { comeFrom, detailsOf, type Heard, inOrder, isTold, wentTo } from "./catching-up";
import { Confirmed } from "./confirmed";
import type { Step } from "./doc";
import { Follower, type FollowerOwner } from "./following";
import { OutlineObject } from "./outline";
import { Overlay } from "./overlay";
import { neededBy, textsOf } from "./own";
import { saveState } from "./save-state";
import { chopped, Sender } from "./sending";
import { callsOf, keep, type StoredDocument, takeUp } from "./storing";
import type { DocumentModel, DocumentValue, Draft, SaveState, Verb, ViewEvent } from "./types";
import { UnsavedTexts } from "./unsaved";

export type { StoredDocument } from "./storing";

/** So many blocks around those in sight are open, too; farther than twice of it they are closed. */
const MARGIN = 20;
/** So many blocks that the person has written in stay open, the last ones: undo needs their text. */
const WRITTEN_MAX = 200;
/** So many blocks to which texts have gone are asked for at once behind a reconnect. */
const ONWARD_MAX = 50;
/** Objects of the session that are not blocks of this document. */
const OTHERS_MAX = 8;

/** A document over a session; `stored`: what a page before has left, of this session's client. */
export function openModel(session: Session, doc: string, stored?: unknown): GroupedDocument {
  return new GroupedDocument(session, doc, (stored ?? null) as StoredDocument | null);
}

export class GroupedDocument implements DocumentModel, FollowerOwner {
  onView: ((event: ViewEvent) => void) | null = null;
  onChange: (() => void) | null = null;
  /** Who may what in the document has changed. */
  onRights: (() => void) | null = null;
  problem: { readonly code: string; readonly message: string } | null = null;
  drafts: readonly Draft[] = [];
  readonly author: string;
  readonly outline: OutlineObject;
  readonly confirmed: Confirmed;
  readonly overlay: Overlay;
  private readonly follower: Follower;
  private readonly sender: Sender;
  private sight: readonly [first: number, last: number] = [0, 0];
  private readonly asked = new Map<string, (() => void)[]>();
  /** Blocks that cannot be had, and why. */
  private readonly failed = new Map<string, string>();
  private readonly written = new Set<string>();
  private held: string | null = null;
  /** Objects that have been asked for again, and what has been heard meanwhile. */
  private readonly catchingUp = new Set<BlockObject | OutlineObject>();
  private missed: Heard[] = [];
  private waiting: Heard[] = [];
  /** What was heard of blocks whose texts have come from others that have not answered yet. */
  private readonly heldBack = new Map<BlockObject | OutlineObject, Heard[]>();
  private isClosed = false;
  private isStarted = false;
  private draftCount = 0;

  constructor(
    private readonly session: Session,
    doc: string,
    stored: StoredDocument | null,
  ) {
    this.author = stored?.author ?? randomId();
    this.outline = session.attach(OutlineObject, `doc/${doc}`, OutlineObject.type, (outline) => {
      if (stored?.outline != null) {
        outline.takeKept(stored.outline[0], stored.outline[2]);
        outline.restore(callsOf(stored.outline[1], stored.client === session.client));
      }
    });
    this.confirmed = new Confirmed(this.outline);
    const unsaved = new UnsavedTexts(() => session.saves);
    this.follower = new Follower(this.confirmed, this, unsaved);
    const { follower } = this;
    this.overlay = new Overlay(
      this.confirmed,
      (own, left) => follower.dropped(own, left),
      (one) => follower.adrift.add(one),
      (came) => follower.goOn(came),
    );
    this.follower.overlay = this.overlay;
    this.sender = new Sender(this.outline, this.confirmed, this.overlay, this.author, unsaved);
    this.outline.listener = this.follower;
    this.outline.onRights = () => this.onRights?.();
    this.isStarted = true;
    if (stored !== null) this.takeUp(stored);
  }

  private takeUp(stored: StoredDocument): void {
    this.drafts = stored.drafts;
    this.draftCount = stored.drafts.length;
    for (const [id, state, calls] of stored.blocks) {
      this.open(id, (block) => {
        block.take(state);
        block.restore(callsOf(calls, stored.client === this.session.client));
      });
    }
    for (const born of stored.born) this.confirmed.born.set(born.id, born);
    takeUp(stored, this.overlay, this.follower, this.session.client);
    this.follower.look();
  }

  // --- what is shown --------------------------------------------------------------------------

  get isLoaded(): boolean {
    return this.outline.stored.birth !== null;
  }

  get outlineVersion(): number {
    return this.outline.stored.version;
  }

  get value(): DocumentValue {
    return this.overlay.value;
  }

  past(block: string): Past | undefined {
    return this.confirmed.blocks.get(block) ?? this.confirmed.histories.get(block);
  }

  askPast(block: string, isLost = false): void {
    const { outline, blocks, histories } = this.confirmed;
    if (outline.entries.has(block) || !outline.isReady) return;
    if (isLost ? histories.wait(block) : !blocks.has(block) && histories.ask(block)) this.goOn();
  }

  /** `parcel` ends with a colon where its number is not known. */
  arrived(parcel: string): readonly [into: string, version: number, at: number] | null {
    for (const [id, { frames }] of [...this.confirmed.blocks, ...this.confirmed.histories]) {
      for (const [key, frame] of frames) {
        const isIt = parcel.endsWith(":") ? key.startsWith(parcel) : key === parcel;
        if (isIt) return [id, ...frame];
      }
    }
    return null;
  }

  get unconfirmed(): readonly Step[] {
    return this.overlay.own.map(({ verb }) => verb);
  }

  /** M3. */
  get save(): SaveState {
    const { outline, confirmed, overlay } = this;
    const isOnline = this.session.state === "connected" && outline.isReady;
    const objects = [["", outline] as const, ...confirmed.blocks];
    const { adrift, chases } = this.follower;
    const chased = chases.all.map(({ block }) => ({ block, edits: 1 }));
    return saveState(overlay.own, [...adrift.all, ...chased], objects, isOnline);
  }

  private *objects(): Iterable<BlockObject | OutlineObject> {
    yield this.outline;
    yield* this.confirmed.blocks.values();
  }

  /** What has to outlive the tab; null when everything of the person's is with the nodes. */
  stored(): StoredDocument | null {
    const { author, drafts, overlay, confirmed, session } = this;
    const { calls, adrift, chases } = this.follower;
    const waiting = { textless: [...calls], adrift: adrift.all, chased: chases.all };
    const all = [overlay.own, drafts, ...Object.values(waiting)];
    if (all.every(({ length }) => length === 0)) return null;
    const isOffline = session.state !== "connected";
    return keep(session.client, author, drafts, overlay, confirmed, waiting, isOffline);
  }

  // --- what the person does -------------------------------------------------------------------

  change(verbs: readonly Verb[]): void {
    for (const verb of verbs) this.remember(verb);
    for (const verb of verbs) for (const one of chopped(verb)) this.overlay.add(one);
    this.goOn();
  }

  private remember(verb: Verb): void {
    if (verb[0] !== "edit" && verb[0] !== "split" && verb[0] !== "join") return;
    const ids = verb[0] === "edit" ? [verb[1]] : [verb[1], verb[0] === "split" ? verb[3] : verb[2]];
    for (const id of ids) {
      this.written.delete(id);
      this.written.add(id);
    }
    for (const id of this.written) {
      if (this.written.size <= WRITTEN_MAX) break;
      this.written.delete(id);
    }
  }

  discardDraft(id: string): void {
    this.drafts = this.drafts.filter((draft) => draft.id !== id);
    this.onChange?.();
  }

  hold(block: string | null): void {
    this.held = block;
    if (block !== null) return;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      this.follower.hear(...next);
    }
    this.goOn();
  }

  look(first: number, last: number): void {
    this.sight = [first, last];
    this.goOn();
  }

  show(block: string): Promise<void> {
    return new Promise((resolve) => {
      this.asked.set(block, [...(this.asked.get(block) ?? []), resolve]);
      this.goOn();
    });
  }

  /** Closes it in this page; what is under way may still be done. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const object of [...this.objects()]) {
      object.listener = null;
      object.close();
    }
  }

  // --- what the nodes say ---------------------------------------------------------------------

  /**
   * What was heard of it over a connection before, and not looked at, is told anew. A block that has
   * not answered over that one, and whose text is here, is waited for with the others.
   */
  onAsk(object: BlockObject | OutlineObject, isKnown: boolean): void {
    const isBegun = object instanceof BlockObject && this.follower.hasFirst(object);
    if (isKnown || (isBegun && this.catchingUp.size > 0)) this.catchingUp.add(object);
    this.missed = this.missed.filter(([one]) => one !== object);
    this.waiting = this.waiting.filter(([one]) => one !== object);
    this.heldBack.delete(object);
  }

  take(object: BlockObject | OutlineObject, message: ObjectMessage): void {
    if (this.isHeldBack(object, message)) {
      this.heldBack.set(object, [...(this.heldBack.get(object) ?? []), [object, message]]);
      return;
    }
    if (this.asksAnew(object, message)) return;
    this.takeNow(object, message);
    if (message.t !== "changes" && this.heldBack.size > 0) this.release();
  }

  /**
   * F9: whether to wait for the block that a text has come from: it is shown here, and was asked for.
   * So it is known which letters went, before they are seen where they are. So with a block from which
   * a part of an own edit may have come: it says what has become of the one that went there.
   */
  private isHeldBack(object: BlockObject | OutlineObject, message: ObjectMessage): boolean {
    if (this.heldBack.has(object)) return true;
    if (this.catchingUp.size > 0) return false; // then all are looked at together, in their order
    if (object instanceof BlockObject) return this.isAhead(object, message);
    return this.heldBack.size > 0 && hasLeft(message); // it may be the one that the text has come from
  }

  private isAhead(block: BlockObject, message: ObjectMessage): boolean {
    const isFirst = message.t === "snapshot" && block.status === "unborn";
    if (!isFirst && message.t !== "changes") return false;
    return comeFrom(message, true).some((source) => {
      const isPart = this.overlay.own.some(({ hop, parcel }) => hop === source && parcel > 0);
      if (isPart) this.openIn(this.room, source);
      const from = this.confirmed.blocks.get(source);
      if (from === undefined || from.isReady || this.heldBack.has(from)) return false;
      return isPart || (comeFrom(message).includes(source) && this.follower.hasFirst(from));
    });
  }

  /** F7: a text whose beginning is known by now, and that came without its steps, is asked for with these. */
  private asksAnew(object: BlockObject | OutlineObject, message: ObjectMessage): boolean {
    if (!(object instanceof BlockObject) || message.t !== "snapshot" || object.asksSteps)
      return false;
    const { recent, version } = message.state as BlockState;
    const isGuess = recent === null && version > 0 && object.status === "unborn";
    if (!isGuess || !this.follower.hasFirst(object)) return false;
    object.ask();
    return true;
  }

  /** Goes on with what was held back. */
  private release(): void {
    for (const [block, heard] of [...this.heldBack]) {
      const [, first] = heard[0] as Heard;
      if (!(block instanceof BlockObject) || !this.heldBack.has(block)) continue;
      if (this.isAhead(block, first)) continue;
      this.heldBack.delete(block);
      if (!this.asksAnew(block, first)) for (const one of heard) this.take(...one);
    }
    const left = this.heldBack.get(this.outline);
    if (left === undefined || this.heldBack.size > 1) return;
    this.heldBack.delete(this.outline);
    for (const one of left) this.take(...one);
  }

  private takeNow(object: BlockObject | OutlineObject, message: ObjectMessage): void {
    if (this.catchingUp.size > 0) {
      this.missed.push([object, message]);
      if (message.t !== "changes" && message.t !== "saved") this.caughtUp(object);
      return;
    }
    this.hear(object, message);
  }

  /** Objects that were asked for behind a reconnect are looked at together, the outline last. */
  private caughtUp(object: BlockObject | OutlineObject): void {
    this.catchingUp.delete(object);
    if (this.catchingUp.size > 0 || this.asksOnward()) return;
    if (!this.isTold) this.sender.sendAhead();
    const missed = inOrder(this.missed, (block) => this.confirmed.idOf(block));
    this.missed = [];
    const held = missed.some(([one, message]) => this.isHeld(one, message));
    if (held || this.waiting.length > 0) this.waiting.push(...missed);
    else this.follower.hearAll(missed);
    for (const one of new Set(missed.map(([one]) => one))) this.opened(one);
    this.goOn();
  }

  /** F8 of the follower. Whether some are asked for. */
  private asksOnward(): boolean {
    const { blocks } = this.confirmed;
    const { onward } = this.follower;
    const texts = new Set([
      ...this.written,
      ...this.overlay.own.flatMap(({ verb }) => textsOf(verb)),
    ]);
    for (const [object, message] of this.missed) {
      if (!(object instanceof BlockObject)) continue;
      const id = this.confirmed.idOf(object);
      if (!texts.has(id) && !onward.has(id)) continue;
      // What one has begun with is known by the block that it was split off, as far as that is shown.
      const isShown = (from: string): boolean =>
        this.overlay.base.blocks.get(from)?.content != null;
      const from = onward.has(id) ? comeFrom(message).filter(isShown) : [];
      for (const to of [...wentTo(message).map(([one]) => one), ...from]) {
        const isFull = onward.size >= ONWARD_MAX || blocks.size >= this.room;
        if (isFull || blocks.has(to) || this.failed.has(to)) continue;
        onward.add(to);
        this.open(to);
        const block = blocks.get(to);
        if (block !== undefined) this.catchingUp.add(block);
      }
    }
    return this.catchingUp.size > 0;
  }

  /** Whether it is known by steps what has become of the texts that own verbs wait for. */
  private get isTold(): boolean {
    const { blocks } = this.confirmed;
    const waiting = this.overlay.own.filter(({ call }) => call === null);
    const texts = waiting.flatMap(({ verb }) => textsOf(verb));
    const isBegun = (id: string): boolean => this.overlay.base.blocks.get(id)?.content != null;
    return isTold(texts, this.missed, (id) => blocks.get(id), isBegun);
  }

  private hear(object: BlockObject | OutlineObject, message: ObjectMessage): void {
    if (this.waiting.length > 0 || this.isHeld(object, message)) {
      this.waiting.push([object, message]);
      return;
    }
    this.follower.hear(object, message);
    if (message.t === "snapshot" || message.t === "opened") this.opened(object);
    this.goOn();
  }

  /** Whether this would change what is held; own calls are not answered meanwhile, either. */
  private isHeld(object: BlockObject | OutlineObject, message: ObjectMessage): boolean {
    const { held } = this;
    if (held === null || (message.t !== "changes" && message.t !== "snapshot")) return false;
    if (object instanceof BlockObject) return this.confirmed.idOf(object) === held;
    return hasLeft(message, held);
  }

  /** A node may have said what is saved to a connection that is lost: a call asks it again. */
  private opened(object: BlockObject | OutlineObject): void {
    if (object instanceof BlockObject)
      this.confirmed.histories.wanted.delete(this.confirmed.idOf(object));
    if (object === this.outline) this.failed.clear();
    if (!this.session.saves || object.unsaved === 0 || object.unanswered > 0) return;
    object.submitCall(object instanceof BlockObject ? "set" : "wake", []);
  }

  onSeen(event: ViewEvent): void {
    this.onView?.(event);
  }

  onOutlineNews(): void {
    if (this.isStarted && !this.isClosed) this.openNear();
  }

  onDraft(code: string, text: Rich, into?: string): string {
    const begun = this.drafts.find((draft) => draft.id === into && draft.code === code);
    this.draftCount += begun === undefined ? 1 : 0;
    const id = begun?.id ?? `${this.author}-${this.draftCount}`;
    const whole = { id, code, text: `${begun?.text ?? ""}${plainText(text)}` };
    if (begun === undefined) this.drafts = [...this.drafts, whole];
    else this.drafts = this.drafts.map((draft) => (draft === begun ? whole : draft));
    return id;
  }

  onReplaced(block: BlockObject): void {
    this.sender.sendAhead(block);
  }

  onEnd(object: BlockObject | OutlineObject, error: Error): void {
    if (this.isClosed) return;
    const code = error instanceof CallError ? error.code : "closed";
    if (object instanceof BlockObject) this.onBlockEnd(object, code);
    else {
      this.problem = { code, message: error.message };
      this.onChange?.();
    }
  }

  private onBlockEnd(block: BlockObject, code: string): void {
    const id = this.confirmed.idOf(block);
    if (this.session.stopped !== null) return;
    if (this.confirmed.blocks.get(id) !== block) return;
    this.confirmed.blocks.delete(id);
    this.heldBack.delete(block);
    if (this.catchingUp.has(block)) this.caughtUp(block);
    this.failed.set(id, code);
    this.confirmed.histories.wanted.delete(id);
    this.follower.refuse(id, code);
    this.release();
  }

  // --- what follows ---------------------------------------------------------------------------

  /** What follows from what was heard is done once a frame. */
  private goOn(): void {
    if (this.isClosed || !this.isStarted) return;
    this.session.afterFrame(this.follow);
  }

  private readonly follow = (): void => {
    if (this.isClosed) return;
    this.follower.show();
    this.follower.chases.settle(); // what is asked for then is opened
    for (const [id, code] of this.failed) if (this.needed().has(id)) this.follower.refuse(id, code);
    this.openNear();
    this.closeFar();
    this.sender.send();
    this.follower.adrift.send(this.author);
    for (const [id, resolves] of this.asked) {
      if (this.overlay.base.blocks.get(id)?.content === null) continue;
      this.asked.delete(id);
      for (const resolve of resolves) resolve();
    }
    this.onChange?.();
  };

  private open(id: string, prepare: (block: BlockObject) => void = () => undefined): void {
    if (this.session.stopped !== null) return;
    const name = `${this.outline.name}/${id}`;
    const block = this.session.attach(BlockObject, name, BlockObject.type, (fresh) => {
      fresh.listener = this.follower;
      prepare(fresh);
    });
    this.confirmed.blocks.set(id, block);
  }

  /** Has the blocks open that are in sight, or needed. */
  private openNear(): void {
    const { room } = this;
    for (const id of [...this.inSight(), ...this.needed()]) this.openIn(room, id);
    const [first, last] = this.sight;
    const near = this.overlay.shown.order.slice(Math.max(0, first - MARGIN), last + 1 + MARGIN);
    for (const id of near) if (this.isLive(id)) this.openIn(room, id);
  }

  /** What one looks at, readable however many edits wait: these have half the room. */
  private inSight(): readonly string[] {
    const [first, last] = this.sight;
    const end = Math.min(last + 1, first + Math.floor(this.room / 2));
    return this.overlay.shown.order.slice(first, end).filter((id) => this.isLive(id));
  }

  /** Closes blocks that are far, as they have to make room, or nobody has written in them. */
  private closeFar(): void {
    const { blocks } = this.confirmed;
    const needed = this.needed();
    const isShort = blocks.size >= this.room && [...needed].some((id) => !blocks.has(id));
    for (const id of this.inSight()) needed.add(id);
    let isClosing = false;
    for (const [id, block] of blocks) {
      if (needed.has(id) || (!isShort && this.isKept(id)) || this.isBusy(id, block)) continue;
      blocks.delete(id);
      if (block.status === "joined" || block.status === "deleted")
        this.confirmed.histories.keep(id, block);
      block.listener = null;
      block.close();
      isClosing = true;
    }
    if (!isClosing) return;
    this.follower.look();
    if (!isShort) this.goOn(); // what is near may have had no room before
  }

  private needed(): Set<string> {
    return new Set([
      ...neededBy(this.overlay.own),
      ...this.follower.askedFor,
      ...this.asked.keys(),
      ...this.confirmed.histories.open,
    ]);
  }

  private get room(): number {
    return Math.max(1, this.session.objectsMax - OTHERS_MAX);
  }

  private openIn(room: number, id: string): void {
    const { blocks } = this.confirmed;
    if (blocks.has(id) || this.failed.has(id) || blocks.size >= room) return;
    const isAsked = this.follower.askedFor.has(id) || this.confirmed.histories.open.has(id);
    if (isAsked || this.overlay.base.blocks.has(id) || this.outline.entries.has(id)) this.open(id);
  }

  /** Whether a block stays open as long as there is room. */
  private isKept(id: string): boolean {
    if (this.written.has(id)) return true;
    if (!this.isNear(id, 2 * MARGIN)) return false;
    return this.confirmed.blocks.size < this.room || (this.isNear(id, MARGIN) && this.isLive(id));
  }

  private isNear(id: string, margin: number): boolean {
    const place = this.overlay.placeOf(id);
    const [first, last] = this.sight;
    return place !== undefined && place >= first - margin && place <= last + margin;
  }

  private isBusy(id: string, block: BlockObject): boolean {
    if (block.isOwing || block.births.size > 0) return true;
    if (this.heldBack.size > 0 && !block.isReady) return true;
    // What the others have said meanwhile is looked at when this one has answered, too.
    if (this.catchingUp.has(block) || this.follower.onward.has(id)) return true;
    // Without one that is about to leave the outline, it would be shown again.
    return (
      (block.status !== "open" && this.outline.entries.has(id)) || this.confirmed.isPassing(id)
    );
  }

  private isLive(id: string): boolean {
    const entry = this.outline.entries.get(id);
    if (entry !== undefined) return entry.isLive || !this.outline.seeds.has(id);
    return this.overlay.base.blocks.has(id);
  }
}

/** Whether the outline says that blocks have left it; `block`: this one. */
function hasLeft(message: ObjectMessage, block = ""): boolean {
  return detailsOf(message).some(
    (detail) => detail[0] === "left" && (block === "" || detail[1].includes(block)),
  );
}
