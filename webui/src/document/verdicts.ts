/** What answers of the nodes mean for own verbs, and for their author. */

import { canonicalRich, type Marks, type Rich, type RichItem } from "../shared/rich";
import type { Own } from "./carry";

/** What has become of an edit; a run as values travel. */
export interface EditedResult {
  readonly version: number;
  readonly moved: readonly (readonly [string, number])[];
  readonly draft: readonly { text: string; marks: readonly (readonly [string, never])[] }[];
}

/** Codes of calls that were not done and never will be, and can be made anew. */
export const AGAIN = new Set(["base_too_old", "skipped", "abandoned"]);

/** Whether it is an edit, or a part of one. */
export function isEdit(own: Own): boolean {
  return own.verb[0] === "edit";
}

/** The own edit that this block was asked for, as far as its text is there. */
export function isHere(id: string): (own: Own) => boolean {
  return (own) => isEdit(own) && own.call?.group === id && own.hop === "";
}

/** The own verb that took these blocks out, if it was one. */
export function ownRemoval(ids: readonly string[]): (own: Own) => boolean {
  return ({ verb, call }) =>
    verb[0] === "remove" && call !== null && ids.every((id) => verb[1].includes(id));
}

/** The text of a result. */
export function richOf(runs: EditedResult["draft"]): Rich {
  return canonicalRich(
    runs.map(({ text, marks }): RichItem => [text, Object.fromEntries(marks) as Marks]),
  ) as Rich;
}
