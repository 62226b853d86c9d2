/** Blocks that change places: the selected ones by keys, others by their handles. */

import { type Command, type EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { blockIdAt } from "./schema";

/** The blocks that the selection touches: from this one up to that one. */
export function selectedRange({ selection }: EditorState): { from: number; to: number } {
  const { $from, $to } = selection;
  return { from: $from.index(0), to: $to.indexAfter(0) };
}

/** A place in a block, in the editor's count. */
interface Place {
  readonly id: string;
  readonly offset: number;
}

/** Moves blocks, in their order, to where the one of this index is; null: nothing would change. */
export function movedTo(
  state: EditorState,
  ids: ReadonlySet<string>,
  index: number,
): Transaction | null {
  const { doc, tr } = state;
  const isMoved = doc.children.map(({ attrs }) => ids.has(String(attrs.id)));
  const first = isMoved.indexOf(true);
  const last = isMoved.lastIndexOf(true);
  const isWhole = isMoved.slice(first, last + 1).every(Boolean);
  const isRest = isMoved.every(Boolean) || first < 0;
  if (isRest || (isWhole && index >= first && index <= last + 1)) return null;
  const nodes = doc.children.filter((_, at) => isMoved[at]);
  const places = [state.selection.$anchor, state.selection.$head].map(
    ($place): Place => ({
      id: blockIdAt($place),
      offset: $place.depth > 0 ? $place.pos - $place.start(1) : 0,
    }),
  );
  let place = 0;
  for (const node of doc.children.slice(0, index)) place += node.nodeSize;
  const before = tr.mapping.maps.length;
  let from = 0;
  doc.children.forEach((node, at) => {
    const now = tr.mapping.slice(before).map(from);
    if (isMoved[at]) tr.delete(now, now + node.nodeSize);
    from += node.nodeSize;
  });
  tr.insert(tr.mapping.slice(before).map(place), nodes);
  const [anchor, head] = places.map(({ id, offset }) => placeOf(tr, id, offset));
  if (anchor !== undefined && head !== undefined) {
    tr.setSelection(TextSelection.between(tr.doc.resolve(anchor), tr.doc.resolve(head)));
  }
  return tr;
}

function placeOf({ doc }: Transaction, id: string, offset: number): number {
  let from = 0;
  for (const node of doc.children) {
    if (String(node.attrs.id) === id) return from + 1 + Math.min(offset, node.content.size);
    from += node.nodeSize;
  }
  return 0;
}

/** Moves the selected blocks one place up or down. */
export const moveBlocks =
  (by: 1 | -1): Command =>
  (state, dispatch) => {
    const { from, to } = selectedRange(state);
    const index = by > 0 ? to + 1 : from - 1;
    if (index < 0 || index > state.doc.childCount) return false;
    const ids = state.doc.children.slice(from, to).map(({ attrs }) => String(attrs.id));
    const transaction = movedTo(state, new Set(ids), index);
    if (transaction === null) return false;
    dispatch?.(transaction.scrollIntoView());
    return true;
  };
