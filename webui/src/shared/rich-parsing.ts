/** Rich texts and deltas from outside: strict, and within limits, as the node takes them. */

import {
  baseLength,
  canonicalRich,
  EMBED,
  insertedText,
  isInsert,
  type Rich,
  type RichDelta,
  type RichItem,
  richLength,
  sameRich,
} from "./rich";
import { codePointLength, isForbidden } from "./text";

export const RICH_MAX = 100_000;
const ITEMS_MAX = 20_000;
const MARKS_MAX = 20;
const VALUE_MAX = 2_000;
const NAME = /^[a-z][a-z0-9_.-]{0,31}$/;
const ID = /^[A-Za-z0-9_-]{1,64}$/;
const LINK = /^(?:https?:\/\/|mailto:|tel:|[/#])\S+$/i;

/** Whether the value is a canonical delta that a node takes; `textMax` in code points. */
export function isRichDelta(value: unknown, textMax = RICH_MAX): value is RichDelta {
  if (!Array.isArray(value) || value.length > ITEMS_MAX || !value.every(isItem)) return false;
  const delta = value as RichDelta;
  if (!sameRich(canonicalRich(delta), delta)) return false;
  return richLength(insertedText(delta)) <= textMax && baseLength(delta) <= textMax;
}

/** Whether the value is a rich text that a node takes. */
export function isRich(value: unknown, textMax = RICH_MAX): value is Rich {
  return isRichDelta(value, textMax) && value.every(isInsert);
}

function isItem(value: unknown): value is RichItem {
  if (typeof value === "number") return Number.isSafeInteger(value) && value !== 0;
  if (typeof value === "string") return isText(value);
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [what, marks] = value as unknown[];
  if (typeof what === "string") {
    if (!isText(what) || !areMarks(marks, false)) return false;
    return !Object.hasOwn(marks as object, "embed") || what.replaceAll(EMBED, "") === "";
  }
  if (typeof what !== "number" || !Number.isSafeInteger(what) || what <= 0) return false;
  return areMarks(marks, true) && !Object.hasOwn(marks as object, "embed");
}

function isText(value: string): boolean {
  return value !== "" && !isForbidden(value);
}

function areMarks(value: unknown, mayRemove: boolean): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const marks = Object.entries(value);
  if (marks.length === 0 || marks.length > MARKS_MAX) return false;
  return marks.every(
    ([name, mark]) => NAME.test(name) && ((mayRemove && mark === null) || isValue(name, mark)),
  );
}

function isValue(name: string, value: unknown): boolean {
  if (name === "embed") return typeof value === "string" && ID.test(value);
  if (name === "link" && !(typeof value === "string" && LINK.test(value))) return false;
  if (typeof value === "string") return !isForbidden(value) && codePointLength(value) <= VALUE_MAX;
  return typeof value === "boolean" || (typeof value === "number" && Number.isSafeInteger(value));
}
