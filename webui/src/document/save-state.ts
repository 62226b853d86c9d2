/** How things stand with a person's edits, in what programs count and in what people would. */

import type { OwnVerb } from "./carry";
import type { SaveState } from "./types";

/** No block's id. */
const TITLE = "";

function placesOf(verb: OwnVerb): readonly string[] {
  if (verb[0] === "rename") return [TITLE];
  return verb[0] === "insert" ? verb[2].map(({ id }) => id) : [verb[1]].flat();
}

/** The blocks that these verbs change, and the title, as ids: a paragraph counts once. */
export function placesOfAll(own: readonly { readonly verb: OwnVerb }[]): Set<string> {
  return new Set(own.flatMap(({ verb }) => placesOf(verb)));
}

/** A verb that is not confirmed, as far as it is counted. */
interface Counted {
  readonly verb: OwnVerb;
  readonly call: { readonly isAnswered: boolean } | null;
  readonly hop: string;
  readonly edits: number;
}

/** With so many things more that are not saved. */
export function withMore(save: SaveState, more: number): SaveState {
  if (more === 0) return save;
  const kind = save.kind === "offline" ? "offline" : "saving";
  return { kind, edits: save.edits + more, places: save.places + more };
}

/** `adrift`: edits that are about to be sent; `objects`: the blocks, and the outline as the title; with calls that are not known to be on disk. */
export function saveState(
  own: readonly Counted[],
  adrift: readonly { readonly edits: number; readonly block: string }[],
  objects: Iterable<readonly [place: string, { readonly unsaved: number }]>,
  isOnline: boolean,
): SaveState {
  let edits = 0;
  let sent = 0;
  const calls = new Set<unknown>();
  for (const { call, hop, edits: held } of own) {
    if (hop === "") edits += held;
    if (call !== null && !call.isAnswered) calls.add(call);
  }
  const changed = placesOfAll(own);
  for (const one of adrift) {
    edits += one.edits;
    changed.add(one.block);
  }
  for (const [place, { unsaved }] of objects) {
    sent += unsaved;
    // What is asked of the outline is a change of blocks that the verbs name, as long as they are here.
    if (unsaved > 0 && (place !== TITLE || changed.size === 0)) changed.add(place);
  }
  edits += Math.max(0, sent - calls.size);
  if (edits === 0 && own.length > 0) edits = 1;
  const places = edits === 0 ? 0 : Math.max(1, changed.size);
  if (!isOnline) return { kind: "offline", edits, places };
  return { kind: edits === 0 ? "saved" : "saving", edits, places };
}
