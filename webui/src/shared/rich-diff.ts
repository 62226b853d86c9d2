/** The edit that leads from one rich text to another: one piece of text, and marks around it. */

import {
  cutRich,
  type MarkPatch,
  type Marks,
  type MarkValue,
  marksOf,
  plainText,
  type Rich,
  RichBuilder,
  type RichDelta,
  sameMarks,
  textOf,
} from "./rich";
import { codePointLength, toCodePoints } from "./text";

/** What is equal in two texts: so many UTF-16 units at the start, and so many at the end. */
interface Ends {
  readonly ahead: number;
  readonly behind: number;
}

/** The smallest single piece that differs; with a caret, the one that ends there. */
function commonEnds(before: string, after: string, caret?: number): Ends {
  if (before === after) return { ahead: before.length, behind: 0 };
  const shorter = Math.min(before.length, after.length);
  const behindMax = caret === undefined ? shorter : Math.min(shorter, after.length - caret);
  let behind = 0;
  while (
    behind < behindMax &&
    before[before.length - 1 - behind] === after[after.length - 1 - behind]
  ) {
    behind += 1;
  }
  let ahead = 0;
  while (ahead < shorter - behind && before[ahead] === after[ahead]) ahead += 1;
  // Never cut a surrogate pair in two.
  if (ahead > 0 && /[\ud800-\udbff]/.test(before[ahead - 1] ?? "")) ahead -= 1;
  if (behind > 0 && /[\udc00-\udfff]/.test(before[before.length - behind] ?? "")) behind -= 1;
  return { ahead, behind };
}

/** The edit from one text to the other; `caret`, a UTF-16 offset, tells equal letters apart. */
export function diffRich(before: Rich, after: Rich, caret?: number): RichDelta {
  const old = plainText(before);
  const now = plainText(after);
  const ends = commonEnds(old, now, caret);
  const ahead = toCodePoints(old, ends.ahead);
  const oldEnd = toCodePoints(old, old.length - ends.behind);
  const nowEnd = toCodePoints(now, now.length - ends.behind);
  const builder = new RichBuilder();
  formats(builder, cutRich(before, 0, ahead), cutRich(after, 0, ahead));
  for (const run of cutRich(after, ahead, nowEnd)) builder.put(run);
  builder.delete(oldEnd - ahead);
  formats(builder, cutRich(before, oldEnd), cutRich(after, nowEnd));
  return builder.finish();
}

/**
 * What changes the marks of one text into those of the other; their letters are the same. Embeds
 * are one letter, and each is what it is: one is replaced by another one, not changed into it.
 */
function formats(builder: RichBuilder, before: Rich, after: Rich): void {
  let left = 0;
  let right = 0;
  let leftAt = 0;
  let rightAt = 0;
  for (;;) {
    const one = before[left];
    const two = after[right];
    if (one === undefined || two === undefined) return;
    const units = Math.min(textOf(one).length - leftAt, textOf(two).length - rightAt);
    const count = codePointLength(textOf(one).slice(leftAt, leftAt + units));
    if (marksOf(one).embed === marksOf(two).embed) {
      builder.retain(count, changesOf(marksOf(one), marksOf(two)));
    } else {
      builder.insert(textOf(two).slice(rightAt, rightAt + units), marksOf(two));
      builder.delete(count);
    }
    leftAt += units;
    rightAt += units;
    if (leftAt === textOf(one).length) [left, leftAt] = [left + 1, 0];
    if (rightAt === textOf(two).length) [right, rightAt] = [right + 1, 0];
  }
}

/** The change from these marks to those, by name. */
function changesOf(before: Marks, after: Marks): MarkPatch {
  const changes: Record<string, MarkValue | null> = {};
  if (sameMarks(before, after)) return changes;
  for (const name of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    if (before[name] !== after[name]) changes[name] = after[name] ?? null;
  }
  return changes;
}
