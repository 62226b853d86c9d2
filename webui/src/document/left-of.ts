/**
 * What of words that a person has written is left by what they have done since: a draft does not give
 * back what its writer has taken out, or has cut and pasted elsewhere.
 */

import {
  cutRich,
  isInsert,
  joinRich,
  type Rich,
  type RichDelta,
  richLength,
  span,
} from "../shared/rich";
import type { Own, OwnVerb } from "./carry";
import type { Place } from "./place";

/** `count` letters of the words from `at` on, and where they stand. */
interface Piece extends Place {
  readonly at: number;
  readonly count: number;
}

/** Of words that stand from this place on, what is left behind these verbs. */
export function leftOf(words: Rich, place: Place, later: readonly Own[]): Rich {
  let pieces: Piece[] = [{ ...place, at: 0, count: richLength(words) }];
  for (const { verb } of later) pieces = pieces.flatMap((piece) => behind(piece, verb));
  const texts = pieces.map(({ at, count }) => cutRich(words, at, at + count));
  return texts.reduce(joinRich, []);
}

/** What an own edit has written that is left by those behind it. */
export function leftOfEdit({ verb }: Own, later: readonly Own[]): Rich {
  if (verb[0] !== "edit") return [];
  let [left, offset]: [Rich, number] = [[], 0];
  for (const item of verb[2]) {
    if (isInsert(item)) left = joinRich(left, leftOf([item], { block: verb[1], offset }, later));
    offset += isInsert(item) ? richLength([item]) : Math.max(0, span(item) * signOf(item));
  }
  return left;
}

function behind(piece: Piece, verb: OwnVerb): Piece[] {
  const { block, offset } = piece;
  if (verb[0] === "edit" && verb[1] === block) return behindEdit(piece, verb[2]);
  if (verb[0] === "split" && verb[1] === block) {
    const [, , at, fresh] = verb;
    const [before, rest] = [part(piece, 0, at - offset), part(piece, at - offset, piece.count)];
    return [...before, ...rest.map((one) => ({ ...one, block: fresh, offset: one.offset - at }))];
  }
  if (verb[0] === "merge" && verb[1] === block)
    return [{ ...piece, block: verb[2], offset: verb[3] + offset }];
  if (verb[0] === "merge" && verb[2] === block)
    return behindEdit(piece, verb[3] > 0 ? [verb[3], ...verb[4]] : verb[4]);
  return [piece];
}

function behindEdit(piece: Piece, delta: RichDelta): Piece[] {
  const left: Piece[] = [];
  let [was, now] = [0, 0];
  const go = (count: number): void => {
    const some = part(piece, was - piece.offset, was + count - piece.offset);
    left.push(...some.map((one) => ({ ...one, offset: one.offset + now - was })));
    [was, now] = [was + count, now + count];
  };
  for (const item of delta) {
    if (isInsert(item)) now += richLength([item]);
    else if (signOf(item) < 0) was += span(item);
    else go(span(item));
  }
  go(Math.max(0, piece.offset + piece.count - was));
  return left;
}

/** The letters of a piece from one to another, if there are any. */
function part(piece: Piece, from: number, to: number): Piece[] {
  const [first, end] = [Math.max(0, from), Math.min(piece.count, to)];
  if (first >= end) return [];
  const { block, offset, at } = piece;
  return [{ block, offset: offset + first, at: at + first, count: end - first }];
}

function signOf(item: RichDelta[number]): number {
  return typeof item === "number" && item < 0 ? -1 : 1;
}
