/**
 * Which cards are live: those in sight that are large enough to be read, the nearest first.
 *
 * Rules.
 *   K1  At most LIVE_MAX documents are followed, and GLANCES_MAX more are opened for one look.
 *   K2  What is live stays so while it is among the nearest, or little further than these: going by
 *       opens and closes nothing.
 *   K3  What is not followed any more is shown as it was seen last; what was refused is asked for
 *       again, while it is in sight.
 */

import { ask } from "../api";
import type { Cards, CardView, Wanted } from "../board/model/card";
import type { Session } from "../client/session";
import { DocumentReader } from "./reader";

export const LIVE_MAX = 8;
export const GLANCES_MAX = 2;
/** So much further than the nearest a document may be that is followed already. */
const SLACK = 3;
/** The view rests for so long before documents are opened and closed. */
const SETTLE_MS = 150;
/** What was refused, and whether something lies in the trash, is asked for so often. */
const AGAIN_MS = 15_000;
/** So many are remembered as they were seen. */
const SEEN_MAX = 60;

/** Follows a document; `changed`: it shows something else. */
export type Open = (document: string, changed: () => void) => Reader;
export type Reader = Pick<
  DocumentReader,
  "view" | "isDone" | "isOver" | "close" | "look" | "trashed"
>;

export interface DeskParts {
  readonly open: Open;
  /** Whether a document lies in the trash; rejects where that is not told. */
  readonly isTrashed: (document: string) => Promise<boolean>;
  readonly after: (delay_ms: number, act: () => void) => () => void;
  readonly changed: () => void;
}

export class CardDesk implements Cards {
  private readonly readers = new Map<string, Reader>();
  private readonly seen = new Map<string, CardView>();
  /** When one may ask again for what was refused. */
  private readonly refused = new Set<string>();
  private wanted: readonly Wanted[] = [];
  private followed: ReadonlySet<string> = new Set();
  private isSettling = false;
  private isClosed = false;

  constructor(private readonly parts: DeskParts) {
    this.watch();
  }

  readonly card = (document: string): CardView | null => this.view(document);

  view(document: string): CardView | null {
    const view = this.readers.get(document)?.view ?? null;
    const before = this.seen.get(document) ?? null;
    return view === null || view.state === "coming" ? (before ?? view) : view;
  }

  /** How many are open. */
  get count(): number {
    return this.readers.size;
  }

  look(wanted: readonly Wanted[]): void {
    if (isSame(wanted, this.wanted)) return;
    this.wanted = wanted;
    this.settleSoon();
  }

  private settleSoon(): void {
    if (this.isSettling) return;
    this.isSettling = true;
    this.parts.after(SETTLE_MS, () => {
      this.isSettling = false;
      if (!this.isClosed) this.settle();
    });
  }

  connected(): void {
    for (const reader of this.readers.values()) reader.look();
  }

  close(): void {
    this.isClosed = true;
    for (const reader of this.readers.values()) reader.close();
    this.readers.clear();
  }

  private settle(): void {
    this.followed = new Set(this.live());
    const open = new Set([...this.followed, ...this.glances(this.followed)]);
    const leaving = [...this.readers].filter(([document]) => !open.has(document));
    const coming = [...open].filter((document) => !this.readers.has(document));
    for (const [document, reader] of leaving) this.leave(document, reader);
    for (const document of coming) this.read(document);
    // What is seen next has its turn once this has been heard of.
    if (leaving.length + coming.length > 0) this.parts.changed();
    if (leaving.length > 0) this.settleSoon();
  }

  /** K1, K2. */
  private live(): string[] {
    const large = this.wanted.filter(({ document, isLarge }) => {
      return isLarge && !this.refused.has(document);
    });
    const near = large.slice(0, LIVE_MAX + SLACK).map(({ document }) => document);
    const kept = near.filter((document) => this.readers.has(document));
    const first = near.slice(0, LIVE_MAX - Math.min(SLACK, kept.length));
    return [...new Set([...first, ...kept, ...near])].slice(0, LIVE_MAX);
  }

  /** Those that were never seen, for one look each. */
  private glances(live: ReadonlySet<string>): string[] {
    const others = this.wanted.filter(({ document }) => {
      return !live.has(document) && !this.seen.has(document) && !this.refused.has(document);
    });
    const open = others.filter(({ document }) => {
      const reader = this.readers.get(document);
      return reader !== undefined && !reader.isDone;
    });
    const fresh = others.filter(({ document }) => !this.readers.has(document));
    return [...open, ...fresh].slice(0, GLANCES_MAX).map(({ document }) => document);
  }

  private read(document: string): void {
    try {
      const reader = this.parts.open(document, () => this.heard(document));
      this.readers.set(document, reader);
      this.askTrash(document, reader);
    } catch {
      this.refused.add(document); // the session has ended, and the page says why
    }
  }

  private heard(document: string): void {
    const reader = this.readers.get(document);
    if (reader === undefined || this.isClosed) return;
    if (reader.isOver) {
      this.leave(document, reader);
      this.refused.add(document);
    }
    // One look is over, or there is room for another one.
    if (reader.isOver || (reader.isDone && !this.followed.has(document))) this.settleSoon();
    this.parts.changed();
  }

  /** K3. */
  private leave(document: string, reader: Reader): void {
    const { view } = reader;
    this.readers.delete(document);
    reader.close();
    if (view.state === "coming") return;
    this.seen.delete(document); // the last one of the order
    this.seen.set(document, view.state === "live" ? { ...view, state: "still" } : view);
    for (const oldest of this.seen.keys()) {
      if (this.seen.size <= SEEN_MAX) break;
      this.seen.delete(oldest);
    }
  }

  private askTrash(document: string, reader: Reader): void {
    this.parts.isTrashed(document).then(
      (isTrashed) => this.readers.get(document) === reader && reader.trashed(isTrashed),
      () => undefined, // the reader itself says why nothing can be read
    );
  }

  private watch(): void {
    this.parts.after(AGAIN_MS, () => {
      if (this.isClosed) return;
      this.refused.clear();
      for (const [document, reader] of this.readers) this.askTrash(document, reader);
      if (this.wanted.length > 0) this.settleSoon();
      this.watch();
    });
  }
}

function isSame(one: readonly Wanted[], other: readonly Wanted[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ document, isLarge }, at) => {
      return document === other[at]?.document && isLarge === other[at].isLarge;
    })
  );
}

/** The desk of a place: documents are read over its session. */
export function deskOf(session: Session, after: DeskParts["after"], changed: () => void): CardDesk {
  const open: Open = (document, heard) => new DocumentReader(session, document, heard);
  return new CardDesk({ open, isTrashed, after, changed });
}

async function isTrashed(document: string): Promise<boolean> {
  const { trashed } = await ask(`/api/v1/documents/${encodeURIComponent(document)}/place`);
  return trashed !== null && trashed !== undefined;
}
