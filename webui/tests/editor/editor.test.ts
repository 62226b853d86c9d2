// @vitest-environment jsdom

import fc from "fast-check";
import { Fragment } from "prosemirror-model";
import { EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { expect, test } from "vitest";
import type { ShownBlock, ShownChange } from "../../src/document/types";
import { keys } from "../../src/editor/commands";
import { diffBlocks } from "../../src/editor/diff";
import { normalise, normalisePlugin } from "../../src/editor/normalise";
import { parseText } from "../../src/editor/paste";
import { findBlock, remoteTransaction, toEditorPosition } from "../../src/editor/remote";
import { toBlocks, toDoc } from "../../src/editor/schema";
import { plainText } from "../../src/shared/rich";
import { applied, block, blocksOf } from "../document-double";
import { choices, documents, verbsOf } from "../random";

function stateOf(blocks: readonly ShownBlock[], id = "b0", offset = 0): EditorState {
  const doc = toDoc(blocks, "blank");
  const state = EditorState.create({ doc, plugins: [normalisePlugin()] });
  const from = findBlock(doc, id)?.from ?? 0;
  return state.apply(state.tr.setSelection(TextSelection.create(doc, from + 1 + offset)));
}

function press(state: EditorState, key: keyof typeof keys): EditorState {
  let next = state;
  keys[key](state, (transaction: Transaction) => {
    next = state.apply(transaction);
  });
  return next;
}

function receive(
  state: EditorState,
  before: readonly ShownBlock[],
  changes: readonly ShownChange[],
  isTold = true,
): EditorState {
  const after = changes.reduce<readonly ShownBlock[]>(applied, before);
  const event = {
    changes: isTold ? changes : null,
    before: { title: "", blocks: before },
    after: { title: "", blocks: after },
  };
  return state.apply(remoteTransaction(state, event, "blank"));
}

function caret(state: EditorState): [string, number] {
  const { $head } = state.selection;
  return [String($head.parent.attrs.id), $head.parentOffset];
}

const types = (state: EditorState): string[] =>
  toBlocks(state.doc).map(
    ({ attributes, content }) => `${attributes.type} ${plainText(content ?? [])}`,
  );

test("a document survives the way into the editor and back", () => {
  fc.assert(
    fc.property(documents, (blocks) => {
      const doc = toDoc(blocks, "blank");
      // Made anew, so that nothing is remembered of where they came from.
      const copies = Fragment.fromArray(doc.children.map((node) => node.copy(node.content)));
      expect(toBlocks(doc.copy(copies))).toEqual(blocks);
    }),
  );
});

test.each([true, false])("others' changes show in the editor (told: %s)", (isTold) => {
  fc.assert(
    fc.property(documents, fc.array(choices, { maxLength: 8 }), (start, picks) => {
      let blocks: readonly ShownBlock[] = start;
      let state = stateOf(start);
      picks.forEach((choice, index) => {
        const changes = verbsOf(choice, blocks, `n${index}`);
        state = receive(state, blocks, changes, isTold);
        blocks = changes.reduce<readonly ShownBlock[]>(applied, blocks);
      });
      if (blocks.length > 0) expect(toBlocks(state.doc)).toEqual(blocks);
      else expect(types(state)).toEqual(["paragraph "]);
    }),
  );
});

test("what is found between two documents leads from one to the other", () => {
  fc.assert(
    fc.property(documents, fc.array(choices, { maxLength: 6 }), (start, picks) => {
      let blocks: readonly ShownBlock[] = start;
      picks.forEach((choice, index) => {
        blocks = verbsOf(choice, blocks, `n${index}`).reduce<readonly ShownBlock[]>(
          applied,
          blocks,
        );
      });
      const found = diffBlocks(start, blocks, "");
      expect(found.reduce<readonly ShownBlock[]>(applied, start)).toEqual(blocks);
    }),
  );
});

test("the caret stays at its letter when others type before it", () => {
  const blocks = blocksOf("hello");
  const state = receive(stateOf(blocks, "b0", 3), blocks, [["edit", "b0", ["xx"]]]);
  expect(caret(state)).toEqual(["b0", 5]);
});

test("the caret stays at its letter when all is looked at anew", () => {
  const blocks = blocksOf("one", "hello");
  const changes: ShownChange[] = [
    ["edit", "b1", ["xx"]],
    ["insert", "", [{ id: "n", attributes: {}, content: ["new"] }]],
  ];
  const state = receive(stateOf(blocks, "b1", 3), blocks, changes, false);
  expect(caret(state)).toEqual(["b1", 5]);
});

test("the caret goes with its text when others split, join or move the block", () => {
  const blocks = blocksOf("one", "hello", "three");
  const split: ShownChange[] = [["split", "b1", 2, "new", {}]];
  expect(caret(receive(stateOf(blocks, "b1", 4), blocks, split))).toEqual(["new", 2]);
  const join: ShownChange[] = [["join", "b1", "b0"]];
  expect(caret(receive(stateOf(blocks, "b1", 2), blocks, join))).toEqual(["b0", 5]);
  const far: ShownChange[] = [["join", "b2", "b0"]];
  expect(caret(receive(stateOf(blocks, "b2", 2), blocks, far))).toEqual(["b0", 5]);
  const move: ShownChange[] = [["move", ["b1"], ""]];
  expect(caret(receive(stateOf(blocks, "b1", 2), blocks, move))).toEqual(["b1", 2]);
});

test("others' marks leave the selection where it was", () => {
  const blocks = blocksOf("hello");
  const marks: ShownChange[] = [["edit", "b0", [[4, { bold: true, tint: "red" }]]]];
  const state = receive(stateOf(blocks, "b0", 2), blocks, marks);
  expect(caret(state)).toEqual(["b0", 2]);
  expect(toBlocks(state.doc)[0]?.content).toEqual([["hell", { bold: true, tint: "red" }], "o"]);
});

test("Enter splits a block, and the second half has a fresh id", () => {
  const state = press(stateOf(blocksOf("hello"), "b0", 2), "Enter");
  const [first, second] = toBlocks(state.doc);
  expect([first?.id, first?.content, second?.content]).toEqual(["b0", ["he"], ["llo"]]);
  expect(second?.id).toMatch(/^[A-Za-z0-9_-]{16}$/);
  const changes = diffBlocks(blocksOf("hello"), toBlocks(state.doc), "");
  expect(changes.map((change) => change[0])).toEqual(["split"]);
});

test("Enter in marked text splits it with its marks", () => {
  const blocks = blocksOf([["hello", { bold: true }]]);
  const state = press(stateOf(blocks, "b0", 2), "Enter");
  const changes = diffBlocks(blocks, toBlocks(state.doc), "");
  expect(changes.map((change) => change[0])).toEqual(["split"]);
});

test("Backspace at the start of a paragraph joins it to the one before", () => {
  const before = blocksOf("he", "llo");
  const state = press(stateOf(before, "b1", 0), "Backspace");
  const changes = diffBlocks(before, toBlocks(state.doc), "");
  expect(changes).toEqual([["join", "b1", "b0"]]);
});

test("a letter between equal ones is found where the caret is", () => {
  const before = blocksOf("aaa");
  const after = blocksOf("aaaa");
  const at = (offset: number): unknown =>
    diffBlocks(before, after, "", { block: "b0", offset })[0]?.[2];
  expect([at(1), at(2)]).toEqual([["a"], [1, "a"]]);
});

test("Enter at the end of a heading goes on with a paragraph", () => {
  const blocks = [block("b0", "Title", "heading")];
  const state = press(stateOf(blocks, "b0", 5), "Enter");
  expect(types(state)).toEqual(["heading Title", "paragraph "]);
});

test("Tab indents a list, and Enter in its empty item goes back step by step", () => {
  let state = press(stateOf([block("b0", "", "bullet")]), "Tab");
  expect(toBlocks(state.doc)[0]?.attributes.depth).toBe(1);
  state = press(press(state, "Enter"), "Enter");
  expect(types(state)).toEqual(["paragraph "]);
});

test("Tab outside lists is left to the browser, so that the keyboard is not caught", () => {
  expect(keys.Tab?.(stateOf(blocksOf("text")), undefined)).toBe(false);
});

test("letters that may not travel are replaced before they are sent", () => {
  const state = stateOf(blocksOf("a"));
  const dirty = state.apply(state.tr.insertText("x\ud800\0\ry", 1));
  expect(types(dirty)).toEqual(["paragraph x\ufffd\nya"]);
  expect(normalise(dirty.doc, dirty)).toBeNull();
});

test("pasted lines become blocks, inside code they stay lines", () => {
  const state = stateOf(blocksOf("a"));
  const slice = parseText("one\r\n\r\ntwo", state.selection.$from);
  expect(slice.content.childCount).toBe(2);
  const inCode = stateOf([block("b0", "", "code")]).selection.$from;
  expect(parseText("one\ntwo", inCode).content.textBetween(0, 7)).toBe("one\ntwo");
});

test("others' carets stand at code points, not UTF-16 units", () => {
  const node = toDoc(blocksOf("😀b"), "blank").child(0);
  expect(toEditorPosition({ node, from: 0 }, 1)).toBe(3);
  expect(toEditorPosition({ node, from: 0 }, 99)).toBe(4);
});
