/**
 * Below the last block: one can go on writing there, also where that block is code, an image, a
 * table or a line across, in which the words below it have no place.
 */

import { type Command, Plugin, TextSelection, type Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { type BlockType, blockType, typeOf } from "./schema";

const CLOSED: ReadonlySet<BlockType> = new Set(["code", "divider", "image", "table"]);

/** A new paragraph at a place between blocks, with the caret in it. */
export function behind(transaction: Transaction, position: number): Transaction {
  transaction.insert(position, blockType.create());
  return transaction.setSelection(TextSelection.create(transaction.doc, position + 1));
}

/** The arrow down in the last line of such a block, when it is the last one. */
export const downFromLast: Command = (state, dispatch, view) => {
  const { $from, empty } = state.selection;
  if (!empty || $from.depth !== 1 || !CLOSED.has(typeOf($from.parent))) return false;
  if ($from.after(1) !== state.doc.content.size) return false;
  if (view !== undefined && !view.endOfTextblock("down")) return false;
  dispatch?.(behind(state.tr, state.doc.content.size).scrollIntoView());
  return true;
};

/** A click into the room below the text. */
export function belowPlugin(): Plugin {
  return new Plugin({
    props: {
      handleDOMEvents: {
        mousedown: (view, event) => {
          const last = view.state.doc.lastChild;
          if (!isBelow(view, event) || last === null || !CLOSED.has(typeOf(last))) return false;
          event.preventDefault();
          view.dispatch(behind(view.state.tr, view.state.doc.content.size).scrollIntoView());
          view.focus();
          return true;
        },
      },
    },
  });
}

function isBelow(view: EditorView, { target, button, clientY }: MouseEvent): boolean {
  if (!view.editable || target !== view.dom || button !== 0) return false;
  const edge = view.dom.lastElementChild?.getBoundingClientRect().bottom;
  return edge !== undefined && clientY > edge;
}
