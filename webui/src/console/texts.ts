/** What codes and numbers of the console are called. */

import { consoleWords } from "../words/console";
import { number } from "../words/formats";
import { movesWords } from "../words/moves";
import type { Sort } from "./groups";

export function orderText(order: string): string {
  switch (order) {
    case "causally_total":
      return consoleWords.causallyTotal;
    case "strict":
      return consoleWords.strict;
    case "fifo":
      return consoleWords.fifo;
    case "volatile":
      return consoleWords.volatile;
    default:
      return order;
  }
}

export function sortText(sort: Sort): string {
  switch (sort) {
    case "messages":
      return consoleWords.messagesPerSecond;
    case "name":
      return consoleWords.group;
    case "sequencer":
      return consoleWords.sequencer;
    case "head":
      return consoleWords.head;
    case "members":
      return consoleWords.members;
    case "epoch":
      return consoleWords.epoch;
  }
}

const UNITS = ["B", "KiB", "MiB", "GiB"];

export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${number(Math.round(value * 10) / 10)} ${UNITS[unit]}`;
}

/** Why groups move. */
export function reasonText(reason: string): string {
  switch (reason) {
    case "strict":
      return movesWords.becauseStrict;
    case "load":
      return movesWords.becauseLoad;
    case "locality":
      return movesWords.becauseLocality;
    case "ties":
      return movesWords.becauseTies;
    case "drain":
      return movesWords.becauseDrain;
    case "plan":
      return movesWords.becausePlan;
    case "failover":
      return movesWords.becauseFailover;
    default:
      return reason;
  }
}

export function phaseText(phase: string): string {
  switch (phase) {
    case "began":
      return movesWords.phaseBegan;
    case "stopped":
      return movesWords.phaseStopped;
    case "moved":
      return movesWords.phaseMoved;
    case "resumed":
      return movesWords.phaseResumed;
    case "cancelled":
      return movesWords.phaseCancelled;
    default:
      return phase;
  }
}

/** How a plan, or a step of one, stands. */
export function planText(state: string): string {
  switch (state) {
    case "running":
    case "moving":
      return movesWords.running;
    case "cancelling":
      return movesWords.cancelling;
    case "done":
      return movesWords.done;
    case "failed":
      return movesWords.failed;
    case "cancelled":
    case "left":
      return movesWords.cancelled;
    case "lost":
      return movesWords.lost;
    case "waiting":
      return movesWords.waiting;
    default:
      return state;
  }
}
