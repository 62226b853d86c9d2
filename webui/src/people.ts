/** Everybody else who has the document open. */

import type { Caret, Left, People, Person } from "./protocol/messages";

/** The people after a message about them. */
export function peopleAfter(
  people: readonly Person[],
  message: People | Caret | Left,
): readonly Person[] {
  switch (message.t) {
    case "people":
      return message.people;
    case "left":
      return people.filter((person) => person.who !== message.who);
    case "caret": {
      const { who, name, block, anchor, head } = message;
      const moved = { who, name, block, anchor, head };
      const isKnown = people.some((person) => person.who === who);
      if (!isKnown) return [...people, moved];
      return people.map((person) => (person.who === who ? moved : person));
    }
  }
}

/** One or two letters for a name's badge. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = words.slice(0, 2).map((word) => [...word][0] ?? "");
  return letters.join("").toUpperCase() || "?";
}
