/** The documents and places with edits of a person that no node has taken, as far as this browser keeps any. */

import { changedBy, isStoredPlace, type StoredPlace } from "../board/live/keeping";
import { placesOfAll } from "../document/save-state";
import type { StoredDocument } from "../document/storing";
import { everythingKept } from "../kept-list";
import type { Kept, KeptUpload } from "../store";

export interface KeptDocument {
  readonly id: string;
  readonly isPlace: boolean;
  /** As the person has it; empty: without one, or not known. */
  readonly title: string;
  /** So many blocks or things are changed, or pictures on their way. */
  readonly places: number;
  /** Whether it can be shown from here: its outline, and the texts or things that were open. */
  readonly isShowable: boolean;
}

/** Throws where the store cannot be read. */
export async function keptDocuments(principal: string): Promise<KeptDocument[]> {
  const [kept, uploads] = await everythingKept(principal);
  const ids = new Set([...kept.filter(isUnsent), ...uploads].map(({ doc }) => doc));
  return [...ids].map((id) => documentOf(id, kept, uploads));
}

const storedIn = ({ state }: Kept): StoredDocument | null => state as StoredDocument | null;
const isUnsent = (kept: Kept): boolean =>
  isStoredPlace(kept.state) || (storedIn(kept)?.own.length ?? 0) > 0;

function documentOf(
  id: string,
  kept: readonly Kept[],
  uploads: readonly KeptUpload[],
): KeptDocument {
  const here = kept.filter(({ doc }) => doc === id);
  const pictures = uploads.filter(({ doc }) => doc === id).length;
  const places = here.flatMap(({ state }) => (isStoredPlace(state) ? [state] : []));
  if (places.length > 0) return placeOf(id, places, pictures);
  const found = here.flatMap((one) => storedIn(one) ?? []);
  const own = found.flatMap((stored) => stored.own);
  const renamed = own.findLast(({ verb }) => verb[0] === "rename")?.verb[1];
  const outlines = found.flatMap(({ outline }) => (outline === null ? [] : [outline[0]]));
  const title = typeof renamed === "string" ? renamed : (outlines[0]?.title ?? "");
  const changed = placesOfAll(own).size + pictures;
  return { id, isPlace: false, title, places: changed, isShowable: outlines.length > 0 };
}

function placeOf(id: string, kept: readonly StoredPlace[], pictures: number): KeptDocument {
  const backdrops = kept.flatMap(({ outline }) => outline ?? []);
  const renamed = kept.flatMap((one) => one.renamed ?? []);
  const title = renamed[0] ?? backdrops[0]?.outline.title ?? "";
  const places = kept.reduce(
    (sum, { errands, talk }) => sum + changedBy(errands) + (talk?.waiting.length ?? 0),
    renamed.length + pictures,
  );
  return { id, isPlace: true, title, places, isShowable: backdrops.length > 0 };
}
