/** What tells this browser's person from others who are called the same: guests, visitors by a link. */

import { randomId } from "./ids";

const KEY = "groupcore.voter";
const ID = /^[A-Za-z0-9_-]{8,64}$/;

let own: string | null = null;

/** Kept in this browser; where it keeps nothing, it lasts as long as the tab. */
export function loadVoter(): string {
  try {
    own = localStorage.getItem(KEY) ?? own;
    if (own === null || !ID.test(own)) own = randomId();
    localStorage.setItem(KEY, own);
  } catch {
    own ??= randomId();
  }
  return own;
}
