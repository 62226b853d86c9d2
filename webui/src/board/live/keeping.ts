/**
 * What of a place outlives the tab: what was asked and has no end yet, with its calls; and while
 * there is no connection, what the place looks like, so that it is shown behind a reload.
 */

import type { StoredObject } from "../../client/object";
import type { CellState } from "../../place/state";
import type { WireOutline } from "../../place/wire";
import type { Wish } from "../model/own-changes";
import type { StoredErrand } from "./errands";

/** Plain values, for IndexedDB. */
export interface StoredPlace {
  /** Tells it from what is kept of a document. */
  readonly isPlace: true;
  readonly errands: readonly StoredErrand[];
  readonly cells: readonly (readonly [path: string, StoredObject])[];
  readonly place: StoredObject;
  /** What was said in the chat and has no answer yet. */
  readonly talk?: StoredObject;
  /** Another name that waits to be given. */
  readonly renamed: string | null;
  /** While there is no connection. Under this name the store writes it only when it is another one. */
  readonly outline?: readonly [Backdrop];
}

/** What the place looked like when the connection broke. */
export interface Backdrop {
  readonly outline: WireOutline;
  readonly cells: readonly (readonly [path: string, CellState])[];
}

/** An object of which no state is kept: the node tells it anew. */
export function stateless(stored: StoredObject): StoredObject {
  return { ...stored, birth: null, version: 0 };
}

/** What was taken hold of was held for a page that is gone: it is let go under the same number. */
export function withoutGrabs(stored: StoredObject): StoredObject {
  const waiting = stored.waiting.map(([n, calls]) => {
    const others = calls.map(([name, args]) => [name === "grab" ? "release" : name, args] as const);
    return [n, others] as const;
  });
  return { ...stored, waiting };
}

export function isStoredPlace(state: unknown): state is StoredPlace {
  return typeof state === "object" && state !== null && "isPlace" in state;
}

/** The things that a wish is about. */
export function thingsOf({ puts, edits, deletions, act }: Wish): string[] {
  const some = [...puts, ...edits, ...(act === undefined ? [] : [act])];
  return [...some.map(({ id }) => id), ...deletions.map(([id]) => id)];
}

/** How many things these are about. */
export function changedBy(errands: readonly { readonly wish: Wish }[]): number {
  return new Set(errands.flatMap(({ wish }) => thingsOf(wish))).size;
}
