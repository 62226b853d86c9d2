/** Puts in what was pasted before its reader was here. */

import { NodeSelection, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { NOT_PUT, setWaiting, unread, type Waiting, waitingIn } from "./clipboard";

/** The last first: what was pasted at one place one after the other comes to stand so. */
export function pasteWaiting(view: EditorView): void {
  if (!view.editable) {
    const detail = unread(view).map((one) => ({ ...one, code: "forbidden" }));
    setWaiting(view, []);
    view.dom.dispatchEvent(new CustomEvent(NOT_PUT, { detail }));
    return;
  }
  for (let waiting = waitingIn(view); waiting.length > 0; waiting = waitingIn(view)) {
    const [last] = waiting.slice(-1);
    setWaiting(view, waiting.slice(0, -1));
    if (last !== undefined) pasteOne(view, last);
  }
}

/** As if it had come in time: the caret stays where the person is by now. */
function pasteOne(view: EditorView, { data, from, to }: Waiting): void {
  const { selection, doc, tr } = view.state;
  const hasGoneOn = selection.from !== from || selection.to !== to;
  if (hasGoneOn) {
    const whole = doc.nodeAt(from);
    const isOne = whole !== null && !whole.isText && from + whole.nodeSize === to;
    const [start, end] = [doc.resolve(from), doc.resolve(to)];
    const there = isOne ? NodeSelection.create(doc, from) : TextSelection.between(start, end);
    view.dispatch(tr.setSelection(there));
  }
  const again = { clipboardData: data, bubbles: true, cancelable: true };
  view.dom.dispatchEvent(new ClipboardEvent("paste", again));
  if (!hasGoneOn) return;
  const after = view.state;
  const longer = after.doc.content.size - doc.content.size;
  const place = (was: number) => after.doc.resolve(was >= to ? was + longer : Math.min(was, from));
  const mine = TextSelection.between(place(selection.anchor), place(selection.head));
  view.dispatch(after.tr.setSelection(mine));
}
