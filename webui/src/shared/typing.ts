/**
 * Whether an edit extends what its writer wrote last, and where that ended (decision 202). Written for
 * rich texts; the edits of plain ones are such edits, too.
 */

import { isInsert, type RichDelta, richLength, span, transformRichPosition } from "./rich";

/** Behind what was written last, in the text as it is shown; null: nowhere. */
export type Typed = number | null;

/**
 * Whether an edit extends that: all that it inserts stands there, or in the place of letters around it.
 * Null: it inserts nothing. And where the writing ends behind the edit.
 */
export function extended(last: Typed, delta: RichDelta): readonly [boolean | null, Typed] {
  let [was, now, start] = [0, 0, 0];
  let extendsIt: boolean | null = null;
  let end: Typed = null;
  let isOpen = false; // what was inserted last is at `start` to `was`, and may take more letters out
  const isThere = (): boolean => last !== null && start <= last && last <= was;
  const close = (): void => {
    if (isOpen) extendsIt = extendsIt !== false && isThere();
    isOpen = false;
  };
  for (const item of delta) {
    if (isInsert(item)) {
      now += richLength([item]);
      [isOpen, end] = [true, now];
    } else if (typeof item === "number" && item < 0) was -= item;
    else {
      close();
      was += span(item);
      now += span(item);
      start = was;
    }
  }
  close();
  return [extendsIt, end ?? (last === null ? null : transformRichPosition(last, delta))];
}

/** Whether an edit may be one with another one ahead of it, which is not sent either. */
export function canGather(first: boolean | null, second: boolean | null): boolean {
  return first !== true || second !== false;
}
