// @vitest-environment jsdom

import type { EditorView } from "prosemirror-view";
import { afterEach, expect, test } from "vitest";
import type { Verb } from "../../src/document/types";
import { blockIdAt } from "../../src/editor/schema";
import { textPlace } from "../../src/editor/table-remote";
import { block, MemoryModel } from "../document-double";
import { bench, cleared, select } from "./bench";

afterEach(cleared);

/** Where the caret is, or the ends of what is selected. */
function ends({ state }: EditorView): string[] {
  const { $anchor, $head } = state.selection;
  return [$anchor, $head].map(($end) => `${blockIdAt($end)} ${textPlace($end)}`);
}

/** Where a selection in "some text" of b1 is behind what others do. */
function behind(anchor: number, head: number, ...verbs: readonly Verb[]): string[] {
  const texts = [block("b0", "first"), block("b1", "some text"), block("b2", "last")];
  const model = new MemoryModel(texts);
  const { view } = bench(model);
  select(view, "b1", anchor, head);
  for (const verb of verbs) model.others([verb]);
  return ends(view);
}

test("a caret stays left of what others insert at it", () => {
  expect(behind(4, 4, ["edit", "b1", [4, " more"]])).toEqual(["b1 4", "b1 4"]);
  expect(behind(0, 0, ["edit", "b1", ["so "]])).toEqual(["b1 0", "b1 0"]);
  expect(behind(4, 4, ["edit", "b1", ["so "]])).toEqual(["b1 7", "b1 7"]);
});

test("what is selected does not grow by what others insert at its ends, either way round", () => {
  const edit: Verb = ["edit", "b1", [2, "<", 4, ">"]];
  expect(behind(2, 6, edit)).toEqual(["b1 3", "b1 7"]);
  expect(behind(6, 2, edit)).toEqual(["b1 7", "b1 3"]);
  expect(behind(2, 6, ["edit", "b1", [3, "x"]])).toEqual(["b1 2", "b1 7"]);
});

test("each end of a selection follows its own letters over splits, joins and moves", () => {
  const split: Verb = ["split", "b1", 5, "n", { type: "paragraph" }];
  expect(behind(2, 7, split)).toEqual(["b1 2", "n 2"]);
  expect(behind(5, 5, split)).toEqual(["b1 5", "b1 5"]);
  expect(behind(7, 2, ["join", "b1", "b0"])).toEqual(["b0 12", "b0 7"]);
  expect(behind(2, 7, split, ["move", ["n"], "b2"])).toEqual(["b1 2", "n 2"]);
  expect(behind(2, 7, split, ["move", ["b1"], "b2"], ["move", ["n"], ""])).toEqual(["b1 2", "n 2"]);
  expect(behind(3, 3, ["join", "b1", "b2"])).toEqual(["b2 7", "b2 7"]);
  expect(behind(3, 3, split, ["join", "n", "b2"], ["join", "b1", "b2"])).toEqual([
    "b2 11",
    "b2 11",
  ]);
});

test("a caret stays where it is when its block becomes something else", () => {
  expect(behind(3, 3, ["set", "b1", { type: "heading", level: 2 }])).toEqual(["b1 3", "b1 3"]);
});

test("a caret whose block is removed stands in one that is there", () => {
  const [head] = behind(3, 3, ["remove", ["b1"]]);
  expect(head).toMatch(/^b[02] /);
});
