/**
 * What acting things are set to, read with care: properties come from strangers, too.
 *
 * | kind | properties |
 * |---|---|
 * | `timer` | `seconds` |
 * | `dice` | `faces` |
 * | `vote` | `choices`: how many; `labels`: their names, a line each |
 * | `token` | `form`: `piece` or `card`; `back`: what stands on the other side |
 * | `furniture` | `form` |
 * | `door` | `place`: the id of another place |
 * | `link` | `href` |
 * | `card` | `document`: the id of a document |
 */

import { CHOICES_MAX, FACES_MAX, TIMER_MAX_MS } from "../../place/behaviours";
import { prop, type Thing } from "../../place/thing";
import { propText } from "./style";

export const SECONDS_MAX = TIMER_MAX_MS / 1_000;
const SECONDS = 300;
export const FACES = 6;
/** Letters of the names of all choices together: a property holds no more. */
export const LABELS_MAX = 2_000;

export const FURNITURE = ["table", "round", "chair", "sofa", "shelf", "plant", "wall"] as const;
export type Furniture = (typeof FURNITURE)[number];

export const PLACE_ID = /^[A-Za-z0-9_-]{1,64}$/;
const ADDRESS = /^https?:\/\//i;
const ADDRESS_MAX = 2_000;

function whole(thing: Thing, name: string, fallback: number): number {
  const value = prop(thing, name, fallback);
  return Number.isSafeInteger(value) ? value : fallback;
}

/** How long a timer runs once it is started. */
export function secondsOf(thing: Thing): number {
  return Math.min(SECONDS_MAX, Math.max(1, whole(thing, "seconds", SECONDS)));
}

/** When a timer rings, in the order's time; 0: it does not run. */
export function dueOf(thing: Thing): number {
  return Math.max(0, whole(thing, "due", 0));
}

/** What is left of a timer that runs, in seconds, the one that has begun included. */
export function leftOf(thing: Thing, time_ms: number): number {
  const left_s = Math.ceil((dueOf(thing) - time_ms) / 1_000);
  return Math.min(SECONDS_MAX, Math.max(0, left_s));
}

export function isOn(thing: Thing): boolean {
  return prop(thing, "on") !== 0;
}

/** The faces of a die; null: as many as none has. */
export function facesOf(thing: Thing): number | null {
  const faces = whole(thing, "faces", FACES);
  return faces >= 2 && faces <= FACES_MAX ? faces : null;
}

/** The face that a die shows; 0: it has not been rolled. */
export function faceOf(thing: Thing): number {
  return Math.min(FACES_MAX, Math.max(0, whole(thing, "face", 0)));
}

/** How many choices a vote has. */
export function choicesOf(thing: Thing): number {
  return Math.min(CHOICES_MAX, Math.max(0, whole(thing, "choices", 2)));
}

/** The names of a vote's choices; "": it has none. */
export function labelsOf(thing: Thing): string[] {
  const lines = propText(thing, "labels").split("\n");
  return Array.from({ length: choicesOf(thing) }, (_, at) => (lines[at] ?? "").trim());
}

export function isUp(thing: Thing): boolean {
  return prop(thing, "up") !== 0;
}

export function isCard(thing: Thing): boolean {
  return propText(thing, "form") === "card";
}

export function furnitureOf(thing: Thing): Furniture {
  const form = propText(thing, "form");
  return FURNITURE.find((one) => one === form) ?? "table";
}

/** The place that a door leads to; null: to none. */
export function placeOf(thing: Thing): string | null {
  const place = propText(thing, "place");
  return PLACE_ID.test(place) ? place : null;
}

/** The document that a card shows; null: none. */
export function documentOf(thing: Thing): string | null {
  const document = thing.kind === "card" ? propText(thing, "document") : "";
  return PLACE_ID.test(document) ? document : null;
}

/** The document that an address of this server names; null: it names none. */
export function documentIn(text: string, origin: string): string | null {
  const url = addressIn(text.trim());
  if (url === null || url.origin !== origin) return null;
  return /^\/doc\/([A-Za-z0-9_-]{1,64})\/?$/.exec(url.pathname)?.[1] ?? null;
}

/** Where a link goes: to pages of the web alone; null: nowhere. */
export function addressOf(thing: Thing): URL | null {
  return thing.kind === "link" ? addressIn(propText(thing, "href")) : null;
}

export function addressIn(text: string): URL | null {
  if (text.length > ADDRESS_MAX || !ADDRESS.test(text) || /[\s\0]/.test(text)) return null;
  try {
    const url = new URL(text);
    return (url.protocol === "https:" || url.protocol === "http:") && url.host !== "" ? url : null;
  } catch {
    return null;
  }
}

/** What a person has written as a link, as one that may be kept; null: it is none. */
export function cleanAddress(text: string): string | null {
  const href = text.trim();
  if (addressIn(href) !== null) return href;
  const guess = `https://${href}`;
  return /^[^\s:/?#@]+\.[^\s:/?#@]+/.test(href) && addressIn(guess) !== null ? guess : null;
}

/** An id in what a person has written or pasted: the id alone, or the address of a place here. */
export function cleanPlace(text: string): string | null {
  const found = text.trim().replace(/^.*\/p\/([A-Za-z0-9_-]{1,64})\/?$/, "$1");
  return PLACE_ID.test(found) ? found : null;
}
