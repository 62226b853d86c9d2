// @vitest-environment jsdom

import type { EditorView } from "prosemirror-view";
import { afterEach, expect, test } from "vitest";
import { DocumentEditor } from "../../src/editor/editor";
import { loadDrawing } from "../../src/editor/people";
import type { Person } from "../../src/people";
import { block, MemoryModel } from "../document-double";
import { cleared, bench as seat, select, type } from "./bench";

// It is here at once, as it is behind the first moment in a browser.
await loadDrawing();

let open: DocumentEditor | null = null;
afterEach(() => {
  open?.destroy();
  open = null;
  cleared();
});

function bench(count: number) {
  const model = new MemoryModel(
    Array.from({ length: count }, (_, place) => block(`b${place}`, "some text")),
  );
  const host = document.body.appendChild(document.createElement("div"));
  const nothing = (): void => undefined;
  open = new DocumentEditor(host, model, {
    edited: nothing,
    caretMoved: nothing,
    viewed: nothing,
    surroundings: nothing,
    linkWanted: nothing,
    notLoaded: nothing,
    offered: nothing,
    found: nothing,
  });
  const { view, carets } = open as unknown as {
    view: EditorView;
    carets: { look(first: number, last: number): void };
  };
  return { model, editor: open, view, carets };
}

const person = (who: string, block: string | null, head = 1): Person => ({
  who,
  name: who,
  block,
  anchor: head,
  head,
  view: null,
  isIdle: false,
  calls: 0,
});

const carets = (view: EditorView): string[] =>
  [...view.dom.querySelectorAll<HTMLElement>(".remote-caret")].map(
    (caret) =>
      `${caret.dataset.name} ${caret.closest<HTMLElement>("[data-block-id]")?.dataset.blockId}`,
  );

test("of a long document only carets in and near the sight are drawn", () => {
  const { editor, view, carets: drawing } = bench(500);
  drawing.look(100, 110);
  editor.showPeople([person("Ann", "b105"), person("Bob", "b400"), person("Cy", null)]);
  expect(carets(view)).toEqual(["Ann b105"]);
  drawing.look(390, 410);
  expect(carets(view)).toEqual(["Bob b400"]);
});

const selected = (view: EditorView): string[] =>
  [...view.dom.querySelectorAll<HTMLElement>(".remote-selection")].map(
    (part) =>
      `${part.closest<HTMLElement>("[data-block-id]")?.dataset.blockId} ${part.textContent}`,
  );

test("what others have selected over several blocks is drawn in all of them, either way", () => {
  const { editor, view } = bench(5);
  const ann = { ...person("Ann", "b3", 2), anchor: 5, start: "b1" };
  editor.showPeople([ann]);
  expect(selected(view)).toEqual(["b1 text", "b2 some text", "b3 so"]);
  expect(carets(view)).toEqual(["Ann b3"]);
  editor.showPeople([{ ...person("Ann", "b1", 5), anchor: 2, start: "b3" }]);
  expect(selected(view)).toEqual(["b1 text", "b2 some text", "b3 so"]);
  editor.showPeople([{ ...ann, start: "gone" }]);
  expect([selected(view), carets(view)]).toEqual([[], ["Ann b3"]]);
});

test("of what is selected in a long document only the part near the sight is drawn", () => {
  const { editor, view, carets: drawing } = bench(500);
  drawing.look(100, 110);
  editor.showPeople([{ ...person("Ann", "b105", 1), anchor: 1, start: "b5" }]);
  expect(selected(view).length).toBe(26);
  editor.showPeople([{ ...person("Ann", "b105", 1), anchor: 1, start: "b400" }]);
  expect(selected(view).length).toBe(26);
});

test("who moves out of sight costs the editor nothing", () => {
  const { editor, view, carets: drawing } = bench(500);
  drawing.look(100, 110);
  const near = person("Ann", "b105");
  editor.showPeople([near, person("Bob", "b400")]);
  const { state } = view;
  editor.showPeople([near, person("Bob", "b401", 2), person("Cy", null)]);
  expect(view.state).toBe(state);
  editor.showPeople([person("Ann", "b105", 3)]);
  expect(view.state).not.toBe(state);
});

test("a caret is drawn anew in a block that was put in anew, and goes along with the text", () => {
  const { editor, model, view } = bench(3);
  editor.showPeople([person("Ann", "b1", 4)]);
  model.others([["edit", "b1", ["so ", 9]]]);
  expect(carets(view)).toEqual(["Ann b1"]);
  model.others([["remove", ["b1"]]]);
  expect(carets(view)).toEqual([]);
  model.others([["insert", "b0", [{ id: "b1", attributes: {}, content: ["new text"] }]]]);
  expect(carets(view)).toEqual(["Ann b1"]);
});

test("who shows no other place stays where the text has brought them, whoever else moves", () => {
  const { editor, model, view } = bench(3);
  const before = (name: string): string => {
    const caret = view.dom.querySelector(`.remote-caret[data-name=${name}]`);
    const [line] = [...view.dom.querySelectorAll("[data-block-id=b1]")];
    const range = document.createRange();
    if (line === undefined || caret === null) return "nowhere";
    range.setStart(line, 0);
    range.setEndBefore(caret);
    return range.toString();
  };
  const ann = person("Ann", "b1", 4);
  editor.showPeople([ann, person("Bob", "b1", 9)]);
  model.others([["edit", "b1", [4, " fine", 5]]], true, "Ann");
  model.others([["edit", "b1", ["so ", 14]]]);
  editor.showPeople([ann, person("Bob", "b1", 2)]);
  expect([before("Ann"), before("Bob")]).toEqual(["so some fine", "so"]);
  editor.showPeople([person("Ann", "b1", 3), person("Bob", "b2", 2)]);
  expect(before("Ann")).toBe("so ");
  editor.showPeople([]);
  expect(carets(view)).toEqual([]);
});

test("what a person has selected goes with their caret, and is drawn once", () => {
  const { editor, model, view } = bench(3);
  const ann = { ...person("Ann", "b1", 8), anchor: 5 };
  const selected = () =>
    [...view.dom.querySelectorAll(".remote-selection")].map((one) => one.textContent);
  editor.showPeople([ann, person("Bob", "b2")]);
  model.others([["edit", "b1", ["so ", 9]]]);
  editor.showPeople([ann, person("Bob", "b0")]);
  expect(selected()).toEqual(["tex"]);
  editor.showPeople([person("Ann", "b1", 8), person("Bob", "b0")]);
  expect(selected()).toEqual([]);
});

test("a caret goes along with what the person writes, and not with where they go", () => {
  const model = new MemoryModel([block("b0", "some text"), block("b1", "more")]);
  const { view, carets: told, carried } = seat(model);
  view.dom.focus();
  select(view, "b0", 4);
  expect(carried.at(-1)).toBe(false);
  type(view, "!");
  expect([told.at(-1)?.head, carried.at(-1)]).toEqual([5, true]);
  view.dispatch(view.state.tr.delete(3, 6)); // as Backspace does it
  expect([told.at(-1)?.head, carried.at(-1)]).toEqual([2, true]);
  select(view, "b0", 3);
  expect(carried.at(-1)).toBe(false);
  select(view, "b0", 1, 3);
  type(view, "y"); // others would see it selected
  expect([told.at(-1)?.head, carried.at(-1)]).toEqual([2, false]);
});

test("where one is, is told anew when others take the block away from under the caret", () => {
  const model = new MemoryModel([block("b0", "some text"), block("b1", "more")]);
  const { view, carets: told, carried } = seat(model);
  view.dom.focus();
  select(view, "b1", 2);
  expect(told.at(-1)?.block).toBe("b1");
  const count = told.length;
  model.others([["edit", "b0", ["so ", 9]]]);
  expect(told.length).toBe(count); // others see it go along
  model.others([["remove", ["b1"]]]);
  expect([told.at(-1)?.block, carried.at(-1)]).toEqual(["b0", false]);
});

/** What of its block stands before a caret, or between its ends when something is selected. */
function place(view: EditorView, name: string): string {
  const caret = view.dom.querySelector(`.remote-caret[data-name=${name}]`);
  const line = caret?.closest<HTMLElement>("[data-block-id]");
  if (caret == null || line == null) return "nowhere";
  const range = document.createRange();
  range.setStart(line, 0);
  range.setEndBefore(caret);
  return `${line.dataset.blockId} ${range.toString()}`;
}

test("another's caret stays left of what others insert at it, and goes with what they write", () => {
  const { editor, model, view } = bench(3);
  editor.showPeople([person("Ann", "b1", 4)]);
  model.others([["edit", "b1", [4, " bob's"]]], true, "Bob");
  expect(place(view, "Ann")).toBe("b1 some");
  model.change([["edit", "b1", [4, " mine"]]]);
  editor.showPeople([person("Ann", "b1", 4)]);
  expect(place(view, "Ann")).toBe("b1 some");
  model.others([["edit", "b1", [4, "thing"]]], true, "Ann");
  expect(place(view, "Ann")).toBe("b1 something");
});

test("another's caret follows its letter over splits, joins and moves", () => {
  const { editor, model, view } = bench(4);
  editor.showPeople([person("Ann", "b1", 7), person("Bob", "b2", 4)]);
  model.others([["split", "b1", 5, "n", { type: "paragraph" }]]);
  expect(place(view, "Ann")).toBe("n te");
  model.others([["move", ["n"], "b3"]]);
  expect(place(view, "Ann")).toBe("n te");
  model.others([["join", "n", "b3"]]);
  expect(place(view, "Ann")).toBe("b3 some textte");
  model.others([["join", "b2", "b0"]]);
  expect(place(view, "Bob")).toBe("b0 some textsome");
  model.others([["set", "b0", { type: "heading", level: 1 }]]);
  expect(place(view, "Bob")).toBe("b0 some textsome");
});

test("what others have selected follows its letters, and does not grow at its ends", () => {
  const { editor, model, view } = bench(3);
  editor.showPeople([{ ...person("Ann", "b1", 9), anchor: 2 }]);
  model.others([["edit", "b1", [2, "<", 7, ">"]]], true, "Bob");
  expect(selected(view).join("")).toBe("b1 me text");
  model.others([["split", "b1", 6, "n", { type: "paragraph" }]]);
  expect(selected(view)).toEqual(["b1 me ", "n text"]);
});

test("a caret of an old version is carried to the present before it is drawn", () => {
  const { editor, model, view } = bench(3);
  model.others([["edit", "b1", ["so "]]]);
  model.others([["split", "b1", 8, "n", { type: "paragraph" }]]);
  model.others([["join", "n", "b2"]]);
  editor.showPeople([
    { ...person("Ann", "b1", 9), version: 0 },
    { ...person("Bob", "b1", 2), version: 0 },
    { ...person("Cy", "b1", 2), version: 2 },
  ]);
  expect(place(view, "Ann")).toBe("b2 some texttext");
  expect(place(view, "Bob")).toBe("b1 so so");
  expect(place(view, "Cy")).toBe("b1 so");
});

test("a caret of a version that is not here yet waits for it", () => {
  const { editor, model, view } = bench(3);
  editor.showPeople([{ ...person("Ann", "b1", 4), version: 0 }]);
  editor.showPeople([{ ...person("Ann", "b1", 13), version: 1 }]);
  expect(place(view, "Ann")).toBe("b1 some");
  model.others([["edit", "b1", ["much ahead "]]]);
  expect(place(view, "Ann")).toBe("b1 much ahead so");
});
