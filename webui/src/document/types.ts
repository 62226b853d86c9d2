/**
 * What a document is to the page: the blocks as the person should see them, and the verbs that
 * change them. The model (model.ts) keeps it over the groups of the document; the editor shows it.
 *
 * Rich texts and deltas are as they travel (docs/shared/rich-text.md): a number retains (positive)
 * or deletes (negative) code points, a string is inserted, `[text, marks]` is inserted with marks,
 * `[count, changes]` retains and changes marks. A rich text is a delta of inserts alone.
 */

import type { Rich, RichDelta } from "../shared/rich";

import type { Past } from "./block";
import type { Step } from "./doc";

export type { MarkPatch, Marks, Rich, RichDelta, RichInsert, RichItem } from "../shared/rich";

export type AttributeValue = string | number | boolean;
/** Attributes of a block: `type`, `level`, `depth`, `checked`, `language`, … */
export type Attributes = Readonly<Record<string, AttributeValue>>;
/** Attributes to set; null removes one. */
export type AttributePatch = Readonly<Record<string, AttributeValue | null>>;

/** A block as it is shown. Never changed in place: the same object is the same block. */
export interface ShownBlock {
  readonly id: string;
  readonly attributes: Attributes;
  /** Its text; null when it is not open here: show a placeholder of this length. */
  readonly content: Rich | null;
  /** In code points; of a placeholder it may be off by a quarter. */
  readonly length: number;
}

/** The document as it is shown, with everything that the person did and nobody has answered. */
export interface DocumentValue {
  readonly title: string;
  readonly blocks: readonly ShownBlock[];
}

export interface NewBlock {
  readonly id: string;
  readonly attributes: Attributes;
  readonly content: Rich;
  /** With the text of this one, which the person has taken out: not done if that goes on elsewhere. */
  readonly of?: string | undefined;
  /** What others have put into that one meanwhile, which is not in this one. */
  readonly beside?: RichDelta;
}

/** What changes a document. Blocks are named by id, places in texts are code points. */
export type Verb =
  /** `joined`: it is the text of this other block, put to the end of this one. */
  | readonly ["edit", block: string, delta: RichDelta, joined?: string | undefined]
  | readonly ["set", block: string, attributes: AttributePatch]
  /**
   * All from `at` on becomes the block `fresh`, right behind. `isBack`: an own join is taken back; what the
   * person has split off where the two texts meet goes with the one that was joined.
   */
  | readonly [
      "split",
      block: string,
      at: number,
      fresh: string,
      attributes: Attributes,
      isBack?: boolean,
    ]
  /** The text goes to the end of `into`, the block goes. */
  | readonly ["join", block: string, into: string]
  /** Behind `after`; an empty id is the start of the document. */
  | readonly ["insert", after: string, blocks: readonly NewBlock[]]
  | readonly ["remove", blocks: readonly string[]]
  /** Behind `after`, in this order. */
  | readonly ["move", blocks: readonly string[], after: string]
  /**
   * Letters of version `base` of a block, cut out of it, stand again in the text of `into`, from `at`
   * on. `isSeen`: the person had written nothing there that was not in that version.
   */
  | readonly [
      "letters",
      block: string,
      base: number,
      start: number,
      count: number,
      into: string,
      at: number,
      isSeen: boolean,
    ]
  | readonly ["rename", title: string];

/** How what is shown has changed by itself: a verb of others, or a block that was opened here. */
export type ShownChange =
  | Verb
  /** The block is as this says now: its text came, went (a placeholder again) or was made anew. */
  | readonly ["show", block: ShownBlock];

/** `changes` lead from `before` to `after`; null: look at all of `after` anew. */
export interface ViewEvent {
  readonly changes: readonly ShownChange[] | null;
  readonly before: DocumentValue;
  readonly after: DocumentValue;
  /** What others did to texts that are not shown: the person has taken them out, or somebody else has. */
  readonly unseen?: readonly ShownChange[];
  /** Own verbs were refused: letters that they had taken out stand where they did. */
  readonly isRefused?: boolean;
}

/** Text that was not taken, kept for its author. */
export interface Draft {
  readonly id: string;
  readonly code: string;
  readonly text: string;
}

/**
 * `kept`: all that has a place is saved, and texts that have none are kept for the person, in so many
 * `places`. `edits`: how many of the person's verbs are not known to be on disk at a quorum; `places`: in how
 * many blocks, the title counted as one.
 */
export interface SaveState {
  readonly kind: "saved" | "kept" | "saving" | "offline";
  readonly edits: number;
  readonly places: number;
}

/** What the editor and the page need of a document. */
export interface DocumentModel {
  /** The outline is here. */
  readonly isLoaded: boolean;
  readonly value: DocumentValue;
  readonly drafts: readonly Draft[];
  readonly save: SaveState;
  /** Why nothing goes on any more, null as long as it does. */
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Does verbs of the person, all of which apply to `value`: seen at once, sent when it can be. */
  change(verbs: readonly Verb[]): void;
  /** Others' changes are told here. */
  onView: ((event: ViewEvent) => void) | null;
  /** Anything around the text has changed: `isLoaded`, `save`, `drafts`, `problem`. */
  onChange: (() => void) | null;
  /** Holds others' changes of this block back, null: of none. */
  hold(block: string | null): void;
  /** The blocks from this place to that one are in sight: opens them and some around them. */
  look(first: number, last: number): void;
  /** Opens a block that is in no sight, for example to write in it. */
  show(block: string): Promise<void>;
  discardDraft(id: string): void;
  /** What a block has gone through of late; undefined: it is not open here. */
  past(block: string): Past | undefined;
  /**
   * Has it asked for, if its block has left the document and is not open here. `isLost`: a letter is
   * waited for that was deleted there, and may be said to stand again.
   */
  askPast(block: string, isLost?: boolean): void;
  /** Where a text begins that came to a block in this parcel; null: that is not known. */
  arrived(parcel: string): readonly [into: string, version: number, at: number] | null;
  /** The person's verbs that the nodes' document has not, in their order. */
  readonly unconfirmed: readonly Step[];
}

/** A model as the page opens it. */
export interface OpenModel extends DocumentModel {
  /** Another one when the order of blocks is, or what is known of those from afar. */
  readonly outlineVersion: number;
  /** What must outlive the tab, as structured data; null: nothing. */
  stored(): unknown;
  /** Called when who may what has changed. */
  onRights?: (() => void) | null;
  close(): void;
}
