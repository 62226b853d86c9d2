/** The editor of one document: ProseMirror bound to a session. */

import { history } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { randomId } from "../ids";
import { diffDocuments } from "../model/diff";
import type { DocumentValue } from "../model/document";
import type { Person } from "../protocol/messages";
import type { DocumentSession } from "../session/session";
import type { SessionEvent } from "../session/state";
import { toCodePoints } from "../shared/text";
import { BlockView } from "./block-view";
import { CARETS, caretsPlugin } from "./carets";
import { type Action, actions, choiceCommand, choiceOf, keys } from "./commands";
import { markdownPlugin } from "./markdown";
import { normalisePlugin } from "./normalise";
import { handlePaste, parseText, serialiseText } from "./paste";
import { findBlock, REMOTE, remoteTransaction } from "./remote";
import { toDocument, toEditorDocument } from "./schema";

/** The own caret in the protocol's terms. */
export interface OwnCaret {
  readonly block: string | null;
  readonly anchor: number;
  readonly head: number;
}

export interface EditorCallbacks {
  /** The person changed the document; the session knows it already. */
  readonly edited: () => void;
  /** The person's caret moved, or left the text. */
  readonly caretMoved: (caret: OwnCaret) => void;
  /** What the caret stands in has changed: for the toolbar. */
  readonly blockChanged: (choice: string) => void;
  /** A word that was being composed (by an input method) is finished. */
  readonly composed: () => void;
}

type ViewEvent = Extract<SessionEvent, { kind: "view" }>;

export class DocumentEditor {
  private readonly view: EditorView;

  constructor(
    host: HTMLElement,
    private readonly session: DocumentSession,
    private readonly callbacks: EditorCallbacks,
  ) {
    this.view = new EditorView(
      { mount: host },
      {
        state: EditorState.create({
          doc: toEditorDocument(session.view, randomId()),
          plugins: [history(), markdownPlugin(), keymap(keys), normalisePlugin(), caretsPlugin()],
        }),
        attributes: {
          "data-testid": "editor",
          role: "textbox",
          "aria-multiline": "true",
          "aria-label": "Document text",
          "aria-describedby": "editor-help",
        },
        nodeViews: { block: (node, view, position) => new BlockView(node, view, position) },
        clipboardTextParser: parseText,
        clipboardTextSerializer: serialiseText,
        handleDOMEvents: {
          paste: handlePaste,
          keydown: () => {
            this.readSelection();
            return false;
          },
          focus: () => this.reportCaret(true),
          blur: () => this.reportCaret(false),
          compositionend: () => {
            // The editor reads the finished word first.
            queueMicrotask(() => setTimeout(() => this.callbacks.composed(), 50));
            return false;
          },
        },
        dispatchTransaction: (transaction) => this.dispatch(transaction),
      },
    );
  }

  /** The block in which an input method is at work, null when none is. */
  get composingBlock(): string | null {
    if (!this.view.composing) return null;
    return String(this.view.state.selection.$head.parent.attrs.id);
  }

  /**
   * Takes over where the browser has the caret: it tells this a moment after it moved it, and what
   * comes in between would be done at the old place. Call it before the session changes.
   */
  readSelection(): void {
    if (this.view.composing || !this.view.hasFocus()) return;
    this.view.dom.ownerDocument.dispatchEvent(new Event("selectionchange"));
  }

  /** Shows what others did. */
  show(event: ViewEvent): void {
    const isWhole = event.before.blocks.length === 0 || event.after.blocks.length === 0;
    if (!isWhole) {
      const { state } = this.view;
      this.view.dispatch(remoteTransaction(state, event.changes, event.after));
    }
    if (!this.isShowing(event.after)) this.replaceAll(event.after);
  }

  /** Shows where others are. */
  showPeople(people: readonly Person[]): void {
    this.readSelection();
    this.view.dispatch(this.view.state.tr.setMeta(CARETS, people).setMeta("addToHistory", false));
  }

  /** Does what a toolbar button says, and gives the text the focus back. */
  run(action: Action): void {
    actions[action](this.view.state, (transaction) => this.view.dispatch(transaction), this.view);
    this.view.focus();
  }

  /** Turns the selected blocks into what a toolbar choice says (see CHOICES). */
  turnInto(choice: string): void {
    const command = choiceCommand(choice);
    command?.(this.view.state, (transaction) => this.view.dispatch(transaction), this.view);
    this.view.focus();
  }

  focus(): void {
    this.view.focus();
  }

  /** Puts text at the end of the document, one block a line. */
  appendText(text: string): void {
    const { state } = this.view;
    const end = state.doc.content.size;
    const selected = state.tr.setSelection(TextSelection.create(state.doc, end - 1));
    const slice = parseText(`\n${text}`, selected.selection.$from);
    this.view.dispatch(selected.insert(end, slice.content).scrollIntoView());
  }

  destroy(): void {
    this.view.destroy();
  }

  private dispatch(transaction: Transaction): void {
    const before = this.view.state;
    const state = before.apply(transaction);
    this.view.updateState(state);
    const isRemote = transaction.getMeta(REMOTE) === true;
    if (!isRemote && !state.doc.eq(before.doc)) this.sendChanges();
    this.callbacks.blockChanged(choiceOf(state.selection.$head.parent));
    if (!isRemote && (transaction.selectionSet || transaction.docChanged)) {
      this.reportCaret(this.view.hasFocus());
    }
  }

  private sendChanges(): void {
    const { session } = this;
    if (this.isShowing(session.view)) return;
    const { state } = this.view;
    const { $head } = state.selection;
    const caret = { block: String($head.parent.attrs.id), offset: $head.parentOffset };
    const after = toDocument(state.doc, session.view.title);
    session.localChange(diffDocuments(session.view, after, caret));
    this.callbacks.edited();
  }

  private isShowing(document: DocumentValue): boolean {
    const { doc } = this.view.state;
    if (document.blocks.length === 0) return isBlank(doc);
    return diffDocuments(document, toDocument(doc, document.title)).length === 0;
  }

  /** The whole document anew; the caret stays in its block when that is still there. */
  private replaceAll(document: DocumentValue): void {
    const { state } = this.view;
    const { $head } = state.selection;
    const next = toEditorDocument(document, randomId());
    const transaction = state.tr
      .setMeta(REMOTE, true)
      .setMeta("addToHistory", false)
      .replaceWith(0, state.doc.content.size, next.content);
    const found = findBlock(transaction.doc, String($head.parent.attrs.id));
    if (found !== null) {
      const place = found.from + 1 + Math.min($head.parentOffset, found.node.content.size);
      transaction.setSelection(TextSelection.create(transaction.doc, place));
    }
    this.view.dispatch(transaction);
  }

  private reportCaret(isFocused: boolean): boolean {
    const { $anchor, $head } = this.view.state.selection;
    const node = $head.parent;
    if (!isFocused || node.attrs.id === undefined) {
      this.callbacks.caretMoved({ block: null, anchor: 0, head: 0 });
      return false;
    }
    const text = node.textContent;
    const head = toCodePoints(text, $head.parentOffset);
    const isSame = $anchor.parent === node;
    const anchor = isSame ? toCodePoints(text, $anchor.parentOffset) : head;
    this.callbacks.caretMoved({ block: String(node.attrs.id), anchor, head });
    return false;
  }
}

function isBlank(doc: EditorState["doc"]): boolean {
  const only = doc.firstChild;
  if (doc.childCount !== 1 || only === null || only.content.size > 0) return false;
  return only.attrs.kind === "paragraph" || only.attrs.kind === null;
}
