/**
 * The kinds of change of a document, in the form in which they travel (docs/protocol-browser.md).
 *
 * A change is an array whose first element names its kind; a transaction is an array of changes
 * that are applied one after the other, all or none.
 */

import { composeDelta, type Delta, isDelta } from "../shared/delta";
import { isForbidden } from "../shared/text";

export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;
/** Attributes to set; null removes one. */
export type AttributePatch = Readonly<Record<string, AttributeValue | null>>;

export type TextChange = readonly ["text", block: string, delta: Delta];
export type InsertChange = readonly [
  "insert",
  block: string,
  after: string | null,
  attributes: Attributes,
  text: string,
];
export type DeleteChange = readonly ["delete", block: string, prev: string | null];
export type MoveChange = readonly [
  "move",
  block: string,
  after: string | null,
  prev: string | null,
];
export type SetChange = readonly ["set", block: string, attributes: AttributePatch];
export type SplitChange = readonly [
  "split",
  block: string,
  at: number,
  fresh: string,
  attributes: Attributes,
];
export type JoinChange = readonly [
  "join",
  block: string,
  into: string,
  offset: number,
  prev: string | null,
];
export type TitleChange = readonly ["title", text: string];

export type Change =
  | TextChange
  | InsertChange
  | DeleteChange
  | MoveChange
  | SetChange
  | SplitChange
  | JoinChange
  | TitleChange;
export type Transaction = readonly Change[];

/** Longest text that runs of edits are folded to, in UTF-16 units; a frame must hold it. */
export const INSERT_UNITS_MAX = 16_000;

/** Ids of the blocks that the change names; null stands for the start of the document. */
export function mentioned(change: Change): readonly (string | null)[] {
  switch (change[0]) {
    case "text":
    case "set":
      return [change[1]];
    case "insert":
    case "delete":
      return [change[1], change[2]];
    case "move":
      return [change[1], change[2], change[3]];
    case "split":
      return [change[1], change[3]];
    case "join":
      return [change[1], change[2], change[4]];
    case "title":
      return ["\0title"];
  }
}

/**
 * Appends changes, folding runs of edits of one text into one change.
 *
 * Only the last change is folded into, so the order of everything else stays as it was made.
 */
export function append(changes: readonly Change[], more: Transaction): Change[] {
  const result = [...changes];
  for (const change of more) {
    const last = result[result.length - 1];
    if (last?.[0] === "text" && change[0] === "text" && canFold(last, change)) {
      result.pop();
      const delta = composeDelta(last[2], change[2]);
      if (delta.length > 0) result.push(["text", last[1], delta]);
    } else if (last?.[0] === "title" && change[0] === "title") {
      result[result.length - 1] = change;
    } else {
      result.push(change);
    }
  }
  return result;
}

function canFold(one: TextChange, two: TextChange): boolean {
  return one[1] === two[1] && insertedUnits(one[2]) + insertedUnits(two[2]) <= INSERT_UNITS_MAX;
}

function insertedUnits(delta: Delta): number {
  let units = 0;
  for (const item of delta) if (typeof item === "string") units += item.length;
  return units;
}

const isId = (value: unknown): value is string =>
  typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value);
const isText = (value: unknown): value is string =>
  typeof value === "string" && !isForbidden(value);
const isPlace = (value: unknown): value is string | null => value === null || isId(value);
const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Whether a value from outside is a map of attributes; null only where `patch` is true. */
export function isAttributes(value: unknown, patch = false): value is Attributes {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every(
    (entry) =>
      typeof entry === "string" ||
      typeof entry === "boolean" ||
      (typeof entry === "number" && Number.isSafeInteger(entry)) ||
      (patch && entry === null),
  );
}

/** Whether a value from outside is a change of a known kind and form. */
export function isChange(value: unknown): value is Change {
  if (!Array.isArray(value)) return false;
  const [kind, one, two, three, four] = value as unknown[];
  switch (kind) {
    case "text":
      return value.length === 3 && isId(one) && isDelta(two);
    case "insert":
      return value.length === 5 && isId(one) && isPlace(two) && isAttributes(three) && isText(four);
    case "delete":
      return value.length === 3 && isId(one) && isPlace(two);
    case "move":
      return value.length === 4 && isId(one) && isPlace(two) && isPlace(three);
    case "set":
      return value.length === 3 && isId(one) && isAttributes(two, true);
    case "split":
      return value.length === 5 && isId(one) && isCount(two) && isId(three) && isAttributes(four);
    case "join":
      return value.length === 5 && isId(one) && isId(two) && isCount(three) && isPlace(four);
    case "title":
      return value.length === 2 && isText(one);
    default:
      return false;
  }
}
