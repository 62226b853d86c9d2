/**
 * What the nodes say of a document's groups, as steps of the document; which of it are own verbs.
 * Rules.
 *   F1  An own edit is confirmed by its place in its block's order, or by the version of its
 *       verdict; a part of it that went after its text, by its parcel.
 *   F2  What was refused because its base is too old, or the order has ended that it was sent to,
 *       was not done: it is carried over what has happened, and sent anew. So it is done once.
 *   F3  What cannot be done any more is a draft.
 *   F5  What is not sent, of a text that went to where it is not known here, is sent to the block
 *       that had it, as a late edit: it goes after the text.
 *   F6  What went after a text that is not shown here is followed from block to block; what came
 *       behind a deletion there is a draft.
 *   F7  A block that was not open here, whose beginning is known, is told by its steps since then:
 *       two texts that are compared do not say which letter is which.
 *   F8  Behind a reconnect, blocks to which a text went that the person has written in are asked
 *       for first: unsent words, and the caret, go with their text, also where it came back.
 *   F4  What was answered, and lost with all nodes before it was on disk, is a draft, too.
 */

import type { Item, ObjectMessage } from "../client/messages";
import { insertedText, joinRich, type Rich } from "../shared/rich";
import { AdriftEdits } from "./adrift";
import { type BlockDetail, type BlockListener, BlockObject, type BlockState } from "./block";
import type { Own, OwnCall } from "./carry";
import type { Heard } from "./catching-up";
import { Chases, chased, type Words } from "./chasing";
import type { Confirmed } from "./confirmed";
import { Dying } from "./dying";
import { lastShared, takenBack } from "./going-back";
import { goesOnHere } from "./going-on";
import { Missed } from "./missed";
import type { OutlineDetail, OutlineListener, OutlineObject, OutlineState } from "./outline";
import type { Came, Happened, Overlay } from "./overlay";
import { awaitedBy, namedBy, restsOn, writtenBy } from "./own";
import { caughtUp, comeBy, hasCome, onwardFrom, passedOn, routed, sent, sourceOf } from "./parcels";
import { asSeen, stepsTo } from "./states";
import { missedSteps, partsIn, stepsOf } from "./steps";
import type { ViewEvent } from "./types";
import type { UnsavedTexts } from "./unsaved";
import {
  AGAIN,
  type EditedResult,
  goesOn,
  isBackIn,
  isEdit,
  isOver,
  ownRemoval,
  placedAnew,
  richOf,
} from "./verdicts";

/** Who is told what follows. */
export interface FollowerOwner {
  /** May hold a message back, and hand it on later. */
  take(object: BlockObject | OutlineObject, message: ObjectMessage): void;
  /** The object is asked for; `isKnown`: again, with what is here of it. */
  onAsk(object: BlockObject | OutlineObject, isKnown: boolean): void;
  onSeen(event: ViewEvent): void;
  /** What the outline knows of blocks may be another one: what is in sight is opened first. */
  onOutlineNews(): void;
  /** `into`: the draft that it goes on. Gives the draft's id. */
  onDraft(code: string, text: Rich, into?: string): string;
  /** Its text has a place again. */
  discardDraft(id: string): void;
  onEnd(object: BlockObject | OutlineObject, error: Error): void;
  /** The text of a block will be another one, and nobody says how: what waits for it is numbered. */
  onReplaced(block: BlockObject): void;
}

export class Follower implements BlockListener, OutlineListener {
  private isTaking = false;
  private later: (() => void)[] = [];
  private batch: Happened[] | null = null;
  private readonly missed: Missed;
  /** F8: blocks that are asked for, as texts have gone there. */
  readonly onward = new Set<string>();
  /** Edits that have lost their text here, and are not answered. */
  readonly calls = new Map<string, OwnCall>();
  /** Own edits that are for texts of which only the block knows that had them. */
  readonly adrift: AdriftEdits;
  /** Parts of own edits of which it is not known what has become of them. */
  readonly chases: Chases;
  private readonly dying: Dying;
  /** Why own verbs are dropped now. */
  private reason = "block_deleted";
  overlay!: Overlay;

  constructor(
    private readonly confirmed: Confirmed,
    private readonly owner: FollowerOwner,
    private readonly unsaved: UnsavedTexts,
  ) {
    const giveBack = (code: string, text: Rich): void => void owner.onDraft(code, text);
    this.chases = new Chases(confirmed, giveBack);
    this.adrift = new AdriftEdits(confirmed, unsaved, this.calls, giveBack);
    this.dying = new Dying(confirmed, owner, this.chases, (step) => {
      return this.overlay.leftOf(0, step, this.overlay.own);
    });
    this.missed = new Missed(confirmed, (...heard) => this.heard(...heard));
    confirmed.isRestedOn = (id) => this.overlay.own.some((own) => restsOn(own, id));
  }

  // --- what is heard --------------------------------------------------------------------------

  onHear(object: BlockObject | OutlineObject, message: ObjectMessage): void {
    this.owner.take(object, message);
  }

  onAsk(object: BlockObject | OutlineObject, isKnown: boolean): void {
    this.owner.onAsk(object, isKnown);
  }

  /** F7, F8. */
  hasFirst(block: BlockObject): boolean {
    const id = this.confirmed.idOf(block);
    // Of a block that one has inserted oneself, also before the document is looked at with it.
    if (awaitedBy(this.overlay.own).get(id) != null) return true;
    return this.hasText(id) || this.onward.has(id);
  }

  /** F7. */
  isNew(block: BlockObject): boolean {
    const { outline, histories } = this.confirmed;
    const id = this.confirmed.idOf(block);
    return outline.placed.has(id) || histories.open.has(id);
  }

  private hasText(id: string): boolean {
    const isGone = this.batch?.some(({ step }) => step?.[0] === "merge" && step[1] === id);
    return !isGone && this.overlay.base.blocks.get(id)?.content != null;
  }

  /** Does what was heard. What only goes on is shown with the rest of its frame, by `show`. */
  hear(object: BlockObject | OutlineObject, message: ObjectMessage): void {
    if (!goesOnHere(this.confirmed, object, message)) this.show();
    else this.batch ??= [];
    this.heard(object, message);
  }

  /** Shows what has been heard and is not shown yet, as one change. */
  show(): void {
    const { batch } = this;
    if (batch === null) return;
    this.batch = null;
    this.advance(batch);
    this.finish();
  }

  /** Answers that come with a snapshot are looked at behind its state. */
  private heard(object: BlockObject | OutlineObject, message: ObjectMessage): void {
    const wasTaking = this.isTaking;
    this.isTaking = message.t === "snapshot";
    if (message.t === "saved") this.unsaved.saved(this.groupOf(object), message.n);
    object.heard(message);
    this.isTaking = wasTaking;
    if (this.batch === null) this.finish();
  }

  /** Does what was heard of several objects that were asked for at once, as one change. */
  hearAll(messages: readonly Heard[]): void {
    this.show();
    this.batch = [];
    this.missed.lookAt(messages);
    this.onward.clear();
    this.show();
  }

  private finish(): void {
    for (let next = this.later.shift(); next !== undefined; next = this.later.shift()) next();
  }

  onEnd(object: BlockObject | OutlineObject, error: Error): void {
    this.owner.onEnd(object, error);
  }

  onOutlineState(outline: OutlineObject, state: OutlineState): void {
    const before = outline.isSameBirth ? [] : [...outline.entries.keys()];
    if (!outline.isSameBirth) this.beginAnew(outline);
    outline.take(state);
    this.adrift.noteLost(before.filter((id) => !outline.entries.has(id)));
    this.owner.onOutlineNews();
    this.advance([]);
  }

  onOutline(_outline: OutlineObject, details: readonly OutlineDetail[]): void {
    for (const detail of details) this.confirmed.follow(detail);
    this.owner.onOutlineNews();
    const happened = details.flatMap((detail): Happened[] => {
      if (detail[0] === "left") {
        const gone = detail[1].filter((id) => !this.confirmed.isLingering(id));
        const step = gone.length > 0 ? (["remove", gone] as const) : null;
        return [{ step, own: ownRemoval(detail[1]), isJoined: detail[2] }];
      }
      return detail[0] === "title" ? [{ step: ["rename", detail[1]], own: null }] : [];
    });
    this.advance(happened);
  }

  onOutlineAnswer(n: number, results: readonly unknown[] | null, code: string): void {
    this.answered("", n, () => {
      const isIt = (own: Own): boolean => own.call?.group === "" && own.call.n === n;
      if (results !== null || code === "result_lost") this.view(this.overlay.drop(isIt));
      else this.refused(isIt, code);
    });
  }

  // --- blocks ---------------------------------------------------------------------------------

  onBlock(block: BlockObject, details: readonly BlockDetail[], item: Item, mine: boolean): void {
    this.follow(block, details, mine ? item[2] : "");
  }

  onBlockState(block: BlockObject, state: BlockState): void {
    const id = this.confirmed.idOf(block);
    if (!block.isSameBirth) this.goBack(block, state);
    const isIn = comeBy(id, state, this.confirmed.blocks);
    const isOne = block.status === "unborn" || block.isSameBirth;
    this.confirmed.lookBack(block, state);
    const passed = state.passed ?? [];
    const steps = stepsTo(this.confirmed, this.overlay.base, block, state);
    const onward = onwardFrom(id, passed);
    const isThere = (own: Own): boolean => isIn(own) && !onward.some(({ isPart }) => isPart(own));
    if (steps === null) this.came(onward, id);
    const isGuess =
      steps === null || steps.some(([kind, , to]) => kind === "cut" && this.hasText(to));
    if (isGuess && isOne && state.status !== "unborn" && this.hasFirst(block))
      this.owner.onReplaced(block);
    if (steps !== null) {
      for (const [details, own] of missedSteps(id, block.steps, steps, state))
        this.followStep(block, details, own);
      this.missed.lookAhead(new Map(state.received).keys(), id);
      // Parts that are in no step went on, or are drafts.
      const parts = partsIn(steps);
      this.came(onwardFrom(id, passed, parts), id);
      const known = new Set([...parts, ...passed.map(([source, number]) => `${source}:${number}`)]);
      this.chaseParts(this.overlay.own.filter((own) => isIn(own, known)));
    } else {
      this.chaseParts(this.overlay.own.filter(isThere));
      this.confirmPlaced(id, isThere);
    }
    const now = steps === null ? state : asSeen(this.confirmed, block, state);
    block.take(now);
    if (state.status === "open") this.confirmed.isOpenAgain(id);
    const text = state.status === "joined" ? now.leaving : state.content;
    const isText = state.status === "open" || (state.status === "joined" && now.number > 0);
    this.advance(isText ? [{ step: null, own: null, text: [id, text] }] : []);
    this.later.push(() => this.settle(block));
  }

  /** The order of a block has begun anew: what that has not is taken back, as far as it is known. */
  private goBack(block: BlockObject, state: BlockState): void {
    this.beginAnew(block);
    const version = lastShared(block, state);
    if (version === null) return;
    const { confirmed, overlay } = this;
    const onLost = (fresh: BlockObject): void => {
      this.beginAnew(fresh, 0);
      fresh.forget();
    };
    this.advance(takenBack(confirmed, overlay.base, block, version, onLost) ?? []);
  }

  private followStep(
    block: BlockObject,
    details: readonly BlockDetail[],
    own: Happened["own"],
  ): void {
    const come = details.flatMap((detail) => (detail[0] === "received" ? detail[1] : []));
    this.missed.lookAhead(come, this.confirmed.idOf(block));
    const happened = this.stepsOf(block, details, "").map((one) => ({
      ...one,
      own: one.own ?? own,
    }));
    this.do(block, details);
    this.advance(happened);
  }

  /** Does what a block is told; what it splits off begins with that, also if it is handed over at once. */
  private do(block: BlockObject, details: readonly BlockDetail[]): void {
    for (const detail of details) {
      block.follow(detail);
      if (detail[0] === "cut") this.confirmed.birthOf(detail[3]);
    }
  }

  /** The state has own edits whose place in it is not known: they are in it. */
  private confirmPlaced(id: string, isThere: (own: Own) => boolean): void {
    const isPlaced = ({ call, hop }: Own): boolean =>
      call?.group === id && hop === "" && call.placed > 0;
    for (const own of this.overlay.own) {
      if (!isEdit(own) || !(isPlaced(own) || isThere(own))) continue;
      const { call, hop } = own;
      const isIt = (other: Own): boolean =>
        other.call === call && other.hop === hop && isEdit(other);
      this.advance([{ step: own.verb, own: isIt }]);
    }
  }

  /** Behind a snapshot, or when it is open again: own verbs that turn out to be done. */
  private settle(block: BlockObject): void {
    const id = this.confirmed.idOf(block);
    const { blocks } = this.confirmed;
    this.chaseAway((own) => isBackIn(own, id, blocks));
    this.view(this.overlay.withdraw((own) => isOver(own, id, blocks)));
    const isSplit = ({ call, verb }: Own): boolean =>
      call?.group === id && call.isAnswered && verb[0] === "split";
    this.view(this.overlay.drop(isSplit));
  }

  private follow(block: BlockObject, details: readonly BlockDetail[], operation: string): void {
    const happened = this.stepsOf(block, details, operation);
    this.dying.follow(this.confirmed.idOf(block), details, operation === "edit");
    this.do(block, details);
    if (details.some(([kind]) => kind === "again")) this.dying.sendAfter(block);
    const isOpened = details.some(([kind]) => kind === "opened");
    if (isOpened) this.confirmed.isOpenAgain(this.confirmed.idOf(block));
    this.advance(happened);
    if (isOpened) this.later.push(() => this.settle(block));
  }

  /** What details of a block mean; of own verbs, also what they did not come to. */
  private stepsOf(
    block: BlockObject,
    details: readonly BlockDetail[],
    operation: string,
  ): readonly Happened[] {
    const { happened, refused, drafted } = stepsOf(this.confirmed, block, details, operation);
    if (refused !== null) this.later.push(() => this.view(this.overlay.withdraw(refused)));
    for (const own of drafted === null ? [] : this.overlay.own.filter(drafted)) {
      this.draft("block_deleted", own);
    }
    return happened;
  }

  /** Parts of own edits came to a block, and went on. */
  private came(onward: readonly Came[], id: string): void {
    if (this.overlay.own.some(({ hop }) => hop === id))
      this.advance(onward.map((came) => ({ step: null, own: null, came })));
  }

  /** F1, F6: where parts that have come to a block, and are shown elsewhere, went on to. */
  goOn({ isPart, isHere, places, words }: Came): void {
    const { blocks } = this.confirmed;
    const isThere = (own: Own): boolean => own.from !== undefined && hasCome(own, blocks);
    this.overlay.own = this.overlay.own.map((own) => {
      if (!isPart(own)) return own;
      const isIt = isHere?.(own) === true;
      const next = isIt ? null : passedOn(own, places, blocks);
      if (next === null) this.chaseParts([own], isIt ? words : undefined);
      else this.later.push(() => this.chaseAway(isThere)); // it had come before that was known
      return next ?? own;
    });
  }

  /** Parts that are not where they are shown, or not known to be. */
  private chaseAway(isIt: (own: Own) => boolean): void {
    this.chaseParts(this.overlay.own.filter(isIt));
    this.view(this.overlay.withdraw(isIt));
  }

  onBlockAnswer(
    block: BlockObject,
    n: number,
    results: readonly unknown[] | null,
    code: string,
  ): void {
    const id = this.confirmed.idOf(block);
    const isIt = (own: Own): boolean => own.call?.group === id && own.call.n === n;
    const call = this.overlay.own.find(isIt)?.call ?? this.calls.get(`${id} ${n}`);
    if (call === undefined || call === null) return;
    const isDone = results !== null || code === "result_lost";
    const edited =
      call.operation === "edit" ? (results?.[0] as EditedResult | undefined) : undefined;
    call.placed = edited?.version ?? call.placed;
    call.moved = edited?.moved;
    const { own } = this.overlay;
    // What a snapshot does not say as an own step may still be in it.
    this.overlay.own = this.isTaking ? sent(own, call) : routed(own, call, this.confirmed.blocks);
    this.answered(id, n, () => {
      call.isAnswered = isDone;
      if (call.operation === "letters") this.view(this.overlay.drop(isIt));
      else if (!isDone) this.refused(isIt, code, call);
      else if (call.operation === "edit") this.onEdited(call, edited);
      else if (call.operation === "set") this.view(this.overlay.drop(isIt));
      else if (call.operation === "split") this.onSplit(isIt, results?.[0] ?? null);
      else if (results?.[0] === false) this.view(this.overlay.withdraw(isIt));
      else this.settle(block); // it may have been opened again for a text that it had passed on
    });
  }

  private answered(group: string, n: number, then: () => void): void {
    const done = (): void => {
      then();
      this.calls.delete(`${group} ${n}`);
    };
    if (this.isTaking || this.batch !== null) this.later.push(done);
    else done();
  }

  /** F1. */
  private onEdited(call: OwnCall, edited: EditedResult | undefined): void {
    const { blocks } = this.confirmed;
    const { moved = [], draft: given = [] } = edited ?? {};
    this.overlay.own = routed(this.overlay.own, call, blocks);
    const here = this.overlay.own.find((own) => own.call === call && own.hop === "");
    const left = call.isDeleted ? call.lost : here && this.overlay.leftBy(here);
    this.overlay.own = this.overlay.own.map((own) =>
      own.call === call && own.hop !== "" ? caughtUp(own, blocks) : own,
    );
    const isOut = (own: Own): boolean => {
      if (own.call !== call) return false;
      const there = blocks.get(own.hop);
      if (own.hop === "" || own.parcel === 0) return true;
      if (there === undefined) return own.from === undefined && !this.hasText(own.hop);
      return hasCome(own, blocks);
    };
    this.view(
      this.overlay.withdraw(isOut, (own) => {
        if (moved.length > 1 && own.hop === "" && own.verb[0] === "edit")
          call.lost = joinRich(call.lost, insertedText(own.verb[2]));
        else if (own.parcel > 0 && !blocks.has(own.hop)) this.chaseParts([own]);
      }),
    );
    if (given.length > 0) {
      const draft = (moved.length === 0 && left) || richOf(given);
      if (draft.length > 0) this.owner.onDraft("block_deleted", draft);
    } else if (call.isDeleted && moved.length === 0) {
      this.dying.lostIn(call.group, call.lost);
      call.lost = [];
    }
    if (call.lost.length === 0) return;
    for (const to of moved) {
      const isHere = this.overlay.own.some((own) => own.call === call && own.hop === to[0]);
      if (!isHere) this.chases.add(chased(call.group, to, call.lost));
    }
    call.lost = [];
  }

  /** F6: these parts of own edits have come to where they went first. */
  private chaseParts(parts: readonly Own[], words?: Words): void {
    for (const own of parts) {
      const { verb, call, hop, parcel } = own;
      if (verb[0] !== "edit" || call === null) continue;
      const text = insertedText(verb[2]);
      if (text.length > 0) this.chases.add(chased(sourceOf(own), [hop, parcel], text, words));
    }
  }

  private onSplit(isIt: (own: Own) => boolean, elsewhere: unknown): void {
    if (elsewhere !== null) this.again(isIt);
    else this.view(this.overlay.drop(isIt));
  }

  private again(isIt: (own: Own) => boolean): void {
    this.overlay.own = this.overlay.own.map((own) =>
      isIt(own) ? { ...own, call: null, hop: "", parcel: 0, from: undefined } : own,
    );
  }

  /** F2, F3. */
  private refused(isIt: (own: Own) => boolean, code: string, call?: OwnCall): void {
    if (AGAIN.has(code)) {
      this.again(isIt);
      if (call !== undefined) this.lost(call, code);
      return;
    }
    if (code === "no_such_block" && this.putElsewhere(isIt)) return;
    this.reason = code;
    const event = this.overlay.withdraw(isIt, (own) => {
      if (own.call !== null) this.unsaved.forget(own.call.group, own.call.n);
      this.draft(code, own);
    });
    this.reason = "block_deleted";
    if (call !== undefined) this.lost(call, code);
    this.view(event && { ...event, isRefused: true });
  }

  /** What they were behind never came. */
  private putElsewhere(isIt: (own: Own) => boolean): boolean {
    const { order } = this.overlay.shown;
    const own = placedAnew(this.overlay.own, isIt, order, this.confirmed.outline.entries);
    if (own !== null) this.overlay.own = own;
    return own !== null;
  }

  private lost(call: OwnCall, code: string): void {
    if (call.lost.length > 0) this.owner.onDraft(code, call.lost);
    call.lost = [];
  }

  private draft(code: string, own: Own, left = this.overlay.leftBy(own)): void {
    const text = left ?? insertedText(writtenBy(own.verb));
    if (text.length === 0) return;
    const draft = this.owner.onDraft(code, text, own.draft);
    this.overlay.own = this.overlay.own.map((one) => (goesOn(one, own) ? { ...one, draft } : one));
  }

  /** F3: an own verb was dropped, as it can be done no more. */
  dropped(own: Own, left: Rich | null): void {
    const { call, verb } = own;
    if (call === null) {
      this.draft(this.reason, own, left);
    } else if (verb[0] === "edit" && call.isAnswered && own.parcel > 0) {
      this.chaseParts([own]);
    } else if (verb[0] === "edit") {
      call.lost = joinRich(call.lost, left ?? insertedText(verb[2]));
      if (this.confirmed.blocks.has(verb[1]) || !this.isAskable(verb[1]))
        call.isDeleted ||= !this.confirmed.wasJoined(verb[1]);
      if (!call.isAnswered) this.calls.set(`${call.group} ${call.n}`, call);
    }
  }

  /** Whether a block that has left the document can be asked what has become of its text. */
  private isAskable(id: string): boolean {
    return this.confirmed.outline.isReady && !this.confirmed.outline.entries.has(id);
  }

  /** The blocks that are to be asked. */
  get askedFor(): ReadonlySet<string> {
    const adrift = this.adrift.all.map(({ block }) => block);
    const named = this.overlay.own.flatMap((own) => namedBy(own, this.confirmed));
    const hops = this.overlay.own.flatMap((own) => (own.hop ? [own.hop, sourceOf(own)] : []));
    return new Set([...adrift, ...named, ...hops, ...this.chases.blocks]);
  }

  /** F3: this block cannot be had. */
  refuse(id: string, code: string): void {
    if (this.batch !== null) {
      this.later.push(() => this.refuse(id, code)); // its text may have come back to where it was
      return;
    }
    const isIt = ({ verb }: Own): boolean =>
      /^(edit|set|split|merge|letters)$/.test(verb[0]) && verb[1] === id;
    this.refused(isIt, code);
    this.adrift.refuse(id, code);
    this.chaseAway((own) => own.hop !== "" && [own.from && own.hop, sourceOf(own)].includes(id));
    this.chases.giveUp(({ block }) => block === id, code);
    this.giveBack(id, 0);
    this.look();
  }

  /** F3: nobody knows what has become of calls that another client has made. */
  refuseSent(): void {
    this.refused(({ call }) => call !== null, "outcome_unknown");
    for (const call of this.calls.values()) this.lost(call, "outcome_unknown");
    this.calls.clear();
  }

  /** Other blocks are open than before. */
  look(): void {
    this.advance([]);
  }

  /** F2, F4: the order has ended that these calls were sent to. */
  private beginAnew(object: BlockObject | OutlineObject, last = object.lastKnown): void {
    const group = this.groupOf(object);
    const isLost = (call: OwnCall | null): call is OwnCall =>
      call !== null && call.group === group && call.n > last;
    for (const call of new Set(this.overlay.own.map((own) => own.call).filter(isLost))) {
      const isIt = (own: Own): boolean => own.call === call;
      object.takeBack(call.n);
      if (this.unsaved.isMore(group, call.n, this.overlay.own.filter(isIt))) {
        this.later.push(() => this.view(this.overlay.withdraw(isIt)));
      } else {
        this.unsaved.forget(group, call.n);
        this.again(isIt);
      }
    }
    this.giveBack(group, last);
    const isFirst = object instanceof BlockObject && object.status === "unborn";
    if (!isFirst) this.chases.giveUp(({ block }) => block === group, "power_lost");
    for (const [key, call] of this.calls) {
      if (call.group !== group) continue;
      this.calls.delete(key);
      object.takeBack(call.n);
      this.unsaved.forget(group, call.n);
      this.lost(call, "block_deleted");
    }
  }

  /** F4. */
  private giveBack(group: string, last: number): void {
    for (const text of this.unsaved.lost(group, last)) this.owner.onDraft("power_lost", text);
  }

  private groupOf(object: BlockObject | OutlineObject): string {
    return object === this.confirmed.outline ? "" : this.confirmed.idOf(object as BlockObject);
  }

  private advance(happened: readonly Happened[]): void {
    if (this.batch === null) this.view(this.overlay.advance(happened));
    else this.batch.push(...happened);
  }

  private view(event: ViewEvent | null): void {
    if (event !== null) this.owner.onSeen(event);
  }
}
