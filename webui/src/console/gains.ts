/** What plans were to bring, and what they have brought, in words and in columns. */

import { movesWords } from "../words/moves";
import type { Expected, Plan, PlannedMove } from "./moves";
import { reasonText } from "./texts";

type Gain = readonly [before: number | null, expected: number | null, measured: number | null];

/** To a tenth of a millisecond. */
export const msOf = (us: number): number => Math.round(us / 100) / 10;

/** The pipeline's word where it has said something, else that of the live load. */
export function gainOf({ expects, imbalance, brought, measured }: Plan): {
  readonly imbalance: Gain;
  readonly latency: Gain;
} {
  const [before, expected] = expects.imbalance ?? imbalance ?? [null, null];
  const [wait, wanted] = expects.latency_us ?? [null, null];
  return {
    imbalance: [before, expected, measured?.imbalance ?? brought],
    latency: [wait, wanted, measured?.latency_us ?? null],
  };
}

/** What the pipeline expects of a plan, as a sentence; empty where it says nothing. */
export function expectedText({ imbalance, latency_us }: Expected): string {
  const said: string[] = [];
  if (imbalance !== null) said.push(movesWords.wouldChange(...imbalance));
  if (latency_us !== null)
    said.push(movesWords.wouldWait(msOf(latency_us[0]), msOf(latency_us[1])));
  return said.length === 0 ? "" : movesWords.expectedByPipeline(said.join(" "));
}

/** A move of a plan, and why its maker proposes it, where that is said. */
export function moveText({ name, from, to, why }: PlannedMove): string {
  return why === ""
    ? movesWords.groupFromTo(name, from, to)
    : movesWords.groupFromToAs(name, from, to, reasonText(why));
}

/** All that is known of a plan's gain, a sentence each. */
export function gainTexts({ expects, imbalance, brought, measured }: Plan): readonly string[] {
  const said: string[] = [];
  if (imbalance !== null) said.push(movesWords.reportedChange(...imbalance));
  const expected = expectedText(expects);
  if (expected !== "") said.push(expected);
  if (brought !== null) said.push(movesWords.measuredLive(brought));
  if (measured !== null) {
    said.push(movesWords.measuredByPipeline(measured.imbalance, measured.windows));
    if (measured.latency_us !== null) said.push(movesWords.measuredWait(msOf(measured.latency_us)));
  }
  return said;
}
