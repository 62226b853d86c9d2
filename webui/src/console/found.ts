/**
 * What an audit says of one violation, in the language of the page.
 *
 * The audit writes English sentences of some kinds (`pipeline/transforms`); each kind has a form, by
 * which the sentence is known, and words.
 */

import { number } from "../words/formats";
import { foundWords } from "../words/found";
import { FORMS } from "../words/found-forms";

const SPECIAL = /[.*+?^${}()|[\]\\]/g;
const PLACES = /%[ds]/g;

function patternOf(form: string): RegExp {
  const parts = form.split(PLACES).map((part) => part.replace(SPECIAL, "\\$&"));
  const places = (form.match(PLACES) ?? []).map((one) => (one === "%d" ? "(-?\\d+)" : "(.+?)"));
  return new RegExp(`^${parts.map((part, at) => part + (places[at] ?? "")).join("")}$`);
}

/** The sentence in the page's words; null: it is of no kind that is known here. */
export function foundText(says: string): string | null {
  for (const [kind, form] of Object.entries(FORMS)) {
    const found = patternOf(form).exec(says);
    if (found === null) continue;
    const places = form.match(PLACES) ?? [];
    const about = found.slice(1).map((text, at) => (places[at] === "%d" ? number(+text) : text));
    const word: string | ((...about: string[]) => string) = foundWords[kind as keyof typeof FORMS];
    return typeof word === "string" ? word : word(...about);
  }
  return null;
}
