/**
 * The frames of a board as slides: frame by frame in the order of reading.
 *
 * A board holds what is in sight of it alone. So the frames are noted once all of the place has been
 * in sight, and one is gone only if it is not there when it should be in sight.
 */

import type { Thing } from "../../place/thing";
import type { Things } from "../model/arrows";
import type { Camera } from "../model/camera";
import { boxOf } from "../model/geometry";
import { inReadingOrder } from "../model/reading";

/** Around a slide, in pixels; below are the buttons. */
const EDGES = { top: 16, right: 16, bottom: 64, left: 16 } as const;
/** A small frame fills the screen all the same. */
const ZOOM_MOST = 4;
export const FLIGHT_MS = 380;

export function slidesOf(things: Iterable<Thing>): Thing[] {
  const frames = [...things].filter(({ kind }) => kind === "frame");
  return inReadingOrder(frames).map(({ thing }) => thing);
}

/** The slides as they are now; without the one at `at`, where all of it is here and it is not. */
export function renewed(
  slides: readonly Thing[],
  things: Things,
  at: number,
  isAllHere: boolean,
): readonly Thing[] {
  const now = slides.map((slide) => things.get(slide.id) ?? slide);
  const seen = slides[at];
  const isGone = isAllHere && seen !== undefined && !things.has(seen.id);
  if (isGone) return now.filter((_, place) => place !== at);
  return now.every((slide, place) => slide === slides[place]) ? slides : now;
}

/** The whole slide, as large as the screen has room for. */
export function cameraFor(slide: Thing, camera: Camera): Camera {
  return camera.fitting(boxOf(slide), EDGES, ZOOM_MOST);
}

/** On the way from one view to another, from 0 to 1: slow at both ends. */
export function onTheWay(from: Camera, to: Camera, share: number): Camera {
  if (share >= 1) return to;
  const eased = share * share * (3 - 2 * share);
  const zoom = from.zoom * (to.zoom / from.zoom) ** eased;
  const [start, end] = [from.centre, to.centre];
  const at = { x: start.x + (end.x - start.x) * eased, y: start.y + (end.y - start.y) * eased };
  return from.zoomed(zoom).centred(at);
}

export type SlideAct = "next" | "previous" | "first" | "last" | "end" | "list" | "full";

const KEYS: Readonly<Record<string, SlideAct>> = {
  ArrowRight: "next",
  ArrowDown: "next",
  PageDown: "next",
  " ": "next",
  Enter: "next",
  ArrowLeft: "previous",
  ArrowUp: "previous",
  PageUp: "previous",
  Backspace: "previous",
  Home: "first",
  End: "last",
  Escape: "end",
  l: "list",
  f: "full",
};

/** What a key does while slides are shown; null: nothing. */
export function slideActOf({
  key,
  ctrlKey,
  metaKey,
  altKey,
  shiftKey,
}: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">): SlideAct | null {
  if (ctrlKey || metaKey || altKey) return null;
  if (key === " " && shiftKey) return "previous";
  return Object.hasOwn(KEYS, key) ? (KEYS[key] ?? null) : null;
}

/** Pixels that a finger goes to turn a page. */
const SWIPE = 40;

/** What a press that went so far does: to the left is on, as pages are turned. */
export function swipeOf(dx: number, dy: number): SlideAct {
  if (Math.abs(dx) < SWIPE || Math.abs(dx) < Math.abs(dy)) return "next";
  return dx < 0 ? "next" : "previous";
}
