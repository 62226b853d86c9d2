/** Plain text that is evidently Markdown becomes blocks; one undo gives the text as it was pasted. */

import type { ResolvedPos, Slice } from "prosemirror-model";
import { TextSelection } from "prosemirror-state";
import { __parseFromClipboard, type EditorView } from "prosemirror-view";
import { htmlOf } from "./markdown-html";

declare module "prosemirror-view" {
  /** What its view reads the clipboard with: exported for those who do as it does. */
  function __parseFromClipboard(
    view: EditorView,
    text: string,
    html: string,
    isPlain: boolean,
    place: ResolvedPos,
  ): Slice | null;
}

/** Puts it where the selection is, as text, and then as what it says; false: it is none. */
export function pasteMarkdown(view: EditorView, event: ClipboardEvent, text: string): boolean {
  const { from, $from } = view.state.selection;
  const html = $from.depth === 1 ? htmlOf(text) : null;
  if (html === null) return false;
  event.preventDefault();
  view.pasteText(text, event);
  const { selection, tr } = view.state;
  tr.delete(from, selection.to).setSelection(TextSelection.create(tr.doc, from));
  // As if it were pasted as HTML into what is left: a heading stays one in an empty paragraph.
  const slice = __parseFromClipboard(view, "", html, false, tr.doc.resolve(from));
  if (slice !== null) tr.replaceSelection(slice);
  view.dispatch(tr.setMeta("paste", true).setMeta("uiEvent", "paste").scrollIntoView());
  return true;
}
