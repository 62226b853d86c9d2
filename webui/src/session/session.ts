/**
 * The life of one document in the page, as a state machine.
 *
 * Idea. The document's *confirmed* value is what the node has ordered up to a position. On top of
 * it stand the person's own changes: one transaction *in flight*, which waits for its answer, and
 * those *pending* behind it. The *view* is all three. What others did is applied to the confirmed
 * value, and the own changes are carried over it. There is no socket here, no page and no clock.
 *
 * Rules.
 *   S1  The confirmed value changes only by what the node sent, in the order of versions.
 *   S2  At most one transaction is in flight; it is sent again unchanged, under the same number.
 *   S3  An own change is in flight, pending, answered, or a draft: never gone.
 *   S4  "Saved" is said only when every own change is answered and on disk at a majority.
 */

import { append, type Change, type Transaction } from "../model/changes";
import { diffDocuments } from "../model/diff";
import { DocumentValue, EMPTY_DOCUMENT } from "../model/document";
import type {
  DocumentMessage,
  Open,
  Opened,
  Reject,
  Saved,
  Snapshot,
  Submit,
  Update,
} from "../protocol/messages";
import { carryOver, changeBytes, chop, leading, writtenText } from "./local";
import type {
  Draft,
  InFlight,
  Position,
  SaveState,
  SessionEvent,
  StoredSession,
  SubmitLimits,
  Unsaved,
} from "./state";

type Link = "down" | "opening" | "open";

/** Bytes of a frame that a submit's own fields may take. */
const FRAME_SPARE_BYTES = 512;
const REBASE_CODES = new Set(["base_too_old", "epoch_changed"]);
const IDENTITY_CODES = new Set(["op_reused", "op_out_of_order"]);
const DEFAULT_LIMITS: SubmitLimits = { changes: 1_000, frame_bytes: 262_144 };

export class DocumentSession {
  limits: SubmitLimits = DEFAULT_LIMITS;
  /** Whether the node is outside the primary view, so that submits are held. */
  stale = false;
  drafts: readonly Draft[] = [];

  private confirmed: DocumentValue = EMPTY_DOCUMENT;
  private shown: DocumentValue = EMPTY_DOCUMENT;
  private position: Position | null = null;
  private saved: Position = { epoch: 0, version: 0 };
  private inFlight: InFlight | null = null;
  private pending: readonly Change[] = [];
  private pendingEdits = 0;
  private unsaved: readonly Unsaved[] = [];
  private nextOp = 1;
  private link: Link = "down";
  private isSent = false;
  private isHeld = false;

  constructor(
    readonly doc: string,
    public client: string,
    stored?: StoredSession,
  ) {
    if (stored !== undefined) this.restore(stored);
  }

  /** What the person sees. */
  get view(): DocumentValue {
    return this.shown;
  }

  /** Whether there is content to show. */
  get isLoaded(): boolean {
    return this.position !== null;
  }

  /** Whether something of the person's is kept here only. */
  get hasUnsent(): boolean {
    return this.inFlight !== null || this.pending.length > 0;
  }

  /** Whether there is anything that must outlive the tab. */
  get isWorthKeeping(): boolean {
    return this.hasUnsent || this.unsaved.length > 0 || this.drafts.length > 0;
  }

  /** The message that opens the document on a new connection. */
  connected(): Open {
    this.link = "opening";
    this.isSent = false;
    this.isHeld = false;
    return this.openFrom(this.position);
  }

  /** The `open` message from a position; null asks for a snapshot. */
  openFrom(position: Position | null): Open {
    this.link = "opening";
    return { t: "open", doc: this.doc, ...position };
  }

  /** The connection is gone; everything is kept. */
  disconnected(): void {
    this.link = "down";
    this.isSent = false;
    this.isHeld = false;
  }

  /** The person changed the view: `changes` were made against it. */
  localChange(changes: Transaction): void {
    if (changes.length === 0) return;
    const applied = this.shown.apply(changes);
    this.shown = applied.document;
    this.pending = append(this.pending, applied.changes.flatMap(chop));
    this.pendingEdits += 1;
    if (this.pending.length === 0) this.pendingEdits = 0;
  }

  /** A refusal for a while is over: the transaction in flight may be sent again. */
  retry(): void {
    if (this.isHeld) this.isSent = false;
    this.isHeld = false;
  }

  /** The transaction to send now, if any; it counts as sent (S2). */
  sendable(): Submit | null {
    if (this.link !== "open" || this.isSent || this.isHeld || this.stale) return null;
    if (this.inFlight === null) this.inFlight = this.promote();
    if (this.inFlight === null) return null;
    this.isSent = true;
    return this.inFlight.submit;
  }

  /** What the save badge must say (S4). */
  saveState(): SaveState {
    const edits = (this.inFlight?.edits ?? 0) + this.pendingEdits + this.unsaved.length;
    if (this.link !== "open" || this.stale || this.isHeld) return { kind: "offline", edits };
    const isSaved = !this.hasUnsent && this.unsaved.length === 0;
    return { kind: isSaved ? "saved" : "saving", edits };
  }

  /** Takes a message about this document and tells what follows from it. */
  receive(message: DocumentMessage): SessionEvent[] {
    switch (message.t) {
      case "opened":
        return this.onOpened(message);
      case "snapshot":
        return this.onSnapshot(message);
      case "update":
        return this.onUpdate(message);
      case "saved":
        return this.onSaved(message);
      case "reject":
        return this.onReject(message);
    }
  }

  /** Goes on under another client id, whose numbers start anew; nothing may be in flight. */
  renamed(client: string): void {
    this.client = client;
    this.nextOp = 1;
    this.unsaved = this.unsaved.map((entry) => ({ ...entry, op: 0 }));
  }

  /** The person is done with a draft. */
  discardDraft(id: string): void {
    this.drafts = this.drafts.filter((draft) => draft.id !== id);
  }

  /** Everything that must outlive the tab. */
  toStored(): StoredSession {
    return {
      doc: this.doc,
      client: this.client,
      position: this.position,
      title: this.confirmed.title,
      blocks: this.confirmed.blocks,
      nextOp: this.nextOp,
      inFlight: this.inFlight,
      pending: this.pending,
      pendingEdits: this.pendingEdits,
      unsaved: this.unsaved,
      drafts: this.drafts,
    };
  }

  private restore(stored: StoredSession): void {
    this.position = stored.position;
    this.confirmed = new DocumentValue(stored.title, stored.blocks);
    this.nextOp = stored.nextOp;
    this.inFlight = stored.inFlight;
    this.pending = stored.pending;
    this.pendingEdits = stored.pendingEdits;
    this.unsaved = stored.unsaved;
    this.drafts = stored.drafts;
    this.shown = this.confirmed.apply([
      ...(this.inFlight?.changes ?? []),
      ...this.pending,
    ]).document;
  }

  /** Makes as many pending changes as one submit may hold the transaction in flight. */
  private promote(): InFlight | null {
    const position = this.position;
    if (this.pending.length === 0 || position === null) return null;
    let bytes = FRAME_SPARE_BYTES;
    let count = 0;
    for (const change of this.pending) {
      bytes += changeBytes(change);
      if (count > 0 && (count >= this.limits.changes || bytes > this.limits.frame_bytes)) break;
      count += 1;
    }
    const changes = this.pending.slice(0, count);
    this.pending = this.pending.slice(count);
    const edits =
      this.pending.length === 0 ? this.pendingEdits : Math.min(count, this.pendingEdits);
    this.pendingEdits = Math.max(this.pendingEdits - edits, Math.min(1, this.pending.length));
    const { epoch, version: base } = position;
    const submit: Submit = { t: "submit", doc: this.doc, op: this.nextOp, epoch, base, changes };
    this.nextOp += 1;
    return { submit, changes, edits, keptText: "" };
  }

  private onOpened(message: Opened): SessionEvent[] {
    if (this.position === null) return this.reopen(null);
    this.link = "open";
    this.markSaved({ epoch: message.epoch, version: message.saved });
    return [];
  }

  private onSaved(message: Saved): SessionEvent[] {
    this.markSaved(message);
    return [];
  }

  private onUpdate(message: Update): SessionEvent[] {
    const position = this.position;
    if (position === null || this.link !== "open") return [];
    const isOwn = message.client === this.client && message.op === this.inFlight?.submit.op;
    if (message.version <= position.version && message.epoch === position.epoch) {
      // Known already (S1). An own one can only be here when a snapshot held it unnoticed.
      return isOwn ? this.answered(this.confirmed, position) : [];
    }
    if (message.version !== position.version + 1 || message.epoch < position.epoch) {
      return this.reopen(position);
    }
    const confirmed = this.confirmed.apply(message.changes).document;
    this.position = { epoch: message.epoch, version: message.version };
    if (isOwn) return this.answered(confirmed, this.position);
    return this.carryOwn(confirmed, message.changes);
  }

  private onSnapshot(message: Snapshot): SessionEvent[] {
    const blocks = message.blocks.map(([id, attributes, text]) => ({ id, attributes, text }));
    const confirmed = new DocumentValue(message.title, blocks);
    const position = { epoch: message.epoch, version: message.version };
    const events = this.recoverLost(message);
    this.link = "open";
    this.nextOp = Math.max(this.nextOp, message.applied + 1);
    this.position = position;
    if (this.inFlight !== null && message.applied >= this.inFlight.submit.op) {
      events.push(...this.answered(confirmed, position));
    } else {
      events.push(...this.carryOwn(confirmed, diffDocuments(this.confirmed, confirmed)));
    }
    this.markSaved({ epoch: message.epoch, version: message.saved });
    return events;
  }

  private onReject(message: Reject): SessionEvent[] {
    const refused = this.inFlight;
    if (refused === null || refused.submit.op !== message.op) return [];
    if (message.temporary) {
      this.isHeld = true;
      return [{ kind: "retry" }];
    }
    const below = this.below();
    this.isSent = false;
    this.inFlight = null;
    if (REBASE_CODES.has(message.code) || IDENTITY_CODES.has(message.code)) {
      this.pending = append(refused.changes, this.pending);
      this.pendingEdits += refused.edits;
      const events = this.keepDraft(message.code, message.message, refused.keptText);
      if (IDENTITY_CODES.has(message.code)) return [...events, { kind: "identity" }];
      return [...events, ...this.reopen(null)];
    }
    const written = writtenText(refused.changes, this.shown);
    const text = [written, refused.keptText].filter((part) => part !== "").join("\n");
    const events = this.keepDraft(message.code, message.message, text);
    const undone = diffDocuments(below, this.confirmed);
    return [...events, ...this.rebasePending(this.confirmed, undone)];
  }

  /** Updates that come before the answer are passed over. */
  private reopen(position: Position | null): SessionEvent[] {
    this.link = "opening";
    return [{ kind: "reopen", position }];
  }

  /** The transaction in flight is in `confirmed`: what is pending stands on that now. */
  private answered(confirmed: DocumentValue, at: Position): SessionEvent[] {
    const done = this.inFlight;
    if (done === null) return [];
    const below = this.below();
    const text = writtenText(done.changes, this.shown);
    this.unsaved = [...this.unsaved, { ...at, op: done.submit.op, text }];
    this.inFlight = null;
    this.isSent = false;
    this.isHeld = false;
    this.confirmed = confirmed;
    this.markSaved(this.saved);
    return this.rebasePending(confirmed, diffDocuments(below, confirmed));
  }

  /** Others' changes led to `confirmed`: carries all own changes over them. */
  private carryOwn(confirmed: DocumentValue, changes: Transaction): SessionEvent[] {
    const below = this.below();
    this.confirmed = confirmed;
    if (this.inFlight === null) return this.rebasePending(confirmed, changes);
    const carried = carryOver(this.inFlight.changes, changes, confirmed);
    const lost = writtenText(carried.refused, this.shown);
    const keptText = [this.inFlight.keptText, lost].filter((part) => part !== "").join("\n");
    this.inFlight = { ...this.inFlight, changes: carried.changes, keptText };
    return this.rebasePending(
      carried.document,
      carried.over ?? diffDocuments(below, carried.document),
    );
  }

  /** The document that the pending changes stand on: confirmed, with the one in flight. */
  private below(): DocumentValue {
    return this.confirmed.apply(this.inFlight?.changes ?? []).document;
  }

  private rebasePending(base: DocumentValue, changes: Transaction): SessionEvent[] {
    const before = this.shown;
    const carried = carryOver(this.pending, changes, base);
    const events: SessionEvent[] = [];
    if (carried.refusal !== null) {
      const text = writtenText(carried.refused, before);
      events.push(...this.keepDraft(carried.refusal.code, carried.refusal.message, text));
    }
    this.pending = append([], carried.changes);
    if (this.pending.length === 0) this.pendingEdits = 0;
    this.shown = carried.document;
    const shown = leading(carried.over, before, this.shown);
    if (shown.length > 0) {
      events.push({ kind: "view", changes: shown, before, after: this.shown });
    }
    return events;
  }

  /** Answered changes that a newer epoch does not hold any more become drafts (S3). */
  private recoverLost(message: Snapshot): SessionEvent[] {
    const isLost = (entry: Unsaved): boolean =>
      entry.epoch < message.epoch && entry.op > message.applied;
    const lost = this.unsaved.filter(isLost);
    // What the snapshot holds is saved when the snapshot is.
    const { epoch, version } = message;
    const kept = this.unsaved.filter((entry) => !isLost(entry));
    this.unsaved = kept.map((entry) =>
      entry.epoch < epoch ? { ...entry, epoch, version } : entry,
    );
    const reason = "The servers lost their newest changes before they were on disk.";
    return lost.flatMap((entry) => this.keepDraft("lost", reason, entry.text));
  }

  private markSaved(saved: Position): void {
    if (saved.epoch >= this.saved.epoch) {
      const version =
        saved.epoch === this.saved.epoch
          ? Math.max(saved.version, this.saved.version)
          : saved.version;
      this.saved = { epoch: saved.epoch, version };
    }
    const { epoch, version } = this.saved;
    this.unsaved = this.unsaved.filter((entry) => entry.epoch > epoch || entry.version > version);
  }

  private keepDraft(code: string, reason: string, text: string): SessionEvent[] {
    if (text === "") return [];
    const id = `${this.client}-${this.nextOp}-${this.drafts.length}`;
    const draft: Draft = { id, code, reason, text };
    this.drafts = [...this.drafts, draft];
    return [{ kind: "draft", draft }];
  }
}
