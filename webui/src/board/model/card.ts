/**
 * What a card shows of its document, as far as that is known here, and which cards are to be live.
 *
 * The document itself comes later, with the first card: `sheets`.
 */

import type { Thing } from "../../place/thing";
import type { Camera } from "./camera";
import { distance, type Point } from "./geometry";
import { documentOf } from "./settings";

/** A block as a card draws it: words without their marks. */
export interface CardBlock {
  readonly kind:
    | ("text" | "heading" | "bullet" | "numbered" | "todo" | "quote" | "code")
    | ("divider" | "table" | "picture");
  readonly text: string;
  /** Of a heading, 1 to 6; of what stands in a list its depth, 0 to 8. */
  readonly level: number;
  /** What stands before it: the number of a list, or "". */
  readonly sign: string;
  readonly isDone: boolean;
  /** Of a table: rows of cells. */
  readonly rows: readonly (readonly string[])[];
  /** `DOCUMENT/HASH`; "": there is none. */
  readonly picture: string;
  /** Height of a picture for its width. */
  readonly shape: number;
}

/**
 * `live`: what others write is seen at once. `still`: as it was seen last. `coming`: it is asked for.
 * The others say why nothing can be read.
 */
export type CardState =
  | ("live" | "still" | "coming" | "offline")
  | ("forbidden" | "gone" | "trashed" | "failed");

/** Never changed in place: the same object is the same picture. */
export interface CardView {
  readonly state: CardState;
  /** "": it is not known, or not for this person. */
  readonly title: string;
  readonly blocks: readonly CardBlock[];
  /** What is to be said of the state, in words; "": nothing, the text says all. */
  readonly notice: string;
  /** How the document begins, for who hears it. */
  readonly summary: string;
}

/** What knows the documents of cards; null: nothing is known of this one yet. */
export interface Cards {
  card(document: string): CardView | null;
}

/** A document that a card in sight shows; the nearest of them come first. */
export interface Wanted {
  readonly document: string;
  /** Its words are large enough to be read. */
  readonly isLarge: boolean;
}

/** Pixels on the screen: smaller cards are not read. */
const WIDTH_MIN = 130;
const HEIGHT_MIN = 90;

/** The documents of these cards, by how near they are to a point. */
export function wantedNear(
  cards: Iterable<Thing>,
  to: Point,
  isLarge: (card: Thing) => boolean = () => true,
): Wanted[] {
  const near = [...cards].filter(({ kind }) => kind === "card");
  near.sort(
    (one, other) => distance(one, to) - distance(other, to) || (one.id < other.id ? -1 : 1),
  );
  const found = new Map<string, Wanted>();
  for (const card of near) {
    const document = documentOf(card);
    if (document === null) continue;
    const known = found.get(document)?.isLarge ?? false;
    found.set(document, { document, isLarge: known || isLarge(card) });
  }
  return [...found.values()];
}

/** Those that a board shows: the ones about its middle first. */
export function wantedOn(camera: Camera, drawn: readonly Thing[]): Wanted[] {
  const isLarge = ({ width, height }: Thing) =>
    width / camera.step >= WIDTH_MIN && height / camera.step >= HEIGHT_MIN;
  return wantedNear(drawn, camera.centre, isLarge);
}

/** How a card is called: by its document, else by what is written on it. */
export function cardTitle(card: Thing, cards: Cards): string {
  const document = documentOf(card);
  const view = document === null ? null : cards.card(document);
  return view?.title || card.text.trim();
}

/** The pictures that a card draws. */
export function cardPictures(card: Thing, cards: Cards): string[] {
  const document = documentOf(card);
  const blocks = document === null ? [] : (cards.card(document)?.blocks ?? []);
  return blocks.flatMap(({ picture }) => (picture === "" ? [] : [picture]));
}
