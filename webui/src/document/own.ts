/** One person's verbs that are not confirmed: what they need, and which of them can be one. */

import {
  applyRich,
  canonicalRich,
  composeRich,
  cutRich,
  insertedText,
  invertRich,
  isFormat,
  isInsert,
  marksOf,
  type RichDelta,
  type RichInsert,
  richLength,
  sameRich,
  shiftRich,
  textOf,
} from "../shared/rich";
import { diffRich } from "../shared/rich-diff";
import { goesElsewhere, type Letters, type Own, type OwnVerb } from "./carry";
import { blockOf, type Step, type Work } from "./doc";
import type { NewBlock, ShownBlock } from "./types";

/** Blocks whose text a verb needs as it is, or makes. */
export function textsOf(verb: Step): readonly string[] {
  switch (verb[0]) {
    case "edit":
      return [verb[1]];
    case "split":
      return [verb[1], verb[3]];
    case "merge":
      return [verb[1], verb[2]];
    case "insert":
      return verb[2].map((block) => block.id);
    case "remove":
      return verb[1];
    case "letters":
      return [verb[1], verb[5]];
    default:
      return [];
  }
}

/** Blocks whose texts own verbs need, and what the blocks begin with that they insert. */
export function awaitedBy(own: readonly Own[]): ReadonlyMap<string, ShownBlock | null> {
  const awaited = new Map<string, ShownBlock | null>();
  for (const { verb } of own) {
    if (verb[0] === "insert") {
      for (const { id, attributes, content } of verb[2])
        awaited.set(id, blockOf(id, attributes, content));
    } else if (verb[0] === "edit" || verb[0] === "split" || verb[0] === "merge") {
      const texts = verb[0] === "merge" ? [verb[1], verb[2]] : [verb[1]];
      for (const id of texts) awaited.set(id, awaited.get(id) ?? null);
    }
  }
  return awaited;
}

/** The blocks whose groups own verbs need. */
export function neededBy(own: readonly Own[]): Set<string> {
  const ids = new Set<string>();
  for (const { verb, hop } of own) {
    if (verb[0] === "edit" || verb[0] === "set" || verb[0] === "split") ids.add(verb[1]);
    if (verb[0] === "letters") ids.add(verb[1]);
    if (verb[0] === "merge") ids.add(verb[1]).add(verb[2]);
    if (hop !== "") ids.add(hop);
  }
  return ids;
}

/** Blocks that a verb names as it brings letters of theirs back; of those that are not sent, the live ones. */
export function namedBy(
  { verb, call }: Own,
  known: { isLive(id: string): boolean },
): readonly string[] {
  if (verb[0] === "letters") return [verb[1]];
  const brought = verb[0] === "insert" && call === null ? verb[2] : [];
  return brought.flatMap(({ of = "" }) => (known.isLive(of) ? of : []));
}

/** Whether what a verb writes stands in this text, or in what it splits off this one. */
export function restsOn({ verb }: Own, id: string): boolean {
  return (verb[0] === "edit" || verb[0] === "split") && verb[1] === id;
}

/** On words that are looked for behind what was done to them. */
export const MARK = "~";

/** An edit whose words are marked. */
export function marked([kind, block, delta]: readonly [
  "edit",
  string,
  RichDelta,
  ...unknown[],
]): Step {
  const put = (item: RichInsert): RichInsert => [textOf(item), { ...marksOf(item), [MARK]: true }];
  return [kind, block, delta.map((item) => (isInsert(item) ? put(item) : item))];
}

/** What the person wrote with a verb. */
export function writtenBy(verb: OwnVerb): RichDelta {
  if (verb[0] === "edit") return insertedText(verb[2]);
  if (verb[0] !== "insert") return [];
  return verb[2].flatMap((block, at) => (at > 0 ? ["\n", ...block.content] : block.content));
}

/** V3: a merge knows where, and which text, as of now. */
export function placed(verb: OwnVerb, work: Work): OwnVerb {
  if (verb[0] !== "merge") return verb;
  const [, block, into] = verb;
  const text = work.content(block);
  const other = work.content(into);
  if (text === null || other === null) return verb;
  const at = richLength(other);
  if (verb[3] === at && verb[4] === text) return verb;
  return ["merge", block, into, at, text];
}

/** What leads from behind an own merge as it was to behind it as it is. */
export function moved(was: OwnVerb, is: OwnVerb, work: Work): Step[] {
  if (was[0] !== "merge" || is[0] !== "merge") return [];
  const [, , into, at, text] = is;
  const steps = goesElsewhere(was, into, at, cutRich(work.content(into) ?? [], was[3]));
  if (sameRich(was[4], text)) return steps;
  return [...steps, ["edit", into, shiftRich(diffRich(was[4], text), at)]];
}

/** Whether a verb that is put behind may not be put before the other one. */
export function touches(earlier: OwnVerb, later: OwnVerb): boolean {
  if (later[0] === "edit") return textsOf(earlier).includes(later[1]);
  if (later[0] === "rename") return earlier[0] === "rename";
  const [, block] = later as readonly ["set", string, unknown];
  return (earlier[0] === "set" && earlier[1] === block) || textsOf(earlier).includes(block);
}

/** Both in one, null where they cannot be. */
export function composed(first: OwnVerb, second: OwnVerb): OwnVerb | null {
  if (first[0] === "edit" && second[0] === "edit") {
    return ["edit", first[1], composeRich(first[2], second[2])];
  }
  if (first[0] === "set" && second[0] === "set") {
    return ["set", first[1], { ...first[2], ...second[2] }];
  }
  if (first[0] === "rename" && second[0] === "rename") return second;
  if (first[0] !== "insert" || second[0] !== "edit") return null;
  const isEdited = ({ id }: NewBlock): boolean => id === second[1];
  if (first[2].some((block) => isEdited(block) && block.of !== undefined)) return null;
  const blocks = first[2].map((block) =>
    isEdited(block) ? { ...block, content: applyRich(second[2], block.content) } : block,
  );
  return ["insert", first[1], blocks];
}

/** Parts of a call that have come to one place again, as one. */
export function together(own: readonly Own[]): Own[] {
  const all: Own[] = [];
  for (const one of own) {
    const last = all.at(-1);
    if (last !== undefined && isOnePlace(last, one)) {
      const verb = composed(last.verb, one.verb);
      if (verb !== null) {
        all[all.length - 1] = { ...last, verb };
        continue;
      }
    }
    all.push(one);
  }
  return all;
}

function isOnePlace(one: Own, other: Own): boolean {
  if (one.call === null || one.call !== other.call || one.hop !== other.hop) return false;
  if (one.parcel !== other.parcel || one.from !== other.from) return false;
  return one.verb[0] === "edit" && other.verb[0] === "edit" && one.verb[1] === other.verb[1];
}

export function numberOf(own: Own | undefined): number {
  return own?.call?.n ?? Number.POSITIVE_INFINITY;
}

/**
 * What leads from behind an own edit to behind it as it has happened, maybe in another block: where two
 * places come together here, as what stood between them is taken out, the nodes may know them apart.
 */
export function otherwise(
  [, block, mine]: Extract<OwnVerb, readonly ["edit", ...unknown[]]>,
  [, into, come]: readonly ["edit", string, RichDelta, ...unknown[]],
  work: Work,
): readonly Step[] {
  const [content, there] = [work.content(block), work.content(into)];
  if (content === null || there === null || (block === into && sameRich(mine, come))) return [];
  const [at, words, rest] = apart(mine);
  const [to, same, others] = apart(come);
  const isSame = words !== null && same !== null && sameRich([words], [same]);
  if (!isSame || !sameRich(rest, others) || (block !== into && rest.length > 0)) {
    const back: Step = ["edit", block, invertRich(mine, content)];
    return [back, ["edit", into, come]];
  }
  // The same words at another place: what was done to them since goes along.
  const left = applyRich(rest, content);
  const behind = block === into ? left : there;
  const was = ["merge", "", block, at, [words]] as const;
  return goesElsewhere(was, into, to, cutRich(left, at), cutRich(behind, to));
}

/** What an edit inserts, if that is one run, where it is then; and what it does beside. */
function apart(delta: RichDelta): [at: number, words: RichInsert | null, rest: RichDelta] {
  const inserts = delta.filter(isInsert);
  const [words] = inserts;
  if (words === undefined || inserts.length > 1) return [0, null, delta];
  const before = delta.slice(0, delta.indexOf(words));
  const at = before.reduce<number>(
    (sum, item) => sum + Math.max(0, isFormat(item) ? item[0] : Number(item)),
    0,
  );
  return [at, words, canonicalRich(delta.filter((item) => item !== words))];
}

/** What is not there where an own merge cannot be done: its text. */
export function goneWith(verb: OwnVerb, work: Work): Step[] {
  if (verb[0] !== "merge" || verb[4].length === 0 || work.content(verb[2]) === null) return [];
  return [["edit", verb[2], shiftRich([-richLength(verb[4])], verb[3])]];
}

/** Whether it says that letters stand again which stand somewhere else by now, and is not sent. */
export function standsElsewhere(
  { verb, call }: Own,
  [, block, base, start, count]: Letters,
): boolean {
  if (verb[0] !== "letters" || call !== null || verb[1] !== block || verb[2] !== base) return false;
  return start <= verb[3] && verb[3] + verb[4] <= start + count;
}

/** What was written ahead of it is gone; one that is sent has said what it extends. */
export function standingAlone(own: Own): Own {
  return own.extends === true && own.call === null ? { ...own, extends: false } : own;
}
