import { Fragment, type Node } from "prosemirror-model";
import { expect, test } from "vitest";
import { changedChildren, indexBefore } from "../../src/editor/changed";
import { toDoc } from "../../src/editor/schema";
import { block } from "../document-double";

test("a block is known by where it stood, and a new one by where it has come from", () => {
  const blocks = ["a", "b", "c", "d", "e"].map((id) => block(id, id));
  const before = toDoc(blocks, "blank");
  const [first, second, third, ...rest] = before.children;
  const fresh = toDoc([block("f", "f"), block("g", "g")], "blank").children;
  // The third one has become two.
  const now = before.copy(Fragment.fromArray([first, second, ...fresh, ...rest] as Node[]));
  expect(third?.attrs.id).toBe("c");
  const changed = changedChildren(before, now);
  expect(changed).toMatchObject({ from: 2, oldTo: 3, newTo: 4 });
  expect([0, 1, 2, 3, 4, 5].map((index) => indexBefore(changed, index))).toEqual([
    0, 1, 2, 2, 3, 4,
  ]);
  const back = changedChildren(now, before);
  expect([0, 1, 2, 3, 4].map((index) => indexBefore(back, index))).toEqual([0, 1, 2, 4, 5]);
});
