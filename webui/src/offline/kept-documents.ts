/** The documents with edits of a person that no node has taken, as far as this browser keeps any. */

import { placesOfAll } from "../document/save-state";
import type { StoredDocument } from "../document/storing";
import { everythingKept } from "../kept-list";
import type { Kept, KeptUpload } from "../store";

export interface KeptDocument {
  readonly id: string;
  /** As the person has it; empty: without one, or not known. */
  readonly title: string;
  /** So many blocks are changed, or pictures on their way. */
  readonly places: number;
  /** Whether the document can be shown from here: its outline, and the texts that were open. */
  readonly isShowable: boolean;
}

/** Throws where the store cannot be read. */
export async function keptDocuments(principal: string): Promise<KeptDocument[]> {
  const [kept, uploads] = await everythingKept(principal);
  const ids = new Set([...kept.filter(isUnsent), ...uploads].map(({ doc }) => doc));
  return [...ids].map((id) => documentOf(id, kept, uploads));
}

const storedIn = ({ state }: Kept): StoredDocument | null => state as StoredDocument | null;
const isUnsent = (kept: Kept): boolean => (storedIn(kept)?.own.length ?? 0) > 0;

function documentOf(
  id: string,
  kept: readonly Kept[],
  uploads: readonly KeptUpload[],
): KeptDocument {
  const found = kept.filter(({ doc }) => doc === id).flatMap((one) => storedIn(one) ?? []);
  const own = found.flatMap((stored) => stored.own);
  const pictures = uploads.filter(({ doc }) => doc === id).length;
  const renamed = own.findLast(({ verb }) => verb[0] === "rename")?.verb[1];
  const outlines = found.flatMap(({ outline }) => (outline === null ? [] : [outline[0]]));
  const title = typeof renamed === "string" ? renamed : (outlines[0]?.title ?? "");
  const places = placesOfAll(own).size + pictures;
  return { id, title, places, isShowable: outlines.length > 0 };
}
