/** Things in words: for the list, and to be said aloud. */

import type { Thing } from "../../place/thing";
import { boardWords } from "../../words/board";
import { boundOf, isArrow, type Things } from "./arrows";
import { type Cards, cardTitle } from "./card";
import { isCard, isUp } from "./settings";
import { headsOf, propText, shapeOf } from "./style";
import { pixels } from "./units";

const TEXT_MAX = 80;
const NO_CARDS: Cards = { card: () => null };

export function kindText(thing: Thing): string {
  if (thing.kind === "shape") return boardWords[shapeOf(thing)];
  if (isArrow(thing)) return headsOf(thing) === "none" ? boardWords.line : boardWords.arrow;
  if (thing.kind === "ink") return boardWords.drawing;
  if (thing.kind === "token" && isCard(thing)) return boardWords.playingCard;
  return boardWords[thing.kind as "text"] ?? boardWords.shape;
}

export function shortText(text: string, most = TEXT_MAX): string {
  const line = text.replace(/\s+/g, " ").trim();
  const letters = [...line];
  return letters.length > most ? `${letters.slice(0, most).join("")}…` : line;
}

/** What can be read on a thing: of what lies face down its back, of a card the name of its document. */
export function shownText(thing: Thing, cards: Cards = NO_CARDS): string {
  if (thing.kind === "card") return cardTitle(thing, cards);
  const isHidden = thing.kind === "token" && !isUp(thing);
  return isHidden ? propText(thing, "back") : thing.text;
}

/** The kind and the text: how people call it. */
export function nameOf(thing: Thing, cards: Cards = NO_CARDS): string {
  const text = shortText(shownText(thing, cards), 40);
  return text === "" ? kindText(thing) : `${kindText(thing)} “${text}”`;
}

/** Where it lies, what holds it, and what it connects. */
export function detailsOf(thing: Thing, things: Things, frame: string): string[] {
  const found: string[] = [];
  if (isArrow(thing)) {
    const [from, to] = boundOf(thing).map((id) => things.get(id));
    const name = (one: Thing | undefined) => (one === undefined ? boardWords.nothing : nameOf(one));
    if (from !== undefined || to !== undefined)
      found.push(boardWords.connects(name(from), name(to)));
  }
  found.push(boardWords.at(Math.round(pixels(thing.x)), Math.round(pixels(thing.y))));
  if (!isArrow(thing)) {
    found.push(boardWords.sized(Math.round(pixels(thing.width)), Math.round(pixels(thing.height))));
  }
  const holder = things.get(frame);
  if (holder !== undefined)
    found.push(boardWords.inFrame(shortText(holder.text, 40) || boardWords.unnamed));
  if (thing.group !== "") found.push(boardWords.grouped);
  if (thing.locked) found.push(boardWords.locked);
  return found;
}
