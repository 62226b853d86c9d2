/** Everybody else who has the document open, by what their sessions show of themselves. */

/** What a session shows of itself: its place in a block's text, null when it is elsewhere. */
export interface Caret {
  readonly block: string | null;
  readonly anchor: number;
  readonly head: number;
  /** The block that `anchor` is a place in, where that is another one. */
  readonly start?: string | null;
  /** Of which versions of the two texts the places are; without, as these are when it is heard. */
  readonly version?: number | null;
  readonly startVersion?: number | null;
}

export interface Shown extends Caret {
  readonly name: string;
  /** The first block in their sight; null: they do not show it. */
  readonly view: string | null;
  /** They have done nothing for a while. */
  readonly isIdle: boolean;
  /** How often they have asked everybody to come. */
  readonly calls: number;
}

export interface Person extends Shown {
  /** The session; the same person in two tabs is two. */
  readonly who: string;
}

/** How many colours there are (see styles/base.css). */
export const COLOURS = 8;

/** The colour of a person, the same in every tab: a small hash of the session's id. */
export function colourOf(who: string): number {
  let hash = 0;
  for (const unit of who) hash = (hash * 31 + (unit.codePointAt(0) ?? 0)) >>> 0;
  return hash % COLOURS;
}

/** Those who show themselves, in the order of their coming; what is not of this form is left out. */
export function peopleOf(others: ReadonlyMap<string, unknown>): readonly Person[] {
  const people: Person[] = [];
  for (const [who, value] of others) {
    const person = personOf(who, value);
    if (person !== null) people.push(person);
  }
  return people;
}

/** Read once: what a session shows is the same object until it shows something else. */
const known = new WeakMap<object, Person>();

function personOf(who: string, value: unknown): Person | null {
  if (typeof value !== "object" || value === null) return null;
  const found = known.get(value);
  if (found?.who === who) return found;
  const { name, block, anchor, head, view, idle, calls, start, version, start_version } =
    value as Record<string, unknown>;
  if (typeof name !== "string") return null;
  const person: Person = {
    who,
    name,
    block: idOf(block),
    anchor: countOf(anchor),
    head: countOf(head),
    view: idOf(view),
    isIdle: idle === true,
    calls: countOf(calls),
    ...(typeof start === "string" && start !== block ? { start } : {}),
    ...(version == null ? {} : { version: countOf(version) }),
    ...(start_version == null ? {} : { startVersion: countOf(start_version) }),
  };
  known.set(value, person);
  return person;
}

function idOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.max(0, value as number) : 0;
}

/** One or two letters for a name's badge. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = words.slice(0, 2).map((word) => [...word][0] ?? "");
  return letters.join("").toUpperCase() || "?";
}
