/**
 * A place in a shared text that stays with its letter, whatever is done to the text.
 *
 * An anchor is a place between two letters of a text, as it was at a version, and the side on which
 * it holds on: to the letter left of it, or to the one right of it. What is inserted at its place
 * stands right of it if it holds on to the left, else left of it. groupcore/shared/types/anchor.py
 * has the rules and does the same; docs/vectors/anchors.json has cases for both.
 */

import { goesBehind, type RichDelta, type Side, span, transformRichPosition } from "./rich";

export type { Side } from "./rich";

/** A place in the text of a block as it was at a version, in code points. */
export interface Spot {
  readonly block: string;
  readonly version: number;
  readonly offset: number;
}

export interface Anchor extends Spot {
  readonly side: Side;
  /** Its letter is deleted, and was last there beside this spot. */
  readonly lost: Spot | null;
}

/** A stretch of text; its ends may come to stand in different blocks. */
export interface AnchorRange {
  readonly start: Anchor;
  readonly end: Anchor;
}

export type AnchorStep =
  /** The delta led the text of the block to the version. */
  | readonly ["edit", block: string, version: number, delta: RichDelta]
  /** All from `at` on went to the block `fresh`, whose version 0 it is. */
  | readonly ["cut", block: string, version: number, at: number, fresh: string]
  /** The text begins at `at` of `intoVersion` of `into`. */
  | readonly ["join", block: string, version: number, into: string, intoVersion: number, at: number]
  | readonly ["gone", block: string, version: number]
  /** The text of a removed block is there again; `version`: the one of the removal. */
  | readonly ["back", block: string, version: number, into: string, intoVersion: number, at: number]
  /**
   * So many letters stand again, from `at` on: those from `source` on, whose version is the one
   * before the step that took them out. An edit that brings letters back is an "edit", and then this.
   */
  | readonly ["again", block: string, version: number, at: number, source: Spot, count: number];

/** The anchor behind one step of the texts; steps of one block come in their order. */
export function carried(anchor: Anchor, step: AnchorStep): Anchor {
  const { block, version, offset, side } = anchor;
  if (step[0] === "edit") return edited(anchor, step);
  if (step[0] === "again") return again(anchor, step);
  if (block !== step[1]) return anchor;
  if (step[0] === "back") return version === step[2] ? back(anchor, step) : anchor;
  if (step[2] <= version) return anchor;
  if (step[0] === "cut") {
    if (!goesBehind(offset, step[3], side)) return { ...anchor, version: step[2] };
    return { ...anchor, block: step[4], version: 0, offset: offset - step[3] };
  }
  if (step[0] === "join")
    return { ...anchor, block: step[3], version: step[4], offset: step[5] + offset };
  return { ...anchor, version: step[2], lost: anchor.lost ?? { block, version, offset } };
}

function edited(
  anchor: Anchor,
  [, block, version, delta]: Extract<AnchorStep, readonly ["edit", ...unknown[]]>,
): Anchor {
  const { side } = anchor;
  if (anchor.block !== block || version <= anchor.version) return anchor;
  const spot = { block, version: anchor.version, offset: anchor.offset };
  const isDeleted = deletes(delta, letterAt(anchor.offset, side));
  const lost = anchor.lost ?? (isDeleted ? spot : null);
  const offset = transformRichPosition(anchor.offset, delta, side);
  return { block, version, offset, side, lost };
}

function again(
  anchor: Anchor,
  [, block, version, at, source, count]: Extract<AnchorStep, readonly ["again", ...unknown[]]>,
): Anchor {
  const { lost, side } = anchor;
  if (lost?.block !== source.block || lost.version !== source.version) return anchor;
  const far = lost.offset - source.offset;
  const letter = letterAt(far, side);
  if (letter < 0 || letter >= count) return anchor;
  return { block, version, offset: at + far, side, lost: null };
}

function back(
  { block, version, offset, side, lost }: Anchor,
  [, , , into, intoVersion, at]: Extract<AnchorStep, readonly ["back", ...unknown[]]>,
): Anchor {
  // The letter was there when the block was removed.
  const wasThere = lost?.block === block && lost.version === version - 1 && lost.offset === offset;
  const left = wasThere ? null : lost;
  return { block: into, version: intoVersion, offset: at + offset, side, lost: left };
}

/** Which letter a place holds on to, counted from 0; -1: the beginning of the text. */
function letterAt(offset: number, side: Side): number {
  return side === "left" ? offset - 1 : offset;
}

function deletes(delta: RichDelta, letter: number): boolean {
  let seen = 0;
  for (const item of delta) {
    const end = seen + span(item);
    if (seen <= letter && letter < end) return typeof item === "number" && item < 0;
    seen = end;
  }
  return false;
}

/** The letters between two places; what is inserted at its ends is not in it, unless it grows. */
export function stretch(
  block: string,
  version: number,
  start: number,
  end: number,
  grows = false,
): AnchorRange {
  const place = { block, version, lost: null };
  return {
    start: { ...place, offset: start, side: grows ? "left" : "right" },
    end: { ...place, offset: end, side: grows ? "right" : "left" },
  };
}

/** The range behind one step. One without letters stays empty, where they were. */
export function rangeCarried(range: AnchorRange, step: AnchorStep): AnchorRange {
  const start = carried(range.start, step);
  const end = carried(range.end, step);
  if (start.block !== end.block || start.offset <= end.offset) return { start, end };
  return { start: { ...start, offset: end.offset }, end };
}
