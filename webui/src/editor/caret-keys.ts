/**
 * To the start and the end of the document: browsers find no place for the caret in what they have
 * not drawn, and of a long document they draw only what is near the view.
 */

import { type Command, Selection, TextSelection } from "prosemirror-state";

const to =
  (side: "start" | "end", isSelecting: boolean): Command =>
  (state, dispatch) => {
    const { doc, selection } = state;
    const edge = side === "start" ? Selection.atStart(doc) : Selection.atEnd(doc);
    const next = isSelecting ? TextSelection.between(selection.$anchor, edge.$head) : edge;
    dispatch?.(state.tr.setSelection(next).scrollIntoView());
    return true;
  };

export const caretKeys = {
  "Ctrl-Home": to("start", false),
  "Ctrl-End": to("end", false),
  "Shift-Ctrl-Home": to("start", true),
  "Shift-Ctrl-End": to("end", true),
  "Meta-ArrowUp": to("start", false),
  "Meta-ArrowDown": to("end", false),
  "Shift-Meta-ArrowUp": to("start", true),
  "Shift-Meta-ArrowDown": to("end", true),
} satisfies Record<string, Command>;
