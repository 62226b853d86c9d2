/** Texts that a block has passed on, as its own had gone: shown where they were until they have come. */

import { expect, test } from "vitest";
import { Node } from "./node";

const TEXTS = [
  ["s", "six"],
  ["x", "one"],
  ["y", "two"],
] as const;

/** A page that shows three blocks, of which it has these open. */
function shown(...open: readonly string[]): Node {
  const node = new Node();
  node.outline(...TEXTS);
  for (const [id, text] of TEXTS) if (open.includes(id)) node.block(id, [text]);
  return node;
}

const ON_ITS_WAY = [
  ["s", "six"],
  ["y", "twoone"],
];
const THERE = [["y", "twoonesix"]];

/** The text of x has come to y, that of s comes behind it. */
function come(node: Node, version: number): void {
  const text = ["edited", version, [6, "six"]];
  node.happens("y", "kim", "accept", text, ["received", "x", 2, "done", "", 0, true]);
}

test.each([
  ["before the block that has passed its text on", ["s", "x"]],
  ["behind it", ["x", "s"]],
])("a joined block that is opened %s is shown until its text has come", (_, order) => {
  const node = shown();
  for (const id of order) {
    if (id === "s") node.joined("s", ["six"], "x", 1);
    else node.joined("x", [], "y", 0, [["s", 1, "y", 2]]);
  }
  node.block("y", ["twoone"], [["x", 1]]);
  expect(node.texts).toEqual(ON_ITS_WAY);
  come(node, 1);
  expect(node.texts).toEqual(THERE);
});

test.each([true, false])(
  "a text is shown until it has come, whoever says first that it was passed on (its block: %s)",
  (isFirst) => {
    const node = shown("s", "x", "y");
    const closed = (): void => node.happens("s", "ann", "join", ["closed", 1, "x", 1]);
    if (isFirst) closed();
    node.happens("x", "bob", "join", ["closed", 1, "y", 1]);
    const text = ["edited", 1, [3, "one"]];
    node.happens("y", "kim", "accept", text, ["received", "x", 1, "done", "", 0, true]);
    node.happens("x", "kim", "accept", ["received", "s", 1, "done", "y", 2, true]);
    if (!isFirst) closed();
    expect(node.texts).toEqual(ON_ITS_WAY);
    node.happens("s", "kim", "handed", ["handed", "x", 1]);
    expect(node.texts).toEqual(ON_ITS_WAY);
    come(node, 2);
    expect(node.texts).toEqual(THERE);
  },
);

test("a page that is opened again knows which texts a block has passed on", () => {
  const before = shown("x", "y");
  before.happens("x", "bob", "join", ["closed", 1, "y", 1]);
  const one = ["edited", 1, [3, "one"]];
  before.happens("y", "kim", "accept", one, ["received", "x", 1, "done", "", 0, true]);
  before.happens("x", "kim", "accept", ["received", "s", 1, "done", "y", 2, true]);
  before.model.change([["edit", "y", ["!"]]]);
  const node = new Node(false, structuredClone(before.model.stored()));
  for (const id of ["", "x", "y"]) node.goesOn(id);
  node.joined("s", ["six"], "x", 1);
  expect(node.texts).toEqual([
    ["s", "six"],
    ["y", "twoone"],
  ]);
  expect(node.model.drafts.map(({ code, text }) => [code, text])).toEqual([
    ["outcome_unknown", "!"],
  ]);
  come(node, 2);
  expect(node.texts).toEqual(THERE);
});

test("words that wait for a text that was passed on come with it to where it goes", () => {
  const node = shown("x", "y");
  node.joined("x", ["one"], "y", 1, [["s", 1, "y", 2]]);
  node.block("s", ["six"]);
  node.model.change([["edit", "s", [3, "[X]"]]]);
  node.happens("s", "ann", "join", ["closed", 1, "x", 1]);
  node.happens("s", "me", "edit");
  node.answers("s", 1, { version: 1, moved: [["x", 2]], draft: [] });
  node.model.change([["edit", "s", [4, -1]]]);
  node.happens("x", "kim", "accept", ["received", "s", 2, "done", "", 0, false, [["y", 3]]]);
  expect(node.texts).toContainEqual(["s", "six[]"]);
  const text = ["edited", 1, [3, "one"]];
  node.happens("y", "kim", "accept", text, ["received", "x", 1, "done", "", 0, true]);
  come(node, 2);
  node.happens(
    "y",
    "kim",
    "accept",
    ["edited", 3, [9, "[X]"]],
    ["received", "x", 3, "done", "", 0],
  );
  expect(node.texts).toEqual([["y", "twoonesix[]"]]);
  expect(node.model.overlay.own.map(({ verb }) => verb)).toEqual([["edit", "y", [10, -1]]]);
});

test("a text that a block has passed on is not taken for its own, which has come back", () => {
  const node = new Node();
  node.outline(["x", "one"], ["y", "two"]);
  node.block("x", ["one"]);
  node.block("y", ["two"]);
  node.happens("x", "ann", "join", ["closed", 1, "y", 1]);
  node.happens("x", "kim", "accept", ["received", "s", 1, "done", "y", 2, true]);
  node.happens("y", "kim", "accept", ["received", "x", 1, "refused", "", 0, true]);
  node.happens("x", "kim", "take_back", ["opened", 1, ["one"], {}]);
  const text = ["edited", 1, [3, "six"]];
  node.happens("y", "kim", "accept", text, ["received", "x", 2, "done", "", 0, true]);
  expect(node.texts).toEqual([
    ["x", "one"],
    ["y", "twosix"],
  ]);
});

test("a part that came with a text is followed with that where it was passed on (F6)", () => {
  const node = shown("s", "x", "y");
  node.model.change([["edit", "y", [3, "[X]"]]]);
  node.happens("y", "ann", "join", ["closed", 1, "s", 1]);
  node.happens("y", "me", "edit");
  node.answers("y", 1, { version: 1, moved: [["s", 2]], draft: [] });
  node.happens("x", "bob", "join", ["closed", 1, "y", 1]);
  node.happens("y", "kim", "accept", ["received", "x", 1, "done", "s", 3, true]);
  node.inOneFrame(() => {
    const [text, part] = [[3, "two"] as const, [6, "[X]"] as const];
    node.happens("s", "kim", "a", ["edited", 1, text], ["received", "y", 1, "done", "", 0, true]);
    node.happens("s", "kim", "a", ["edited", 2, part], ["received", "y", 2, "done", "", 0]);
    node.happens("s", "ann", "join", ["closed", 3, "x", 1]);
  });
  // The text of x is refused by s, and is back in y; that of s comes behind it.
  node.happens("s", "kim", "accept", ["received", "y", 3, "refused", "", 0, true]);
  node.happens("x", "kim", "accept", ["received", "s", 1, "done", "y", 2, true]);
  node.tells(["left", ["x"], true]);
  const back = ["opened", 2, ["one"], {}, [], ["s", 3]];
  node.happens("y", "kim", "take_back", ["edited", 2, ["one"]], back);
  const text = ["edited", 3, [3, "sixtwo[X]"]];
  node.happens("y", "kim", "accept", text, ["received", "x", 2, "done", "", 0, true]);
  expect(node.texts).toEqual([["y", "onesixtwo[X]"]]);
  expect(node.model.drafts).toEqual([]);
  expect(node.model.stored()).toBeNull();
});
