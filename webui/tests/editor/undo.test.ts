// @vitest-environment jsdom

/** Two people in two editors: what one of them does is told to the other at once. */

import { TextSelection } from "prosemirror-state";
import { afterEach, expect, test, vi } from "vitest";
import type { Rich, ShownBlock, Verb } from "../../src/document/types";
import { findBlock } from "../../src/editor/remote";
import { cellStart } from "../../src/editor/table-nodes";
import { loadTables } from "../../src/editor/tables";
import { plainText } from "../../src/shared/rich";
import { firstKeys, gridOf, tableOf } from "../../src/shared/table";
import { away, block, blocksOf, MemoryModel } from "../document-double";
import { type Bench, bench, cleared, key, select, type } from "./bench";
import { cut, paste as pasteFrom } from "./clipboard";

afterEach(() => {
  cleared();
  vi.restoreAllMocks();
});

/** So much time goes by that what follows is another edit. */
function pause(): void {
  const now = Date.now() + 1_000;
  vi.spyOn(Date, "now").mockReturnValue(now);
}

class Shared extends MemoryModel {
  other: Shared | null = null;

  override change(verbs: readonly Verb[]): void {
    super.change(verbs);
    this.other?.others(verbs);
  }
}

/** The editors of Ann and Bob. */
function pair(blocks: readonly ShownBlock[]): [Bench, Bench] {
  const models = [new Shared(blocks), new Shared(blocks)] as const;
  models[0].other = models[1];
  models[1].other = models[0];
  return [bench(models[0]), bench(models[1], true)];
}

const undo = ({ view }: Bench): void => key(view, "z", { ctrlKey: true });
const redo = ({ view }: Bench): void => key(view, "z", { ctrlKey: true, shiftKey: true });

const textsOf = ({ model }: Bench): string[] =>
  model.value.blocks.map(({ content }) => plainText(content ?? []));

/** Types at a place, as one step back of its own. */
function write({ view }: Bench, id: string, at: number, text: string, to = at): void {
  select(view, id, at, to);
  type(view, text);
}

function paste({ view }: Bench, text: string): void {
  view.pasteText(text, new Event("paste") as ClipboardEvent);
}

const idAt = ({ model }: Bench, index: number): string => model.value.blocks[index]?.id ?? "";

test("what another person has written into one's own words stays, in both editors", () => {
  const [ann, bob] = pair(blocksOf(""));
  write(ann, "b0", 0, "hello world");
  write(bob, "b0", 5, " dear");
  undo(ann);
  expect([textsOf(ann), textsOf(bob)]).toEqual([[" dear"], [" dear"]]);
  redo(ann);
  expect([textsOf(ann), textsOf(bob)]).toEqual([["hello dear world"], ["hello dear world"]]);
  undo(bob);
  expect(textsOf(ann)).toEqual(["hello world"]);
  redo(bob);
  undo(ann);
  expect(textsOf(bob)).toEqual([" dear"]);
});

test("words of one in words of another in one's own", () => {
  const [ann, bob] = pair(blocksOf(""));
  write(ann, "b0", 0, "aaaa");
  write(bob, "b0", 2, "bbbb");
  select(ann.view, "b0", 0);
  write(ann, "b0", 4, "AA");
  expect(textsOf(ann)).toEqual(["aabbAAbbaa"]);
  undo(bob);
  expect(textsOf(ann)).toEqual(["aaAAaa"]);
  undo(ann);
  expect(textsOf(ann)).toEqual(["aaaa"]);
  redo(bob);
  redo(ann);
  // Where hers stood between his, his came back in front of it.
  expect(textsOf(ann)).toEqual(["aabbbbAAaa"]);
});

test("what is deleted comes back to where it was, without what the other one has deleted of it", () => {
  const [ann, bob] = pair(blocksOf("one two three"));
  select(ann.view, "b0", 4, 8);
  key(ann.view, "Backspace");
  write(bob, "b0", 0, "zero ");
  undo(ann);
  expect(textsOf(bob)).toEqual(["zero one two three"]);
  const { $anchor, $head } = ann.view.state.selection;
  expect([$anchor.parentOffset, $head.parentOffset]).toEqual([9, 13]);
  select(bob.view, "b0", 9, 13);
  key(bob.view, "Backspace");
  redo(ann);
  undo(ann);
  expect(textsOf(bob)).toEqual(["zero one three"]);
});

test("letters that are typed one behind the other go at once, after a pause one by one", () => {
  const [ann] = pair(blocksOf(""));
  write(ann, "b0", 0, "one");
  pause();
  type(ann.view, " two");
  undo(ann);
  expect(textsOf(ann)).toEqual(["one"]);
  undo(ann);
  expect(textsOf(ann)).toEqual([""]);
  redo(ann);
  redo(ann);
  expect(textsOf(ann)).toEqual(["one two"]);
  redo(ann);
  write(ann, "b0", 0, "!");
  redo(ann);
  expect(textsOf(ann)).toEqual(["!one two"]);
});

test("Enter and Backspace across blocks, with words of the other one on both sides", () => {
  const [ann, bob] = pair(blocksOf("headtail", "last"));
  select(ann.view, "b0", 4);
  key(ann.view, "Enter");
  write(bob, "b0", 4, "-");
  write(bob, idAt(bob, 1), 0, "+");
  undo(ann);
  expect(textsOf(bob)).toEqual(["head-+tail", "last"]);
  redo(ann);
  expect(textsOf(bob)).toEqual(["head-", "+tail", "last"]);
  select(ann.view, "b1", 0);
  key(ann.view, "Backspace");
  write(bob, idAt(bob, 1), 5, "|");
  expect(textsOf(ann)).toEqual(["head-", "+tail|last"]);
  undo(ann);
  expect(textsOf(bob)).toEqual(["head-", "+tail|", "last"]);
});

test("a text stays divided when the other one has put a block between", () => {
  const [ann, bob] = pair(blocksOf("headtail"));
  select(ann.view, "b0", 4);
  key(ann.view, "Enter");
  bob.model.change([["insert", "b0", [{ id: "x", attributes: {}, content: ["between"] }]]]);
  undo(ann);
  expect(textsOf(bob)).toEqual(["head", "between", "tail"]);
});

test("a block that the other one has written in stays with that, an untouched one goes", () => {
  const [ann, bob] = pair(blocksOf("start"));
  select(ann.view, "b0", 5);
  paste(ann, " one\ntwo\nthree");
  expect(textsOf(bob)).toEqual(["start one", "two", "three"]);
  write(bob, idAt(bob, 1), 3, " (Bob)");
  undo(ann);
  expect(textsOf(bob)).toEqual(["start", " (Bob)"]);
  redo(ann);
  expect(textsOf(bob)).toEqual(["start one", "two (Bob)", "three"]);
});

test("blocks that were taken out come back as new ones, and older edits in them are found", () => {
  const [ann, bob] = pair(blocksOf("one", "two", "three"));
  write(ann, "b1", 3, " mine");
  pause();
  const { doc, tr } = ann.view.state;
  const { from = 0, node } = findBlock(doc, "b1") ?? {};
  ann.view.dispatch(tr.delete(from, from + (node?.nodeSize ?? 0)));
  bob.model.change([["move", ["b2"], ""]]);
  expect(textsOf(bob)).toEqual(["three", "one"]);
  undo(ann);
  expect(textsOf(bob)).toEqual(["three", "one", "two mine"]);
  expect(idAt(bob, 2)).toMatch(/^[A-Za-z0-9_-]{16}$/);
  undo(ann);
  expect(textsOf(bob)).toEqual(["three", "one", "two"]);
  redo(ann);
  redo(ann);
  expect(textsOf(bob)).toEqual(["three", "one"]);
});

test("marks and types go back only where they are still as one has set them", () => {
  const [ann, bob] = pair(blocksOf("one two"));
  select(ann.view, "b0", 0, 7);
  key(ann.view, "b", { ctrlKey: true });
  select(bob.view, "b0", 0, 3);
  key(bob.view, "b", { ctrlKey: true });
  write(bob, "b0", 5, "x");
  ann.editor.turnInto("heading-1");
  bob.editor.turnInto("quote");
  undo(ann);
  const [only] = ann.model.value.blocks;
  expect(only?.attributes.type).toBe("quote");
  expect(only?.content).toEqual(["one t", ["x", { bold: true }], "wo"]);
});

test("blocks that were moved go back, unless the other one has moved them since", () => {
  const [ann, bob] = pair(blocksOf("one", "two", "three"));
  select(ann.view, "b0", 0);
  key(ann.view, "ArrowDown", { altKey: true });
  bob.model.change([["insert", "", [{ id: "x", attributes: {}, content: ["x"] }]]]);
  undo(ann);
  expect(textsOf(bob)).toEqual(["x", "one", "two", "three"]);
  redo(ann);
  expect(textsOf(bob)).toEqual(["x", "two", "one", "three"]);
  bob.model.change([["move", ["b0"], "b2"]]);
  undo(ann);
  expect(textsOf(bob)).toEqual(["x", "two", "three", "one"]);
});

const rows = [
  { id: "r0", cells: [["a"], ["b"]] },
  { id: "r1", cells: [["c"], ["d"]] },
];
const table = () => block("t", tableOf({ columns: firstKeys(2), rows }), "table");
const cellsOf = (on: Bench): string[][] => {
  const content = on.model.value.blocks.find(({ id }) => id === "t")?.content as Rich;
  return gridOf(content).rows.map(({ cells }) => cells.map(plainText));
};

function into({ view }: Bench, row: number, column: number): void {
  const found = findBlock(view.state.doc, "t");
  if (found === null) throw new Error("there is no table");
  const at = found.from + cellStart(found.node, row, column);
  view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, at)));
}

test("a row of one's own stays with the words that the other one has written in it", async () => {
  await loadTables();
  const [ann, bob] = pair([block("b0", "x"), table()]);
  into(ann, 1, 0);
  type(ann.view, "mine");
  into(bob, 1, 0);
  type(bob.view, "his ");
  undo(ann);
  expect(cellsOf(bob)[1]).toEqual(["his c", "d"]);
  redo(ann);
  into(ann, 1, 0);
  ann.editor.runTable("rowBelow");
  into(bob, 2, 1);
  type(bob.view, "his");
  undo(ann);
  expect(cellsOf(bob)[2]).toEqual(["", "his"]);
  undo(bob);
  into(ann, 0, 0);
  ann.editor.runTable("columnRight");
  into(bob, 0, 1);
  type(bob.view, "his");
  undo(ann);
  expect(cellsOf(bob)[0]).toEqual(["a", "his", "b"]);
});

test("code, with what the other one has written in its lines", () => {
  const [ann, bob] = pair([block("b0", "a\nb", "code")]);
  select(ann.view, "b0", 0, 3);
  key(ann.view, "Tab");
  write(bob, "b0", 2, "+ 1");
  undo(ann);
  expect(textsOf(bob)).toEqual(["a+ 1\nb"]);
  redo(ann);
  expect(textsOf(bob)).toEqual(["\ta+ 1\n\tb"]);
});

test("what is not here is loaded before an edit in it is taken back", () => {
  const ann = bench(new MemoryModel(blocksOf("one", "two")));
  write(ann, "b1", 3, " mine");
  ann.model.others([["show", away("b1", 8)]]);
  undo(ann);
  expect([ann.model.shown, ann.told]).toEqual([["b1"], ["not loaded"]]);
  ann.model.others([["show", block("b1", "TWO mi-ne")]]);
  undo(ann);
  expect(textsOf(ann)).toEqual(["one", "TWO-"]);
});

test("all that is selected is deleted, and comes back, in a document that is empty meanwhile", () => {
  const [ann, bob] = pair(blocksOf("one", "two"));
  key(ann.view, "a", { ctrlKey: true });
  key(ann.view, "Backspace");
  expect(textsOf(bob).join("")).toBe("");
  undo(ann);
  expect(textsOf(bob)).toEqual(["one", "two"]);
  const empty = bench(new MemoryModel([]));
  type(empty.view, "a");
  undo(empty);
  expect(empty.view.state.doc.textContent).toBe("");
  redo(empty);
  expect(textsOf(empty)).toEqual(["a"]);
});

test("with Caps Lock on, the key of redo never takes back, and that of undo does", () => {
  const [ann] = pair(blocksOf(""));
  write(ann, "b0", 0, "mine");
  const capsRedo = { ctrlKey: true, shiftKey: true, keyCode: 90 };
  key(ann.view, "z", capsRedo);
  expect(textsOf(ann)).toEqual(["mine"]);
  key(ann.view, "Z", { ctrlKey: true, keyCode: 90 });
  expect(textsOf(ann)).toEqual([""]);
  key(ann.view, "z", capsRedo);
  expect(textsOf(ann)).toEqual(["mine"]);
});

test("the browser's own undo takes back as the keys do", () => {
  const [ann] = pair(blocksOf(""));
  write(ann, "b0", 0, "mine");
  const event = new InputEvent("beforeinput", { inputType: "historyUndo", cancelable: true });
  ann.view.dom.dispatchEvent(event);
  expect([event.defaultPrevented, textsOf(ann)]).toEqual([true, [""]]);
});

test("who may not write takes nothing back", () => {
  const [ann] = pair(blocksOf(""));
  write(ann, "b0", 0, "mine");
  ann.editor.setWritable(false);
  ann.editor.run("undo");
  expect(textsOf(ann)).toEqual(["mine"]);
});

/** The verbs by which it is said which letters stand again. */
const lettersOf = ({ model }: Bench): readonly Verb[] =>
  model.done.filter(([kind]) => kind === "letters");

test("undo says which letters stand again", () => {
  const ann = bench(new MemoryModel(blocksOf("one two three")));
  select(ann.view, "b0", 4, 8);
  key(ann.view, "Backspace");
  undo(ann);
  expect(textsOf(ann)).toEqual(["one two three"]);
  expect(lettersOf(ann)).toEqual([["letters", "b0", 0, 4, 4, "b0", 4, false]]);
});

test("undo of a deletion over several blocks says so to each of them", () => {
  const ann = bench(new MemoryModel(blocksOf("one two", "three", "four five")));
  const { doc, tr } = ann.view.state;
  const [from, to] = ["b0", "b2"].map((id) => (findBlock(doc, id)?.from ?? 0) + 5);
  ann.view.dispatch(tr.setSelection(TextSelection.create(doc, from ?? 0, to)));
  type(ann.view, "x");
  expect(textsOf(ann)).toEqual(["one x five"]);
  undo(ann);
  expect(textsOf(ann)).toEqual(["one two", "three", "four five"]);
  expect(lettersOf(ann)).toEqual([
    ["letters", "b0", 0, 4, 3, "b0", 4, false],
    ["letters", "b2", 0, 0, 4, idAt(ann, 2), 0, false],
    ["letters", "b1", 0, 0, 5, idAt(ann, 1), 0, false],
  ]);
});

test("cut and paste says which letters stand again, and undo of both that they are back", () => {
  const ann = bench(new MemoryModel(blocksOf("one two three", "four")));
  select(ann.view, "b0", 4, 8);
  const clipboard = cut(ann);
  select(ann.view, "b1", 0);
  pasteFrom(ann, clipboard);
  expect(textsOf(ann)).toEqual(["one three", "two four"]);
  const there = ["letters", "b0", 0, 4, 4, "b1", 0, false];
  expect(lettersOf(ann)).toEqual([there]);
  undo(ann);
  undo(ann);
  expect(textsOf(ann)).toEqual(["one two three", "four"]);
  expect(lettersOf(ann)).toEqual([there, ["letters", "b0", 0, 4, 4, "b0", 4, false]]);
  redo(ann);
  redo(ann);
  expect(textsOf(ann)).toEqual(["one three", "two four"]);
  expect(lettersOf(ann).at(-1)).toEqual(["letters", "b1", 1, 0, 4, "b1", 0, false]);
});
