/** What people read of the codes of the servers. */

import { language } from "./words/language";
import { problemWords } from "./words/problems";

/** What a server said: its code, and what it says of it, in English. */
export interface Problem {
  readonly code: string;
  readonly message: string;
}

type Words = Readonly<Record<string, unknown>>;

const all: Words[] = [];
alsoKnown(problemWords);

/** These codes have words, too, from now on: they are met by a part of the page that came later. */
export function alsoKnown(words: Words): void {
  all.push(words);
}

function known(code: string): string | null {
  const word = all.find((words) => Object.hasOwn(words, code))?.[code];
  return typeof word === "string" ? word : null;
}

/** A problem in the language of the page; `detail`: what the server says of it, in English;
 * `nodes`: those that it is about. */
export function problemText(code: string, detail: string, nodes = ""): string {
  const word = code === "awaits_nodes" ? problemWords.awaits_nodes(nodes) : known(code);
  // Our own request was at fault, or another page's: what the server has to say helps nobody.
  if (code === "forged" && word !== null) return word;
  if (detail === "") return word ?? problemWords.other;
  if (language() === "en") return sentence(detail);
  return word ?? problemWords.said(sentence(detail));
}

/** The words of a code that stands in an address, where anybody may have written it. */
export function toldByAddress(code: string): string {
  const isSaid = code !== "other" && code !== "said";
  return (isSaid ? known(code) : null) ?? problemWords.provider;
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
