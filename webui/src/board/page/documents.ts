/** The documents that a card can show. */

import { ask } from "../../api";
import { PLACE_ID } from "../model/settings";

export interface Listed {
  readonly id: string;
  readonly title: string;
}

const MOST = 10_000;

/** Those that the person may read, by title; ApiError. */
export async function readableDocuments(): Promise<Listed[]> {
  const { documents } = await ask("/api/v1/documents");
  const all = Array.isArray(documents) ? documents : [];
  const found = all.flatMap((one: unknown): Listed[] => {
    const { id, title } = (one ?? {}) as Record<string, unknown>;
    if (typeof id !== "string" || !PLACE_ID.test(id)) return [];
    return [{ id, title: typeof title === "string" ? title : "" }];
  });
  return found.slice(0, MOST);
}

/** Those whose names hold all of these words, in their order. */
export function named(all: readonly Listed[], words: string): Listed[] {
  const wanted = words.trim().toLocaleLowerCase().split(/\s+/);
  return all.filter(({ title }) => {
    const name = title.toLocaleLowerCase();
    return wanted.every((word) => name.includes(word));
  });
}
