/** What the person has done and is not in the text yet, as what does it is still being loaded. */

import type { EditorView } from "prosemirror-view";

/** The event at the text when something is begun, or done. */
export const DOING = "groupcore-doing";

const counts = new WeakMap<EditorView, number>();

/** So many things are being done. */
export const doingIn = (view: EditorView): number => counts.get(view) ?? 0;

/** It is being done until this has come to its end, well or not. */
export function during<T>(view: EditorView, work: Promise<T>): Promise<T> {
  const count = (by: 1 | -1): void => {
    counts.set(view, doingIn(view) + by);
    view.dom.dispatchEvent(new Event(DOING));
  };
  count(1);
  return work.finally(() => count(-1));
}
