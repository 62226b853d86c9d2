/** What was taken back, as the editor shows it. */

import { type EditorState, TextSelection, type Transaction } from "prosemirror-state";
import type { ViewEvent } from "../document/types";
import { findBlock, remoteTransaction, toEditorPosition } from "../editor/remote";
import type { Spots } from "./note";

/** What was taken back as a transaction, with the caret where it was. */
export function takenTransaction(
  state: EditorState,
  event: ViewEvent,
  blank: string,
  spots: Spots | null,
): Transaction {
  const transaction = remoteTransaction(state, event, blank).scrollIntoView();
  const { doc } = transaction;
  const [anchor, head] = [spots?.anchor, spots?.head].map((spot) => {
    const found = spot === undefined ? null : findBlock(doc, spot.block);
    return found && spot ? doc.resolve(toEditorPosition(found, spot.offset)) : null;
  });
  if (!anchor || !head) return transaction;
  return transaction.setSelection(TextSelection.between(anchor, head));
}
