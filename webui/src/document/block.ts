/** A block of a document as the nodes have it: what the page is told, followed. */

import type { Item, ObjectMessage, Snapshot } from "../client/messages";
import { type Change, changeOf, Shared } from "../client/object";
import type { Step } from "../shared/late-edits";
import {
  applyRich,
  cutRich,
  growth,
  invertRich,
  joinRich,
  type Rich,
  type RichDelta,
  richLength,
  sameRich,
} from "../shared/rich";
import type { AttributePatch, Attributes, AttributeValue } from "./types";

export type Status = "unborn" | "open" | "joined" | "deleted";

/** What a block gives to a new one, which may not have it yet. */
export interface Birth {
  readonly attributes: Attributes;
  readonly content: Rich;
}

/** As it travels; `recent`: the steps behind the version that was asked for. */
export interface BlockState {
  readonly status: Status;
  /** Where the text went, in which parcel (0: it is there), and what it was. */
  readonly into: string;
  readonly number: number;
  /** Of one that the page has kept: the block that has passed the text on. */
  readonly via?: string;
  readonly leaving: Rich;
  readonly content: Rich;
  readonly attributes: Attributes;
  readonly version: number;
  readonly births: readonly (readonly [block: string, attributes: Attributes, content: Rich])[];
  /** Up to which number the parcels of other blocks have come, and which were refused. */
  readonly received: readonly (readonly [source: string, number: number])[];
  readonly refused: readonly (readonly [source: string, number: number])[];
  readonly drafts: readonly (readonly [key: string, author: string, content: Rich])[];
  /** Edits that came as a parcel of a block, and of which a part went on to another one. */
  readonly passed?: readonly (readonly [source: string, number: number, ...to: Place])[];
  /** Texts of other blocks that came when its own had gone, and that it has passed on. */
  readonly onward?: readonly (readonly [source: string, number: number, ...to: Place])[];
  readonly again?: readonly Again[];
  readonly recent: readonly Step[] | null;
}

/**
 * `count` letters from `start` on, ahead of the step to version `step`, stand in `block` from `at` of
 * its `version` on.
 */
export type Again = readonly [
  step: number,
  start: number,
  count: number,
  block: string,
  version: number,
  at: number,
];

/** A parcel of a block. */
export type Place = readonly [block: string, number: number];

export type BlockDetail =
  | readonly ["edited", version: number, delta: RichDelta]
  | readonly ["cut", version: number, at: number, fresh: string, attributes: Attributes]
  | readonly ["closed", version: number, into: string | null, number: number]
  | readonly [
      "opened",
      version: number,
      content: Rich,
      attributes: Attributes,
      /** Edits that went to a block as a parcel, and have come back with their text; their drafts. */
      late?: readonly (readonly [...to: Place, draft: Rich])[],
      /** The parcel in which the text had gone that has come back; of no block: it is a new one. */
      back?: Place,
    ]
  | readonly ["set", changes: AttributePatch]
  /** Letters that were cut out stand again in other blocks; what was written meanwhile went after them. */
  | readonly ["again", letters: readonly Again[], sent: readonly Place[]]
  | readonly ["handed", block: string, number: number]
  | readonly [
      "received",
      source: string,
      number: number,
      outcome: "done" | "refused" | "drafted",
      /** Where a text was passed on to, in which parcel. */
      to: string,
      parcel: number,
      /** Whether it was the text of a block, not an edit of one. */
      isText?: boolean,
      /** Where parts of an edit went on to, and what it has written into text that is deleted. */
      moved?: readonly Place[],
      draft?: Rich,
    ];

export type Received = Extract<BlockDetail, readonly ["received", ...unknown[]]>;

/** A step of a block, by whom it was made: for places of an older version; `back` takes it back. */
export type PastStep = readonly [
  by: string,
  step:
    | readonly ["edit", delta: RichDelta, back?: RichDelta]
    | readonly ["cut", at: number, fresh: string]
    /** The text went to another block. */
    | readonly ["closed"]
    | readonly ["gone"],
];

/** What a block has gone through of late. */
export interface Past {
  /** The version, and the last steps that have led to it. */
  readonly steps: number;
  readonly past: readonly PastStep[];
  /** The version that is shown: of one that was joined to another, the last one with a text. */
  readonly lastShown: number;
  /** The parcel in which its text has gone, as far as its number is known. */
  readonly parcel: string;
  /** Letters that were taken out of it, and stand again. */
  readonly again: readonly Again[];
  /** Where the texts have come to that were joined to it: by their parcels, version and place. */
  readonly frames: ReadonlyMap<string, readonly [version: number, at: number]>;
}

/** So many of the last steps are kept at least, and at most twice as many. */
const PAST_MAX = 200;

/** Who has to be told what a block is told, before and instead of it doing so. */
export interface BlockListener {
  /** Everything that the block hears comes by here; the listener hands it on, then or later. */
  onHear(block: BlockObject, message: ObjectMessage): void;
  /** It is asked for (again); `isKnown`: with a state that is here. */
  onAsk(block: BlockObject, isKnown: boolean): void;
  /** Whether what a block began with is here, as its text. */
  hasFirst(block: BlockObject): boolean;
  /** Whether it has come to the document since this page has the outline, or its steps are wanted. */
  isNew(block: BlockObject): boolean;
  onBlockState(block: BlockObject, state: BlockState): void;
  onBlock(block: BlockObject, details: readonly BlockDetail[], item: Item, mine: boolean): void;
  onBlockAnswer(
    block: BlockObject,
    n: number,
    results: readonly unknown[] | null,
    code: string,
  ): void;
  onEnd(block: BlockObject, error: Error): void;
}

export class BlockObject extends Shared {
  static readonly type = "Block";
  listener: BlockListener | null = null;
  status: Status = "unborn";
  into = "";
  number = 0;
  leaving: Rich = [];
  content: Rich = [];
  attributes: Attributes = {};
  /** How many steps the text has. */
  steps = 0;
  /** Of a joined one: how many of them led to the text that was known here last. */
  lastOpen = 0;
  births = new Map<string, Birth>();
  received = new Map<string, number>();
  refused = new Set<string>();
  /** The block that has passed this one's text on, as its own parcel; empty: none. */
  via = "";
  past: PastStep[] = [];
  readonly frames = new Map<string, readonly [number, number]>();
  /** The number of the parcel in which its text went; 0: not known. */
  private sent = 0;
  /** Whether it was asked for with a version: then its state comes with the steps since that. */
  asksSteps = false;
  /** Who has made what is followed now. */
  private by = "";
  /**
   * By block and number of the edit that came: what it wrote that was not taken, with its author.
   * Behind `>` those that this block gave to that one, and that have come back.
   */
  drafts = new Map<string, readonly [author: string, content: Rich]>();
  again: readonly Again[] = [];
  /** What was written in it, and taken out with letters that were cut, went there. */
  sentAfter: readonly Place[] = [];
  /** And where parts of it went on to. */
  parted = new Map<string, readonly Place[]>();
  /** Where texts of other blocks went on to, by their parcels, that came when its own had gone. */
  onward = new Map<string, Place>();

  get parcel(): string {
    const own = this.name.slice(this.name.lastIndexOf("/") + 1);
    return `${this.via || own}:${this.sent > 0 ? this.sent : ""}`;
  }

  get lastShown(): number {
    return this.status === "joined" ? this.lastOpen : this.steps;
  }

  private step(version: number, step: PastStep[1]): void {
    if (version !== this.steps + 1) this.past = [];
    if (this.past.length >= 2 * PAST_MAX) this.past = this.past.slice(-PAST_MAX);
    this.past.push([this.by, step]);
    this.steps = version;
  }

  /** The version from which on it is known here how to take each step back. */
  get firstKnown(): number {
    let version = this.steps;
    for (const [, step] of this.past.toReversed()) {
      if (step[0] === "closed" || (step[0] === "edit" && step[2] === undefined)) break;
      version -= 1;
    }
    return version;
  }

  /** Takes the last step back; `text`: of the block that it has split off. */
  stepBack(text: Rich = []): void {
    const step = this.past.pop()?.[1];
    for (const [parcel, [version]] of this.frames)
      if (version === this.steps) this.frames.delete(parcel);
    this.steps -= 1;
    if (step?.[0] === "edit") this.content = applyRich(step[2] ?? [], this.content);
    if (step?.[0] !== "cut") return;
    this.births.delete(step[2]);
    this.content = joinRich(this.content, text);
  }

  /** There is no such block (any more), with its order. */
  forget(): void {
    this.status = "unborn";
    [this.content, this.past, this.steps] = [[], [], 0];
    this.received.clear();
    this.frames.clear();
  }

  /** Everything here, as a snapshot has it. */
  get state(): BlockState {
    const { status, into, number, via, leaving, content, attributes } = this;
    const isJoined = status === "joined";
    return {
      status,
      into,
      number: isJoined ? number : 0,
      via,
      leaving: isJoined ? leaving : [],
      content,
      attributes,
      version: this.steps,
      births: [...this.births].map(([id, birth]) => [id, birth.attributes, birth.content]),
      received: [...this.received],
      refused: [...this.refused].map(placeOf),
      drafts: [...this.drafts].map(([key, [author, content]]) => [key, author, content]),
      passed: [...this.parted].flatMap(([key, places]) =>
        places.map((to) => [...placeOf(key), ...to] as const),
      ),
      onward: [...this.onward].map(([key, to]) => [...placeOf(key), ...to] as const),
      again: this.again,
      recent: null,
    };
  }

  /** Makes it this state. */
  take(state: BlockState): void {
    if (state.status === "joined") {
      if (state.number > 0) this.lastOpen = state.version - 1;
      else if (this.status !== "joined") this.lastOpen = this.steps;
    }
    if (state.status === "deleted" && this.status === "open") this.lastOpen = this.steps;
    this.again = state.again ?? [];
    const isPassed = state.status === "joined" && this.via !== "" && state.number > 0;
    this.status = state.status;
    if (!isPassed) {
      [this.into, this.number, this.via] = [state.into, state.number, state.via ?? ""];
      if (state.number > 0) this.sent = state.number;
    }
    if (state.version !== this.steps) this.past = [];
    this.leaving = state.leaving;
    this.content = state.content;
    this.attributes = state.attributes;
    this.steps = state.version;
    if (this.past.length === 0) this.goneThrough(state.recent ?? []);
    this.drafts = new Map(state.drafts.map(([key, ...draft]) => [key, draft]));
    this.parted = partsBy(state.passed);
    this.onward = new Map((state.onward ?? []).map(([from, n, ...to]) => [keyOf([from, n]), to]));
    this.births = new Map(
      state.births.map(([id, attributes, content]) => [id, { attributes, content }]),
    );
    this.received = new Map(state.received);
    this.refused = new Set(state.refused.map(keyOf));
  }

  /**
   * These steps have led to the text that is here, by whomever: who comes with a place of an older
   * version finds it, also where the block was opened before it was known what it began with.
   */
  private goneThrough(steps: readonly Step[]): void {
    this.by = "";
    this.steps -= steps.length;
    for (const [kind, delta, to, frame, at] of steps) {
      const version = this.steps + 1;
      if (kind === "edit") this.step(version, ["edit", delta]);
      else if (kind === "cut") this.step(version, ["cut", at, to]);
      else this.step(version, [kind === "all" ? "closed" : "gone"]);
      if (kind === "all") this.sent = frame;
      const [start] = delta;
      const place = typeof start === "number" && start > 0 ? start : 0;
      if (kind === "edit" && to !== "") this.frames.set(`${to}:${frame}`, [version, place]);
    }
  }

  /** Whether calls are not answered, or not on disk. */
  get isOwing(): boolean {
    return this.unanswered > 0 || this.unsaved > 0;
  }

  /** Whether a call has no answer yet. */
  isWaitingFor(n: number): boolean {
    return this.stored.waiting.some(([waiting]) => waiting === n);
  }

  /** Whether it has a text, also if that is on its way to another block. */
  private get hasText(): boolean {
    return this.status === "open" || (this.status === "joined" && this.number > 0);
  }

  /** Whether it has a text that is to go to another block. */
  get isGiving(): boolean {
    return this.births.size > 0 || (this.status === "joined" && this.number > 0);
  }

  /** Whether a parcel has come to its end here. */
  has(source: string, number: number): boolean {
    return (this.received.get(source) ?? 0) >= number && !this.refused.has(`${source}:${number}`);
  }

  /** Makes it what it was before the first step. */
  begin(attributes: Attributes, content: Rich): void {
    this.status = "open";
    this.attributes = attributes;
    this.content = content;
  }

  /** Does one detail of a change. */
  follow(detail: BlockDetail): void {
    switch (detail[0]) {
      case "edited":
        if (detail[1] <= this.steps) return;
        if (this.status !== "open") {
          this.step(detail[1], ["edit", detail[2]]); // it is on its way back: the text follows
          break;
        }
        this.step(detail[1], ["edit", detail[2], invertRich(detail[2], this.content)]);
        this.content = applyRich(detail[2], this.content);
        break;
      case "cut":
        this.step(detail[1], ["cut", detail[2], detail[3]]);
        this.births.set(detail[3], {
          attributes: detail[4],
          content: cutRich(this.content, detail[2]),
        });
        this.content = cutRich(this.content, 0, detail[2]);
        break;
      case "closed":
        this.lastOpen = detail[1] - 1;
        this.step(detail[1], [detail[2] === null ? "gone" : "closed"]);
        this.status = detail[2] === null ? "deleted" : "joined";
        this.into = detail[2] ?? this.into;
        this.via = "";
        this.number = this.sent = detail[3];
        this.leaving = detail[2] === null ? [] : this.content;
        this.content = [];
        break;
      case "opened":
        if (this.status !== "open") this.past = []; // else the steps have led to it
        this.status = "open";
        this.steps = detail[1];
        this.content = detail[2];
        this.attributes = detail[3];
        for (const [block, number, draft] of detail[4] ?? []) {
          const key = `>${block}:${number}`;
          if (draft.length > 0) this.drafts.set(key, ["", draft]);
          this.parted.set(key, [["", 0]]);
        }
        break;
      case "set":
        this.attributes = patched(this.attributes, detail[1]);
        break;
      case "again":
        this.again = [...this.again, ...detail[1]];
        this.sentAfter = detail[2];
        break;
      case "handed":
        this.births.delete(detail[1]);
        if (detail[1] === this.into && detail[2] >= this.number) this.number = 0;
        break;
      case "received":
        this.received.set(detail[1], detail[2]);
        if (detail[6]) this.came(`${detail[1]}:${detail[2]}`);
        this.note(`${detail[1]}:${detail[2]}`, detail);
    }
  }

  /** The text of another block has come, by the last step. */
  private came(parcel: string): void {
    const step = this.past.at(-1)?.[1];
    if (step?.[0] !== "edit") return; // it has begun with that
    this.frames.set(parcel, [this.steps, richLength(this.content) - growth(step[1])]);
  }

  private note(key: string, [, , , outcome, to, parcel, , moved = [], draft = []]: Received): void {
    if (to !== "") this.onward.set(key, [to, parcel]);
    if (outcome === "refused") this.refused.add(key);
    if (outcome === "drafted") this.drafts.set(key, ["", draft]);
    if (moved.length > 0) this.parted.set(key, moved);
  }

  /** The text was passed on by the block that it went to; or it is back there, as this parcel of `via`. */
  passed([into, number]: Place, via = this.into): void {
    [this.via, this.into] = [via, into];
    this.number = this.sent = number;
  }

  /** In which parcel a text came that it has passed on in this one, and that has not come back. */
  cameAs([into, number]: Place): Place | undefined {
    for (const [key, to] of this.onward)
      if (to[0] === into && to[1] === number) return placeOf(key);
    return undefined;
  }

  /** Calls one operation; gives the call's number. */
  submitCall(operation: string, ...args: unknown[]): number {
    const number = this.nextNumber;
    this.call(operation, ...args).catch(() => undefined); // the listener is told
    return number;
  }

  override hear(message: ObjectMessage): void {
    if (message.t === "snapshot" && this.hasLostSteps(message)) {
      this.birth = undefined;
      this.ask();
    } else if (this.listener === null) super.hear(message);
    else this.listener.onHear(this, message);
  }

  /**
   * Its order has begun anew, with another text: it is asked for by its text's version alone, for steps.
   * Also where no own verb waits: until it is looked at with the others, the person may write in it.
   */
  private hasLostSteps({ birth, state }: Snapshot): boolean {
    if (this.birth === undefined || this.birth === birth || !this.hasText) return false;
    const { status, version, content } = state as BlockState;
    const isSame = status === "open" && version === this.steps && sameRich(content, this.content);
    return this.listener !== null && !(isSame && this.status === "open");
  }

  override ask(): void {
    this.listener?.onAsk(this, this.isKnown);
    this.asksSteps = this.base !== undefined;
    super.ask();
  }

  /** Does what was heard; for the listener. What comes ahead of a snapshot that is asked for is in that. */
  heard(message: ObjectMessage): void {
    if (message.t !== "changes" || this.isKnown) super.hear(message);
  }

  /** Whether a state of it is here, of which version it is known. */
  get isKnown(): boolean {
    return this.birth !== undefined;
  }

  /** Whether the last snapshot went on from what was here. */
  get isSameBirth(): boolean {
    return this.isContinued;
  }

  /** Up to which call the state of the last snapshot goes. */
  get lastKnown(): number {
    return this.knownCall;
  }

  /** Takes a call back whose order has ended. */
  takeBack(n: number): void {
    this.abandon(n);
  }

  override end(error: Error): void {
    super.end(error);
    this.listener?.onEnd(this, error);
  }

  protected override get base(): number | undefined {
    if (this.birth !== undefined) return this.steps;
    // Its order has begun anew: there may be fewer steps.
    if (this.hasText) return this.firstKnown;
    const isFollowed =
      this.listener?.hasFirst(this) === true || this.listener?.isNew(this) === true;
    return isFollowed ? this.steps : undefined;
  }

  protected override show(state: unknown): void {
    this.by = "";
    if (this.listener === null) this.take(state as BlockState);
    else this.listener.onBlockState(this, state as BlockState);
  }

  protected override done(item: Item, mine: boolean): Change {
    const details = item[3].filter((one) => one !== null) as BlockDetail[];
    this.by = item[1];
    if (this.listener !== null) this.listener.onBlock(this, details, item, mine);
    else for (const detail of details) this.follow(detail);
    return changeOf(item, mine);
  }

  protected override answered(n: number, results: readonly unknown[] | null, code: string): void {
    this.listener?.onBlockAnswer(this, n, results, code);
  }
}

/** The key of a parcel. */
export function keyOf(place: Place): string {
  return place.join(":");
}

/** Where parts of edits went on to, by the parcels in which they had come. */
export function partsBy(passed: BlockState["passed"] = []): Map<string, Place[]> {
  const parts = new Map<string, Place[]>();
  for (const [from, number, ...to] of passed) {
    const key = keyOf([from, number]);
    parts.set(key, [...(parts.get(key) ?? []), to]);
  }
  return parts;
}

/** A parcel by its key. */
function placeOf(key: string): Place {
  const [source = "", number] = key.split(":");
  return [source, Number(number)];
}

/** Attributes with these changes. */
export function patched(attributes: Attributes, patch: AttributePatch): Attributes {
  const merged: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries({ ...attributes, ...patch })) {
    if (value !== null) merged[name] = value;
  }
  return merged;
}
