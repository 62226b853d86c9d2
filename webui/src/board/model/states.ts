/** How things that act stand, in words: for the list, and to be said aloud. */

import { prop, type Thing } from "../../place/thing";
import { boardWords } from "../../words/board";
import { number } from "../../words/formats";
import { type Actor, countsOf, ownChoice } from "./acts";
import type { Things } from "./arrows";
import type { Cards } from "./card";
import {
  addressOf,
  documentOf,
  dueOf,
  faceOf,
  furnitureOf,
  isOn,
  isUp,
  labelsOf,
  leftOf,
  placeOf,
  secondsOf,
} from "./settings";

/** What decides how a thing stands now, beside the thing. */
export interface Now extends Cards {
  readonly isOwn: Actor["isOwn"];
  /** Of the page. */
  readonly time_ms: number;
  /** Of the order. */
  readonly orderTime_ms: number;
  /** A die that was thrown, and does not show yet how it has fallen. */
  isRolling(id: string): boolean;
  isRinging(id: string): boolean;
  /** The person wants nothing to move that need not. */
  readonly isCalm: boolean;
}

/** Of pictures that leave the page: nobody's, and nothing moves in them. */
export const STILL: Now = {
  isOwn: () => false,
  get time_ms() {
    return Date.now();
  },
  get orderTime_ms() {
    return Date.now();
  },
  isRolling: () => false,
  isRinging: () => false,
  card: () => null,
  isCalm: true,
};

/** Choices that are named with their counts; more are too many to be listened to. */
const CHOICES_SAID = 20;

/** How a thing stands; "": there is nothing to be said. */
export function stateOf(thing: Thing, things: Things, now: Now): string {
  switch (thing.kind) {
    case "light":
      return onOrOff(thing);
    case "switch":
      return `${onOrOff(thing)}, ${lampsText(thing, things)}`;
    case "timer":
      return timerText(thing, now);
    case "clock":
      return hourText(now.time_ms);
    case "dice":
      return diceText(thing, now);
    case "vote":
      return voteText(thing, now);
    case "token":
      return isUp(thing) ? boardWords.isUp : boardWords.isDown;
    case "ball":
      return isMoving(thing) ? boardWords.rolls : boardWords.liesStill;
    case "door": {
      const place = placeOf(thing);
      return place === null ? boardWords.nowhere : boardWords.leadsTo(thing.text || place);
    }
    case "link": {
      const address = addressOf(thing);
      return address === null
        ? boardWords.withoutAddress
        : boardWords.goesTo(addressText(address, 80));
    }
    case "card":
      return cardText(thing, now);
    case "furniture":
      return boardWords[furnitureOf(thing)];
    default:
      return "";
  }
}

function cardText(thing: Thing, now: Now): string {
  const document = documentOf(thing);
  if (document === null) return boardWords.noDocument;
  const view = now.card(document);
  return view === null ? "" : view.notice || view.summary;
}

/** Hour and minute as the browser has them. */
function hourText(time_ms: number): string {
  return new Date(time_ms).toLocaleTimeString([], { timeStyle: "short" });
}

function onOrOff(thing: Thing): string {
  return isOn(thing) ? boardWords.isOn : boardWords.isOff;
}

/** The lamps that a switch has and that are known here. */
export function lampsOf(thing: Thing, things: Things): Thing[] {
  if (thing.kind !== "switch") return [];
  const lamps = [...new Set(thing.links)].flatMap((id) => things.get(id) ?? []);
  return lamps.filter(({ kind }) => kind === "light");
}

function lampsText(thing: Thing, things: Things): string {
  const { length } = lampsOf(thing, things);
  return length === 0 ? boardWords.lightsNothing : boardWords.lights(length);
}

function timerText(thing: Thing, { orderTime_ms, isRinging }: Now): string {
  if (dueOf(thing) > 0) return boardWords.timeLeft(spanOf(leftOf(thing, orderTime_ms)));
  if (isRinging(thing.id)) return boardWords.ringing;
  return boardWords.waits(spanOf(secondsOf(thing)));
}

/** As watches show it: 4:59, 1:00:00. */
export function spanOf(span_s: number): string {
  const [hours, minutes, seconds] = [
    Math.floor(span_s / 3_600),
    Math.floor(span_s / 60) % 60,
    span_s % 60,
  ];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

function diceText(thing: Thing, { isRolling }: Now): string {
  if (isRolling(thing.id)) return boardWords.isRolling;
  const face = faceOf(thing);
  return face === 0 ? boardWords.notRolled : boardWords.shows(number(face));
}

function voteText(thing: Thing, { isOwn }: Now): string {
  const counts = countsOf(thing);
  const names = labelsOf(thing).map((label, at) => label || boardWords.choice(at + 1));
  const said = names
    .slice(0, CHOICES_SAID)
    .map((name, at) => boardWords.votes(name, counts[at] ?? 0));
  const own = ownChoice(thing, isOwn);
  const name = own === null ? undefined : names[own];
  if (counts.every((count) => count === 0)) return boardWords.noVotes;
  return [...said, ...(name === undefined ? [] : [boardWords.ownChoice(name)])].join(", ");
}

export function isMoving(thing: Thing): boolean {
  return prop(thing, "vx") !== 0 || prop(thing, "vy") !== 0;
}

/** Where a link goes, short enough to be shown: the host is never cut. */
export function addressText({ host, pathname, search }: URL, most: number): string {
  const rest = pathname === "/" && search === "" ? "" : pathname + search;
  const room = Math.max(0, most - host.length);
  return rest.length > room ? `${host}${rest.slice(0, room)}…` : host + rest;
}
