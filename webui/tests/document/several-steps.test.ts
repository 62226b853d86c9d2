/** A step that confirms an own verb may be several behind the own verbs before it: all of them are carried on. */

import { expect, test } from "vitest";
import { Node } from "./node";

function shown(): Node {
  const node = new Node();
  const texts = [
    ["s", "six"],
    ["x", "one"],
    ["y", "two"],
  ] as const; // prettier-ignore
  node.outline(...texts);
  for (const [id, text] of texts) node.block(id, [text]);
  return node;
}

test("what is written behind a joined text stays behind it, where an own split parts that from it", () => {
  const node = shown();
  node.model.change([["join", "s", "x"]]);
  node.model.change([["split", "y", 2, "f", {}]]);
  node.model.change([["edit", "x", [6, "X"]]]); // onesixX, not sent yet
  node.happens("x", "ann", "join", ["closed", 1, "y", 1]);
  node.happens("s", "me", "join", ["closed", 1, "x", 1]);
  node.answers("s", 1, true);
  node.happens("x", "kim", "accept", ["received", "s", 1, "done", "y", 2, true]);
  const one = ["received", "x", 1, "done", "", 0, true];
  node.happens("y", "kim", "accept", ["edited", 1, [3, "one"]], one);
  node.happens("y", "me", "split", ["cut", 2, 2, "f", {}]);
  expect(node.texts).toEqual([
    ["y", "twsixX"],
    ["f", "oone"],
  ]); // prettier-ignore
  expect(node.model.drafts).toEqual([]);
});

test("words in a text that others have joined the other way round stay in it", () => {
  const node = shown();
  node.model.change([["edit", "s", [3, "!"]]]);
  node.model.change([["join", "s", "x"]]); // not sent yet
  node.model.change([["join", "x", "y"]]);
  node.model.change([["edit", "y", [7, "X"]]]); // twoonesXix!
  node.happens("x", "ann", "join", ["closed", 1, "s", 1]);
  const one = ["received", "x", 1, "done", "", 0, true];
  node.happens("s", "kim", "accept", ["edited", 1, [3, "one"]], one);
  expect(node.texts).toEqual([
    ["s", "sXix!one"],
    ["y", "two"],
  ]); // prettier-ignore
  expect(node.model.drafts).toEqual([]);
});

test("what is split off where a joined text begins goes with that, where the join is taken back", () => {
  const node = new Node();
  const texts = [
    ["a", ""],
    ["b", "two"],
    ["c", "six"],
  ] as const; // prettier-ignore
  node.outline(...texts);
  for (const [id, text] of texts) node.block(id, text === "" ? [] : [text]);
  node.model.change([["edit", "c", ["Y"]]]);
  node.happens("c", "me", "edit", ["edited", 1, ["Y"]]);
  node.answers("c", 1, { version: 1, moved: [], draft: [] });
  node.model.change([["join", "b", "a"]]);
  node.model.change([["split", "a", 0, "f", {}]]);
  node.model.change([["edit", "f", ["X"]]]); // not sent yet: f is Xtwo
  node.model.change([["remove", ["c"]]]);
  node.inOneFrame(() => {
    node.happens("a", "ann", "join", ["closed", 1, "c", 1]);
    node.tells(["left", ["c"], false]);
    node.happens("b", "me", "join", ["closed", 1, "a", 1]);
    node.answers("b", 1, true);
    const one = ["received", "a", 1, "done", "", 0, true];
    node.happens("c", "kim", "accept", ["edited", 2, []], one);
    node.happens("c", "kim", "delete", ["closed", 3, null, 0]);
    node.happens("a", "kim", "accept", ["received", "b", 1, "done", "c", 2, true]);
  });
  expect(node.texts).toEqual([["b"], ["f", "Xtwo"]]);
  expect(node.model.unconfirmed).toContainEqual(["edit", "f", ["X"]]);
});
