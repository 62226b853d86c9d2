/**
 * The person's verbs that are not confirmed, on top of what is: together what is shown.
 *
 * Rules.
 *   V1  What is shown is the confirmed document with the own verbs done on it, in their order.
 *   V2  An own verb is confirmed, or here, or was dropped and its text told: it is never just gone.
 *   V3  An own merge puts its text to the end of the other one, whatever has come there before it.
 *   V4  A verb of a text that is not here waits until that is.
 */

import { RefusalError } from "../shared/refusal";
import {
  applyRich,
  canonicalRich,
  composeRich,
  cutRich,
  invertRich,
  marksOf,
  type Rich,
  type RichDelta,
  richLength,
  sameMarks,
  sameRich,
  shiftRich,
} from "../shared/rich";
import { diffRich } from "../shared/rich-diff";
import { canGather } from "../shared/typing";
import type { Place } from "./block";
import { behindStep } from "./brought-back";
import { type Crossing, crossed, goesElsewhere, type Own, type OwnVerb } from "./carry";
import type { Words } from "./chasing";
import type { Confirmed } from "./confirmed";
import { blockOf, type Doc, diffDocs, EMPTY_DOC, type Step, Work } from "./doc";
import { LastTyped } from "./last-typed";
import {
  awaitedBy,
  composed,
  goneWith,
  MARK,
  marked,
  moved,
  numberOf,
  otherwise,
  placed,
  standingAlone,
  standsElsewhere,
  textsOf,
  together,
  touches,
} from "./own";
import type { DocumentValue, ShownBlock, ShownChange, Verb, ViewEvent } from "./types";

/** A step of the nodes' document; `own`: which own verb it confirms. `step` null: nothing to see. */
export interface Happened {
  readonly step: Step | null;
  readonly own: ((own: Own) => boolean) | null;
  /** The text of a block is this now, whatever has led to it. */
  readonly text?: readonly [block: string, text: Rich];
  /** Of a removal: the text lives on elsewhere. */
  readonly isJoined?: boolean;
  /** Before the step: a part of an edit has come to a block. */
  readonly came?: Came | undefined;
}

/**
 * `isHere`: which of the own parts are in the step, which has put its `words` there; `places`: in which
 * parcels others went on.
 */
export interface Came {
  readonly isPart: (own: Own) => boolean;
  readonly isHere: ((own: Own) => boolean) | null;
  readonly places: readonly Place[];
  readonly words?: Words | undefined;
}

/**
 * Own edits, not sent, of a text that has left the document for a place that is not known here. The
 * block that had it knows: it is asked for them as for any late edit of its version `base`.
 */
export interface Adrift {
  readonly block: string;
  readonly base: number;
  readonly delta: RichDelta;
  /** How many of the person's verbs it holds. */
  readonly edits: number;
  /** The call behind which it is known what has become of the text. */
  readonly asked?: number;
}

export class Overlay {
  own: Own[] = [];
  /** The confirmed document as of the last look. */
  base: Doc = EMPTY_DOC;
  shown: Doc = EMPTY_DOC;
  value: DocumentValue = { title: "", blocks: [] };
  /** Where the blocks of what is shown stand. */
  private places: ReadonlyMap<string, number> | null = null;
  private readonly lastTyped = new LastTyped();
  /** How often something did not fit. */
  misfits = 0;

  /**
   * `onDropped`: an own verb can be done no more, what is `left` of its words; `onAdrift`: nor here, but
   * elsewhere; `onCame`: what came may be parts of own edits.
   */
  constructor(
    private readonly confirmed: Confirmed,
    private readonly onDropped: (own: Own, left: Rich | null) => void,
    private readonly onAdrift: (adrift: Adrift) => void,
    private readonly onCame: (came: Came) => void,
  ) {}

  /** Where a block stands of what is shown; undefined: it is not. */
  placeOf(id: string): number | undefined {
    return this.places?.get(id);
  }

  /** A verb of the person, which applies to what is shown. */
  add(verb: Verb): void {
    const work = new Work(this.shown, this.confirmed.gone);
    const own = this.ownVerb(verb, work);
    if (own === null || !work.apply(own)) return;
    let isGoingOn: boolean | null = null;
    if (own[0] === "edit") isGoingOn = this.lastTyped.write(own[1], own[2]);
    else this.lastTyped.follow(own, () => 0); // a merge says where
    if (!this.gathered(own, isGoingOn)) {
      this.own.push({ verb: own, call: null, extends: isGoingOn, hop: "", parcel: 0, edits: 1 });
    }
    this.show(work.doc);
  }

  private ownVerb(verb: Verb, work: Work): OwnVerb | null {
    if (verb[0] === "edit") {
      const delta = canonicalRich(verb[2]);
      return delta.length > 0 ? ["edit", verb[1], delta] : null;
    }
    if (verb[0] === "insert") {
      const blocks = verb[2].map((block) => ({
        ...block,
        content: canonicalRich(block.content) as Rich,
      }));
      return ["insert", verb[1], blocks];
    }
    if (verb[0] !== "join") return verb;
    const [, block, into] = verb;
    const text = work.content(block);
    const other = work.content(into);
    if (text === null || other === null) return null;
    return ["merge", block, into, richLength(other), text];
  }

  /** Puts a verb into one that has not been sent. */
  private gathered(verb: OwnVerb, isGoingOn: boolean | null): boolean {
    if (verb[0] === "letters") this.own = this.own.filter((one) => !standsElsewhere(one, verb));
    if (verb[0] !== "edit" && verb[0] !== "set" && verb[0] !== "rename") return false;
    const at = this.own.findLastIndex((one) => touches(one.verb, verb));
    const last = this.own[at];
    if (last === undefined || last.call !== null) return false;
    const { extends: isLastGoingOn = null } = last;
    if (!canGather(isLastGoingOn, isGoingOn)) return false;
    const merged = composed(last.verb, verb);
    if (merged === null) return false;
    if (merged[0] === "edit" && merged[2].length === 0) {
      this.own.splice(at, 1);
      return true;
    }
    const both = { verb: merged, extends: isLastGoingOn ?? isGoingOn, edits: last.edits + 1 };
    this.own[at] = { ...last, ...both };
    return true;
  }

  /** What has happened, after which the objects are as they are now. */
  advance(happened: readonly Happened[]): ViewEvent | null {
    const { confirmed } = this;
    const work = new Work(this.base, confirmed.gone);
    const told: Step[] = [];
    for (const { step: given, own, text, isJoined, came } of whole(happened, work)) {
      if (came !== undefined) this.onCame(came);
      if (given?.[0] === "remove")
        told.push(...this.setAdrift(given[1], work.doc, isJoined === true));
      // It is out of sight here, and may live on: others may have joined that block, too.
      if (given?.[0] === "merge" && this.isTakenOut(given[2]))
        told.push(...this.setAdrift([given[1]], work.doc, true));
      const step = text === undefined ? given : anew(work.content(text[0]), text);
      const unchanged = work.doc;
      // A text that is out of sight may have been brought back here.
      const steps = step !== null && (work.apply(step) || this.isBroughtBack(step)) ? [step] : [];
      // A text that goes to one that has left is out of sight: an own merge of it has not happened.
      const isGone = step?.[0] === "merge" && steps.length === 0;
      let at = own === null || isGone ? -1 : this.firstCalled(own);
      // Words that are shown in another block: what was done to them since goes along.
      if (at < 0 && steps.length > 0 && came?.isHere) at = this.firstCalled(came.isHere);
      const before = at < 0 ? null : unchanged;
      if (step !== null && before === null && isUnseen(step, work)) told.push(step);
      if (before === null) told.push(...this.cross(0, this.own.length, steps, unchanged));
      else told.push(...this.confirm(at, steps, before));
      if (this.own.some(({ verb }) => verb[0] === "merge")) this.arrange(work.doc, false);
    }
    confirmed.awaited = awaitedBy(this.own);
    for (const id of confirmed.awaited.keys()) confirmed.know(work.get(id));
    confirmed.refresh();
    const rest = diffDocs(work.doc, confirmed.doc);
    const gone = rest.flatMap((step) => (step[0] === "remove" ? step[1] : []));
    told.push(...this.setAdrift(gone, work.doc));
    told.push(...this.cross(0, this.own.length, rest, work.doc));
    this.base = confirmed.doc;
    return this.replay(told);
  }

  /**
   * Of these, the one that was called first: what follows its text to another block may stand before. Of
   * parts of it, the one that follows none.
   */
  private firstCalled(isIt: (own: Own) => boolean): number {
    let first = -1;
    this.own.forEach((own, at) => {
      const best = this.own[first];
      const isBefore = numberOf(own) < numberOf(best);
      const isHere = best?.hop !== "" && own.hop === "" && numberOf(own) === numberOf(best);
      if (isIt(own) && (best === undefined || isBefore || isHere)) first = at;
    });
    return first;
  }

  /**
   * An own verb has happened as these steps say, `before` which was this; gives what others see of it.
   * Behind the own verbs before it that may be several: some ahead of what the verb did, some behind.
   */
  private confirm(at: number, steps: readonly Step[], before: Doc): readonly Step[] {
    const { verb } = this.own[at] as Own;
    const work = this.upTo(at, before);
    const behind = this.own.length - at - 1;
    const come = this.cross(0, at, steps);
    const first = Math.max(
      0,
      come.findIndex((one) => isOf(verb, one)),
    );
    const place = this.own.length - behind - 1;
    const ahead = this.cross(place, place + 1, come.slice(0, first));
    const [own] = this.own.splice(place, this.own.length - behind - place);
    const told = this.cross(place, this.own.length, ahead);
    const [did, ...rest] = come.slice(first);
    if (own?.verb[0] === "merge" && did?.[0] === "merge" && isOf(verb, did))
      rest.unshift(...goesElsewhere(own.verb, did[2], did[3], [], did[5]));
    if (own?.verb === verb && verb[0] === "edit" && did?.[0] === "edit")
      rest.unshift(...otherwise(verb, did, work));
    return [...told, ...this.cross(place, this.own.length, rest)];
  }

  /**
   * Takes the own edits out that are not sent, of texts that leave the document, with the splits of
   * these texts; gives what others see of it. What was joined here to another text stays there, where
   * its own text was deleted.
   */
  private setAdrift(ids: readonly string[], doc: Doc, isJoined?: boolean): Step[] {
    const told: Step[] = [];
    const isMerged = (id: string): boolean =>
      this.own.some(({ verb }) => verb[0] === "merge" && verb[1] === id);
    const unsent = ids.filter((id) => {
      const isDeleted = !(isJoined ?? this.confirmed.blocks.get(id)?.status !== "deleted");
      return this.isUnsent(id) && !(isDeleted && isMerged(id));
    });
    for (const id of unsent) {
      const out = ({ verb, call }: Own): boolean =>
        (verb[0] === "edit" && verb[1] === id && call !== null) ||
        (verb[0] === "split" && verb[1] === id) ||
        (verb[0] === "merge" && (verb[2] === id || (verb[1] === id && call === null)));
      for (let at = this.own.findIndex(out); at >= 0; at = this.own.findIndex(out)) {
        const own = this.own[at] as Own;
        const left = this.leftBy(own, doc);
        told.push(...this.takeOut(at, doc));
        if (own.verb[0] === "edit") this.onDropped(own, left);
      }
    }
    for (const id of unsent) {
      const base = this.confirmed.versionOf(id);
      let delta: RichDelta = [];
      let edits = 0;
      const isEditOf = ({ verb }: Own): boolean => verb[0] === "edit" && verb[1] === id;
      for (let at = this.own.findLastIndex(isEditOf); at >= 0; ) {
        const own = this.own[at] as Own;
        if (own.verb[0] === "edit") delta = composeRich(own.verb[2], delta);
        edits += own.edits;
        told.push(...this.takeOut(at, doc));
        at = this.own.findLastIndex(isEditOf);
      }
      if (delta.length > 0) this.onAdrift({ block: id, base, delta, edits });
    }
    return told;
  }

  /** Whether a block that is not sent stands for the text of a step. */
  private isBroughtBack(step: Step): boolean {
    return this.own.some(
      ({ verb, call }) =>
        call === null && verb[0] === "insert" && behindStep(verb[2], step) !== null,
    );
  }

  /** Whether the person has taken a block out. */
  private isTakenOut(id: string): boolean {
    return this.own.some(({ verb }) => verb[0] === "remove" && verb[1].includes(id));
  }

  /** Whether an edit of this text, or of what was split off it or joined with it here, is not sent. */
  private isUnsent(id: string): boolean {
    const parts = new Set([id]);
    return this.own.some(({ verb, call }) => {
      if (verb[0] === "split" && parts.has(verb[1])) parts.add(verb[3]);
      if (verb[0] === "merge" && parts.has(verb[1])) parts.add(verb[2]);
      return verb[0] === "edit" && call === null && parts.has(verb[1]);
    });
  }

  /** Takes an own verb out: those behind it are carried over that, and extend nothing any more. */
  private takeOut(at: number, doc: Doc): readonly Step[] {
    const back = this.inverse(at, (this.own[at] as Own).verb, doc);
    this.own.splice(at, this.own.length - at, ...this.own.slice(at + 1).map(standingAlone));
    return this.cross(at, this.own.length, back);
  }

  /** A document with the own verbs on it, up to this one. */
  private upTo(at: number, doc: Doc): Work {
    const work = new Work(doc, this.confirmed.gone);
    for (const one of this.own.slice(0, at)) work.apply(one.verb);
    return work;
  }

  /** Of what an own edit has written, what the person has not taken out by later verbs; null: not known. */
  leftBy(own: Own, doc = this.base): Rich | null {
    const at = this.own.indexOf(own);
    if (at < 0 || own.verb[0] !== "edit") return null;
    return this.leftOf(at, marked(own.verb), this.own.slice(at + 1), doc);
  }

  /**
   * Of words that are marked by a step behind the first `count` own verbs, what the person has not taken
   * out by these; null: they do not stand there. A draft gives no more back.
   */
  leftOf(count: number, step: Step, later: readonly Own[], doc = this.base): Rich | null {
    const work = this.upTo(count, doc);
    if (!work.apply(step)) return null;
    for (const { verb } of later) if (verb[0] !== "remove") work.apply(verb);
    const runs = work.doc.order.flatMap((id) => work.content(id) ?? []);
    const left = canonicalRich(runs.filter((run) => MARK in marksOf(run))) as Rich;
    return left.length > 0 ? applyRich([[richLength(left), { [MARK]: null }]], left) : [];
  }

  /** Carries a part of the own verbs over steps; gives what these are behind that. */
  private cross(from: number, to: number, steps: readonly Step[], doc?: Doc): readonly Step[] {
    if (steps.length === 0 || from === to) return steps;
    const { own, others, dropped } = this.crossed(this.own.slice(from, to), steps);
    const left = dropped.map((one) => this.leftBy(one, doc));
    this.own.splice(from, to - from, ...together(own));
    for (const [at, one] of dropped.entries()) this.onDropped(one, left[at] ?? null);
    return others;
  }

  /** K1; where a step does not fit, what is shown is made anew, and what fits of the own verbs. */
  private crossed(own: readonly Own[], steps: readonly Step[]): Crossing {
    try {
      return crossed(own, steps);
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      this.misfits += 1;
      return { own, others: [], dropped: [] };
    }
  }

  /** Own verbs that are done, or will not be: out, with nothing to see of it. */
  drop(isOut: (own: Own) => boolean): ViewEvent | null {
    const made = this.own.flatMap((own) =>
      isOut(own) && own.verb[0] === "insert" ? own.verb[2].map(({ id }) => id) : [],
    );
    const told = this.setAdrift(
      made.filter((id) => !this.base.blocks.has(id)), // others have taken it out, or joined it
      this.base,
    );
    const left = this.own.filter((own) => !isOut(own));
    if (left.length === this.own.length) return null;
    this.own = left;
    return this.replay(told);
  }

  /** Takes own verbs back that were refused, telling each: those behind it are carried over that. */
  withdraw(isIt: (own: Own) => boolean, tell?: (own: Own) => void): ViewEvent | null {
    const told: Step[] = [];
    for (;;) {
      const at = this.own.findIndex(isIt);
      const one = this.own[at];
      if (one === undefined) return this.replay(told);
      tell?.(one);
      told.push(...this.takeOut(at, this.base));
    }
  }

  /** What takes an own verb back, where it stands. */
  private inverse(at: number, verb: OwnVerb, doc: Doc): Step[] {
    const work = this.upTo(at, doc);
    switch (verb[0]) {
      case "edit": {
        const content = work.content(verb[1]);
        return content === null ? [] : [["edit", verb[1], invertRich(verb[2], content)]];
      }
      case "split": {
        const text = work.content(verb[1]);
        if (text === null) return [];
        work.apply(verb);
        return [["merge", verb[3], verb[1], verb[2], work.content(verb[3]) ?? []]];
      }
      case "merge": {
        const block = work.get(verb[1]);
        if (block === undefined || !work.has(verb[2])) return [];
        return [["split", verb[2], verb[3], verb[1], block.attributes, true]];
      }
      case "insert":
        return [["remove", verb[2].map((block) => block.id)]];
      default:
        return [];
    }
  }

  /** The own verbs on a document; V3. `isLast`: what cannot be done there never will be. */
  private arrange(doc: Doc, isLast: boolean): Work {
    const work = new Work(doc, this.confirmed.gone);
    const waiting = new Set<string>();
    for (let at = 0; at < this.own.length; at += 1) {
      const own = this.own[at] as Own;
      const verb = placed(own.verb, work);
      if (verb !== own.verb) {
        this.own[at] = { ...own, verb };
        this.cross(at + 1, this.own.length, moved(own.verb, verb, work));
      }
      if (work.apply(verb) || !isLast || isWaiting(verb, work, waiting)) continue;
      this.own.splice(at, 1);
      this.cross(at, this.own.length, goneWith(verb, work));
      this.onDropped(own, null);
      at -= 1;
    }
    return work;
  }

  /** V1. */
  private replay(steps: readonly Step[]): ViewEvent | null {
    const work = this.arrange(this.base, true);
    const { shown: before, value } = this;
    const after = this.kept(work.doc);
    const seen = new Work(before, this.confirmed.gone);
    const changes: ShownChange[] = [];
    const unseen: ShownChange[] = [];
    for (const step of steps) {
      if (isUnseen(step, seen)) unseen.push(step);
      for (const one of asVerbs(step, seen)) {
        this.lastTyped.follow(one, (id) => seen.get(id)?.length ?? 0);
        if (hasChanged(seen, one)) changes.push(one);
      }
    }
    for (const one of diffDocs(seen.doc, after)) {
      this.lastTyped.follow(one, () => 0); // no join is in these
      changes.push(one);
    }
    if (changes.length === 0 && unseen.length === 0 && after === before) return null;
    this.show(after);
    // An own move that the outline has done, below a later one: nobody has moved anything.
    const isOrdered = after.order === before.order;
    const told = isOrdered ? changes.filter(([kind]) => kind !== "move") : changes;
    return { changes: told, before: value, after: this.value, unseen };
  }

  /** The document, with the blocks of before where they are the same. */
  private kept(doc: Doc): Doc {
    const { shown } = this;
    if (doc === shown) return doc;
    const same = new Map<string, ShownBlock>();
    let isSame = doc.blocks.size === shown.blocks.size;
    for (const id of doc.blocks.differing(shown.blocks)) {
      const block = doc.blocks.get(id);
      const old = shown.blocks.get(id);
      if (block !== undefined && old !== undefined && isSameBlock(old, block)) same.set(id, old);
      else isSame = false;
    }
    const isOrdered =
      doc.order === shown.order ||
      (doc.order.length === shown.order.length &&
        doc.order.every((id, at) => shown.order[at] === id));
    if (isSame && isOrdered && doc.title === shown.title) return shown;
    return {
      title: doc.title,
      order: isOrdered ? shown.order : doc.order,
      blocks: isSame ? shown.blocks : doc.blocks.with(same),
    };
  }

  private show(doc: Doc): void {
    const { shown, value } = this;
    this.shown = doc;
    if (doc.order !== shown.order || this.places === null) {
      this.places = new Map(doc.order.map((id, at) => [id, at]));
      const blocks = doc.order.flatMap((id) => doc.blocks.get(id) ?? []);
      this.value = { title: doc.title, blocks };
      return;
    }
    const blocks = [...value.blocks];
    for (const id of doc.blocks.differing(shown.blocks)) {
      const block = doc.blocks.get(id);
      const at = this.places.get(id);
      if (block !== undefined && at !== undefined) blocks[at] = block;
    }
    this.value = { title: doc.title, blocks };
  }
}

/** Whether it is done to a text that is not there (any more). */
function isUnseen(
  step: Step,
  work: Work,
): step is Extract<ShownChange, readonly ["edit" | "split", ...unknown[]]> {
  return (step[0] === "edit" || step[0] === "split") && !work.has(step[1]);
}

/** V4: whether a verb is of a text that is not here (yet); then so are the texts that it makes. */
function isWaiting(verb: OwnVerb, work: Work, waiting: Set<string>): boolean {
  const needs = verb[0] === "insert" || verb[0] === "remove" ? [] : textsOf(verb);
  const isAway = (id: string): boolean => waiting.has(id) || work.get(id)?.content === null;
  if (!needs.some(isAway)) return false;
  for (const id of needs) waiting.add(id);
  return true;
}

/** Whether a step may be what an own verb did. */
function isOf(verb: OwnVerb, step: Step): boolean {
  if (verb[0] === "split") return step[0] === "split" && step[3] === verb[3];
  return step[0] === verb[0] && (verb[0] !== "merge" || step[1] === verb[1]);
}

/** A text that comes to another one is as it has come, whatever was known of it. */
function* whole(happened: readonly Happened[], work: Work): Iterable<Happened> {
  for (const one of happened) {
    if (one.step?.[0] === "merge") {
      const [, source, into, at, text] = one.step;
      const known = work.content(source);
      if (known === null) {
        yield { step: ["edit", into, at > 0 ? [at, ...text] : text, source], own: one.own };
        continue;
      }
      const step = anew(known, [source, text]);
      if (step !== null) yield { step, own: null };
    }
    yield one;
  }
}

/** What makes the text of a block another one. */
function anew(before: Rich | null, [block, text]: readonly [string, Rich]): Step | null {
  if (before === null || sameRich(before, text)) return null;
  return ["edit", block, diffRich(before, text)];
}

function isSameBlock(one: ShownBlock, other: ShownBlock): boolean {
  if (one.length !== other.length || !sameMarks(one.attributes, other.attributes)) return false;
  if (one.content === null || other.content === null) return one.content === other.content;
  return sameRich(one.content, other.content);
}

/** Does a change; whether there is anything to see of it. */
function hasChanged(work: Work, change: ShownChange): boolean {
  const before = work.doc;
  if (!work.apply(change)) return false;
  const { title, order, blocks } = work.doc;
  return title !== before.title || order !== before.order || blocks !== before.blocks;
}

function givenText(
  [, id, at, fresh]: Extract<Verb, readonly ["split", ...unknown[]]>,
  work: Work,
): ShownChange[] {
  const content = work.content(id);
  const known = work.get(fresh);
  if (content === null || known === undefined || known.content !== null) return [];
  const text = cutRich(content, at);
  const edits: ShownChange[] =
    text.length > 0 ? [["edit", id, shiftRich([-richLength(text)], at)]] : [];
  return [...edits, ["show", blockOf(fresh, known.attributes, text)]];
}

/** A merge, or a split whose block is shown without its text already, as the editor knows it. */
function asVerbs(step: Step, work: Work): ShownChange[] {
  if (step[0] === "split" && work.has(step[3])) return givenText(step, work);
  if (step[0] !== "merge") return [step];
  const [, block, into, at, text] = step;
  if (work.get(into)?.length === at) return [["join", block, into]];
  const edit: RichDelta = at > 0 ? [at, ...text] : text;
  const edits: ShownChange[] = text.length > 0 ? [["edit", into, edit]] : [];
  return [...edits, ["remove", [block]]];
}
