/**
 * Blocks that a person has taken out and brought back, as new ones with the texts of those that are out:
 * what others do to a text until it is deleted is done to it where it stands again. Letters that have
 * gone elsewhere would else be there twice.
 */

import {
  applyRich,
  canonicalRich,
  composeRich,
  cutRich,
  divideRich,
  isFormat,
  isInsert,
  type RichDelta,
  type RichItem,
  richLength,
  span,
} from "../shared/rich";
import type { Step } from "./doc";
import { unmoved } from "./place";
import type { NewBlock } from "./types";

/** Blocks that a person inserts, behind a step of others; and what that does to them: null, nothing. */
export function behindStep(
  blocks: readonly NewBlock[],
  step: Step,
): readonly [readonly NewBlock[], readonly Step[]] | null {
  const [kind, id] = step;
  const gone = kind === "merge" ? id : kind === "edit" ? step[3] : undefined;
  const away = blocks.find(({ of }) => of !== undefined && of === gone);
  if (away !== undefined && (kind === "merge" || kind === "edit"))
    return [blocks.filter((block) => block !== away), [goes(away, step)]];
  if (kind !== "edit" && kind !== "split") return null;
  const place = blocks.findIndex(({ of }) => of === id);
  const block = blocks[place];
  if (block === undefined) return null;
  const [now, steps] = kind === "split" ? behindSplit(block, step) : behindEdit(block, step[2]);
  return [blocks.with(place, now), steps];
}

/** The text goes on elsewhere, and what the person has done to it since goes along. */
function goes(
  { id, content }: NewBlock,
  step: Extract<Step, readonly ["merge" | "edit", ...unknown[]]>,
): Step {
  if (step[0] === "merge") return ["merge", id, step[2], step[3], content];
  const [first] = step[2];
  return ["merge", id, step[1], typeof first === "number" && first > 0 ? first : 0, content];
}

function behindSplit(
  block: NewBlock,
  [, , place, fresh, attributes]: Extract<Step, readonly ["split", ...unknown[]]>,
): readonly [NewBlock, readonly Step[]] {
  const { id, content, beside = [] } = block;
  const at = unmoved(place, beside);
  if (at >= richLength(content)) return [block, []];
  const left = { content: cutRich(content, 0, at), beside: divideRich(beside, at)[0] };
  return [{ ...block, ...left }, [["split", id, at, fresh, attributes]]];
}

function behindEdit(block: NewBlock, delta: RichDelta): readonly [NewBlock, readonly Step[]] {
  const { id, content, beside = [] } = block;
  const [taken, put] = apart(composeRich(beside, delta));
  if (taken.length === 0) return [{ ...block, beside: put }, []];
  return [{ ...block, content: applyRich(taken, content), beside: put }, [["edit", id, taken]]];
}

/** What an edit does to a text beside what it inserts, and that; the one behind the other. */
function apart(delta: RichDelta): readonly [taken: RichDelta, put: RichDelta] {
  const taken: RichItem[] = [];
  const put: RichItem[] = [];
  for (const item of delta) {
    if (isInsert(item)) put.push(item);
    else taken.push(item);
    if (!isInsert(item) && (isFormat(item) || item > 0)) put.push(span(item));
  }
  return [canonicalRich(taken), canonicalRich(put)];
}
