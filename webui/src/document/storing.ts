/** What of a document outlives the tab: verbs that are not confirmed, and what shows them. */

import type { StoredObject } from "../client/object";
import type { BlockObject, BlockState } from "./block";
import type { Own, OwnCall } from "./carry";
import type { Chased } from "./chasing";
import type { Confirmed } from "./confirmed";
import type { Follower } from "./following";
import type { OutlineDetail, OutlineState } from "./outline";
import type { Adrift, Overlay } from "./overlay";
import { neededBy } from "./own";
import type { Draft, ShownBlock } from "./types";

/** Plain values, for IndexedDB; `client`: whose calls these are. */
export interface StoredDocument {
  readonly client: string;
  readonly author: string;
  readonly drafts: readonly Draft[];
  /** `later`: what has happened since it was this state; pages of before have kept none. */
  readonly outline: readonly [OutlineState, StoredObject, later?: readonly OutlineDetail[]] | null;
  readonly blocks: readonly (readonly [string, BlockState, StoredObject])[];
  readonly born: readonly ShownBlock[];
  readonly own: readonly (Omit<Own, "call"> & { readonly call: number })[];
  readonly calls: readonly OwnCall[];
  /** Edits that have lost their text here, and are not answered. */
  readonly textless: readonly (readonly [string, OwnCall])[];
  /** Edits for texts of which only the block knows that had them; of before: none. */
  readonly adrift?: readonly Adrift[];
  /** Parts of edits that have gone from block to block, and are not known to have come anywhere. */
  readonly chased?: readonly Chased[];
}

/** What waits beside the verbs. */
type Waiting = Required<Pick<StoredDocument, "textless" | "adrift" | "chased">>;

/**
 * The blocks that what is not confirmed rests on, which are few: they are written with every key. All
 * while texts go from one to another, as what is shown of one then depends on another, and `isAll`.
 */
function restedOn(
  overlay: Overlay,
  { blocks }: Confirmed,
  isAll: boolean,
): [string, BlockObject][] {
  const all = [...blocks];
  const needed = neededBy(overlay.own);
  const isWhole = isAll || all.some(([, block]) => block.isGiving);
  return all.filter(([id, block]) => isWhole || needed.has(id) || block.isOwing);
}

/** `isOffline`: one may read and write for long in what is open here, also behind a reload. */
export function keep(
  client: string,
  author: string,
  drafts: readonly Draft[],
  overlay: Overlay,
  confirmed: Confirmed,
  { textless, adrift, chased }: Waiting,
  isOffline: boolean,
): StoredDocument {
  const waiting = [overlay.own, textless, adrift, chased];
  if (waiting.every(({ length }) => length === 0)) {
    const nothing = { outline: null, blocks: [], born: [], own: [], calls: [], textless: [] };
    return { client, author, drafts, ...nothing };
  }
  const { outline } = confirmed;
  const [state, later] = outline.kept;
  const calls = [...new Set(overlay.own.flatMap(({ call }) => call ?? []))];
  return {
    client,
    author,
    drafts,
    outline: [state, outline.stored, later],
    blocks: restedOn(overlay, confirmed, isOffline)
      .map(([id, block]) => [id, block.state, block.stored] as const)
      .filter(([, , { birth }]) => birth !== null),
    born: [...confirmed.born.values()],
    own: overlay.own.map((own) => ({
      ...own,
      call: own.call === null ? -1 : calls.indexOf(own.call),
    })),
    calls: calls.map((call) => ({ ...call })),
    textless: textless.map(([key, call]) => [key, { ...call }]),
    adrift,
    chased,
  };
}

/** Goes on with the verbs of a page before; what another client has sent may have been done. */
export function takeUp(
  stored: StoredDocument,
  overlay: Overlay,
  follower: Follower,
  client: string,
): void {
  const calls = stored.calls.map((call) => ({ ...call }));
  overlay.own = stored.own.map((own) => ({ ...own, call: calls[own.call] ?? null }));
  follower.adrift.all = stored.adrift ?? [];
  follower.chases.all = stored.chased ?? [];
  for (const [key, call] of stored.textless) follower.calls.set(key, { ...call });
  if (stored.client !== client) follower.refuseSent();
}

/** The calls of a page before; what another client has called cannot be sent again. */
export function callsOf(stored: StoredObject, isOwn: boolean): StoredObject {
  return isOwn ? stored : { ...stored, last: 0, saved: 0, waiting: [] };
}
