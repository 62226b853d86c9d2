/** What the details of a block's change are as steps of the document, and of which own verbs. */

import { PART, type Step as RecentStep } from "../shared/late-edits";
import { RefusalError } from "../shared/refusal";
import {
  applyRich,
  cutRich,
  insertedText,
  type Rich,
  type RichDelta,
  richLength,
  sameRich,
} from "../shared/rich";
import { type BlockDetail, type BlockObject, type BlockState, keyOf, type Received } from "./block";
import type { Own } from "./carry";
import type { Words } from "./chasing";
import type { Confirmed } from "./confirmed";
import type { Step } from "./doc";
import type { Happened } from "./overlay";
import { isParcel, sourceOf } from "./parcels";
import { isHere, isPlaced } from "./verdicts";
import { insertsIn } from "./words";

const NOTHING: Steps = { happened: [], refused: null, drafted: null };

type Which = (own: Own) => boolean;

/**
 * `refused`: own verbs that are not (any more) where they are shown: joins that did not come to be,
 * and parts of edits whose text was passed on; they come with it. `drafted`: own edits whose text is
 * deleted.
 */
export interface Steps {
  readonly happened: readonly Happened[];
  readonly refused: Which | null;
  readonly drafted: Which | null;
}

/** `block` is as it was before the details; `operation`: of this session, else empty. */
export function stepsOf(
  confirmed: Confirmed,
  block: BlockObject,
  details: readonly BlockDetail[],
  operation: string,
): Steps {
  const id = confirmed.idOf(block);
  const opened = details.find((detail) => detail[0] === "opened");
  const back = opened?.[5] && confirmed.cameBack(block, opened[5]);
  let received = details.find((detail) => detail[0] === "received");
  if (back) {
    received = ["received", ...back, "done", "", 0, true];
    block.frames.set(keyOf(back), [block.steps + 1, richLength(block.content)]);
  }
  const happened: Happened[] = [];
  let parcel: Steps | null = null;
  const late = opened?.[4] ?? [];
  const isLate: Which = (own) => late.some(([to, number]) => isParcel(id, [to, number])(own));
  for (const detail of details) {
    if (detail[0] === "edited" && detail[1] > block.steps) {
      if (received !== undefined) {
        parcel = parcelSteps(confirmed, block, received, detail[2]);
        happened.push(...parcel.happened);
        received = undefined; // late edits come behind their text
        continue;
      }
      const own =
        late.length > 0
          ? isBack(isLate, detail[2])
          : operation === "edit"
            ? isHere(id, detail[1])
            : null;
      happened.push({ step: ["edit", id, detail[2]], own });
    } else {
      happened.push(...stepOf(id, detail));
    }
  }
  // What has come back and is in no step went on from here, or is a draft.
  const came = { isPart: isLate, isHere: null, places: [] };
  if (late.length > 0) happened.push({ step: null, own: null, came });
  const isEmpty = opened === undefined && !details.some((detail) => detail[0] === "edited");
  if (received !== undefined && isEmpty) {
    parcel = parcelSteps(confirmed, block, received, null);
    happened.push(...parcel.happened);
  }
  const refused = late.length > 0 ? isLate : (parcel?.refused ?? null);
  return { happened, refused, drafted: parcel?.drafted ?? null };
}

/** The steps behind a version of a block, as details, each with the own verb that it may be. */
export function* missedSteps(
  id: string,
  version: number,
  steps: readonly RecentStep[],
  { births, passed = [] }: Pick<BlockState, "births" | "passed">,
): Iterable<[readonly BlockDetail[], Which | null]> {
  const isLate: Which = (own) =>
    sourceOf(own) === id &&
    passed.some(([from, number]) => from === `>${own.hop}` && number === own.parcel);
  let at = version;
  for (const [kind, delta, to, frame, place] of steps) {
    at += 1;
    if (kind === "edit") {
      const isText = place !== PART;
      const isIt = ([source, number]: readonly [string, number, ...unknown[]]): boolean =>
        source === to && number === frame;
      const moved = isText ? [] : passed.filter(isIt).map(([, , ...place]) => place);
      const end = ["done", "", 0, isText, moved] as const;
      const come = to === "" ? [] : [["received", to, frame, ...end] as const];
      const [isOne, isIts] = [isPlaced(id, at), isBack(isLate, delta)];
      yield [[["edited", at, delta], ...come], (own) => isOne(own) || (to === "" && isIts(own))];
    } else if (kind === "cut") {
      const given = births.find(([fresh]) => fresh === to)?.[1] ?? {};
      yield [[["cut", at, place, to, given]], null];
    } else {
      yield [[["closed", at, kind === "all" ? to : null, frame]], null];
    }
  }
}

/** The parcels that edits came in, by block and number. */
export function partsIn(steps: readonly RecentStep[]): Set<string> {
  const parts = steps.filter(
    ([kind, , from, , at]) => kind === "edit" && from !== "" && at === PART,
  );
  return new Set(parts.map(([, , from, number]) => `${from}:${number}`));
}

/** Whether steps lead from the text that a block began with to the one of its state. */
export function leadsTo(first: Rich, steps: readonly RecentStep[], state: BlockState): boolean {
  let text = first;
  try {
    for (const [kind, delta, , , at] of steps) {
      if (kind === "edit") text = applyRich(delta, text);
      else if (kind === "cut") text = cutRich(text, 0, at);
      else text = [];
    }
  } catch (error) {
    if (error instanceof RefusalError) return false;
    throw error;
  }
  return state.status !== "open" || sameRich(text, state.content);
}

function stepOf(id: string, detail: BlockDetail): Happened[] {
  switch (detail[0]) {
    case "cut": {
      const [, , at, fresh, attributes] = detail;
      const isIt: Which = ({ verb }) => verb[0] === "split" && verb[3] === fresh;
      return [{ step: ["split", id, at, fresh, attributes], own: isIt }];
    }
    case "closed":
      return detail[2] === null ? [{ step: ["remove", [id]], own: null }] : [];
    case "opened":
      return [{ step: null, own: null, text: [id, detail[2]] }];
    case "set":
      return [{ step: ["set", id, detail[1]], own: null }];
    default:
      return [];
  }
}

/** The part of an own edit that went after its text, and has come back with that by this step. */
function isBack(isLate: Which, delta: RichDelta): Which {
  const words = insertedText(delta);
  return (own) =>
    isLate(own) && own.verb[0] === "edit" && sameRich(insertedText(own.verb[2]), words);
}

function editOf(id: string, delta: RichDelta, joined: string | null): Step {
  return joined === null ? ["edit", id, delta] : ["edit", id, delta, joined];
}

/** A parcel has come: a text that was joined to this one, or a part of a late edit. */
function parcelSteps(
  confirmed: Confirmed,
  block: BlockObject,
  [, source, number, outcome, to, , isText, moved = []]: Received,
  delta: RichDelta | null,
): Steps {
  const id = confirmed.idOf(block);
  const leaving = confirmed.leaving(source, number, id);
  if (leaving !== null) {
    const [joined, from] = leaving;
    const isJoin: Which = ({ verb }) => verb[0] === "merge" && verb[1] === joined;
    if (outcome === "refused") return { happened: [], refused: isJoin, drafted: null };
    if (to !== "") return NOTHING; // it is shown where it was until it has come there
    const step = ["merge", joined, id, richLength(block.content), from.leaving] as const;
    return { happened: [{ step, own: isJoin }], refused: null, drafted: null };
  }
  if (isText === true && confirmed.comes(source, number, id, outcome === "done" && to === "")) {
    // Of a block that is shown, and has not been told (yet) to be joined to this one.
    const isJoin: Which = ({ verb }) => verb[0] === "merge" && verb[1] === source;
    const text = insertedText(delta ?? []);
    const step = ["merge", source, id, richLength(block.content), text] as const;
    return { happened: [{ step, own: isJoin }], refused: null, drafted: null };
  }
  // It comes back there with its text, and is shown until then.
  if (outcome === "refused" && isText !== true) return NOTHING;
  const isPart = isParcel(source, [id, number]);
  const isThis: Which = (own) => isPart(own) && own.verb[1] === id;
  const step = delta === null ? null : editOf(id, delta, isText === true ? source : null);
  const own = delta === null ? null : isThis;
  const drafted = outcome === "drafted" ? isPart : null;
  const [one, more] = insertsIn(delta ?? []);
  const words: Words | undefined = one && !more ? [block.steps + 1, one[0], one[1]] : undefined;
  const isHere = delta === null ? null : isPart;
  const came = drafted === null ? { isPart, isHere, places: moved, words } : undefined;
  return { happened: [{ step, own, came }], refused: isPart, drafted };
}
