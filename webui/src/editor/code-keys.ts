/** What keys do in code: lines keep their indentation, and Tab changes it. */

import type { Command } from "prosemirror-state";
import { blockAt, blockType, typeOf } from "./schema";

/** So many spaces are one step of indentation, where there is no tab. */
const STEP = 4;

const inCode =
  (command: Command): Command =>
  (state, dispatch, view) => {
    const { $from, $to } = state.selection;
    const block = blockAt($from);
    const isCode = block?.type === blockType && typeOf(block) === "code";
    return isCode && $from.sameParent($to) && command(state, dispatch, view);
  };

/** A new line that begins as the one before it. */
export const lineInCode = inCode((state, dispatch) => {
  const { $from } = state.selection;
  const before = $from.parent.textContent.slice(0, $from.parentOffset);
  const indent = /(?:^|\n)([\t ]*)[^\n]*$/.exec(before)?.[1] ?? "";
  dispatch?.(state.tr.insertText(`\n${indent}`).scrollIntoView());
  return true;
});

/** Puts a tab in, or indents all lines that are selected. */
export const indentCode = inCode((state, dispatch) => {
  const { empty } = state.selection;
  if (empty) {
    dispatch?.(state.tr.insertText("\t").scrollIntoView());
    return true;
  }
  const transaction = state.tr;
  for (const start of lineStarts(state.selection).reverse()) transaction.insertText("\t", start);
  dispatch?.(transaction);
  return true;
});

/** Takes one step of indentation off the lines that are selected. */
export const outdentCode = inCode((state, dispatch) => {
  const { $from } = state.selection;
  const transaction = state.tr;
  for (const start of lineStarts(state.selection).reverse()) {
    const text = $from.parent.textContent.slice(start - $from.start());
    const size = /^(?:\t| {1,4})/.exec(text)?.[0].length ?? 0;
    if (size > 0) transaction.delete(start, start + Math.min(size, STEP));
  }
  dispatch?.(transaction);
  return true;
});

/** Where the lines begin that a selection within one block touches. */
function lineStarts({ $from, $to }: Parameters<Command>[0]["selection"]): number[] {
  const text = $from.parent.textContent;
  const first = text.lastIndexOf("\n", $from.parentOffset - 1) + 1;
  const starts = [first];
  for (let at = text.indexOf("\n", first); at >= 0 && at + 1 < $to.parentOffset; ) {
    starts.push(at + 1);
    at = text.indexOf("\n", at + 1);
  }
  return starts.map((at) => $from.start() + at);
}

/** Says in which language the code is; empty: in none. */
export function setLanguage(language: string): Command {
  return (state, dispatch) => {
    const { from, to } = state.selection;
    const transaction = state.tr;
    state.doc.nodesBetween(from, to, (node, position) => {
      if (node.type === blockType && typeOf(node) === "code") {
        transaction.setNodeAttribute(position, "language", language === "" ? null : language);
      }
      return false;
    });
    dispatch?.(transaction);
    return transaction.docChanged;
  };
}
