/** Things as JSON: a file of one's own, and what the clipboard carries between places. */

import { PlaceRefusal } from "../../place/refusal";
import { checkThing, type Thing } from "../../place/thing";
import { countsOf } from "../model/acts";
import { newThing } from "../model/make";
import { fieldsOf, ImportRefusal, parsed, THINGS_MAX } from "./refusal";

export const KIND = "groupcore-board";
const VERSION = 1;

const NUMBERS = ["x", "y", "z", "turn", "width", "height", "depth", "order"] as const;
const TEXTS = ["kind", "text", "group"] as const;

/** `place`: whose pictures they show. */
export function jsonOf(things: readonly Thing[], place = ""): string {
  const of = place === "" ? {} : { place };
  return JSON.stringify({ type: KIND, version: VERSION, ...of, things: things.map(told) }, null, 1);
}

/** Who has voted stays in the place; how often each choice was chosen goes with the vote. */
function told(given: Thing): unknown {
  const { votes: _, version: __, hops: ___, ...thing } = given;
  return thing.kind === "vote" ? { ...thing, counts: countsOf(given) } : thing;
}

const PLACE = /^[A-Za-z0-9_-]{1,64}$/;

/** The place whose pictures the things of a file of ours show; empty: it names none. */
export function placeIn(text: string): string {
  const { place } = fieldsOf(parsed(text));
  return typeof place === "string" && PLACE.test(place) ? place : "";
}

/** The things of a file of ours, each as cells take them; ImportRefusal. */
export function thingsIn(text: string): Thing[] {
  const { type, things } = fieldsOf(parsed(text));
  if (type !== KIND || !Array.isArray(things)) throw new ImportRefusal("other_kind");
  if (things.length > THINGS_MAX) throw new ImportRefusal("too_many");
  return things.map((value, at) => thingIn(value, at + 1));
}

function thingIn(value: unknown, at: number): Thing {
  const given = fieldsOf(value);
  const found: Record<string, unknown> = {};
  for (const name of NUMBERS) if (Number.isSafeInteger(given[name])) found[name] = given[name];
  for (const name of TEXTS) if (typeof given[name] === "string") found[name] = given[name];
  found.id = typeof given.id === "string" ? given.id : "";
  found.locked = given.locked === true;
  found.style = pairsIn(given.style);
  found.props = pairsIn(given.props);
  found.points = listIn(given.points, Number.isSafeInteger);
  found.links = listIn(given.links, (one) => typeof one === "string");
  const blank = newThing("shape", { x: 0, y: 0, width: 0, height: 0, turn: 0 }, {});
  const thing = { ...blank, ...found } as Thing;
  try {
    checkThing(thing);
  } catch (error) {
    if (error instanceof PlaceRefusal) throw new ImportRefusal("absurd", at);
    throw error;
  }
  return thing;
}

function listIn(value: unknown, is: (one: unknown) => boolean): unknown[] {
  return Array.isArray(value) && value.every(is) ? value : [];
}

function pairsIn(value: unknown): unknown[] {
  const isPair = (one: unknown) =>
    Array.isArray(one) &&
    one.length === 2 &&
    typeof one[0] === "string" &&
    (["string", "boolean"].includes(typeof one[1]) || Number.isSafeInteger(one[1]));
  return listIn(value, isPair);
}
