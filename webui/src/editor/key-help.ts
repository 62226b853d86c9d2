/**
 * What each key does, in words. The types hold this to the tables that the keys are bound by: a key
 * without its words, and words without their key, do not compile.
 */

import type { PageKey } from "../pages/shortcuts";
import { keysWords } from "../words/keys";
import type { EditorKey } from "./commands";

type Section = "words" | "blocks" | "caret" | "page";
/** Null: as in any text, and not spoken of. */
type Help = readonly [section: Section, says: () => string] | null;

const HELP: { readonly [K in EditorKey | PageKey]: Help } = {
  "Mod-b": ["words", () => keysWords.bold],
  "Mod-i": ["words", () => keysWords.italic],
  "Mod-u": ["words", () => keysWords.underline],
  "Mod-Shift-x": ["words", () => keysWords.strike],
  "Mod-e": ["words", () => keysWords.code],
  "Mod-k": ["words", () => keysWords.link],
  "Mod-z": ["words", () => keysWords.undo],
  "Mod-Shift-z": ["words", () => keysWords.redo],
  "Mod-y": ["words", () => keysWords.redo],
  "Mod-Alt-0": ["blocks", () => keysWords.text],
  "Mod-Alt-1": ["blocks", () => keysWords.heading1],
  "Mod-Alt-2": ["blocks", () => keysWords.heading2],
  "Mod-Alt-3": ["blocks", () => keysWords.heading3],
  "Mod-Alt-4": ["blocks", () => keysWords.todo],
  "Mod-Alt-5": ["blocks", () => keysWords.bullets],
  "Mod-Alt-6": ["blocks", () => keysWords.numbers],
  Enter: ["blocks", () => keysWords.enter],
  "Shift-Enter": ["blocks", () => keysWords.line],
  "Mod-Enter": ["blocks", () => keysWords.check],
  Tab: ["blocks", () => keysWords.deeper],
  "Shift-Tab": ["blocks", () => keysWords.back],
  "Alt-ArrowUp": ["blocks", () => keysWords.up],
  "Alt-ArrowDown": ["blocks", () => keysWords.down],
  Backspace: ["blocks", () => keysWords.join],
  "Mod-Backspace": null,
  Delete: null,
  "Mod-Delete": null,
  ArrowDown: null,
  "Mod-a": ["caret", () => keysWords.selectAll],
  "Ctrl-Home": ["caret", () => keysWords.start],
  "Ctrl-End": ["caret", () => keysWords.end],
  "Shift-Ctrl-Home": ["caret", () => keysWords.selectStart],
  "Shift-Ctrl-End": ["caret", () => keysWords.selectEnd],
  "Meta-ArrowUp": null,
  "Meta-ArrowDown": null,
  "Shift-Meta-ArrowUp": null,
  "Shift-Meta-ArrowDown": null,
  Escape: ["caret", () => keysWords.leave],
  "Mod-f": ["page", () => keysWords.find],
  "Mod-/": ["page", () => keysWords.help],
  "Ctrl-Alt-i": ["page", () => keysWords.inspector],
  "Ctrl-Alt-o": ["page", () => keysWords.contents],
};

export interface HelpLine {
  readonly keys: readonly string[];
  readonly says: string;
}

export interface HelpSection {
  readonly title: string;
  readonly lines: readonly HelpLine[];
}

/** All keys with what they do, in the language of the page; `isMac`: with its own signs. */
export function keyHelp(isMac: boolean): readonly HelpSection[] {
  const titles: Record<Section, string> = {
    words: keysWords.words,
    blocks: keysWords.blocks,
    caret: keysWords.caret,
    page: keysWords.page,
  };
  return (Object.keys(titles) as Section[]).map((section) => {
    const lines = new Map<string, string[]>();
    for (const [key, help] of Object.entries(HELP)) {
      if (help === null || help[0] !== section) continue;
      const says = help[1]();
      lines.set(says, [...(lines.get(says) ?? []), keyName(key, isMac)]);
    }
    const shown = [...lines].map(([says, keys]) => ({ says, keys }));
    return { title: titles[section], lines: shown };
  });
}

/** The keys that are spoken of or known not to be. */
export const helpKeys: readonly string[] = Object.keys(HELP);

/** `Mod-Alt-1` as it stands on the keyboard. */
export function keyName(key: string, isMac: boolean): string {
  const parts = key.split("-");
  const named = parts.map((part) => partName(part, isMac));
  return named.join(isMac ? " " : "+");
}

function partName(part: string, isMac: boolean): string {
  switch (part) {
    case "Mod":
      return isMac ? "⌘" : keysWords.control;
    case "Ctrl":
      return isMac ? "⌃" : keysWords.control;
    case "Alt":
      return isMac ? "⌥" : part;
    case "Shift":
      return isMac ? "⇧" : keysWords.shift;
    case "ArrowUp":
      return "↑";
    case "ArrowDown":
      return "↓";
    case "Home":
      return keysWords.home;
    case "End":
      return keysWords.endKey;
    case "Escape":
      return keysWords.escape;
    default:
      return part.length === 1 ? part.toUpperCase() : part;
  }
}
