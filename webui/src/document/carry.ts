/**
 * Own verbs that have no place in the order yet, carried over what others did, and that over them.
 *
 * Idea. Two lists of steps lead away from one document: the own ones, and the others'. `crossed`
 * gives both as they are behind the other list, so that both ways lead to one document; the own
 * ones are the later in the order. It is what the nodes do with late edits: an edit is divided
 * where its text was cut, and goes after it where it was joined.
 *
 * Rules.
 *   K1  The document behind both is the same, whichever list comes first; but for places in the
 *       order of the blocks, which only the outline knows.
 *   K2  An own step that can be done no more is dropped; what it has written is told.
 *   K3  What was done behind an own merge goes with the text that it was done to, wherever that
 *       comes to stand.
 *   K4  Letters that stand again are named where the nodes have them; where others have come between
 *       them, they are not.
 *   K5  What is written at the end of a text stays there when another text is joined to it: letters that
 *       are typed one by one would else stand on both sides of that.
 *   K6  At one place, what extends what its writer wrote last stands left, next to it: what others have
 *       put there would else stand in the middle of a word (decision 202).
 */

import {
  applyRich,
  cutRich,
  divideRich,
  growth,
  insertedText,
  joinRich,
  type Rich,
  type RichDelta,
  richLength,
  shiftRich,
  transformRich,
  transformRichPosition,
} from "../shared/rich";
import type { Place } from "./block";
import { behindStep } from "./brought-back";
import type { Merge, Step } from "./doc";
import { behind } from "./place";
import type { Verb } from "./types";

export type Letters = Extract<Verb, readonly ["letters", ...unknown[]]>;

/** A verb of one's own; a join knows where the text goes. */
export type OwnVerb = Exclude<Verb, readonly ["join", ...unknown[]]> | Merge;

/** What was called for an own verb; parts of a divided one share it. */
export interface OwnCall {
  /** The block's group that was asked, empty: the outline; and the number of the call. */
  readonly group: string;
  readonly n: number;
  readonly operation: string;
  /** With this version the block had it, as a verdict says; 0: not known. */
  placed: number;
  /** The parcels in which parts of an edit went after their texts, as a verdict says. */
  moved?: readonly Place[] | undefined;
  /** Whether it was answered that it was done. */
  isAnswered: boolean;
  /** Text that has lost its place here, and whether others have deleted that. */
  lost: Rich;
  isDeleted: boolean;
}

export function callOf(group: string, operation: string, n: number): OwnCall {
  return { group, operation, n, placed: 0, isAnswered: false, lost: [], isDeleted: false };
}

/** A verb of the person that is not confirmed. */
export interface Own {
  readonly verb: OwnVerb;
  readonly call: OwnCall | null;
  /** K6. Null: an edit that inserts nothing. */
  readonly extends?: boolean | null;
  /** Of a part of an edit that follows its text: the block it goes to, and its parcel there. */
  readonly hop: string;
  readonly parcel: number;
  /** The block that has passed it on to `hop`, whose parcel it is; that of the call where nobody has. */
  readonly from?: string | undefined;
  /** How many of the person's verbs it holds. */
  readonly edits: number;
  /** The draft that it goes on, should it be refused, too. */
  readonly draft?: string;
}

export interface Crossing {
  own: readonly Own[];
  others: readonly Step[];
  /** Own steps that were dropped. */
  readonly dropped: Own[];
}

/** Both lists, each as it is behind the other. */
export function crossed(own: readonly Own[], others: readonly Step[]): Crossing {
  const dropped: Own[] = [];
  let theirs = others;
  const mine: Own[] = [];
  for (const one of own) {
    const [carried, rest] = crossOne(one, theirs, dropped);
    mine.push(...carried);
    theirs = rest;
  }
  return { own: mine, others: theirs, dropped };
}

function crossOne(own: Own, others: readonly Step[], dropped: Own[]): [Own[], Step[]] {
  let mine = [own];
  const theirs: Step[] = [];
  for (const other of others) {
    let over: Step[] = [other];
    const next: Own[] = [];
    for (const part of mine) {
      if (over.length === 1 && over[0] !== undefined) {
        const [carried, rest] = cross(part, over[0], dropped);
        next.push(...carried);
        over = rest;
      } else {
        const [carried, rest] = crossOne(part, over, dropped);
        next.push(...carried);
        over = rest;
      }
    }
    mine = next;
    theirs.push(...over);
  }
  return [mine, theirs];
}

type Pair = [Own[], Step[]];

function cross(own: Own, other: Step, dropped: Own[]): Pair {
  const { verb } = own;
  switch (verb[0]) {
    case "edit":
      return crossEdit(own, verb, other, dropped);
    case "set":
      return crossSet(own, verb, other, dropped);
    case "split":
      return crossSplit(own, verb, other, dropped);
    case "merge":
      return crossMerge(own, verb, other, dropped);
    case "remove":
      return crossRemove(own, verb[1], other);
    case "rename":
      return [[own], other[0] === "rename" ? [] : [other]];
    case "insert":
      return crossInsert(own, verb, other);
    case "letters":
      return [lettersBehind(own, verb, other), [other]];
    default:
      return [[own], [other]];
  }
}

/** The parcel in which a part of an edit went that is shown with a text that went to a block; 0: not known. */
export function parcelTo(block: string, { moved = [] }: OwnCall): Place {
  const other = moved.length === 1 ? moved[0] : undefined; // it is shown there, as one has joined that
  return moved.find(([to]) => to === block) ?? other ?? [block, 0];
}

/** The own step with another verb; where its text went to another block first. */
function as(own: Own, verb: OwnVerb, wentTo = ""): Own {
  const isAway = wentTo !== "" && wentTo !== PASSING && wentTo !== BEHIND;
  if (!isAway || own.call === null || own.call.group === wentTo || own.hop !== "")
    return { ...own, verb };
  const [hop, parcel] = parcelTo(wentTo, own.call);
  return { ...own, verb, hop, parcel };
}

function edit(block: string, delta: RichDelta, joined?: string): Step[] {
  if (delta.length === 0) return [];
  return [joined === undefined ? ["edit", block, delta] : ["edit", block, delta, joined]];
}

function crossEdit(
  own: Own,
  [, block, mine]: Extract<OwnVerb, readonly ["edit", ...unknown[]]>,
  other: Step,
  dropped: Own[],
): Pair {
  const kept = (to: string, delta: RichDelta): Own[] =>
    delta.length > 0 ? [as(own, ["edit", to, delta], to === block ? "" : to)] : [];
  if (other[0] === "edit" && other[1] === block) {
    const isFirst = other[3] === undefined; // K5
    const isLeft = isFirst && own.extends !== true; // K6
    const carried = transformRich(mine, other[2], isFirst, isLeft);
    const over = transformRich(other[2], mine, !isFirst, !isLeft);
    return [kept(block, carried), edit(block, over, other[3])];
  }
  if (other[0] === "split" && other[1] === block) {
    const [, , at, fresh, attributes, ...isBack] = other;
    const [before, behind] = divideRich(mine, at);
    const place = transformRichPosition(at, mine);
    const parts = [...kept(block, before), ...kept(fresh, behind)];
    return [parts, [["split", block, place, fresh, attributes, ...isBack]]];
  }
  if (other[0] === "merge" && other[1] === block) {
    const [, , into, at, text, behind] = other;
    const rest: Step = ["merge", block, into, at, applyRich(mine, text), behind];
    return [kept(into, shiftRich(mine, at)), [rest]];
  }
  if (other[0] === "merge" && other[2] === block) {
    const [, source, , at, text, behind = []] = other;
    const theirs: RichDelta = at > 0 && text.length > 0 ? [at, ...text] : text;
    const over = insertedText(transformRich(theirs, mine, true));
    const place = transformRichPosition(at, mine, "right"); // K5
    const whole = applyRich(mine, at > 0 ? joinRich([" ".repeat(at)], behind) : behind);
    const rest: Step = ["merge", source, block, place, over, cutRich(whole, place)];
    return [kept(block, transformRich(mine, theirs, false)), [rest]];
  }
  if (other[0] === "remove" && other[1].includes(block)) return drop(own, [other], dropped);
  return [[own], [other]];
}

function drop(own: Own, others: Step[], dropped: Own[]): Pair {
  dropped.push(own);
  return [[], others];
}

function crossSet(
  own: Own,
  [, block, mine]: readonly ["set", string, Readonly<Record<string, unknown>>],
  other: Step,
  dropped: Own[],
): Pair {
  if (other[0] === "set" && other[1] === block) {
    const rest = Object.entries(other[2]).filter(([name]) => !(name in mine));
    return [[own], rest.length > 0 ? [["set", block, Object.fromEntries(rest)]] : []];
  }
  const isGone =
    (other[0] === "merge" && other[1] === block) ||
    (other[0] === "remove" && other[1].includes(block));
  return isGone ? drop(own, [other], dropped) : [[own], [other]];
}

function crossSplit(
  own: Own,
  verb: Extract<Verb, readonly ["split", ...unknown[]]>,
  other: Step,
  dropped: Own[],
): Pair {
  const [, block, at, fresh, attributes] = verb;
  const moved = (to: string, place: number): Own[] => [
    as(own, ["split", to, place, fresh, attributes]),
  ];
  if (other[0] === "edit" && other[1] === block) {
    const [before, behind] = divideRich(other[2], at);
    const rest = [...edit(block, before), ...edit(fresh, behind)];
    return [moved(block, transformRichPosition(at, other[2])), rest];
  }
  if (other[0] === "split" && other[1] === block) {
    const [, , place, theirs, given, isBack] = other;
    if (at > place || (at === place && isBack)) return [moved(theirs, at - place), [other]];
    return [[own], [["split", fresh, place - at, theirs, given]]];
  }
  if (other[0] === "merge" && other[1] === block) {
    const [, , into, place, text, behind = []] = other;
    const rest: Step[] = [["merge", block, into, place, cutRich(text, 0, at), behind]];
    if (behind.length > 0) {
      rest.push(
        ["split", into, place + at, PASSING, {}],
        ["merge", PASSING, fresh, richLength(text) - at, behind],
      );
    }
    return [moved(into, place + at), rest];
  }
  if (other[0] === "merge" && other[2] === block) {
    const [, source, , place, text, behind] = other;
    if (place > at) return [[own], [["merge", source, fresh, place - at, text, behind]]];
    const left = cutRich(behind ?? [], 0, at - place);
    return [moved(block, at + richLength(text)), [["merge", source, block, place, text, left]]];
  }
  if (other[0] === "remove" && other[1].includes(block)) {
    return drop(own, [["remove", [...other[1], fresh]]], dropped);
  }
  return [[own], [other]];
}

/** Names a text for as long as it goes from one block to another, and what stands behind it. */
const PASSING = "~passing";
const BEHIND = "~behind";

/** K3: takes the text of an own merge to another place; `left`: what stands behind where it is. */
export function goesElsewhere(
  [, , into, at, text]: Merge,
  to: string,
  place: number,
  left: Rich,
  behind: Rich = [],
): Step[] {
  if (to === into && place === at) return [];
  return [
    ["split", into, at + richLength(text), BEHIND, {}],
    ["split", into, at, PASSING, {}],
    ["merge", BEHIND, into, at, left],
    ["merge", PASSING, to, place, text, behind],
  ];
}

function crossMerge(own: Own, [, block, into, at, text]: Merge, other: Step, dropped: Own[]): Pair {
  const goes = (to: string, place: number, words: Rich): Own[] => [
    as(own, ["merge", block, to, place, words]),
  ];
  switch (other[0]) {
    case "edit":
      if (other[1] === block) {
        const rest = edit(into, shiftRich(other[2], at));
        return [goes(into, at, applyRich(other[2], text)), rest];
      }
      return [other[1] === into ? goes(into, at + growth(other[2]), text) : [own], [other]];
    case "split": {
      const [, source, place, fresh, attributes] = other;
      if (source === block) {
        const rest: Step = ["split", into, at + place, fresh, attributes];
        return [goes(into, at, cutRich(text, 0, place)), [rest]];
      }
      if (source !== into) return [[own], [other]];
      // A text that goes from here is parted from what stands in front of it, and from this one's.
      if ((fresh === PASSING || fresh === BEHIND) && at <= place) {
        const rest: Step = ["split", into, place + richLength(text), fresh, attributes];
        return [goes(into, at, text), [rest]];
      }
      if (own.call === null) return [goes(fresh, at - place, text), [other]];
      const passing: Step = ["split", fresh, at - place, PASSING, {}];
      return [goes(into, place, text), [other, passing, ["merge", PASSING, into, place, text]]];
    }
    case "merge":
      return mergeBoth(own, [block, into, at, text], other, goes, dropped);
    case "remove":
      return mergeRemoved(own, [block, into, at, text], other[1], dropped);
    case "set":
      return [[own], other[1] === block ? [] : [other]];
    default:
      return [[own], [other]];
  }
}

function mergeBoth(
  own: Own,
  [block, into, at, text]: readonly [string, string, number, Rich],
  [, source, to, place, words, behind = []]: Merge,
  goes: (to: string, place: number, words: Rich) => Own[],
  dropped: Own[],
): Pair {
  const other: Step = ["merge", source, to, place, words, behind];
  if (source === block) {
    const rest = goesElsewhere(["merge", block, into, at, text], to, place, [], behind);
    return drop(own, rest, dropped);
  }
  if (source === into && to === block) {
    // Each into the other: theirs comes first, and this one is not open then.
    const rest: Step[] = [
      ["split", into, at, block, {}],
      ["merge", into, block, place, words, behind],
    ];
    return drop(own, rest, dropped);
  }
  if (source === into) {
    const all = applyRich(at > 0 ? [at, ...text] : text, words);
    return [goes(to, place + at, text), [["merge", into, to, place, all, behind]]];
  }
  if (to === into) {
    const rest: Step = ["merge", source, to, place, words, joinRich(behind, text)];
    return [goes(into, at + richLength(words), text), [rest]];
  }
  if (to === block) {
    const both = applyRich(place > 0 && words.length > 0 ? [place, ...words] : words, text);
    return [goes(into, at, both), [["merge", source, into, at + place, words, behind]]];
  }
  return [[own], [other]];
}

function mergeRemoved(
  own: Own,
  [block, into, at, text]: readonly [string, string, number, Rich],
  ids: readonly string[],
  dropped: Own[],
): Pair {
  const rest = ids.filter((id) => id !== block);
  const removal: Step[] = rest.length > 0 ? [["remove", rest]] : [];
  if (ids.includes(into)) {
    const back: Step[] = ids.includes(block) ? [] : [["split", into, at, block, {}]];
    return drop(own, [...back, ...removal], dropped);
  }
  if (!ids.includes(block)) return [[own], [["remove", ids]]];
  const length = richLength(text);
  const erased: RichDelta = at > 0 ? [at, -length] : [-length];
  return drop(own, [...(length > 0 ? edit(into, erased) : []), ...removal], dropped);
}

/** K4. */
function lettersBehind(
  own: Own,
  [, block, base, start, count, into, at, isSeen]: Letters,
  other: Step,
): Own[] {
  const from = behind({ block: into, offset: at }, other, "right", () => 0);
  const to = behind({ block: into, offset: at + count }, other, "left", () => 0);
  if (from.block !== to.block || to.offset - from.offset !== count) return [];
  return [as(own, ["letters", block, base, start, count, from.block, from.offset, isSeen])];
}

/** A block that is sent is what it was. */
function crossInsert(
  own: Own,
  [, after, blocks]: Extract<Verb, readonly ["insert", ...unknown[]]>,
  other: Step,
): Pair {
  const found = own.call === null ? behindStep(blocks, other) : null;
  if (found === null) return [[own], [other]];
  const [left, steps] = found;
  return [left.length > 0 ? [as(own, ["insert", after, left])] : [], [other, ...steps]];
}

/** What others do to a text that is out goes on: one may have brought it back. */
function crossRemove(own: Own, ids: readonly string[], other: Step): Pair {
  switch (other[0]) {
    case "set":
      return [[own], ids.includes(other[1]) ? [] : [other]];
    case "merge": {
      const [, source, into, at, text] = other;
      const come = edit(into, at > 0 && text.length > 0 ? [at, ...text] : text, source);
      if (!ids.includes(source) && !ids.includes(into)) return [[own], [other]];
      const isOut = ids.includes(into) && !ids.includes(source);
      return [[own], isOut ? [...come, ["remove", [source]]] : come];
    }
    case "remove": {
      const rest = other[1].filter((id) => !ids.includes(id));
      return [[own], rest.length > 0 ? [["remove", rest]] : []];
    }
    default:
      return [[own], [other]];
  }
}
