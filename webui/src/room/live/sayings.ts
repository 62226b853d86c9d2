/** What things in the room say over themselves, and what is said of them. */

import { mayAct } from "../../board/model/acts";
import type { Things } from "../../board/model/arrows";
import { kindText, nameOf, shortText, shownText } from "../../board/model/saying";
import { faceOf, placeOf } from "../../board/model/settings";
import { type Now, stateOf } from "../../board/model/states";
import type { Thing } from "../../place/thing";
import { roomWords } from "../../words/room";
import { isSign } from "../model/forms";
import type { Choice } from "./deeds";

const HAS_STATE = new Set(["clock", "furniture"]);
/** Kinds that can be known by how they look. */
const PLAIN = new Set(["furniture", "ball", "light", "switch", "card"]);

/** Over a thing that stands; "": nothing. */
export function labelOf(thing: Thing, now: Now): string {
  const text = shortText(thing.kind === "card" ? shownText(thing, now) : thing.text, 40);
  // What they say stands on their plates.
  if (isSign(thing)) return "";
  switch (thing.kind) {
    case "dice": {
      if (now.isRolling(thing.id)) return "…";
      const face = faceOf(thing);
      return face > 6 ? String(face) : "";
    }
    case "token":
      return shortText(shownText(thing), 40);
    case "door":
      return text || placeOf(thing) || kindText(thing);
    default:
      return PLAIN.has(thing.kind) ? text : text || kindText(thing);
  }
}

/** How a thing is and what it is called, without what can be done. */
export function standing(thing: Thing, things: Things, now: Now): { name: string; state: string } {
  return {
    name: nameOf(thing, now),
    state: mayAct(thing) || HAS_STATE.has(thing.kind) ? stateOf(thing, things, now) : "",
  };
}

/** "Lamp, off. E: Turn on." */
export function spoken(
  { name, state }: { readonly name: string; readonly state: string },
  choices: readonly Choice[],
): string {
  const what = state === "" ? roomWords.isThere(name) : roomWords.stands(name, state);
  const usual = choices.find(({ key, hindrance }) => key !== "" && hindrance === "");
  return usual === undefined ? what : `${what} ${roomWords.press(usual.key, usual.label)}`;
}

/** Whether what it says changes by itself. */
export function isTicking(thing: Thing): boolean {
  return (
    thing.kind === "clock" ||
    (thing.kind === "timer" && thing.props.some(([name]) => name === "due"))
  );
}
