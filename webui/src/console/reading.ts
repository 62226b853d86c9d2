/** Answers of the console's API, field by field: what is missing there is nothing here. */

import { ApiError, type Fields, fields, textOf } from "../api";
import { alsoKnown } from "../problem";
import { commonWords } from "../words/common";
import { faultWords } from "../words/faults";

alsoKnown(faultWords);

export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

/** Each of a list, read by `read`. */
export function each<T>(value: unknown, read: (one: Fields) => T): T[] {
  if (!Array.isArray(value)) throw new ApiError("bad_answer", commonWords.unreadable);
  return value.map((one) => read(fields(one)));
}

/** What is said by name, in the order of the names. */
export function entriesOf(value: unknown): [string, unknown][] {
  return Object.entries(fields(value)).sort(([one], [other]) => (one < other ? -1 : 1));
}
