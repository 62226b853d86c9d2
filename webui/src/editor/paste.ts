/** The clipboard: copies of blocks stay blocks, everything else comes in as plain text. */

import { Fragment, type ResolvedPos, Slice } from "prosemirror-model";
import type { EditorView } from "prosemirror-view";
import { cleanText } from "../shared/text";
import { blockType, kindOf, schema } from "./schema";

/** Plain text as blocks: one a line, empty lines left out; inside code one text with its lines. */
export function parseText(text: string, $context: ResolvedPos): Slice {
  const clean = cleanText(text);
  if (clean === "") return Slice.empty;
  if (kindOf($context.parent) === "code") {
    return new Slice(Fragment.from(schema.text(clean)), 0, 0);
  }
  const lines = clean.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return Slice.empty;
  const blocks = lines.map((line) => blockType.create(null, schema.text(line)));
  return new Slice(Fragment.fromArray(blocks), 1, 1);
}

/** Blocks as plain text: one a line. */
export function serialiseText(slice: Slice): string {
  return slice.content.textBetween(0, slice.content.size, "\n");
}

/**
 * Pastes plain text; true when it is done, false when the editor is to read HTML that it wrote.
 *
 * A handler of the event itself, so that foreign HTML is not even parsed.
 */
export function handlePaste(view: EditorView, event: ClipboardEvent): boolean {
  const data = event.clipboardData;
  if (data === null || data.getData("text/html").includes("data-pm-slice")) return false;
  const text = data.getData("text/plain");
  if (text === "") return false;
  event.preventDefault();
  const transaction = view.state.tr.replaceSelection(parseText(text, view.state.selection.$from));
  view.dispatch(transaction.scrollIntoView().setMeta("paste", true).setMeta("uiEvent", "paste"));
  return true;
}
