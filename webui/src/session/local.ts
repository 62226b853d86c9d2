/** Carrying one's own unanswered changes over what others did meanwhile. */

import { type Change, INSERT_UNITS_MAX, type Transaction } from "../model/changes";
import { diffDocuments } from "../model/diff";
import type { DocumentValue } from "../model/document";
import { carry } from "../model/rebase";
import type { Delta } from "../shared/delta";
import { RefusalError } from "../shared/refusal";
import { codePointLength } from "../shared/text";

/** Longest insert in one change, in UTF-16 units. */
const PIECE_UNITS = INSERT_UNITS_MAX;

/** Own changes behind those of others. */
export interface Carried {
  /** The own changes as they are now. */
  readonly changes: Transaction;
  /** The document with them. */
  readonly document: DocumentValue;
  /** The others' changes behind the own ones; null when that is not known exactly. */
  readonly over: Transaction | null;
  /** Own changes that no longer fit, with the reason. */
  readonly refused: readonly Change[];
  readonly refusal: RefusalError | null;
}

/**
 * Carries `own` over `others`, both made against the same document; `base` is that document with
 * the others' changes. A change that no longer fits is left out and returned, the rest goes on.
 */
export function carryOver(own: Transaction, others: Transaction, base: DocumentValue): Carried {
  const kept: Change[] = [];
  const refused: Change[] = [];
  let refusal: RefusalError | null = null;
  let document = base;
  let over = others;
  let exact = true;
  for (const change of own) {
    try {
      const [moved, rest] = carry(change, over);
      const applied = document.apply(moved);
      document = applied.document;
      kept.push(...applied.changes);
      over = rest;
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      refused.push(change);
      refusal ??= error;
      exact = false;
    }
  }
  return { changes: kept, document, over: exact ? over : null, refused, refusal };
}

/** The changes that lead from one view to another: the given ones where they do, else a diff. */
export function leading(
  changes: Transaction | null,
  before: DocumentValue,
  after: DocumentValue,
): Transaction {
  if (changes !== null) {
    try {
      const applied = before.apply(changes);
      if (diffDocuments(applied.document, after).length === 0) return applied.changes;
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
    }
  }
  return diffDocuments(before, after);
}

/**
 * The text that a person would lose with these changes: the whole text of each block that they
 * wrote into, as `view` shows it; of blocks that are gone, what was inserted.
 */
export function writtenText(changes: Transaction, view: DocumentValue): string {
  const texts = new Map<string, string>();
  for (const change of changes) {
    if (change[0] === "insert") {
      texts.set(change[1], view.get(change[1])?.text ?? change[4]);
    } else if (change[0] === "text") {
      const inserted = change[2].filter((item) => typeof item === "string");
      if (inserted.length === 0) continue;
      const known = texts.get(change[1]) ?? "";
      texts.set(change[1], view.get(change[1])?.text ?? known + inserted.join(" "));
    } else if (change[0] === "title") {
      texts.set("\0title", change[1]);
    }
  }
  return [...texts.values()].filter((text) => text !== "").join("\n");
}

/** About how many bytes a change takes in a frame, never less than it does. */
export function changeBytes(change: Change): number {
  let bytes = 48;
  const count = (value: unknown): void => {
    if (typeof value === "string") bytes += 8 + 3 * value.length;
    else if (Array.isArray(value)) value.forEach(count);
    else if (typeof value === "object" && value !== null) Object.entries(value).forEach(count);
    else bytes += 10;
  };
  count(change);
  return bytes;
}

/** The same change as several, so that no single one outgrows a frame. */
export function chop(change: Change): Transaction {
  if (change[0] === "insert" && change[4].length > PIECE_UNITS) {
    const [head = "", ...rest] = pieces(change[4]);
    let at = codePointLength(head);
    const result: Change[] = [["insert", change[1], change[2], change[3], head]];
    for (const piece of rest) {
      result.push(["text", change[1], [at, piece]]);
      at += codePointLength(piece);
    }
    return result;
  }
  if (change[0] === "text") return chopText(change[1], change[2]);
  return [change];
}

function chopText(block: string, delta: Delta): Transaction {
  if (!delta.some((item) => typeof item === "string" && item.length > PIECE_UNITS)) {
    return [["text", block, delta]];
  }
  const result: Change[] = [];
  let at = 0;
  const push = (item: number | string): void => {
    result.push(["text", block, at > 0 ? [at, item] : [item]]);
  };
  for (const item of delta) {
    if (typeof item === "string") {
      for (const piece of pieces(item)) {
        push(piece);
        at += codePointLength(piece);
      }
    } else if (item > 0) {
      at += item;
    } else {
      push(item);
    }
  }
  return result;
}

function pieces(text: string): string[] {
  const result: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + PIECE_UNITS);
    if (end < text.length && /[\udc00-\udfff]/.test(text[end] ?? "")) end -= 1;
    result.push(text.slice(at, end));
    at = end;
  }
  return result;
}
