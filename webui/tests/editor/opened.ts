/** An editor over a document in memory, and what a person does with it; what comes with the first focus is not here. */

import { TextSelection, type Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { DocumentEditor } from "../../src/editor/editor";
import { findBlock } from "../../src/editor/remote";
import type { Caret } from "../../src/people";
import type { MemoryModel } from "../document-double";

export interface Bench {
  readonly model: MemoryModel;
  readonly editor: DocumentEditor;
  readonly view: EditorView;
  readonly told: string[];
  readonly carets: Caret[];
  /** Of each, whether it only went along with what was written. */
  readonly carried: boolean[];
}

let open: DocumentEditor[] = [];

/** Closes the editors that are open. */
export function cleared(): void {
  for (const editor of open) editor.destroy();
  open = [];
}

/** `isBeside`: the editors that are open stay so. */
export function bench(model: MemoryModel, isBeside = false): Bench {
  // What a browser has and jsdom has not: nothing is drawn here.
  Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
  Range.prototype.getBoundingClientRect = () => new DOMRect();
  if (!isBeside) cleared();
  const host = document.body.appendChild(document.createElement("div"));
  const told: string[] = [];
  const carets: Caret[] = [];
  const carried: boolean[] = [];
  const editor = new DocumentEditor(host, model, {
    edited: () => undefined,
    caretMoved: (caret, isCarried) => {
      carets.push(caret);
      carried.push(isCarried);
    },
    viewed: () => undefined,
    surroundings: () => undefined,
    linkWanted: () => told.push("link"),
    notLoaded: () => told.push("not loaded"),
    offered: (menu) => told.push(menu === null ? "closed" : `menu ${menu.menu.active}`),
    found: () => undefined,
  });
  open.push(editor);
  // The tests do to the view what keys do.
  const { view } = editor as unknown as { view: EditorView };
  return { model, editor, view, told, carets, carried };
}

export function select(view: EditorView, id: string, anchor: number, head = anchor): void {
  const from = (findBlock(view.state.doc, id)?.from ?? 0) + 1;
  const { doc, tr } = view.state;
  view.dispatch(tr.setSelection(TextSelection.create(doc, from + anchor, from + head)));
}

export function key(view: EditorView, name: string, more: KeyboardEventInit = {}): void {
  const event = new KeyboardEvent("keydown", { key: name, cancelable: true, ...more });
  view.someProp("handleKeyDown", (handle) => handle(view, event));
}

/** Types letter for letter, as `handleTextInput` sees it. */
export function type(view: EditorView, text: string): void {
  for (const letter of text) {
    const { from, to } = view.state.selection;
    const deflt = (): Transaction => view.state.tr.insertText(letter, from, to);
    const isDone = view.someProp("handleTextInput", (f) => f(view, from, to, letter, deflt));
    if (!isDone) view.dispatch(deflt());
  }
}
