/** What the person did in the editor, as verbs of the model; and whether the model has it so. */

import type { Node, ResolvedPos } from "prosemirror-model";
import type { EditorState } from "prosemirror-state";
import type { ShownBlock, Verb } from "../document/types";
import { agree, untouched } from "./agreed";
import type { Changed } from "./changed";
import { type CaretHint, diffBlocks, isSame } from "./diff";
import { blockIdAt, isShownAs, toBlock } from "./schema";
import { cellAt } from "./table-remote";

/** What leads from the model's blocks to the editor's, of which only the changed ones are looked at. */
export function ownVerbs(
  { doc, selection }: EditorState,
  blocks: readonly ShownBlock[],
  { from, oldTo, newTo }: Changed,
): readonly Verb[] {
  const now = doc.children.slice(from, newTo).map(toBlock);
  const start = blocks[from - 1]?.id ?? "";
  const caret = caretAt(selection.$head);
  return diffBlocks(blocks.slice(from, oldTo), now, start, caret) as readonly Verb[];
}

export function caretAt($head: ResolvedPos): CaretHint {
  const cell = cellAt($head);
  const place = { block: blockIdAt($head), offset: $head.parentOffset };
  return cell === null ? place : { ...place, cell };
}

/**
 * Whether the changed nodes are the blocks that the model has there, and all others are as many:
 * from now on they are these.
 */
export function isSettled(
  before: Node,
  doc: Node,
  blocks: readonly ShownBlock[],
  { from, newTo }: Changed,
): boolean {
  if (doc.childCount !== blocks.length) return false;
  for (let index = from; index < newTo; index += 1) {
    const node = doc.child(index);
    const block = blocks[index];
    if (block === undefined || !isSame(toBlock(node), block)) return false;
    isShownAs(node, block);
  }
  const [ahead, behind] = untouched(before, doc, blocks);
  if (ahead >= from && behind >= doc.childCount - newTo) agree(doc, blocks);
  return true;
}
