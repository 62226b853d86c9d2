/** What a person has written that is answered and not on disk yet: nodes may lose it all together. */

import { insertedText, type Rich, richLength } from "../shared/rich";
import type { Own } from "./carry";
import { writtenBy } from "./own";

export class UnsavedTexts {
  private readonly texts = new Map<string, Map<number, Rich>>();

  /** `keeps`: whether nodes have disks, and say what is saved. */
  constructor(private readonly keeps: () => boolean) {}

  /** A call of an object (empty: the outline) that writes this. */
  note(group: string, n: number, text: Rich): void {
    if (text.length === 0 || !this.keeps()) return;
    const calls = this.texts.get(group) ?? new Map<number, Rich>();
    this.texts.set(group, calls.set(n, text));
  }

  /** Whether a call has written more than what these verbs hold: they are parts of it. */
  isMore(group: string, n: number, own: readonly Own[]): boolean {
    const text = this.texts.get(group)?.get(n) ?? [];
    const held = own.map(({ verb }) => richLength(insertedText(writtenBy(verb))));
    return richLength(text) > held.reduce((sum, length) => sum + length, 0);
  }

  /** The call was not done, and its text is with the person. */
  forget(group: string, n: number): void {
    this.texts.get(group)?.delete(n);
  }

  /** The calls up to this one are on disk. */
  saved(group: string, upTo: number): void {
    for (const n of this.texts.get(group)?.keys() ?? []) if (n <= upTo) this.forget(group, n);
  }

  /** The nodes know of the calls up to `last` only: gives what was written in later ones. */
  lost(group: string, last: number): Rich[] {
    const calls = this.texts.get(group) ?? new Map<number, Rich>();
    const lost = [...calls].filter(([n]) => n > last);
    for (const [n] of lost) calls.delete(n);
    return lost.map(([, text]) => text);
  }
}
