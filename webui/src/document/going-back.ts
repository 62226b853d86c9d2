/**
 * Where the power of all nodes has failed, the order of a block begins anew behind what was on disk:
 * it lacks the last steps that were seen here. They are taken back one by one to the last version
 * that both have, so own edits that wait are carried over just these: two texts that are compared
 * do not say which letters were lost. A text that was split off by such a step comes back with it,
 * one that was joined goes to a block of its own again.
 */

import type { Step as RecentStep } from "../shared/late-edits";
import { type Rich, sameRich } from "../shared/rich";
import type { BlockObject, BlockState, PastStep } from "./block";
import type { Confirmed } from "./confirmed";
import type { Doc, Step } from "./doc";
import type { Happened } from "./overlay";

/** The last version that a block has here and in its new order; null: that is not known. */
export function lastShared(block: BlockObject, state: BlockState): number | null {
  const { recent, version } = state;
  if (recent === null || block.status !== "open" || state.status === "unborn") return null;
  const first = version - recent.length;
  if (first > block.steps || first < block.firstKnown) return null;
  const past = block.past.slice(block.past.length - (block.steps - first));
  const other = past.findIndex((step, at) => !isSame(step, recent[at]));
  return first + (other < 0 ? past.length : other);
}

function isSame([, past]: PastStep, recent: RecentStep | undefined): boolean {
  if (recent === undefined) return false;
  const [kind, delta, to, , at] = recent;
  if (past[0] === "edit") return kind === "edit" && sameRich(past[1], delta);
  return past[0] === "cut" && kind === "cut" && past[1] === at && past[2] === to;
}

/** Blocks that were split off by these steps. */
function splitOff(past: readonly PastStep[]): string[] {
  return past.flatMap(([, step]) => (step[0] === "cut" ? [step[2]] : []));
}

/**
 * Takes the steps of a block back to this version; what that is in the document, null where it cannot be
 * done. `onLost`: nobody has this block any more, which was split off.
 */
export function takenBack(
  confirmed: Confirmed,
  base: Doc,
  block: BlockObject,
  version: number,
  onLost: (fresh: BlockObject) => void,
): Happened[] | null {
  if (!canGoBack(confirmed, base, block, version)) return null;
  const id = confirmed.idOf(block);
  const happened: Happened[] = [];
  while (block.steps > version) {
    const step = block.past.at(-1)?.[1];
    if (step?.[0] === "cut") {
      const [, at, fresh] = step;
      const born = confirmed.blocks.get(fresh);
      if (born?.status === "open")
        happened.push(...(takenBack(confirmed, base, born, 0, onLost) ?? []));
      const text = textOf(confirmed, base, fresh) ?? [];
      happened.push({ step: ["merge", fresh, id, at, text], own: null });
      if (born !== undefined) onLost(born);
      block.stepBack(text);
    } else {
      happened.push({
        step: cameApart(block, id, base) ?? ["edit", id, step?.[2] ?? []],
        own: null,
      });
      block.stepBack();
    }
  }
  return happened;
}

function canGoBack(confirmed: Confirmed, base: Doc, block: BlockObject, version: number): boolean {
  if (block.firstKnown > version) return false;
  const lost = block.past.slice(block.past.length - (block.steps - version));
  return splitOff(lost).every((fresh) => {
    const born = confirmed.blocks.get(fresh);
    if (textOf(confirmed, base, fresh) === null) return false;
    return born?.status !== "open" || canGoBack(confirmed, base, born, 0);
  });
}

/** The text of a block that was split off; null where it has gone elsewhere. */
function textOf(confirmed: Confirmed, base: Doc, fresh: string): Rich | null {
  const born = confirmed.blocks.get(fresh);
  if (born?.status === "open") return born.content;
  const isBegun = born === undefined || born.status === "unborn";
  return isBegun ? (base.blocks.get(fresh)?.content ?? null) : null;
}

/** What takes the last step of a block back, where that was the text of another one that has come. */
function cameApart(block: BlockObject, id: string, base: Doc): Step | null {
  for (const [parcel, [version, at]] of block.frames) {
    const source = parcel.slice(0, parcel.indexOf(":"));
    if (version === block.steps && !base.blocks.has(source)) return ["split", id, at, source, {}];
  }
  return null;
}
