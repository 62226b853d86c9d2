/** Writes a session to the store soon after it changed: one write at a time, the newest state. */

import type { DocumentSession } from "./session/session";
import type { Store } from "./store";

/** Edits that are answered and saved within this time are never written. */
const DELAY_MS = 100;

export class Keeper {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private isWriting = false;
  private isDirty = false;
  private isStored = false;
  /** Whether the last write failed, so that closing the tab would lose unsent edits. */
  hasFailed = false;

  constructor(
    private readonly store: Store | null,
    private readonly session: DocumentSession,
    isStored: boolean,
  ) {
    this.isStored = isStored;
    this.hasFailed = store === null;
  }

  /** The session changed. */
  changed(): void {
    if (!this.session.isWorthKeeping && !this.isStored) return;
    this.isDirty = true;
    if (this.timer === null) this.timer = setTimeout(() => this.flush(), DELAY_MS);
  }

  /** Writes now what is not written, for example because the tab is being hidden. */
  flush(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.isDirty && !this.isWriting) void this.write();
  }

  private async write(): Promise<void> {
    if (this.store === null) return;
    this.isWriting = true;
    this.isDirty = false;
    try {
      const isWorthKeeping = this.session.isWorthKeeping;
      await this.store.keep(this.session.toStored(), isWorthKeeping);
      this.isStored = isWorthKeeping;
      this.hasFailed = false;
    } catch {
      this.hasFailed = true;
    }
    this.isWriting = false;
    if (this.isDirty) this.flush();
  }
}
