/** What a session keeps about one document, and what it tells its owner. */

import type { Change, Transaction } from "../model/changes";
import type { Block, DocumentValue } from "../model/document";
import type { Submit } from "../protocol/messages";

/** A place in a document's history. */
export interface Position {
  readonly epoch: number;
  readonly version: number;
}

/** The one transaction that waits for an answer. */
export interface InFlight {
  /** As it was sent; sent again unchanged. */
  readonly submit: Submit;
  /** What it is at the confirmed position now. */
  readonly changes: Transaction;
  /** How many of the person's edits it holds. */
  readonly edits: number;
  /** Text of parts that no longer fit; becomes a draft when the node refuses. */
  readonly keptText: string;
}

/** An answered transaction that is not known to be on disk at a majority. */
export interface Unsaved extends Position {
  readonly op: number;
  readonly text: string;
}

/** Text that could not be applied, kept for its author. */
export interface Draft {
  readonly id: string;
  readonly code: string;
  readonly reason: string;
  readonly text: string;
}

/** Everything that must outlive the tab. */
export interface StoredSession {
  readonly doc: string;
  readonly client: string;
  readonly position: Position | null;
  readonly title: string;
  readonly blocks: readonly Block[];
  readonly nextOp: number;
  readonly inFlight: InFlight | null;
  readonly pending: readonly Change[];
  readonly pendingEdits: number;
  readonly unsaved: readonly Unsaved[];
  readonly drafts: readonly Draft[];
}

/** `edits`: how many of the person's edits are kept here and not known to be on disk. */
export interface SaveState {
  readonly kind: "saved" | "saving" | "offline";
  readonly edits: number;
}

export type SessionEvent =
  /** What the person sees changed by others: `changes` lead from `before` to `after`. */
  | {
      readonly kind: "view";
      readonly changes: Transaction;
      readonly before: DocumentValue;
      readonly after: DocumentValue;
    }
  /** The document must be opened again, with `position` where it is given. */
  | { readonly kind: "reopen"; readonly position: Position | null }
  /** The node refused for now: call `retry` after a while. */
  | { readonly kind: "retry" }
  /** The node does not know this client's numbers: take a new client id. */
  | { readonly kind: "identity" }
  /** A text was refused and is kept. */
  | { readonly kind: "draft"; readonly draft: Draft };

/** The limits that a node announces, as far as a session needs them. */
export interface SubmitLimits {
  readonly changes: number;
  readonly frame_bytes: number;
}
