/**
 * Others' changes as one editor transaction.
 *
 * Each change becomes the smallest step that does it, so that the person's selection stays where
 * it was. At the end the editor's blocks are compared with the model's: what is not the same is put
 * in anew.
 */

import { type Node, Slice } from "prosemirror-model";
import { type EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { behind, type Place } from "../document/place";
import type {
  AttributePatch,
  AttributeValue,
  NewBlock,
  ShownBlock,
  ShownChange,
  ViewEvent,
} from "../document/types";
import { richLength, type Side } from "../shared/rich";
import { codePointLength, toUnits } from "../shared/text";
import { agree, untouched } from "./agreed";
import { diffAttributes, diffBlocks, isSame } from "./diff";
import { applyEdit } from "./rich-steps";
import {
  blockIdAt,
  blockType,
  isShownAs,
  nodeAttributes,
  nodeTypeOf,
  tableType,
  toBlock,
  toBlocks,
  toDoc,
  toNode,
} from "./schema";
import { editorPlace, textPlace, updateTable } from "./table-remote";

/** Marks transactions that come from the model and must not be sent back. */
export const REMOTE = "groupcore.remote";

interface Found {
  readonly node: Node;
  /** Position right before the node. */
  readonly from: number;
  readonly index: number;
}

export function findBlock(doc: Node, id: string): Found | null {
  let from = 0;
  for (let index = 0; index < doc.childCount; index += 1) {
    const node = doc.child(index);
    if (node.attrs.id === id) return { node, from, index };
    from += node.nodeSize;
  }
  return null;
}

/**
 * The editor transaction for what has changed by itself. `blank` is the id of the block that is
 * shown while the document has none.
 */
export function remoteTransaction(
  state: EditorState,
  event: ViewEvent,
  blank: string,
): Transaction {
  const transaction = state.tr.setMeta(REMOTE, true);
  const { blocks } = event.after;
  let ends = endsOf(state);
  if (event.before.blocks.length > 0 && blocks.length > 0 && !isShown(state.doc, blocks)) {
    const changes = event.changes ?? diffBlocks(toBlocks(state.doc), blocks, "");
    for (const change of changes) {
      for (const one of inParts(transaction.doc, change)) {
        ends = ends.map((end) => endBehind(end, one, transaction.doc));
        applyChange(transaction, one);
      }
    }
    updateTables(transaction, changes, blocks);
  }
  reconcile(state.doc, transaction, blocks, blank);
  return withEnds(transaction, ends);
}

/** An end of the selection, as a place that stays with its letter. */
interface End extends Place {
  readonly side: Side;
}

/** A caret stays left of what others insert at it, and what is selected does not grow at its ends. */
function endsOf({ selection }: EditorState): readonly End[] {
  if (!(selection instanceof TextSelection)) return [];
  const { $anchor, $head, empty, from } = selection;
  return [$anchor, $head].map(($end) => ({
    block: blockIdAt($end),
    offset: textPlace($end),
    side: $end.pos === from && !empty ? "right" : "left",
  }));
}

function endBehind(end: End, change: ShownChange, doc: Node): End {
  const lengthOf = (id: string): number =>
    codePointLength(findBlock(doc, id)?.node.textContent ?? "");
  return { ...end, ...behind(end, change, end.side, lengthOf) };
}

/** Puts the ends of the selection where they belong, if there is still a text. */
function withEnds(transaction: Transaction, ends: readonly End[]): Transaction {
  const { doc } = transaction;
  const [$anchor, $head] = ends.map(({ block, offset }) => {
    const found = findBlock(doc, block);
    return found && !found.node.isAtom ? doc.resolve(toEditorPosition(found, offset)) : null;
  });
  if (!$anchor || !$head) return transaction;
  const selection = TextSelection.between($anchor, $head);
  return selection.eq(transaction.selection) ? transaction : transaction.setSelection(selection);
}

/** A text that is made anew as the edits that do it. */
function inParts(doc: Node, change: ShownChange): readonly ShownChange[] {
  if (change[0] !== "show") return [change];
  const node = findBlock(doc, change[1].id)?.node;
  const isText = node?.type === blockType && nodeTypeOf(change[1]) === blockType;
  return isText ? diffBlocks([toBlock(node)], [change[1]], "") : [change];
}

/** Brings the tables that are named to what they are now: cells, rows and columns that differ. */
function updateTables(
  transaction: Transaction,
  changes: readonly ShownChange[],
  blocks: readonly ShownBlock[],
): void {
  const ids = new Set(changes.map(([, one]) => (typeof one === "string" ? one : "")));
  for (const id of ids) {
    const found = findBlock(transaction.doc, id);
    if (found?.node.type !== tableType) continue;
    const block = blocks.find((one) => one.id === id);
    if (block !== undefined && nodeTypeOf(block) === tableType)
      showBlock(transaction, found, block);
  }
}

/** Whether the editor has exactly these blocks already. */
function isShown(doc: Node, blocks: readonly ShownBlock[]): boolean {
  if (doc.childCount !== blocks.length) return false;
  const [ahead, behind] = untouched(doc, doc, blocks);
  for (let index = ahead; index < blocks.length - behind; index += 1) {
    if (!isSame(toBlock(doc.child(index)), blocks[index])) return false;
  }
  return true;
}

/**
 * Puts in anew what is not as these blocks say, from the first such block to the last. `before`:
 * what the transaction has begun with.
 */
function reconcile(
  before: Node,
  transaction: Transaction,
  blocks: readonly ShownBlock[],
  blank: string,
): void {
  const { doc } = transaction;
  const wanted = blocks.length === 0 ? toBlocks(toDoc([], blank)) : blocks;
  const isThere = (index: number, place: number): boolean => {
    const node = doc.maybeChild(index);
    const block = wanted[place];
    if (node === null || block === undefined) return false;
    if (!isSame(toBlock(node), block)) return false;
    isShownAs(node, block);
    return true;
  };
  const shorter = Math.min(doc.childCount, wanted.length);
  let [ahead, tail] = untouched(before, doc, wanted);
  while (ahead < shorter - tail && isThere(ahead, ahead)) ahead += 1;
  const tailMax = shorter - ahead;
  while (tail < tailMax && isThere(doc.childCount - 1 - tail, wanted.length - 1 - tail)) {
    tail += 1;
  }
  const last = doc.childCount - tail;
  if (ahead === last && wanted.length === doc.childCount) {
    agree(doc, wanted);
    return;
  }
  const from = placeOf(doc, ahead);
  const to = placeOf(doc, last);
  const nodes = wanted.slice(ahead, wanted.length - tail).map(toNode);
  transaction.replaceWith(from, to, nodes);
  const isPut = nodes.every((node, index) => transaction.doc.maybeChild(ahead + index) === node);
  if (isPut && transaction.doc.childCount === wanted.length) agree(transaction.doc, wanted);
}

/** The position in front of the child of this index. */
function placeOf(doc: Node, index: number): number {
  let place = 0;
  for (let at = 0; at < index; at += 1) place += doc.child(at).nodeSize;
  return place;
}

/** The place behind the block of this id; of an empty id the start, of an unknown one the end. */
function placeBehind(doc: Node, after: string): number {
  if (after === "") return 0;
  const found = findBlock(doc, after);
  return found === null ? doc.content.size : found.from + found.node.nodeSize;
}

function applyChange(transaction: Transaction, change: ShownChange): void {
  const { doc } = transaction;
  switch (change[0]) {
    case "insert": {
      const fresh = unknownOf(doc, change[2]);
      const nodes = fresh.map((block) => toNode({ ...block, length: richLength(block.content) }));
      if (nodes.length > 0) transaction.insert(placeBehind(doc, change[1]), nodes);
      return;
    }
    case "remove":
      removeBlocks(transaction, new Set(change[1]));
      return;
    case "move":
      moveBlocks(transaction, change[1], change[2]);
      return;
    case "rename":
    case "letters":
      return;
    case "show": {
      const found = findBlock(doc, change[1].id);
      if (found !== null) showBlock(transaction, found, change[1]);
      return;
    }
    default: {
      const found = findBlock(doc, change[1]);
      if (found !== null) applyToBlock(transaction, change, found);
    }
  }
}

/** Those of the blocks that the editor has not. */
function unknownOf(doc: Node, blocks: readonly NewBlock[]): readonly NewBlock[] {
  const ids = new Set(blocks.map(({ id }) => id));
  doc.forEach((node) => {
    ids.delete(String(node.attrs.id));
  });
  return ids.size === blocks.length ? blocks : blocks.filter(({ id }) => ids.has(id));
}

type BlockChange = Extract<ShownChange, readonly ["edit" | "set" | "split" | "join", ...unknown[]]>;

function applyToBlock(transaction: Transaction, change: BlockChange, found: Found): void {
  const { node, from } = found;
  switch (change[0]) {
    case "edit":
      if (node.type === blockType) applyEdit(transaction, node, from + 1, change[2]);
      return;
    case "set":
      // Tables are other nodes than texts: a block that becomes one, or is one no more, is put in
      // anew, and what is said of a table is done with its text.
      if (node.type !== tableType && change[2].type !== "table") {
        applyAttributes(transaction, found, change[2]);
      }
      return;
    case "split": {
      if (node.type !== blockType) return;
      const at = from + 1 + toUnits(node.textContent, change[2]);
      const attrs = nodeAttributes(change[3], change[4]);
      transaction.split(at, 1, [{ type: blockType, attrs }]);
      return;
    }
    case "join":
      applyJoin(transaction, found, change[2]);
  }
}

function applyAttributes(
  transaction: Transaction,
  { node, from }: Found,
  patch: AttributePatch,
): void {
  const { more: known, ...attrs } = node.attrs;
  const more: Record<string, AttributeValue> = { ...(known as Record<string, AttributeValue>) };
  for (const [name, value] of Object.entries(patch)) {
    if (name !== "id" && name in attrs) transaction.setNodeAttribute(from, name, value);
    else if (value === null) delete more[name];
    else more[name] = value;
  }
  const now = Object.keys(more).length > 0 ? more : null;
  if (now !== null || known !== null) transaction.setNodeAttribute(from, "more", now);
}

function applyJoin(transaction: Transaction, found: Found, into: string): void {
  const target = findBlock(transaction.doc, into);
  if (target === null || target.node.type !== blockType || found.node.type !== blockType) return;
  if (target.index === found.index - 1) {
    transaction.join(found.from);
    return;
  }
  removeBlocks(transaction, new Set([String(found.node.attrs.id)]));
  const now = findBlock(transaction.doc, into);
  if (now === null) return;
  const end = now.from + 1 + now.node.content.size;
  transaction.replace(end, end, new Slice(found.node.content, 0, 0));
}

function moveBlocks(transaction: Transaction, ids: readonly string[], after: string): void {
  let last = after;
  for (const id of ids) {
    const found = findBlock(transaction.doc, id);
    if (found === null || id === last) continue;
    // Put in first: the editor shows at least one block at any time.
    transaction.insert(placeBehind(transaction.doc, last), found.node);
    const old = transaction.mapping.maps.at(-1)?.map(found.from, 1) ?? found.from;
    transaction.delete(old, old + found.node.nodeSize);
    last = id;
  }
}

/** Takes blocks out, neighbours at once. If nothing is left, `reconcile` shows an empty one. */
function removeBlocks(transaction: Transaction, ids: ReadonlySet<string>): void {
  const ranges: { from: number; to: number }[] = [];
  transaction.doc.forEach((node, from) => {
    if (!ids.has(String(node.attrs.id))) return;
    const last = ranges.at(-1);
    if (last?.to === from) last.to = from + node.nodeSize;
    else ranges.push({ from, to: from + node.nodeSize });
  });
  const isAll = ranges.length === 1 && ranges[0]?.to === transaction.doc.content.size;
  if (isAll && ranges[0]?.from === 0) return;
  for (const { from, to } of ranges.reverse()) transaction.delete(from, to);
}

function showBlock(
  transaction: Transaction,
  { node, from, index }: Found,
  block: ShownBlock,
): void {
  if (nodeTypeOf(block) === tableType && node.type === tableType) {
    const patch = diffAttributes(toBlock(node).attributes, block.attributes);
    if (patch !== null) applyAttributes(transaction, { node, from, index }, patch);
    updateTable(transaction, from, block);
    return;
  }
  transaction.replaceWith(from, from + node.nodeSize, toNode(block));
}

/** A position in a block's text, in code points, as a position in the editor. */
export function toEditorPosition(found: { node: Node; from: number }, position: number): number {
  if (found.node.type === tableType) return found.from + editorPlace(found.node, position);
  const text = found.node.textContent;
  return found.from + 1 + toUnits(text, Math.min(position, codePointLength(text)));
}
