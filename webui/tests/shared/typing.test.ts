/** Whether an edit extends what its writer wrote last, and where that ends then (decision 202). */

import { expect, test } from "vitest";
import type { RichDelta } from "../../src/shared/rich";
import { canGather, extended, type Typed } from "../../src/shared/typing";

const cases: [
  what: string,
  last: Typed,
  delta: RichDelta,
  isGoingOn: boolean | null,
  end: Typed,
][] = [
  ["the first letter of all", null, [3, "a"], false, 4],
  ["the next letter", 4, [4, "b"], true, 5],
  ["a letter elsewhere", 4, [1, "b"], false, 2],
  ["a letter with marks", 4, [4, ["b", { bold: true }]], true, 5],
  ["a word that an input method puts in the place of its letters", 4, [2, "äö", -2], true, 4],
  ["a replacement that ends before it", 4, [1, "äö", -2], false, 3],
  ["two places, one of them elsewhere", 4, ["x", 4, "b"], false, 6],
  ["the letter before is taken out", 4, [3, -1], null, 3],
  ["something behind is taken out", 4, [5, -1], null, 4],
  ["something before is taken out", 4, [-2], null, 2],
  ["a mark is set", 4, [[2, { bold: true }]], null, 4],
  ["nothing was written, and something is taken out", null, [-1], null, null],
];

test.each(cases)("%s", (_what, last, delta, isGoingOn, end) => {
  expect(extended(last, delta)).toEqual([isGoingOn, end]);
});

test("edits that wait are one, but for one that extends and one that begins elsewhere", () => {
  const all = [true, false, null];
  const apart = all.flatMap((first) => all.map((second) => [first, second]));
  expect(apart.filter(([one = null, two = null]) => !canGather(one, two))).toEqual([[true, false]]);
});
