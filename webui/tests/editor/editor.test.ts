// @vitest-environment jsdom

import fc from "fast-check";
import { history, undo } from "prosemirror-history";
import { EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { expect, test } from "vitest";
import { keys } from "../../src/editor/commands";
import { normalise, normalisePlugin } from "../../src/editor/normalise";
import { parseText } from "../../src/editor/paste";
import { findBlock, remoteTransaction, toEditorPosition } from "../../src/editor/remote";
import { toDocument, toEditorDocument } from "../../src/editor/schema";
import type { Change } from "../../src/model/changes";
import { diffDocuments } from "../../src/model/diff";
import { DocumentValue } from "../../src/model/document";
import { choices, documents, editOf, plain } from "../random";

function value(...texts: string[]): DocumentValue {
  const attributes = { kind: "paragraph" };
  const blocks = texts.map((text, place) => ({ id: `b${place}`, attributes, text }));
  return new DocumentValue("", blocks);
}

function stateOf(document: DocumentValue, id = "b0", offset = 0): EditorState {
  const doc = toEditorDocument(document, "blank");
  const state = EditorState.create({ doc, plugins: [history(), normalisePlugin()] });
  const from = findBlock(doc, id)?.from ?? 0;
  return state.apply(state.tr.setSelection(TextSelection.create(doc, from + 1 + offset)));
}

function press(state: EditorState, key: string): EditorState {
  let next = state;
  keys[key]?.(state, (transaction: Transaction) => {
    next = state.apply(transaction);
  });
  return next;
}

function receive(state: EditorState, before: DocumentValue, changes: Change[]): EditorState {
  const after = before.apply(changes).document;
  return state.apply(remoteTransaction(state, changes, after));
}

function caret(state: EditorState): [string, number] {
  const { $head } = state.selection;
  return [String($head.parent.attrs.id), $head.parentOffset];
}

const kinds = (state: EditorState): string[] =>
  toDocument(state.doc, "").blocks.map(({ attributes, text }) => `${attributes.kind} ${text}`);

test("a document survives the way into the editor and back", () => {
  fc.assert(
    fc.property(documents, fc.array(choices, { maxLength: 5 }), (start, picks) => {
      let document = start;
      picks.forEach((choice, index) => {
        document = document.apply(editOf(choice, document, `n${index}`)).document;
      });
      if (document.blocks.length === 0) return;
      const back = toDocument(toEditorDocument(document, "blank"), document.title);
      expect(plain(back)).toEqual(plain(document));
    }),
  );
});

test("others' changes show in the editor what they make of the document", () => {
  fc.assert(
    fc.property(documents, fc.array(choices, { maxLength: 6 }), (start, picks) => {
      let document = start;
      let state = stateOf(start);
      picks.forEach((choice, index) => {
        const changes = editOf(choice, document, `n${index}`);
        const after = document.apply(changes).document;
        if (after.blocks.length === 0) return;
        state = receive(state, document, changes);
        document = after;
      });
      expect(plain(toDocument(state.doc, document.title))).toEqual(plain(document));
    }),
  );
});

test("the caret stays at its letter when others type before it", () => {
  const document = value("hello");
  const state = receive(stateOf(document, "b0", 3), document, [["text", "b0", ["xx"]]]);
  expect(caret(state)).toEqual(["b0", 5]);
});

test("the caret goes with its text when others split, join or move the block", () => {
  const document = value("one", "hello", "three");
  const split: Change[] = [["split", "b1", 2, "new", {}]];
  expect(caret(receive(stateOf(document, "b1", 4), document, split))).toEqual(["new", 2]);
  const join: Change[] = [["join", "b1", "b0", 3, "b0"]];
  expect(caret(receive(stateOf(document, "b1", 2), document, join))).toEqual(["b0", 5]);
  const move: Change[] = [["move", "b1", null, "b0"]];
  expect(caret(receive(stateOf(document, "b1", 2), document, move))).toEqual(["b1", 2]);
});

test("undo takes back own edits only", () => {
  const document = value("hello");
  let state = stateOf(document, "b0", 5);
  state = state.apply(state.tr.insertText(" mine"));
  state = receive(state, toDocument(state.doc, ""), [["text", "b0", ["theirs "]]]);
  undo(state, (transaction) => {
    state = state.apply(transaction);
  });
  expect(kinds(state)).toEqual(["paragraph theirs hello"]);
});

test("Enter splits a block, and the second half has a fresh id", () => {
  const state = press(stateOf(value("hello"), "b0", 2), "Enter");
  const [first, second] = toDocument(state.doc, "").blocks;
  expect([first?.id, first?.text, second?.text]).toEqual(["b0", "he", "llo"]);
  expect(second?.id).toMatch(/^[A-Za-z0-9_-]{16}$/);
  const changes = diffDocuments(value("hello"), toDocument(state.doc, ""));
  expect(changes.map((change) => change[0])).toEqual(["split"]);
});

test("Backspace at the start of a paragraph joins it to the one before", () => {
  const before = value("he", "llo");
  const state = press(stateOf(before, "b1", 0), "Backspace");
  const changes = diffDocuments(before, toDocument(state.doc, ""));
  expect(changes).toEqual([["join", "b1", "b0", 2, "b0"]]);
});

test("Enter at the end of a heading goes on with a paragraph", () => {
  const blocks = [{ id: "b0", attributes: { kind: "heading", level: 2 }, text: "Title" }];
  const state = press(stateOf(new DocumentValue("", blocks), "b0", 5), "Enter");
  expect(kinds(state)).toEqual(["heading Title", "paragraph "]);
});

test("Tab indents a list, and Enter in its empty item goes back step by step", () => {
  const blocks = [{ id: "b0", attributes: { kind: "bullet" }, text: "" }];
  let state = press(stateOf(new DocumentValue("", blocks)), "Tab");
  expect(toDocument(state.doc, "").blocks[0]?.attributes.depth).toBe(1);
  state = press(press(state, "Enter"), "Enter");
  expect(kinds(state)).toEqual(["paragraph "]);
});

test("Tab outside lists is left to the browser, so that the keyboard is not caught", () => {
  expect(keys.Tab?.(stateOf(value("text")), undefined)).toBe(false);
});

test("letters that may not travel are replaced before they are sent", () => {
  const state = stateOf(value("a"));
  const dirty = state.apply(state.tr.insertText("x\ud800\0\ry", 1));
  expect(kinds(dirty)).toEqual(["paragraph x\ufffd\nya"]);
  expect(normalise(dirty)).toBeNull();
});

test("pasted lines become blocks, inside code they stay lines", () => {
  const state = stateOf(value("a"));
  const slice = parseText("one\r\n\r\ntwo", state.selection.$from);
  expect(slice.content.childCount).toBe(2);
  const code = [{ id: "b0", attributes: { kind: "code" }, text: "" }];
  const inCode = stateOf(new DocumentValue("", code)).selection.$from;
  expect(parseText("one\ntwo", inCode).content.textBetween(0, 7)).toBe("one\ntwo");
});

test("others' carets stand at code points, not UTF-16 units", () => {
  const doc = toEditorDocument(value("😀b"), "blank");
  expect(toEditorPosition(doc, "b0", 1)).toBe(3);
  expect(toEditorPosition(doc, "b0", 99)).toBe(4);
  expect(toEditorPosition(doc, "gone", 0)).toBeNull();
});
