/** Text that goes to the clipboard, with a mark by which it is known when it comes back. */

import type { EditorView } from "prosemirror-view";
import { randomId } from "../ids";

/** In the clipboard's HTML: which cut it is. */
export const MARK = "data-groupcore-cut";

/** Cuts what is selected out, as the browser asks for it; gives the mark, null: nothing is selected. */
export function cutOut(view: EditorView, { clipboardData: data }: ClipboardEvent): string | null {
  const { selection } = view.state;
  if (selection.empty || data === null || !view.editable) return null;
  const mark = randomId();
  const { dom, text } = view.serializeForClipboard(selection.content());
  if (dom.firstElementChild === null) {
    const span = dom.ownerDocument.createElement("span");
    span.append(...dom.childNodes);
    dom.append(span);
  }
  dom.firstElementChild?.setAttribute(MARK, mark);
  data.clearData();
  data.setData("text/html", dom.innerHTML);
  data.setData("text/plain", text);
  view.dispatch(view.state.tr.deleteSelection().scrollIntoView().setMeta("uiEvent", "cut"));
  return mark;
}
