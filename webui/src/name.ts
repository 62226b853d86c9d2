/** The person's display name, kept in this browser. */

import { randomId } from "./ids";
import { commonWords } from "./words/common";

const KEY = "groupcore.name";
const NAME_MAX = 80;

/** The name as it may travel: 1 to 80 characters on one line, null when nothing is left. */
export function cleanName(text: string): string | null {
  const clean = [...text.replace(/\s+/g, " ").trim()].slice(0, NAME_MAX).join("");
  return clean === "" ? null : clean;
}

/** The kept name, or a guest's. */
export function loadName(): string {
  const kept = cleanName(readKept());
  if (kept !== null) return kept;
  const letters = randomId(8).replace(/[^A-Za-z0-9]/g, "");
  const guest = `${commonWords.guest} ${letters.slice(0, 4).toUpperCase()}`.trim();
  saveName(guest);
  return guest;
}

/** Keeps the name; where the browser keeps nothing, it lasts as long as the tab. */
export function saveName(name: string): void {
  try {
    localStorage.setItem(KEY, name);
  } catch {
    // A browser that blocks storage: the name is asked for again next time.
  }
}

function readKept(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
