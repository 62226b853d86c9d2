/**
 * Text that is cut, and stands again where it is pasted: its letters are the same ones.
 *
 * Rules.
 *   C1  What was cut is known again by a mark that the clipboard carries, never by its words: the same
 *       words from elsewhere are others.
 *   C2  A letter stands in one place: the first paste names it; one whose cut was taken back by then
 *       is there already, and what is pasted is a copy.
 *   C3  Where the letters were is noted before they are taken out, and told when they stand again: to
 *       the block that had them, behind the edit that brings them.
 */

import type { Node, ResolvedPos } from "prosemirror-model";
import type { EditorState, Transaction } from "prosemirror-state";
import { textsOf } from "../document/own";
import type { DocumentModel, ShownBlock, Verb } from "../document/types";
import { changedChildren } from "../editor/changed";
import { MARK } from "../editor/cutting-out";
import { diffBlocks } from "../editor/diff";
import { caretAt } from "../editor/own-changes";
import { blockIdAt, toBlock } from "../editor/schema";
import { textPlace } from "../editor/table-remote";
import { codePointLength, toCodePoints } from "../shared/text";
import { type Known, type Named, namedStretches } from "./naming";

const MARKED = new RegExp(`${MARK}="([\\w-]+)"`);
/** Text of more blocks at once is not named. */
const LINES_MAX = 100;

/** What was cut of the text of one block, or of one cell. */
export interface Line {
  readonly text: string;
  readonly named: readonly Named[];
  /** All of its block was cut, and nobody here had changed that: see `letters` of the verbs. */
  readonly isSeen: boolean;
}

export interface CutText {
  readonly mark: string;
  /** What was cut before this code was here is looked at when it is pasted. */
  readonly lines: () => readonly Line[];
}

/** The mark of the cut that this is, if it is one. */
export function markOf(data: DataTransfer | null): string {
  return MARKED.exec(data?.getData("text/html") ?? "")?.[1] ?? "";
}

/** C3: the selected texts, and where the nodes have their letters. */
export function linesOf({ doc, selection }: EditorState, model: Known): Line[] {
  const lines: Line[] = [];
  for (const { $from, $to } of selection.ranges) {
    for (const { start, text, node } of textsIn(doc, $from.pos, $to.pos)) {
      const place = { block: blockIdAt(start), offset: textPlace(start) };
      const isWhole = start.parentOffset === 0 && text.length === node.content.size;
      const isSeen = isWhole && start.depth === 1 && !isChanged(model, place.block);
      const named = namedStretches(model, place, codePointLength(text));
      lines.push({ text, named, isSeen });
    }
  }
  return lines.length > LINES_MAX ? [] : lines;
}

/** Whether the nodes have another text there than the one that is shown. */
function isChanged(model: Known, block: string): boolean {
  return model.unconfirmed.some((verb) => textsOf(verb).includes(block));
}

interface Part {
  readonly start: ResolvedPos;
  readonly text: string;
  readonly node: Node;
}

/** The texts between two places, one for each block or cell that has some there. */
function textsIn(doc: Node, from: number, to: number): Part[] {
  const parts: Part[] = [];
  doc.nodesBetween(from, to, (node, at) => {
    if (!node.isTextblock) return true;
    const [start, end] = [Math.max(from, at + 1), Math.min(to, at + 1 + node.content.size)];
    if (start < end) {
      const text = node.textBetween(start - at - 1, end - at - 1);
      parts.push({ start: doc.resolve(start), text, node });
    }
    return false;
  });
  return parts;
}

/**
 * What a paste, or a move by the pointer, says of letters that it brings: these stand again there.
 * `before`: as it was ahead of these transactions, of which the first is the person's.
 */
export function standingAgain(
  { lines }: CutText,
  before: EditorState,
  transactions: readonly Transaction[],
  { doc }: EditorState,
): Verb[] {
  const [by, ...rest] = transactions;
  if (by === undefined) return [];
  const isMove = by.getMeta("uiEvent") === "drop";
  let { from, to } = isMove ? by.selection : before.selection;
  for (const { mapping } of isMove ? rest : transactions)
    [from, to] = [mapping.map(from, -1), mapping.map(to, 1)];
  return [...lettersIn(textsIn(doc, from, to), lines())];
}

/** A letter of what was pasted; between two texts there is a line's end, which is in no block. */
interface Letter {
  readonly block: string;
  readonly at: number;
}

function* lettersIn(parts: readonly Part[], lines: readonly Line[]): Iterable<Verb> {
  const words = parts.map(({ text }) => text).join("\n");
  const letters: Letter[] = [];
  for (const { start, text } of parts) {
    if (letters.length > 0) letters.push({ block: "", at: 0 });
    const [block, at] = [blockIdAt(start), textPlace(start)];
    const length = codePointLength(text);
    for (let far = 0; far < length; far += 1) letters.push({ block, at: at + far });
  }
  let behind = 0;
  for (const { text, named, isSeen } of lines) {
    const at = words.indexOf(text, behind);
    if (at < 0) continue; // it was not taken as it was
    behind = at + text.length;
    const first = toCodePoints(words, at);
    for (const { far, count, source } of named) {
      for (const [from, to] of runsIn(letters, first + far, count)) {
        const { block, at } = letters[from] as Letter;
        const start = source.offset + from - first - far;
        yield ["letters", source.block, source.version, start, to - from, block, at, isSeen];
      }
    }
  }
}

/** The letters that stand side by side in one block. */
function* runsIn(letters: readonly Letter[], start: number, count: number) {
  let from = start;
  for (let at = start; at < start + count; at += 1) {
    const [one, next] = [letters[at], letters[at + 1]];
    const isLast = at + 1 === start + count;
    if (!isLast && one?.block === next?.block && one?.at === (next?.at ?? 0) - 1) continue;
    if (letters[from]?.block !== "") yield [from, at + 1] as const;
    from = at + 1;
  }
}

/** What a move by the pointer does: it takes a text out, and puts it in elsewhere. */
export interface Moved {
  readonly cut: CutText;
  readonly verbs: readonly Verb[];
}

/**
 * A move by the pointer as the two edits that it is: told as one edit, all between the two places
 * would be new text. Null: it is none.
 */
export function movedBy(
  before: EditorState,
  by: Transaction,
  now: EditorState,
  model: DocumentModel,
): Moved | null {
  const { from, to, empty } = before.selection;
  const isOut =
    !empty && by.mapping.mapResult(from, 1).deleted && by.mapping.mapResult(to, -1).deleted;
  const between = by.docs.at(-1);
  if (by.getMeta("uiEvent") !== "drop" || !isOut || between === undefined) return null;
  const { blocks } = model.value;
  const [out, left] = leading(blocks, before.doc, between, between.resolve(from));
  const [put] = leading(left, between, now.doc, now.selection.$head);
  const lines = linesOf(before, model);
  return { cut: { mark: "", lines: () => lines }, verbs: [...out, ...put] };
}

/** The verbs that lead from the one document to the other, and the blocks behind them. */
function leading(
  blocks: readonly ShownBlock[],
  before: Node,
  now: Node,
  $caret: ResolvedPos,
): [readonly Verb[], readonly ShownBlock[]] {
  const { from, oldTo, newTo } = changedChildren(before, now);
  const fresh = now.children.slice(from, newTo).map(toBlock);
  const start = blocks[from - 1]?.id ?? "";
  const old = blocks.slice(from, oldTo);
  const verbs = diffBlocks(old, fresh, start, caretAt($caret)) as readonly Verb[];
  return [verbs, [...blocks.slice(0, from), ...fresh, ...blocks.slice(oldTo)]];
}
