/**
 * Writes a document to the store soon after it changed: one write at a time, the newest state.
 *
 * Rule.
 *   E1  No call goes out before the store has it, with its number: a browser that dies makes the
 *       same call again, and it is done once.
 *   E2  Nothing is said to be kept before the store has it.
 */

import type { ClientLocks } from "./client-lock";
import type { Draft } from "./document/types";
import { isUnsent, type Kept, type Store } from "./store";

/** Edits that are answered and saved within this time are never written. */
const DELAY_MS = 100;
/** A store that hangs holds calls up for so long. */
const PATIENCE_MS = 1_000;
/** So long behind a write, with nothing new, it is told that all is kept: a badge does not flicker. */
const CALM_MS = 300;
/** So long after the last edit was saved, nothing of the document is left in the store. */
const TIDY_MS = 10_000;

export class Keeper {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private tidying: ReturnType<typeof setTimeout> | undefined;
  private telling: ReturnType<typeof setTimeout> | undefined;
  private isWriting = false;
  private isDirty = false;
  /** How often the person has added something, and how much of that the store has. */
  private added = 0;
  private stored = 0;
  private waiters: (() => void)[] = [];
  /** Whether the last write failed, so that closing the tab would lose unsent edits. */
  hasFailed = false;

  /**
   * `state`: what is to be kept now. `isStored`: the store has something of it. `written`: writes
   * have ended.
   */
  constructor(
    private readonly store: Store | null,
    private readonly state: () => Kept,
    private isStored: boolean,
    private readonly written: () => void,
  ) {
    this.hasFailed = store === null;
  }

  /** E2: the store has all that the person has written; null: it cannot have it. */
  get isKept(): boolean | null {
    return this.hasFailed ? null : this.stored === this.added;
  }

  /**
   * Something to keep may have come or gone; `isSomething`: there is some now; `isNew`: some of it
   * is in no write yet, and not only as the places of others' changes in it have moved.
   */
  changed(isSomething: boolean, isNew = true): void {
    if (isNew) {
      clearTimeout(this.telling);
      this.added += 1;
    }
    if (!isSomething) this.stored = this.added;
    if (!isSomething && !this.isStored) return;
    this.isDirty = true;
    if (this.timer === null) this.timer = setTimeout(() => this.flush(), DELAY_MS);
  }

  /** Writes now what is not written, for example because the tab is being hidden. */
  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.isDirty && !this.isWriting) void this.write();
  }

  /** E1: what there is now is written, or cannot be. */
  async kept(): Promise<void> {
    if (this.hasFailed) return;
    this.isDirty = true;
    const written = new Promise<void>((resolve) => {
      this.waiters.push(resolve);
      setTimeout(resolve, PATIENCE_MS);
    });
    this.flush();
    await written;
  }

  private async write(): Promise<void> {
    if (this.store === null) return;
    this.isWriting = true;
    this.isDirty = false;
    const { added } = this;
    const { waiters } = this;
    this.waiters = [];
    try {
      const kept = this.state();
      const isSomething = kept.state !== null || kept.drafts.length > 0;
      if (isSomething) await this.store.keep(kept);
      else await this.store.forget(kept.client, kept.doc);
      this.isStored = isSomething;
      this.stored = added;
      clearTimeout(this.tidying);
      if (!isSomething) this.tidying = setTimeout(() => this.tidy(), TIDY_MS);
      this.hasFailed = false;
    } catch {
      this.hasFailed = true;
    }
    this.isWriting = false;
    for (const resolve of waiters) resolve();
    if (this.isDirty) this.flush();
    this.telling = setTimeout(this.written, CALM_MS);
  }

  private tidy(): void {
    if (this.isStored || this.isWriting) return;
    const { client, doc } = this.state();
    this.store?.tidy(client, doc).catch(() => undefined); // whoever opens the store next does it
  }
}

export interface KeptParts {
  readonly store: Store | null;
  readonly locks: ClientLocks;
  readonly principal: string;
}

interface Taken {
  readonly kept: Kept | undefined;
  readonly drafts: readonly Draft[];
}

/** The edits of an earlier tab that no living tab holds; its drafts when nothing is unsent. */
export async function takeKept(doc: string, parts: KeptParts): Promise<Taken> {
  const { store, locks } = parts;
  const drafts: Draft[] = [];
  let kept: Kept | undefined;
  for (const [client, left] of (await store?.untidy()) ?? []) {
    if (await locks.take(client)) await store?.tidy(client, left);
  }
  for (const one of (await store?.kept(doc, parts.principal)) ?? []) {
    const isWaiting = isUnsent(one);
    if (isWaiting && kept !== undefined) continue;
    if (!(await locks.take(one.client))) continue;
    if (isWaiting) {
      kept = one;
    } else {
      drafts.push(...one.drafts);
      await store?.forget(one.client, doc);
    }
  }
  return { kept, drafts };
}
