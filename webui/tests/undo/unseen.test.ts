/** What others did to a text that one has taken out, before they knew: it is not brought back twice. */

import { expect, test } from "vitest";
import type { Verb } from "../../src/document/types";
import { History } from "../../src/undo/history";
import { Node } from "../document/node";

type Done = readonly unknown[];

/** What undo of having taken the block a out does, behind what others did to it; then their texts. */
function undone(before: readonly Done[], behind: readonly Done[]): readonly [unknown, unknown] {
  const node = new Node();
  node.outline(["b", "two"], ["a", "one four"]);
  node.block("b", ["two"]);
  node.block("a", ["one fou"]);
  node.model.change([["edit", "a", [7, "r"]]]); // so it stays open
  node.happens("a", "me", "edit", ["edited", 1, [7, "r"]]);
  node.answers("a", 1, { version: 1, moved: [], draft: [] });
  const history = new History();
  node.model.onView = (event) => history.others(event);
  const { blocks } = node.model.value;
  const verbs: Verb[] = [["remove", ["a"]]];
  history.own({ verbs, blocks, start: "", spots: null, time_ms: 0, isAlone: true });
  node.model.change(verbs);
  for (const detail of before) node.happens("a", "ann", "call", detail);
  node.tells(["left", ["a"], false]);
  for (const detail of behind) node.happens("a", "ann", "call", detail);
  node.happens("a", "kim", "delete", ["closed", 9, null, 0]);
  const texts = node.model.value.blocks.map(({ content }) => (content ?? []).join(""));
  const taken = history.take("undo", node.model.value.blocks, null);
  const [, , back] = taken?.verbs.find((verb) => verb[0] === "insert") ?? [];
  return [back?.map(({ content }) => content.join("")) ?? null, texts];
}

const cut = (version: number, at: number): Done => ["cut", version, at, "c", {}];

test.each([
  ["the end that was split off", [cut(2, 4)], ["one "], ["two", "four"]],
  [
    "what was split off with others' words in it",
    [["edited", 2, ["AB", 5, "C"]], cut(3, 6)],
    ["one "],
    ["two", "fCour"],
  ],
  [
    "a text that was split off as a whole",
    [["edited", 2, ["AB"]], cut(3, 2)],
    null,
    ["two", "one four"],
  ],
  ["letters that were taken out", [["edited", 2, [3, -5]]], ["one"], ["two"]],
  ["what others have written in it", [["edited", 2, [3, "AB"]]], ["one four"], ["two"]],
] as const)("undo does not bring back: %s", (_, done, back, texts) => {
  expect(undone(done, [])).toEqual([back, texts]);
  expect(undone([], done)).toEqual([back, texts]);
}); // prettier-ignore
