// @vitest-environment jsdom

/** Text that is cut and pasted, or moved by the pointer: which letters are said to stand again, and where. */

import { AllSelection, TextSelection } from "prosemirror-state";
import { afterEach, expect, test } from "vitest";
import type { ShownBlock, Verb } from "../../src/document/types";
import { findBlock } from "../../src/editor/remote";
import { cellStart } from "../../src/editor/table-nodes";
import { loadTables } from "../../src/editor/tables";
import { plainText } from "../../src/shared/rich";
import { firstKeys, tableOf } from "../../src/shared/table";
import { block, blocksOf, MemoryModel } from "../document-double";
import { type Bench, bench, cleared, key, select, type } from "./bench";
import { Clipboard, cut, happens, paste } from "./clipboard";

afterEach(cleared);

/** From a place in one block to a place in another one. */
function selectAcross({ view }: Bench, from: [string, number], to: [string, number]): void {
  const { doc, tr } = view.state;
  const [anchor, head] = [from, to].map(([id, at]) => (findBlock(doc, id)?.from ?? 0) + 1 + at);
  view.dispatch(tr.setSelection(TextSelection.create(doc, anchor ?? 0, head)));
}

const textsOf = ({ model }: Bench): string[] =>
  model.value.blocks.map(({ content }) => plainText(content ?? []));

const lettersOf = ({ model }: Bench): readonly Verb[] =>
  model.done.filter(([kind]) => kind === "letters");

const idAt = ({ model }: Bench, index: number): string => model.value.blocks[index]?.id ?? "";

/** Cuts "two " of "one two three". */
function begun(): [Bench, Clipboard] {
  const ann = bench(new MemoryModel(blocksOf("one two three", "four")));
  select(ann.view, "b0", 4, 8);
  const clipboard = cut(ann);
  expect(textsOf(ann)).toEqual(["one three", "four"]);
  return [ann, clipboard];
}

test("words that are cut and pasted are the same letters, behind the edit that brings them", () => {
  const [ann, clipboard] = begun();
  expect([clipboard.getData("text/plain"), lettersOf(ann)]).toEqual(["two ", []]);
  select(ann.view, "b1", 0);
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["one three", "two four"]);
  expect(ann.model.done.slice(-2)).toEqual([
    ["edit", "b1", ["two "]],
    ["letters", "b0", 0, 4, 4, "b1", 0, false],
  ]);
});

test("a part of a run, of which some was written since", () => {
  const [ann, clipboard] = begun();
  select(ann.view, "b1", 2);
  paste(ann, clipboard);
  // Behind what is pasted "fo[two ]ur" is cut from within: the block itself has these letters now.
  select(ann.view, "b1", 1, 5);
  const again = cut(ann);
  select(ann.view, "b0", 0);
  paste(ann, again);
  expect(textsOf(ann)).toEqual(["otwoone three", "f ur"]);
  expect(lettersOf(ann).at(-1)).toEqual(["letters", "b1", 1, 1, 4, "b0", 0, false]);
});

test("letters that the nodes do not have are left out, those around them are named", () => {
  const model = new MemoryModel(blocksOf("one two three", "four"));
  Object.assign(model, { unconfirmed: [["edit", "b0", [5, "NEW"]]] satisfies Verb[] });
  model.others([["edit", "b0", [5, "NEW"]]]);
  const ann = bench(model);
  select(ann.view, "b0", 4, 11);
  const clipboard = cut(ann);
  select(ann.view, "b1", 0);
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["one three", "tNEWwo four"]);
  expect(lettersOf(ann)).toEqual([
    ["letters", "b0", 1, 4, 1, "b1", 0, false],
    ["letters", "b0", 1, 5, 3, "b1", 4, false],
  ]);
});

test("several blocks: each is told where its letters stand, and takes its own out itself", () => {
  const ann = bench(new MemoryModel(blocksOf("one two", "three", "four five", "six")));
  selectAcross(ann, ["b0", 4], ["b2", 5]);
  const clipboard = cut(ann);
  expect(textsOf(ann)).toEqual(["one five", "six"]);
  expect(ann.model.done).toEqual([
    ["remove", ["b1"]],
    ["edit", "b0", [4, -3]],
    ["edit", "b2", [-5]],
    ["join", "b2", "b0"],
  ]);
  select(ann.view, "b3", 3);
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["one five", "sixtwo", "three", "four "]);
  expect(lettersOf(ann)).toEqual([
    ["letters", "b0", 0, 4, 3, "b3", 3, false],
    ["letters", "b1", 0, 0, 5, idAt(ann, 2), 0, true],
    ["letters", "b2", 0, 0, 5, idAt(ann, 3), 0, false],
  ]);
});

test("a whole block that is cut with those around it, and pasted into the middle of a text", () => {
  const ann = bench(new MemoryModel(blocksOf("one", "two", "three")));
  selectAcross(ann, ["b0", 0], ["b1", 3]);
  const clipboard = cut(ann);
  expect(textsOf(ann)).toEqual(["", "three"]);
  select(ann.view, "b2", 2);
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["", "thone", "tworee"]);
  expect(lettersOf(ann)).toEqual([
    ["letters", "b0", 0, 0, 3, "b2", 2, true],
    ["letters", "b1", 0, 0, 3, idAt(ann, 2), 0, true],
  ]);
});

test("pasted twice: the first one has the letters, the other is a copy", () => {
  const [ann, clipboard] = begun();
  select(ann.view, "b1", 0);
  paste(ann, clipboard);
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["one three", "two two four"]);
  expect(lettersOf(ann)).toEqual([["letters", "b0", 0, 4, 4, "b1", 0, false]]);
});

test("behind undo of the cut the letters are where they were, and what is pasted is a copy", () => {
  const [ann, clipboard] = begun();
  key(ann.view, "z", { ctrlKey: true });
  const back = ["letters", "b0", 0, 4, 4, "b0", 4, false];
  expect(lettersOf(ann)).toEqual([back]);
  select(ann.view, "b1", 0);
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["one two three", "two four"]);
  expect(lettersOf(ann)).toEqual([back]);
});

test("behind undo of something else they are named yet", () => {
  const [ann, clipboard] = begun();
  select(ann.view, "b1", 4);
  type(ann.view, "!");
  key(ann.view, "z", { ctrlKey: true });
  select(ann.view, "b1", 0);
  paste(ann, clipboard);
  expect(lettersOf(ann)).toEqual([["letters", "b0", 0, 4, 4, "b1", 0, false]]);
});

test("the same words from elsewhere are others", () => {
  const [ann, clipboard] = begun();
  const other = new Clipboard();
  other.setData("text/plain", "two ");
  other.setData("text/html", "<p data-groupcore-cut='0'>two </p>");
  select(ann.view, "b1", 0);
  paste(ann, other);
  other.setData("text/html", clipboard.getData("text/html").replace(/cut="./, 'cut="+'));
  paste(ann, other);
  expect(textsOf(ann)[1]).toBe("twotwo four");
  ann.view.pasteText("two ", new Event("paste") as ClipboardEvent);
  expect(lettersOf(ann)).toEqual([]);
});

test("what was copied is a copy, and so is what another document pastes", () => {
  const ann = bench(new MemoryModel(blocksOf("one two three", "four")));
  select(ann.view, "b0", 4, 8);
  const clipboard = new Clipboard();
  happens("copy", ann, clipboard);
  select(ann.view, "b1", 0);
  paste(ann, clipboard);
  expect([textsOf(ann)[1], lettersOf(ann)]).toEqual(["two four", []]);
  const [, cutOut] = begun();
  const other = bench(new MemoryModel(blocksOf("here")), true);
  select(other.view, "b0", 0);
  paste(other, cutOut);
  expect([textsOf(other), lettersOf(other)]).toEqual([["two here"], []]);
});

test("code takes words as they are, and lines as lines", () => {
  const all = [...blocksOf("one", "two"), block("c", "x", "code")];
  const ann = bench(new MemoryModel(all));
  selectAcross(ann, ["b0", 1], ["b1", 2]);
  const clipboard = cut(ann);
  select(ann.view, "c", 1);
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["oo", "xne\n\ntw"]);
  expect(lettersOf(ann)).toEqual([
    ["letters", "b0", 0, 1, 2, "c", 1, false],
    ["letters", "b1", 0, 0, 2, "c", 5, false],
  ]);
});

test("letters that stand beside each other in two texts, counted as all do", () => {
  const ann = bench(new MemoryModel(blocksOf("one 🌊🌊 three", "🌊four")));
  select(ann.view, "b0", 4, 9);
  const clipboard = cut(ann);
  select(ann.view, "b1", 2);
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["one three", "🌊🌊🌊 four"]);
  expect(lettersOf(ann)).toEqual([["letters", "b0", 0, 4, 3, "b1", 1, false]]);
});

test("all that is selected is cut, and pasted into the empty document", () => {
  const ann = bench(new MemoryModel(blocksOf("one", "two")));
  ann.view.dispatch(ann.view.state.tr.setSelection(new AllSelection(ann.view.state.doc)));
  const clipboard = cut(ann);
  expect(textsOf(ann).join("")).toBe("");
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["one", "two"]);
  expect(lettersOf(ann).map(([, from, , at, count]) => [from, at, count])).toEqual([
    ["b0", 0, 3],
    ["b1", 0, 3],
  ]);
});

/** Moves what is selected to a place, as ProseMirror does for the pointer. */
function drop({ view }: Bench, id: string, offset: number): void {
  const { state } = view;
  const slice = state.selection.content();
  const tr = state.tr.deleteSelection();
  const place = tr.mapping.map((findBlock(state.doc, id)?.from ?? 0) + 1 + offset);
  const { size } = tr.doc.content;
  tr.replaceRange(place, place, slice);
  const end = place + tr.doc.content.size - size;
  tr.setSelection(TextSelection.create(tr.doc, place, end)).setMeta("uiEvent", "drop");
  view.dispatch(tr);
}

test("words that the pointer moves are the same letters", () => {
  const ann = bench(new MemoryModel(blocksOf("one two three", "four")));
  select(ann.view, "b0", 4, 8);
  drop(ann, "b1", 0);
  expect(textsOf(ann)).toEqual(["one three", "two four"]);
  expect(lettersOf(ann)).toEqual([["letters", "b0", 0, 4, 4, "b1", 0, false]]);
  key(ann.view, "z", { ctrlKey: true });
  expect(textsOf(ann)).toEqual(["one two three", "four"]);
});

test("within a block they are taken out and put in, and what is between stays", () => {
  const ann = bench(new MemoryModel(blocksOf("one two three")));
  select(ann.view, "b0", 8, 13);
  drop(ann, "b0", 0);
  expect(textsOf(ann)).toEqual(["threeone two "]);
  expect(ann.model.done).toEqual([
    ["edit", "b0", [8, -5]],
    ["edit", "b0", ["three"]],
    ["letters", "b0", 0, 8, 5, "b0", 0, false],
  ]);
});

test("the pointer moves words of several blocks", () => {
  const ann = bench(new MemoryModel(blocksOf("one two", "three four", "five")));
  selectAcross(ann, ["b0", 4], ["b1", 6]);
  drop(ann, "b2", 0);
  expect(textsOf(ann)).toEqual(["one four", "two", "three five"]);
  expect(ann.model.done.slice(0, 3)).toEqual([
    ["edit", "b0", [4, -3]],
    ["edit", "b1", [-6]],
    ["join", "b1", "b0"],
  ]);
  expect(lettersOf(ann).map(([, from, , at, count]) => [from, at, count])).toEqual([
    ["b0", 4, 3],
    ["b1", 0, 6],
  ]);
});

test("words of a cell, and what is pasted into one", async () => {
  await loadTables();
  const rows = [{ id: "r0", cells: [["one two"], ["b"]] }];
  const ann = bench(
    new MemoryModel([
      block("t", tableOf({ columns: firstKeys(2), rows }), "table"),
      block("b0", "x"),
    ]),
  );
  const { doc, tr } = ann.view.state;
  const start = (findBlock(doc, "t")?.from ?? 0) + cellStart(doc.child(0), 0, 0);
  const { length } = ann.model.value.blocks[0] as ShownBlock;
  ann.view.dispatch(tr.setSelection(TextSelection.create(doc, start + 4, start + 7)));
  const clipboard = cut(ann);
  select(ann.view, "b0", 1);
  paste(ann, clipboard);
  expect(textsOf(ann)[1]).toBe("xtwo");
  const [letters] = lettersOf(ann);
  expect(letters?.slice(4)).toEqual([3, "b0", 1, false]);
  const at = Number(letters?.[3]);
  expect(at).toBeLessThan(length);
  select(ann.view, "b0", 0, 1);
  const again = cut(ann);
  const now = ann.view.state;
  const into = (findBlock(now.doc, "t")?.from ?? 0) + cellStart(now.doc.child(0), 0, 0);
  ann.view.dispatch(now.tr.setSelection(TextSelection.create(now.doc, into)));
  paste(ann, again);
  expect(lettersOf(ann).at(-1)).toEqual(["letters", "b0", 1, 0, 1, "t", at - 4, false]);
});
