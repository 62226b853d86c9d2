/** The save state in words: for the badge, and the rarer ones that are said aloud. */

import type { SaveState } from "./document/types";
import { documentWords } from "./words/document";

export interface SaveFacts {
  readonly save: SaveState;
  readonly waited_s: 0 | 3 | 10;
  readonly isStopped: boolean;
  /** The browser's store has all that is not saved; null: it cannot have it. */
  readonly isKept: boolean | null;
}

/** What the badge says. */
export function badgeText({ save, waited_s, isStopped, isKept }: SaveFacts): string {
  const { places } = save;
  if (save.kind === "saved") return documentWords.saved;
  if (save.kind === "kept") return changes(places, isKept);
  if (save.kind === "saving")
    return waited_s > 0 ? documentWords.stillSaving : documentWords.saving;
  const where = isStopped ? documentWords.disconnected : documentWords.offline;
  return save.edits > 0 ? `${where} · ${changes(places, isKept)}` : where;
}

function changes(places: number, isKept: boolean | null): string {
  if (isKept === null) return documentWords.changesOnlyHere(places);
  return isKept ? documentWords.changesKept(places) : documentWords.changesHere(places);
}

/**
 * What is to be said aloud in this state, "" for nothing.
 *
 * Saving and saved change with every word that is typed, so only trouble is said, and its end.
 */
export function announcement(facts: SaveFacts, wasTrouble: boolean): string {
  const { save, waited_s, isKept } = facts;
  const isHeld = save.kind === "kept" || (save.kind === "offline" && save.edits > 0);
  if (isHeld && isKept === null) return documentWords.changesOnlyHere(save.places);
  if (save.kind === "offline" && save.edits > 0) return documentWords.sayNotSaved;
  if (save.kind === "offline") return documentWords.sayOffline;
  if (save.kind === "kept") return documentWords.sayKept;
  if (save.kind === "saving" && waited_s === 10) return documentWords.saySlow;
  return save.kind === "saved" && wasTrouble ? documentWords.saySaved : "";
}
