/** The save state in words: for the badge, and the rarer ones that are said aloud. */

import type { SaveState } from "./document/types";
import { documentWords } from "./words/document";

export interface SaveFacts {
  readonly save: SaveState;
  readonly waited_s: 0 | 3 | 10;
  readonly isStopped: boolean;
}

/** What the badge says. */
export function badgeText({ save, waited_s, isStopped }: SaveFacts): string {
  if (save.kind === "saved") return documentWords.saved;
  if (save.kind === "kept") return documentWords.changesKept(save.places);
  if (save.kind === "saving")
    return waited_s > 0 ? documentWords.stillSaving : documentWords.saving;
  const where = isStopped ? documentWords.disconnected : documentWords.offline;
  return save.edits > 0 ? `${where} · ${documentWords.changesKept(save.places)}` : where;
}

/**
 * What is to be said aloud in this state, "" for nothing.
 *
 * Saving and saved change with every word that is typed, so only trouble is said, and its end.
 */
export function announcement(facts: SaveFacts, wasTrouble: boolean): string {
  const { save, waited_s } = facts;
  if (save.kind === "offline" && save.edits > 0) {
    return documentWords.sayNotSaved;
  }
  if (save.kind === "offline") return documentWords.sayOffline;
  if (save.kind === "kept") return documentWords.sayKept;
  if (save.kind === "saving" && waited_s === 10) return documentWords.saySlow;
  return save.kind === "saved" && wasTrouble ? documentWords.saySaved : "";
}
