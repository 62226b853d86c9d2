/**
 * How concurrent changes meet: the table of docs/protocol-browser.md as functions.
 *
 * `rebaseChange(mine, other, mineFirst)` gives what `mine` becomes in a document that `other` has
 * changed already; both were made against the same document, and the one ordered first wins ties.
 * The page applies only what the node has ordered, so what these functions give is the view until
 * the answer comes; it never decides what the document holds.
 */

import {
  type Delta,
  divideDelta,
  insertsText,
  shiftDelta,
  transformDelta,
  transformPosition,
} from "../shared/delta";
import { RefusalError } from "../shared/refusal";
import type {
  Change,
  DeleteChange,
  InsertChange,
  JoinChange,
  MoveChange,
  SetChange,
  SplitChange,
  TextChange,
  Transaction,
} from "./changes";
import { mentioned } from "./changes";

type Place = string | null;

/**
 * What `mine` becomes behind `other`: no, one or two changes.
 *
 * Throws RefusalError: `block_deleted` when mine writes into a block that the other, ordered
 * first, removed; `block_exists` when both create the same block.
 */
export function rebaseChange(mine: Change, other: Change, mineFirst: boolean): Transaction {
  if (isIdle(mine)) return [];
  if (isIdle(other)) return [mine];
  switch (mine[0]) {
    case "text":
      return rebaseText(mine, other, mineFirst);
    case "insert":
      return rebaseInsert(mine, other, mineFirst);
    case "delete":
      return rebaseDelete(mine, other, mineFirst);
    case "move":
      return rebaseMove(mine, other, mineFirst);
    case "set":
      return rebaseSet(mine, other, mineFirst);
    case "split":
      return rebaseSplit(mine, other, mineFirst);
    case "join":
      return rebaseJoin(mine, other, mineFirst);
    case "title":
      return mineFirst && other[0] === "title" ? [] : [mine];
  }
}

/** Both carried over each other: [first behind later, later behind first]. */
export function rebaseBoth(first: Transaction, later: Transaction): [Transaction, Transaction] {
  const over: Change[] = [];
  let remaining = first;
  for (const change of later) {
    const [moved, rest] = carry(change, remaining);
    over.push(...moved);
    remaining = rest;
  }
  return [remaining, over];
}

/** One later change over the first ones, and these over it. */
export function carry(change: Change, first: Transaction): [Transaction, Transaction] {
  let moved: Transaction = [change];
  const over: Change[] = [];
  for (const other of first) {
    const mine = moved[0];
    if (mine === undefined) {
      over.push(other);
    } else if (moved.length > 1) {
      const [others, pieces] = rebaseBoth([other], moved);
      moved = pieces;
      over.push(...others);
    } else if (mentioned(mine).some((block) => mentioned(other).includes(block))) {
      moved = rebaseChange(mine, other, false);
      over.push(...rebaseChange(other, mine, true));
    } else {
      over.push(other);
    }
  }
  return [moved, over];
}

/** Whether the change does nothing, so that it meets nothing. */
function isIdle(change: Change): boolean {
  if (change[0] === "move") return change[2] === change[3];
  if (change[0] === "text") return change[2].length === 0;
  return change[0] === "set" && Object.keys(change[2]).length === 0;
}

/** Where something new goes that was to stand right behind `place`. */
function placeOver(place: Place, other: Change, mineFirst: boolean): Place {
  switch (other[0]) {
    case "insert":
      return other[2] === place && !mineFirst ? other[1] : place;
    case "delete":
      return other[1] === place ? other[2] : place;
    case "join":
      return other[1] === place ? other[4] : place;
    case "move":
      if (other[1] === place) return other[3];
      return other[2] === place && !mineFirst ? other[1] : place;
    case "split":
      return other[1] === place ? other[3] : place;
    default:
      return place;
  }
}

/** Which block stands before `block` now, that stood behind `prev`. */
function prevOver(block: string, prev: Place, other: Change): Place {
  switch (other[0]) {
    case "insert":
      return other[2] === prev ? other[1] : prev;
    case "delete":
      return other[1] === prev ? other[2] : prev;
    case "join":
      return other[1] === prev ? other[4] : prev;
    case "move":
      if (other[1] === block) return other[2];
      if (other[1] === prev) return other[3];
      return other[2] === prev ? other[1] : prev;
    case "split":
      return other[1] === prev ? other[3] : prev;
    default:
      return prev;
  }
}

function edit(block: string, delta: Delta): Transaction {
  return delta.length > 0 ? [["text", block, delta]] : [];
}

function rebaseText(mine: TextChange, other: Change, mineFirst: boolean): Transaction {
  const [, block, delta] = mine;
  if (other[1] !== block) return [mine];
  switch (other[0]) {
    case "text":
      return edit(block, transformDelta(delta, other[2], !mineFirst));
    case "delete":
      if (insertsText(delta) && !mineFirst) {
        throw new RefusalError("block_deleted", "somebody else deleted this block");
      }
      return [];
    case "split": {
      const [before, behind] = divideDelta(delta, other[2]);
      return [...edit(block, before), ...edit(other[3], behind)];
    }
    case "join":
      return edit(other[2], shiftDelta(delta, other[3]));
    default:
      return [mine];
  }
}

function refuseSameBlock(fresh: string, other: Change): void {
  const created = other[0] === "insert" ? other[1] : other[0] === "split" ? other[3] : null;
  if (created === fresh) {
    throw new RefusalError("block_exists", `there is a block ${fresh} already`);
  }
}

function rebaseInsert(mine: InsertChange, other: Change, mineFirst: boolean): Transaction {
  const [kind, block, place, attributes, text] = mine;
  refuseSameBlock(block, other);
  const after = placeOver(place, other, mineFirst);
  return [after === place ? mine : [kind, block, after, attributes, text]];
}

/** Takes out of `into` what the join brought (its attributes are not known here). */
function partAgain(join: JoinChange): SplitChange {
  return ["split", join[2], join[3], join[1], {}];
}

function rebaseDelete(mine: DeleteChange, other: Change, mineFirst: boolean): Transaction {
  const [, block, before] = mine;
  const prev = prevOver(block, before, other);
  if (other[0] === "delete" && other[1] === block) return [];
  if (other[0] === "join") {
    const [, joined, into, offset, joinedPrev] = other;
    if (joined === block) {
      // The text lives on in `into`; where the delete was first, it must go from there.
      return mineFirst ? [partAgain(other), ["delete", block, into]] : [];
    }
    if (into === block && mineFirst) {
      const back = joinedPrev === block ? [] : moved(joined, joinedPrev, prev);
      return [partAgain(other), ["delete", block, prev], ...back];
    }
    if (into === block) {
      // Somebody's text came into the block: only what the deleter saw is deleted.
      return edit(block, offset > 0 ? [-offset] : []);
    }
  }
  if (other[0] === "split" && other[1] === block) {
    return [
      ["delete", block, prev],
      ["delete", other[3], prev],
    ];
  }
  return [prev === before ? mine : ["delete", block, prev]];
}

function moved(block: string, after: Place, prev: Place): Transaction {
  return after === prev ? [] : [["move", block, after, prev]];
}

function rebaseMove(mine: MoveChange, other: Change, mineFirst: boolean): Transaction {
  const [, block, place, before] = mine;
  let after: Place;
  switch (other[0]) {
    case "delete":
    case "join":
      if (other[1] === block) return [];
      after = placeOver(place, other, mineFirst);
      break;
    case "move":
      if (other[1] === block) return mineFirst ? [] : moved(block, place, other[2]);
      after = movePlaceOver(mine, other, mineFirst);
      break;
    case "split":
      if (other[1] === block) return [mine, ["move", other[3], block, before]];
      after = placeOver(place, other, mineFirst);
      break;
    default:
      after = placeOver(place, other, mineFirst);
  }
  // The block between was removed: it stands there already.
  if (after === block) return [];
  return moved(block, after, prevOver(block, before, other));
}

/** Where mine goes, decided in the order without either block, so that both sides agree. */
function movePlaceOver(mine: MoveChange, other: MoveChange, mineFirst: boolean): Place {
  const previous = new Map<Place, Place>([
    [mine[1], mine[3]],
    [other[1], other[3]],
  ]);
  const withoutBoth = (start: Place): Place => {
    let place = start;
    for (let step = 0; step < 2; step += 1) {
      const before = previous.get(place);
      if (before !== undefined) place = before;
    }
    return place;
  };
  const place = withoutBoth(mine[2]);
  return place === withoutBoth(other[2]) && !mineFirst ? other[1] : place;
}

function rebaseSet(mine: SetChange, other: Change, mineFirst: boolean): Transaction {
  if (other[1] !== mine[1]) return [mine];
  if (other[0] === "delete" || other[0] === "join") return [];
  if (other[0] === "set" && mineFirst) {
    const left = Object.entries(mine[2]).filter(([name]) => !(name in other[2]));
    return left.length > 0 ? [["set", mine[1], Object.fromEntries(left)]] : [];
  }
  return [mine];
}

function rebaseSplit(mine: SplitChange, other: Change, mineFirst: boolean): Transaction {
  let [, block, at] = mine;
  const [, , , fresh, attributes] = mine;
  refuseSameBlock(fresh, other);
  if (other[1] !== block) return [mine];
  switch (other[0]) {
    case "text":
      at = transformPosition(at, other[2]);
      break;
    case "delete":
      return [];
    case "join":
      block = other[2];
      at = other[3] + at;
      break;
    case "split":
      if (at > other[2] || (at === other[2] && mineFirst)) {
        block = other[3];
        at -= other[2];
      }
      break;
    default:
      return [mine];
  }
  return [["split", block, at, fresh, attributes]];
}

function rebaseJoin(mine: JoinChange, other: Change, mineFirst: boolean): Transaction {
  const [, block, into, offset, before] = mine;
  const prev = prevOver(block, before, other);
  const joined = (target: string, at: number): JoinChange => ["join", block, target, at, prev];
  switch (other[0]) {
    case "text":
      return [other[1] === into ? joined(into, transformPosition(offset, other[2])) : mine];
    case "delete":
      if (other[1] === block) return [];
      // The deleter took only what stood in `into` (see rebaseDelete): an emptied `into` is left.
      if (other[1] === into) return mineFirst ? [joined(into, 0)] : [];
      break;
    case "join":
      if (other[1] === block) {
        const isAgain = mineFirst && other[2] !== into;
        return isAgain ? [partAgain(other), ["join", block, into, offset, other[2]]] : [];
      }
      if (other[1] === into && other[2] === block) {
        // Into each other: the first one decides which block is left.
        return mineFirst ? [partAgain(other), joined(into, offset)] : [];
      }
      if (other[1] === into) return [joined(other[2], other[3] + offset)];
      break;
    case "split":
      if (other[1] === into) return [joined(other[3], Math.max(0, offset - other[2]))];
      if (other[1] === block) return [joined(into, offset), ...moved(other[3], into, prev)];
      break;
    default:
      break;
  }
  return [prev === before ? mine : joined(into, offset)];
}
