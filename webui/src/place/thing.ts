/** A thing of a place, and what may be changed of it; as groupcore/shared/places/thing.py. */

import * as limits from "./limits";
import { PlaceRefusal } from "./refusal";

export type Value = string | number | boolean;
export type Properties = readonly (readonly [name: string, value: Value])[];
export type Changes = readonly (readonly [name: string, value: Value | null])[];

export interface Thing {
  readonly id: string;
  readonly kind: string;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly turn: number;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly order: number;
  readonly text: string;
  readonly group: string;
  readonly locked: boolean;
  readonly style: Properties;
  readonly props: Properties;
  readonly points: readonly number[];
  readonly links: readonly string[];
  readonly votes: readonly (readonly [who: string, choice: number])[];
  readonly version: number;
  readonly hops: number;
}

/** Changes of one thing, each only where the field has its `expected` value, if one is named. */
export interface Edit {
  readonly id: string;
  readonly changes: Changes;
  readonly expected: Changes;
  readonly to: string;
}

const KINDS = new Set([
  "ink",
  "shape",
  "arrow",
  "sticky",
  "text",
  "picture",
  "frame",
  "card",
  "link",
  "door",
  "light",
  "switch",
  "clock",
  "timer",
  "dice",
  "vote",
  "token",
  "furniture",
  "ball",
]);
const NUMBERS = {
  x: [limits.START, limits.END - 1],
  y: [limits.START, limits.END - 1],
  z: [-limits.SIZE_MAX, limits.SIZE_MAX],
  turn: [0, limits.TURN_MAX - 1],
  width: [0, limits.SIZE_MAX],
  height: [0, limits.SIZE_MAX],
  depth: [0, limits.SIZE_MAX],
  order: [-limits.ORDER_MAX, limits.ORDER_MAX],
} as const;
const TEXTS = { text: limits.TEXT_MAX, group: limits.NAME_MAX } as const;
type NumberField = keyof typeof NUMBERS;
type TextField = keyof typeof TEXTS;
type Bag = "style" | "props";

const IDENTIFIER = /^[A-Za-z0-9_-]{1,64}$/;
const NAMES = /^[\0-\x7f]{1,64}$/;
const encoder = new TextEncoder();

/** So as Python sorts texts: by code points, not by UTF-16 units. */
export function compareTexts(one: string, other: string): number {
  const [some, others] = [[...one], [...other]];
  for (let place = 0; place < Math.min(some.length, others.length); place++) {
    const [a, b] = [some[place]?.codePointAt(0) ?? 0, others[place]?.codePointAt(0) ?? 0];
    if (a !== b) return a - b;
  }
  return some.length - others.length;
}

const letters = (text: string) => [...text].length;
const bytes = (text: string) => encoder.encode(text).length;

export function prop(thing: Thing, name: string, fallback = 0): number {
  const value = thing.props.find(([known]) => known === name)?.[1];
  return typeof value === "number" || typeof value === "boolean" ? Number(value) : fallback;
}

export function withProps(thing: Thing, changes: Record<string, Value>): Thing {
  const known = new Map(thing.props);
  for (const [name, value] of Object.entries(changes)) known.set(name, value);
  return { ...thing, props: sorted(known) };
}

function sorted(known: Map<string, Value>): Properties {
  return [...known].sort(([one], [other]) => compareTexts(one, other));
}

export function sizeBytes(thing: Thing): number {
  let size = 150 + bytes(thing.text) + letters(thing.group) + thing.id.length + thing.kind.length;
  for (const [name, value] of [...thing.style, ...thing.props]) {
    size += letters(name) + 6 + (typeof value === "string" ? bytes(value) + 5 : 9);
  }
  for (const link of thing.links) size += letters(link) + 3;
  for (const [who] of thing.votes) size += bytes(who) + 12;
  return size + 9 * thing.points.length;
}

function refuse(is: boolean): void {
  if (is) throw new PlaceRefusal("bad_thing");
}

export function checkThing(thing: Thing): void {
  refuse(!IDENTIFIER.test(thing.id) || !KINDS.has(thing.kind));
  for (const [name, [least, most]] of Object.entries(NUMBERS)) {
    const value = thing[name as NumberField];
    refuse(!(least <= value && value <= most));
  }
  for (const [name, most] of Object.entries(TEXTS)) {
    refuse(letters(thing[name as TextField]) > most);
  }
  checkBag(thing.style);
  checkBag(thing.props);
  checkLists(thing);
  for (const count of [thing.version, thing.hops]) refuse(count < 0 || count > limits.COUNT_MAX);
  refuse(sizeBytes(thing) > limits.THING_BYTES_MAX);
}

function isRising(texts: readonly string[]): boolean {
  return texts.every(
    (text, place) => place === 0 || compareTexts(texts[place - 1] ?? "", text) < 0,
  );
}

function checkBag(bag: Properties): void {
  refuse(bag.length > limits.PROPERTIES_MAX || !isRising(bag.map(([name]) => name)));
  for (const [name, value] of bag) {
    refuse(!NAMES.test(name));
    if (typeof value === "string") refuse(letters(value) > limits.VALUE_MAX);
    else refuse(Math.abs(Number(value)) > limits.INT_MAX);
  }
}

function checkLists(thing: Thing): void {
  const isNear = (one: number) => -limits.SIZE_MAX <= one && one <= limits.SIZE_MAX;
  const { points, links, votes } = thing;
  refuse(points.length > limits.POINTS_MAX || points.length % 2 === 1 || !points.every(isNear));
  refuse(links.length > limits.LINKS_MAX || !links.every((link) => IDENTIFIER.test(link)));
  refuse(votes.length > limits.VOTES_MAX || !isRising(votes.map(([who]) => who)));
  for (const [who, choice] of votes) {
    refuse(letters(who) > limits.VALUE_MAX || choice < 0 || choice >= 100);
  }
}

/** A thing that was handed over lies in the place, and has an id. */
export function checkPlace(thing: Thing): void {
  const [least, most] = NUMBERS.x;
  const lies = [thing.x, thing.y].every((one) => least <= one && one <= most);
  refuse(!IDENTIFIER.test(thing.id) || !lies);
}

// --- changes --------------------------------------------------------------------------------------

function bagOf(name: string): [bag: Bag, key: string] | null {
  const dot = name.indexOf(".");
  const bag = name.slice(0, dot);
  return dot > 0 && (bag === "style" || bag === "props") ? [bag, name.slice(dot + 1)] : null;
}

export function fieldOf(thing: Thing, name: string): Value | null {
  const bag = bagOf(name);
  if (bag !== null) return new Map(thing[bag[0]]).get(bag[1]) ?? null;
  if (Object.hasOwn(NUMBERS, name)) return thing[name as NumberField];
  if (Object.hasOwn(TEXTS, name)) return thing[name as TextField];
  if (name === "locked") return thing.locked;
  if (name === "links") return thing.links.join(",");
  throw new PlaceRefusal("bad_thing");
}

/** The thing with the changes that apply, one version on; itself where none of them does. */
export function edited(thing: Thing, edit: Edit): Thing {
  const expected = new Map(edit.expected);
  const fresh: Record<string, unknown> = {};
  for (const [name, value] of edit.changes) {
    const now = fieldOf(thing, name);
    const former = expected.get(name);
    if (former !== undefined && former !== now) continue;
    if (now !== value) put(thing, fresh, name, value);
  }
  if (Object.keys(fresh).length === 0) return thing;
  if (thing.locked && fresh.locked !== false) throw new PlaceRefusal("thing_locked");
  const changed = { ...thing, version: thing.version + 1, ...fresh } as Thing;
  checkThing(changed);
  return changed;
}

function put(
  thing: Thing,
  fresh: Record<string, unknown>,
  name: string,
  value: Value | null,
): void {
  const bag = bagOf(name);
  if (bag !== null) {
    const known = new Map((fresh[bag[0]] as Properties | undefined) ?? thing[bag[0]]);
    if (value === null) known.delete(bag[1]);
    else known.set(bag[1], value);
    fresh[bag[0]] = sorted(known);
  } else if (name === "links" && typeof value === "string") {
    fresh[name] = value === "" ? [] : value.split(",");
  } else {
    const type = Object.hasOwn(NUMBERS, name) ? "number" : name === "locked" ? "boolean" : "string";
    refuse(typeof value !== type || name === "links");
    fresh[name] = value;
  }
}

export function checkEdits(edits: readonly Edit[], most: number): void {
  refuse(edits.length > most || new Set(edits.map(({ id }) => id)).size !== edits.length);
  for (const { changes, expected } of edits) {
    refuse(Math.max(changes.length, expected.length) > 2 * limits.PROPERTIES_MAX);
  }
}
