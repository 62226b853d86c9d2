/** What answers of the nodes mean for own verbs, and for their author. */

import {
  canonicalRich,
  isInsert,
  type Marks,
  type Rich,
  type RichDelta,
  type RichItem,
  richLength,
} from "../shared/rich";
import type { Own, OwnVerb } from "./carry";
import { type Blocks, hasCome, isBack, sourceOf } from "./parcels";

/** What has become of an edit; a run as values travel. */
export interface EditedResult {
  readonly version: number;
  readonly moved: readonly (readonly [string, number])[];
  readonly draft: readonly { text: string; marks: readonly (readonly [string, never])[] }[];
}

/** Codes of calls that were not done and never will be, and can be made anew. */
export const AGAIN = new Set(["base_too_old", "skipped", "abandoned"]);

/** Whether an edit writes on right where the other one has stopped writing. */
export function goesOn({ verb }: Own, { verb: before }: Own): boolean {
  if (verb[0] !== "edit" || before[0] !== "edit" || verb[1] !== before[1]) return false;
  return verb !== before && written(verb[2])[0] === written(before[2])[1];
}

/** Where an edit begins to write in the text before it, and where it stops in the text behind it. */
function written(delta: RichDelta): readonly [number, number] {
  let [first, last, before, behind] = [-1, -1, 0, 0];
  for (const item of delta) {
    if (isInsert(item)) {
      if (first < 0) first = before;
      behind += richLength([item]);
      last = behind;
    } else {
      const count = typeof item === "number" ? item : item[0];
      before += Math.abs(count);
      behind += Math.max(0, count);
    }
  }
  return [first, last];
}

/** Whether it is an edit, or a part of one. */
export function isEdit(own: Own): boolean {
  return own.verb[0] === "edit";
}

/** The own edit that the block had with this version. */
export function isPlaced(id: string, version: number): (own: Own) => boolean {
  return (own) =>
    own.call?.group === id && own.hop === "" && own.call.placed === version && isEdit(own);
}

/** The own edit that the block was asked for, and has with this version: or it has not said of it with which. */
export function isHere(id: string, version: number): (own: Own) => boolean {
  return (own) => {
    if (!isEdit(own) || own.call?.group !== id || own.parcel > 0) return false;
    return own.call.placed === version || own.call.placed === 0;
  };
}

/** Behind a snapshot of a block: whether an own edit is in it, or a join that was done is undone. */
export function isOver(own: Own, id: string, blocks: Blocks): boolean {
  const { call, hop, parcel, verb } = own;
  if (call === null) return false;
  if (hop === id && parcel > 0) return hasCome(own, blocks);
  if (call.group !== id || !call.isAnswered || hop !== "") return false;
  return verb[0] === "edit" || (verb[0] === "merge" && blocks.get(id)?.status === "open");
}

/** Whether it is a part that a block had sent, and has again. */
export function isBackIn(own: Own, id: string, blocks: Blocks): boolean {
  return sourceOf(own) === id && isBack(own, blocks);
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

/**
 * Own verbs, of which some put blocks behind the one that stands before them in `order` and is known;
 * null: none of them would be elsewhere.
 */
export function placedAnew(
  all: readonly Own[],
  isIt: (own: Own) => boolean,
  order: readonly string[],
  known: { has(id: string): boolean },
): Own[] | null {
  let isPut = false;
  const placed = all.map((own) => {
    const { verb } = own;
    if (!isIt(own) || (verb[0] !== "insert" && verb[0] !== "move")) return own;
    const ids = verb[0] === "insert" ? verb[2].map(({ id }) => id) : verb[1];
    const before = order.slice(0, Math.max(0, order.indexOf(ids[0] ?? "")));
    const after = before.findLast((id) => known.has(id) && !ids.includes(id)) ?? "";
    if (after === (verb[0] === "insert" ? verb[1] : verb[2])) return own;
    isPut = true;
    const moved: OwnVerb =
      verb[0] === "insert" ? ["insert", after, verb[2]] : ["move", verb[1], after];
    return { ...own, verb: moved, call: null };
  });
  return isPut ? placed : null;
}
