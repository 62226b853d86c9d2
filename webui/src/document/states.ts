/** How the state of a block that a page is told follows from what is here of it. */

import type { BlockObject, BlockState } from "./block";
import type { Confirmed } from "./confirmed";
import type { Doc } from "./doc";
import { leadsTo } from "./steps";

/** F8: a text that has come to where it went is on its way until that has been looked at. */
export function asSeen(confirmed: Confirmed, block: BlockObject, state: BlockState): BlockState {
  const { status, into, number, leaving, via } = block;
  const there = confirmed.blocks.get(into);
  if (state.status !== "joined" || state.number > 0 || status !== "joined" || number === 0)
    return state;
  const isSeen = there?.has(via || confirmed.idOf(block), number) ?? true;
  return isSeen || (via === "" && state.into !== into) ? state : { ...state, number, leaving };
}

/**
 * The steps from the text that is here to the state; null where these are not known. `base`: the
 * document as it was looked at last, for a block that was not open (F7, F8): that is what it began with, then.
 */
export function stepsTo(
  confirmed: Confirmed,
  base: Doc,
  block: BlockObject,
  state: BlockState,
): BlockState["recent"] {
  const { recent, version } = state;
  if (recent === null || block.steps > version) return null;
  const steps = recent.slice(recent.length - (version - block.steps));
  if (block.steps + steps.length !== version) return null;
  if (block.status !== "unborn") {
    // Joined here, and it goes on: its text was refused, and has come back.
    const { status, number, leaving, attributes } = block;
    if (status === "joined" && number > 0 && steps.length > 0 && leadsTo(leaving, steps, state))
      block.begin(attributes, leaving);
    const isIt = block.isSameBirth || leadsTo(block.content, steps, state);
    return isIt ? steps : null;
  }
  const id = confirmed.idOf(block);
  const known = base.blocks.get(id) ?? confirmed.birthOf(id) ?? confirmed.born.get(id);
  if (state.status === "unborn" || known === undefined || known.content === null) return null;
  if (!leadsTo(known.content, steps, state)) return null;
  block.begin(known.attributes, known.content);
  return steps;
}
