/** How people call what the menu "More" makes. */

import type { Thing } from "../../place/thing";
import { actingWords } from "../../words/acting";
import { boardWords } from "../../words/board";
import { mayAct } from "../model/acts";
import { kindOf, type Made } from "../model/make-acting";

export function madeName(made: Made): string {
  if (made === "piece") return boardWords.token;
  if (made === "card") return actingWords.playingCard;
  return kindOf(made) === "furniture" ? actingWords[made as "table"] : boardWords[made as "light"];
}

/** What is named and set in a form of its own, not written into. */
export function hasForm(thing: Thing): boolean {
  return mayAct(thing) || thing.kind === "clock" || thing.kind === "furniture";
}
