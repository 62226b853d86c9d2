/** What the history notes of own edits: enough to take them back, wherever they are by then. */

import type { Place } from "../document/place";
import type { AttributePatch, Attributes } from "../document/types";
import type { MarkValue } from "../shared/rich";
import { Letters } from "./letters";
import { CaretMark } from "./text";

/** Where the text of a block begins, in the text that it was divided from or joined to. */
export interface Seam {
  block: string;
  attributes: Attributes;
}

/** A place in the text of a block, in code points. */
export type Spot = Place;

/** Where the caret is. */
export interface Spots {
  readonly anchor: Spot;
  readonly head: Spot;
}

export type Entry =
  | { readonly kind: "text"; readonly shown: Letters; readonly hidden: Letters }
  | {
      readonly kind: "mark";
      readonly letters: Letters;
      readonly name: string;
      readonly before: MarkValue | null;
      readonly now: MarkValue | null;
    }
  | {
      readonly kind: "set";
      readonly block: string;
      readonly before: AttributePatch;
      readonly now: AttributePatch;
    }
  /** A text was divided there, or what was two is one. */
  | { readonly kind: "split" | "join"; readonly seam: Seam }
  /** Blocks that came with these letters. */
  | { readonly kind: "born"; readonly blocks: readonly string[]; readonly letters: Letters }
  | { readonly kind: "gone"; readonly blocks: readonly string[] }
  | { readonly kind: "move"; readonly block: string; readonly place: object };

type TextEntry = Extract<Entry, { kind: "text" }>;

/** What is taken back at once. */
export class Note {
  readonly entries: Entry[] = [];
  /** Marks where the caret was before; see `Run.mark`. */
  readonly anchor = new CaretMark();
  readonly head = new CaretMark();

  get text(): TextEntry {
    const last = this.entries.at(-1);
    if (last?.kind === "text") return last;
    const entry = { kind: "text", shown: new Letters(), hidden: new Letters() } as const;
    this.entries.push(entry);
    return entry;
  }

  add(entry: Entry): void {
    this.entries.push(entry);
  }

  /** All letters that it asks for. */
  get letters(): Letters[] {
    return this.entries.flatMap((entry) => {
      if (entry.kind === "text") return [entry.shown, entry.hidden];
      return entry.kind === "mark" || entry.kind === "born" ? [entry.letters] : [];
    });
  }
}
