/**
 * The drawings of things that act, which come with the first such thing: boards of notes need none.
 *
 * Until they are here, such a thing is drawn as one of a kind that this page does not know.
 */

import type { Thing } from "../../place/thing";
import type { Scene } from "./acting/parts";
import type { Mark } from "./mark";

type Drawings = (thing: Thing, scene: Scene) => Mark[] | null;

let drawings: Drawings | null = null;

export function knowDrawings(known: Drawings): void {
  drawings = known;
}

/** null: it is of another kind, or its drawings are not here. */
export function drawnActing(thing: Thing, scene: Scene): Mark[] | null {
  return drawings?.(thing, scene) ?? null;
}
