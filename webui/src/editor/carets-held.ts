/** Others' carets as anchors: what they show is of some version of a text, and is carried from there. */

import { behind, type Place } from "../document/place";
import type { DocumentModel } from "../document/types";
import type { Person } from "../people";
import { type Anchor, carried, type Side } from "../shared/anchor";

/** Where somebody is, as anchors in the nodes' document; what they showed for it. */
export interface Held {
  readonly person: Person;
  readonly head: Anchor;
  readonly anchor: Anchor;
}

/** Through so many blocks a text may have gone since. */
const HOPS_MAX = 20;

/**
 * Where somebody is by now. What they show of a version that is not here yet waits for that, and
 * they stay where they were.
 */
export function held(model: DocumentModel, known: Held | undefined, person: Person): Held {
  const isNew = known === undefined || known.person !== person;
  const fresh = isNew ? anchored(model, person) : known;
  const isEarly = [fresh.head, fresh.anchor].some((one) => isAhead(model, one));
  const { head, anchor, person: as } = isEarly && known !== undefined ? known : fresh;
  const { who } = person;
  return { person: as, head: carriedTo(model, head, who), anchor: carriedTo(model, anchor, who) };
}

function anchored(model: DocumentModel, person: Person): Held {
  const { block, head, anchor, start, version, startVersion } = person;
  const at = (id: string, offset: number, of: number | null, side: Side): Anchor => {
    const now = of ?? model.past(id)?.lastShown ?? 0;
    return { block: id, version: now, offset, side, lost: null };
  };
  const own = block ?? "";
  const first = start ?? own;
  const order = model.value.blocks.map(({ id }) => id);
  const isForward = first === own ? anchor <= head : order.indexOf(first) <= order.indexOf(own);
  // What is selected does not grow at its ends; a caret stays left.
  const isEmpty = first === own && anchor === head;
  const sides: readonly Side[] = isForward
    ? ["left", isEmpty ? "left" : "right"]
    : ["right", "left"];
  const [side = "left", other = "left"] = sides;
  const of = first === own ? version : startVersion;
  return {
    person,
    head: at(own, head, version ?? null, side),
    anchor: at(first, anchor, of ?? null, other),
  };
}

function isAhead(model: DocumentModel, { block, version }: Anchor): boolean {
  const past = model.past(block);
  return past !== undefined && version > past.steps;
}

/**
 * The anchor in the present version of its text, wherever that is; what its person writes at it stands
 * left. Where it is not known what has become of the text, the anchor stays at the last version that
 * is known, and the block that knows is asked.
 */
export function carriedTo(model: DocumentModel, anchor: Anchor, who: string): Anchor {
  let now = anchor;
  for (let hops = 0; hops < HOPS_MAX; hops += 1) {
    const next = standingAgain(model, onward(model, now, who));
    if (next.block === now.block && next.lost === now.lost) return next;
    now = next;
  }
  return now;
}

/** The anchor behind what its block has gone through, or in the block that its text has gone to. */
function onward(model: DocumentModel, anchor: Anchor, who: string): Anchor {
  const { block, side } = anchor;
  const past = model.past(block);
  if (past === undefined) {
    model.askPast(block);
    return anchor;
  }
  const { steps } = past;
  if (anchor.version >= steps) {
    return past.lastShown < steps ? arrived(model, anchor, past.parcel) : anchor;
  }
  const first = Math.max(anchor.version, steps - past.past.length);
  let now: Anchor = { ...anchor, version: first };
  for (const [by, step] of past.past.slice(first - steps)) {
    const version = now.version + 1;
    const one: Anchor = by === who ? { ...now, side: "right" } : now;
    if (step[0] === "closed") return arrived(model, now, past.parcel);
    if (step[0] === "gone") now = carried(now, ["gone", block, version]);
    else if (step[0] === "edit") now = carried(one, ["edit", block, version, step[1]]);
    else now = carried(one, ["cut", block, version, step[1], step[2]]);
    now = { ...now, side };
    if (now.block !== block) return now;
  }
  return now;
}

/** Back at its letter where its block says last that this stands again: what was cut and pasted, or undone. */
function standingAgain(model: DocumentModel, anchor: Anchor): Anchor {
  const { lost } = anchor;
  if (lost === null) return anchor;
  const past = model.past(lost.block);
  for (const [step, start, count, block, version, at] of past?.again.toReversed() ?? []) {
    const source = { block: lost.block, version: step - 1, offset: start };
    const now = carried(anchor, ["again", block, version, at, source, count]);
    if (now !== anchor) return now;
  }
  model.askPast(lost.block, true);
  return anchor;
}

/** The anchor where the text of its block has come to, in this parcel, if that is known. */
function arrived(model: DocumentModel, anchor: Anchor, parcel: string): Anchor {
  const frame = model.arrived(parcel);
  if (frame === null) return anchor;
  const [block, version, at] = frame;
  return { ...anchor, block, version, offset: at + anchor.offset };
}

/**
 * Where an anchor is shown: behind what the person here has done, and the nodes have not. Until a block
 * has said what was done to the text while it was there, where the text has come to.
 */
export function shownAt(model: DocumentModel, anchor: Anchor): Place {
  const isKnown = model.past(anchor.block) !== undefined;
  const come = isKnown ? anchor : arrived(model, anchor, `${anchor.block}:`);
  const { block, offset, side } = come === anchor ? anchor : carriedTo(model, come, "");
  const first: Place = { block, offset };
  return model.unconfirmed.reduce((place, step) => behind(place, step, side, () => 0), first);
}
