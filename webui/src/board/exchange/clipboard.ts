/** What is copied on one board and pasted on another, or into another program. */

import type { Thing } from "../../place/thing";
import type { Cards } from "../model/card";
import { boxOfAll, frameOf, type Point } from "../model/geometry";
import { copiesOf, newCard, newThing } from "../model/make";
import { shownText } from "../model/saying";
import { addressIn, addressOf, documentIn } from "../model/settings";
import { units } from "../model/units";
import { documentAddress } from "./addresses";
import { type Brought, separated } from "./brought";
import { jsonOf, KIND, placeIn, thingsIn } from "./json";
import { isList, markdownIn } from "./markdown-in";

const TYPE = "application/x-groupcore-board";
const TEXT_MAX = 10_000;

export function copyTo(
  data: DataTransfer,
  things: readonly Thing[],
  place: string,
  cards?: Cards,
): void {
  data.setData(TYPE, jsonOf(things, place));
  const texts = things.map((thing) => wordsOf(thing, cards)).filter((text) => text !== "");
  data.setData("text/plain", texts.length > 0 ? texts.join("\n") : jsonOf(things, place));
}

/** What other programs get of a thing: what can be read on it, and where a link goes. */
function wordsOf(thing: Thing, cards?: Cards): string {
  const address = thing.kind === "link" ? (addressOf(thing)?.href ?? "") : documentAddress(thing);
  return `${shownText(thing, cards)} ${address}`.trim();
}

/** What is pasted, as the files that it is: pictures without words, and what Excalidraw copies. */
export function filesIn(data: DataTransfer): File[] {
  const text = data.getData("text/plain");
  // Words of some programs come with a picture of themselves; a picture comes without words.
  if (text.trim() === "") return [...data.files];
  const isExcalidraw = /^\s*\{\s*"type"\s*:\s*"excalidraw/.test(text);
  return isExcalidraw && data.getData(TYPE) === "" ? [new File([text], "pasted.excalidraw")] : [];
}

/** What is pasted, about a point; ImportRefusal. */
export function pastedFrom(data: DataTransfer, at: Point, order: number): Brought {
  const own = data.getData(TYPE);
  const text = data.getData("text/plain");
  if (own !== "") return ofOurs(own, at, order);
  if (new RegExp(`^\\s*\\{\\s*"type"\\s*:\\s*"${KIND}"`).test(text)) return ofOurs(text, at, order);
  if (isList(text)) return separated(about(markdownIn(text), at, order));
  const words = text.trim().slice(0, TEXT_MAX);
  if (words === "") return separated([]);
  if (addressIn(words) !== null) return separated([leadingTo(words, at, order)]);
  const frame = { ...at, width: units(200), height: units(200), turn: 0 };
  return separated([newThing("sticky", frame, {}, { text: words, order })]);
}

/** An address as a thing: a document of this server as its card, everything else as a link. */
export function leadingTo(address: string, at: Point, order: number): Thing {
  const document = documentIn(address, globalThis.location?.origin ?? "");
  return document === null ? linkTo(address, at, order) : newCard(document, at, order);
}

function linkTo(href: string, at: Point, order: number): Thing {
  const frame = { ...at, width: units(280), height: units(84), turn: 0 };
  return newThing("link", frame, {}, { order, props: [["href", href]] });
}

/** What a file of ours holds, about a point; ImportRefusal. */
export function ofOurs(text: string, at: Point, order: number): Brought {
  return { ...separated(about(thingsIn(text), at, order)), from: placeIn(text) };
}

/** Copies whose middle is this point. */
export function about(things: readonly Thing[], at: Point, order: number): Thing[] {
  const box = boxOfAll(things);
  if (box === null) return [];
  const { x, y } = frameOf(box);
  return copiesOf(things, at.x - x, at.y - y, order);
}
