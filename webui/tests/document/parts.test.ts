/** Parts of edits that went after their texts, and texts that have come back: where the words stand by now. */

import { expect, test } from "vitest";
import { Node } from "./node";

/** A page that shows these blocks. */
function shown(...texts: readonly (readonly [id: string, text: string])[]): Node {
  const node = new Node();
  node.outline(...texts);
  for (const [id, text] of texts) node.block(id, [text]);
  return node;
}

/** A page whose edit of a has gone after that text to b, as its parcel 2, and is on its way there. */
function sent(): Node {
  const node = shown(["a", "one"], ["b", "two"], ["d", "ten"]);
  node.model.change([["edit", "a", [3, "X"]]]);
  node.happens("a", "ann", "join", ["closed", 1, "b", 1]);
  const text = ["edited", 1, [3, "one"]];
  node.happens("b", "kim", "accept", text, ["received", "a", 1, "done", "", 0, true]);
  node.happens("a", "me", "edit");
  node.answers("a", 1, { version: 1, moved: [["b", 2]], draft: [] });
  return node;
}

/** The text of b was split off as c, and joined to b again: so the part went there and back. */
function goesRound(node: Node): void {
  node.happens("b", "kim", "accept", ["received", "a", 2, "done", "", 0, false, [["c", 3]]]);
  node.happens("b", "kim", "accept", ["edited", 2, [6, "X"]], ["received", "c", 2, "done", "", 0]);
}

const ROUND = [
  ["b", "twooneX"],
  ["d", "ten"],
];

test("a part that comes back from a block that is not open stands once (F9)", () => {
  const node = sent();
  node.inOneFrame(() => goesRound(node));
  expect(node.sent).toContainEqual({ t: "open", name: "doc/plan/c", type: "Block" });
  expect(node.texts).toEqual(ROUND);
  node.passedOn("c", [["b", 3, "b", 2]]);
  expect(node.texts).toEqual(ROUND);
  expect(node.model.stored()).toBeNull();
});

test("a part that is known to have come before it is known that it went there is done (F6)", () => {
  const node = sent();
  node.lose();
  node.goesOn("a");
  node.goesOn("d");
  goesRound(node);
  node.goesOn("b");
  node.goesOn("");
  node.passedOn("c", [["b", 3, "b", 2]]);
  expect(node.texts).toEqual(ROUND);
  expect(node.model.stored()).toBeNull();
});

/** What a page is shown as drafts when what was done to b behind the part's coming is told at once. */
function draftsBehind(...done: readonly (readonly unknown[])[]): readonly string[] {
  const node = sent();
  node.lose();
  node.goesOn("a");
  const part = ["edited", 2, [6, "X"]];
  node.happens("b", "kim", "accept", part, ["received", "a", 2, "done", "", 0]);
  for (const detail of done) node.happens("b", "ann", "call", detail);
  node.goesOn("b");
  node.happens(
    "d",
    "kim",
    "accept",
    ["edited", 1, [3, "twooneX"]],
    [...["received", "b", 1, "done", "", 0, true]],
  ); // prettier-ignore
  node.happens("d", "ann", "split", ["cut", 2, 4, "e", {}]);
  node.happens("d", "kim", "delete", ["closed", 3, null, 0]);
  node.goesOn("d");
  node.tells(["left", ["a", "b", "d"], false]);
  node.goesOn("");
  for (const id of ["c", "e"]) node.block(id, ["woon"]);
  return node.model.drafts.map(({ text }) => text);
}

test.each([
  ["deleted with their text", [["closed", 3, null, 0]], ["X"]],
  [
    "split off before",
    [
      ["cut", 3, 6, "c", {}],
      ["closed", 4, null, 0],
    ],
    [],
  ],
  [
    "behind a split",
    [
      ["cut", 3, 7, "c", {}],
      ["closed", 4, null, 0],
    ],
    ["X"],
  ],
  [
    "taken out before",
    [
      ["edited", 3, [5, -2]],
      ["closed", 4, null, 0],
    ],
    [],
  ],
  ["joined to a text and split off there", [["closed", 3, "d", 1]], []],
])(
  "words that came as a part, and were %s, are drafts only where they are deleted",
  (_, done, drafts) => {
    expect(draftsBehind(...done)).toEqual(drafts);
  },
); // prettier-ignore

test("a text that comes behind one that has come back stands behind that", () => {
  const node = shown(["a", "one"], ["b", "two"], ["s", "six"]);
  node.happens("a", "ann", "join", ["closed", 1, "b", 1]);
  node.lose();
  node.model.change([["edit", "s", [1, "X"]]]);
  node.happens("b", "kim", "accept", ["received", "a", 1, "refused", "", 0, true]);
  node.goesOn("b");
  node.happens("s", "ann", "join", ["closed", 1, "a", 1]);
  node.goesOn("s");
  node.blockBy(
    "a",
    ["oneABsi"],
    [["s", 1]],
    ["edit", [], "", 0, 0],
    ["edit", [3, "AB"], "", 0, 0],
    ["edit", [5, "six"], "s", 1, 0],
    ["cut", [], "c", 1, 7],
  );
  node.tells(["known", [["c", "paragraph", 1, true]]], ["placed", "a", ["c"]]);
  node.goesOn("");
  node.blockBy("c", ["x"], [["a", 1]]);
  expect(node.texts).toEqual([
    ["a", "oneABsXi"],
    ["c", "x"],
    ["b", "two"],
  ]);
});

test("words in a text that was empty when it was joined stand at the end", () => {
  const node = shown(["a", "one"], ["b", "two"]);
  node.lose();
  node.model.change([["edit", "b", [3, "X"]]]);
  node.happens("b", "ann", "edit", ["edited", 1, [-3]]);
  node.happens("b", "ann", "join", ["closed", 2, "a", 1]);
  node.goesOn("b");
  node.blockBy("a", ["one"], [["b", 1]], ["edit", [], "b", 1, 0]);
  node.tells(["left", ["b"], true]);
  node.goesOn("");
  expect(node.texts).toEqual([["a", "oneX"]]);
});
