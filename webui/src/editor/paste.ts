/** What is put in as plain text, over a selection, and into a cell. */

import { Fragment, type ResolvedPos, Slice } from "prosemirror-model";
import type { EditorView } from "prosemirror-view";
import { cleanText } from "../shared/text";
import { cleanLink, setLink } from "./marks";
import { isSafeLink } from "./rich";
import { blockType, schema, typeOf } from "./schema";
import { flattened, unnamed } from "./table-nodes";
import { tabbedSlice } from "./table-text";

/** Plain text as blocks: one a line, empty lines left out; inside code one text with its lines. */
export function parseText(text: string, $context: ResolvedPos): Slice {
  const clean = cleanText(text);
  if (clean === "") return Slice.empty;
  if ($context.depth > 0 && typeOf($context.parent) === "code") {
    return new Slice(Fragment.from(schema.text(clean)), 0, 0);
  }
  const cells = $context.depth === 4 ? tabbedSlice(clean) : null;
  if (cells !== null) return cells;
  if ($context.depth === 4)
    return new Slice(Fragment.from(schema.text(clean, $context.marks())), 0, 0);
  const lines = clean.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return Slice.empty;
  const marks = lines.length === 1 ? $context.marks() : [];
  const blocks = lines.map((line) => blockType.create(null, schema.text(line, marks)));
  return new Slice(Fragment.fromArray(blocks), 1, 1);
}

/** What is put into a cell: cells of a table, or text; blocks are lines of it. */
export function fitted(slice: Slice, view: EditorView): Slice {
  const { content, openStart, openEnd } = slice;
  const only = content.firstChild;
  const isPlain = only === null || only.isText || /^(?:table|row|cell)$/.test(only.type.name);
  const isInCell = view.state.selection.$from.depth > 1;
  if (isInCell && !(isPlain && content.childCount <= 1)) return flattened(schema, slice);
  return new Slice(unnamed(content), openStart, openEnd);
}

/**
 * What the editor's own way of pasting does not do: code takes plain text, and an address that is
 * pasted over words makes them a link. True when it is done.
 */
export function handlePaste(view: EditorView, event: ClipboardEvent): boolean {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text === "") return false;
  const { state } = view;
  const { $from, $to, empty } = state.selection;
  const isCode = $from.depth > 0 && typeOf($from.parent) === "code";
  if (isCode) {
    const transaction = state.tr.replaceSelection(parseText(text, $from));
    view.dispatch(transaction.scrollIntoView().setMeta("paste", true).setMeta("uiEvent", "paste"));
    event.preventDefault();
    return true;
  }
  const isAddress = /^https?:\/\/\S+$/i.test(text.trim()) && isSafeLink(text.trim());
  if (!isAddress || empty || !$from.sameParent($to)) return false;
  event.preventDefault();
  return setLink(cleanLink(text))(state, (transaction) => view.dispatch(transaction), view);
}
