/** The save state in words: for the badge, and the rarer ones that are said aloud. */

import type { SaveState } from "./document/types";

export interface SaveFacts {
  readonly save: SaveState;
  readonly waited_s: 0 | 3 | 10;
  readonly isStopped: boolean;
}

function editsKept(edits: number): string {
  return edits === 1 ? "1 edit kept" : `${edits} edits kept`;
}

/** What the badge says. */
export function badgeText({ save, waited_s, isStopped }: SaveFacts): string {
  if (save.kind === "saved") return "Saved";
  if (save.kind === "saving") return waited_s > 0 ? "Still saving…" : "Saving…";
  const where = isStopped ? "Disconnected" : "Offline";
  return save.edits > 0 ? `${where} · ${editsKept(save.edits)}` : where;
}

/**
 * What is to be said aloud in this state, "" for nothing.
 *
 * Saving and saved change with every word that is typed, so only trouble is said, and its end.
 */
export function announcement(facts: SaveFacts, wasTrouble: boolean): string {
  const { save, waited_s } = facts;
  if (save.kind === "offline" && save.edits > 0) {
    return "Your edits cannot be saved right now. They are kept in this browser.";
  }
  if (save.kind === "offline") return "Offline.";
  if (save.kind === "saving" && waited_s === 10) return "Saving takes longer than usual.";
  return save.kind === "saved" && wasTrouble ? "All edits are saved." : "";
}
