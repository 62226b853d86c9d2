/** What the page of a place is told of it, and what it needs from around it. */

import type { Options, Session } from "../../client/session";
import type { ClientLocks } from "../../client-lock";
import type { SaveState } from "../../document/types";
import type { Upload, UploadParts } from "../../pictures/uploads";
import type { Thing } from "../../place/thing";
import type { Problem } from "../../problem";
import type { Store } from "../../store";
import type { Load } from "../pictures/album";
import type { Person } from "./others";
import type { Names } from "./talk";

export interface BoardState {
  readonly isLoaded: boolean;
  readonly title: string;
  readonly save: SaveState;
  /** The browser's store has what is not saved; null: it cannot have it. */
  readonly isKept: boolean | null;
  readonly waited_s: 0 | 3 | 10;
  readonly problem: Problem | null;
  readonly role: string | null;
  readonly mayWrite: boolean;
  readonly people: readonly Person[];
  readonly following: Person | null;
  /** Who asks to come. */
  readonly caller: Person | null;
  /** One has just asked the others. */
  readonly isCalling: boolean;
  readonly notice: string | null;
  /** Pictures on their way, and those that were not taken. */
  readonly uploads: readonly Upload[];
  /** What others did, to be said aloud. */
  readonly said: string;
  readonly condition: string;
  /** Remarks of others in the chat that the person has not read. */
  readonly unread: number;
}

export interface BoardParts {
  readonly session: (options: Pick<Options, "stored" | "kept" | "onState">) => Session;
  readonly store: Store | null;
  readonly locks: ClientLocks;
  /** Whose page this is; what was kept for another person is left alone. */
  readonly principal: string;
  /** Others have the same principal: guests, and who came by the same link. */
  readonly isShared?: boolean;
  /** Tells this browser's person from those others. */
  readonly voter?: string;
  /** The person wants nothing to move that need not. */
  readonly isCalm?: () => boolean;
  /** Goes to a path of this page, or opens another one in a tab of its own. */
  readonly go?: (to: string) => void;
  /** Opens the document of a card over the place. */
  readonly read?: (card: Thing) => void;
  readonly after: (delay_ms: number, act: () => void) => () => void;
  readonly now_ms: () => number;
  readonly role?: () => Promise<string>;
  /** What those are called who said something in the chat. */
  readonly names?: () => Promise<Names>;
  /** Takes a remark of somebody else away. */
  readonly removeRemark?: (id: string) => Promise<void>;
  readonly name: string;
  readonly changed: (state: BoardState) => void;
  /** The picture is another one. */
  readonly drawn: () => void;
  readonly write: (thing: Thing, isNew: boolean) => void;
  readonly pictures: Pick<UploadParts, "send" | "copy"> & { readonly load: Load };
}
