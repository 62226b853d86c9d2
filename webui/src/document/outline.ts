/** The outline of a document as the nodes have it: what the page is told, followed. */

import type { Item, ObjectMessage } from "../client/messages";
import { type Change, changeOf, Shared } from "../client/object";
import { type Rich, richLength } from "../shared/rich";
import type { Attributes } from "./types";

/** What the outline knows of a block from afar; `isLive`: it has a group of its own. */
export interface Entry {
  readonly type: string;
  readonly length: number;
  readonly isLive: boolean;
}

/** What a block begins with that nobody has edited yet. */
export interface Seed {
  readonly attributes: Attributes;
  readonly content: Rich;
}

/** News of so many blocks are kept beside the state before them: then all is kept anew. */
const LATER_MAX = 100;

type WireEntry = readonly [id: string, type: string, length: number, isLive: boolean];
type WireSeed = readonly [id: string, attributes: Attributes, content: Rich];

export interface OutlineState {
  readonly title: string;
  readonly blocks: readonly WireEntry[];
  readonly seeds: readonly WireSeed[];
}

export type OutlineDetail =
  | readonly ["placed", after: string, blocks: readonly string[]]
  | readonly ["left", blocks: readonly string[], isJoined: boolean]
  | readonly ["known", news: readonly WireEntry[]]
  | readonly ["seeds", seeds: readonly WireSeed[]]
  | readonly ["planted", blocks: readonly string[]]
  | readonly ["title", title: string];

/** What changes who may what: not told itself, but that it has changed. */
const LISTINGS: ReadonlySet<string> = new Set(["claim", "entitle", "grant", "revoke"]);

/** News of single blocks. */
type BlockNews = readonly [kind: "known" | "planted", blocks: readonly unknown[]];

/** Who has to be told what an outline is told, before and instead of it doing so. */
export interface OutlineListener {
  /** It is asked for (again); `isKnown`: with a state that is here. */
  onAsk(outline: OutlineObject, isKnown: boolean): void;
  onOutlineState(outline: OutlineObject, state: OutlineState): void;
  onOutline(outline: OutlineObject, details: readonly OutlineDetail[], mine: boolean): void;
  onOutlineAnswer(n: number, results: readonly unknown[] | null, code: string): void;
  onHear(outline: OutlineObject, message: ObjectMessage): void;
  onEnd(outline: OutlineObject, error: Error): void;
}

export class OutlineObject extends Shared {
  static readonly type = "DocumentOutline";
  listener: OutlineListener | null = null;
  /** Who may what has changed. */
  onRights: (() => void) | null = null;
  title = "";
  order: string[] = [];
  readonly entries = new Map<string, Entry>();
  readonly seeds = new Map<string, Seed>();
  /** Blocks that have come since this page has it. */
  readonly placed = new Set<string>();
  /** Blocks of which it has heard something new; null: their order is another one, too. */
  private news: Set<string> | null = null;
  private whole: OutlineState | null = null;
  /** What has happened since `whole`, which is not copied for each. */
  private later: (OutlineDetail & BlockNews)[] = [];

  /** What `news` has gathered since it was asked for last. */
  takeNews(): ReadonlySet<string> | null {
    const { news } = this;
    this.news = new Set();
    return news;
  }

  /** Everything here, in a state that seldom is another value, and in what has happened since. */
  get kept(): readonly [state: OutlineState, later: readonly OutlineDetail[]] {
    if (this.whole === null) {
      this.whole = this.state;
      this.later = [];
    }
    return [this.whole, [...this.later]];
  }

  /** Everything here, as a snapshot has it. */
  get state(): OutlineState {
    return {
      title: this.title,
      blocks: this.order.map((id) => {
        const entry = this.entries.get(id);
        return [id, entry?.type ?? "paragraph", entry?.length ?? 0, entry?.isLive ?? true];
      }),
      seeds: [...this.seeds].map(([id, seed]) => [id, seed.attributes, seed.content]),
    };
  }

  /** Makes it this state. */
  take(state: OutlineState): void {
    this.whole = null;
    this.title = state.title;
    this.news = null;
    this.order = state.blocks.map(([id]) => id);
    this.entries.clear();
    this.seeds.clear();
    this.placed.clear();
    this.know(state.blocks);
    for (const [id, attributes, content] of state.seeds)
      this.seeds.set(id, { attributes, content });
  }

  /** Makes it what was kept. */
  takeKept(state: OutlineState, later: readonly OutlineDetail[] = []): void {
    this.take(state);
    for (const detail of later) this.follow(detail);
  }

  /** Does one detail of a change. */
  follow(detail: OutlineDetail): void {
    this.note(detail);
    switch (detail[0]) {
      case "placed":
        this.place(detail[1], detail[2]);
        break;
      case "left":
        this.leave(new Set(detail[1]));
        break;
      case "known":
        this.know(detail[1]);
        break;
      case "seeds":
        for (const [id, attributes, content] of detail[1]) {
          const type = String(attributes.type ?? "paragraph");
          this.entries.set(id, { type, length: richLength(content), isLive: false });
          this.seeds.set(id, { attributes, content });
          this.news?.add(id);
        }
        break;
      case "planted":
        for (const id of detail[1]) {
          this.seeds.delete(id);
          this.news?.add(id);
        }
        break;
      case "title":
        this.title = detail[1];
    }
  }

  private note(detail: OutlineDetail): void {
    if (this.whole === null) return;
    const isOfBlocks = detail[0] === "known" || detail[0] === "planted";
    if (isOfBlocks) this.later.push(detail);
    const named = this.later.reduce((sum, [, blocks]) => sum + blocks.length, 0);
    if (!isOfBlocks || named > LATER_MAX) this.whole = null;
  }

  private know(news: readonly WireEntry[]): void {
    for (const [id, type, length, isLive] of news) {
      this.entries.set(id, { type, length, isLive });
      this.news?.add(id);
    }
  }

  private place(after: string, blocks: readonly string[]): void {
    this.news = null;
    const chosen = new Set(blocks);
    const before = new Set(this.order); // what is known of it has been told already
    for (const id of blocks) if (!before.has(id)) this.placed.add(id);
    const left = this.order.filter((id) => !chosen.has(id));
    left.splice(after === "" ? 0 : left.indexOf(after) + 1, 0, ...blocks);
    this.order = left;
  }

  private leave(blocks: ReadonlySet<string>): void {
    this.news = null;
    this.order = this.order.filter((id) => !blocks.has(id));
    for (const id of blocks) {
      this.entries.delete(id);
      this.seeds.delete(id);
      this.placed.delete(id);
    }
  }

  /** Calls one operation; gives the call's number. */
  submitCall(operation: string, ...args: unknown[]): number {
    const number = this.nextNumber;
    this.call(operation, ...args).catch(() => undefined); // the listener is told
    return number;
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

  override hear(message: ObjectMessage): void {
    if (this.listener === null) super.hear(message);
    else this.listener.onHear(this, message);
  }

  override ask(): void {
    this.listener?.onAsk(this, this.birth !== undefined);
    super.ask();
  }

  /** Does what was heard; for the listener. */
  heard(message: ObjectMessage): void {
    super.hear(message);
  }

  override end(error: Error): void {
    super.end(error);
    this.listener?.onEnd(this, error);
  }

  protected override show(state: unknown): void {
    if (this.listener === null) this.take(state as OutlineState);
    else this.listener.onOutlineState(this, state as OutlineState);
  }

  protected override done(item: Item, mine: boolean): Change {
    const details = item[3].filter((one) => one !== null) as OutlineDetail[];
    if (this.listener !== null) this.listener.onOutline(this, details, mine);
    else for (const detail of details) this.follow(detail);
    if (LISTINGS.has(item[2])) this.onRights?.();
    return changeOf(item, mine);
  }

  protected override answered(n: number, results: readonly unknown[] | null, code: string): void {
    this.listener?.onOutlineAnswer(n, results, code);
  }
}
