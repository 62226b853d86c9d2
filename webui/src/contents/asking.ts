/** What a node says of headings that are not here. */

import { ask, fields } from "../api";
import type { Told } from "./headings";

/** All headings of a document by their ids, and which version of them it is. */
export interface Answer {
  readonly version: string;
  readonly headings: ReadonlyMap<string, Told>;
}

/** The headings of a document; `known`, if they are the same still. */
export async function headingsAt(id: string, known: Answer | null): Promise<Answer> {
  const path = `/api/v1/documents/${encodeURIComponent(id)}/headings`;
  const { version, headings } = await ask(`${path}?known=${known?.version ?? ""}`);
  if (known !== null && version === known.version) return known;
  const list = Array.isArray(headings) ? headings.map(fields) : [];
  const told = list.map(({ id, level, text }): [string, Told] => [
    String(id),
    { level: Number(level ?? 1), text: String(text ?? "") },
  ]);
  return { version: String(version), headings: new Map(told) };
}
