/**
 * What stood beside each word when it was written: where that is, the word has a place.
 *
 * Words end up where their neighbours went. So a word that is given back as a draft, because its text was
 * deleted, truly has no place only where a neighbour of it went out with a text that somebody has removed.
 * The beginning of a text is a neighbour, too; a text that was split off goes on from what was before it.
 */

interface Beside {
  readonly left: readonly string[];
  readonly right: readonly string[];
  /** The blocks that the text before it begins in. */
  readonly blocks: readonly string[];
}

/** Whether a word was taken out by itself, is in the document, and a block was removed. */
export interface Outcome {
  isTaken(word: string): boolean;
  isThere(word: string): boolean;
  isRemoved(block: string): boolean;
}

export class Neighbours {
  private beside = new Map<string, Beside>();

  /** `words`: those of `blocks`, itself one of them, where it is written. */
  note(word: string, words: readonly string[], blocks: readonly string[]): void {
    const at = words.indexOf(word);
    if (this.beside.has(word) || at < 0) return;
    const left = words.slice(0, at).reverse();
    this.beside.set(word, { left, right: words.slice(at + 1), blocks });
  }

  /** Whether a neighbour has gone out; null: it was written in a text without words, or all are taken out. */
  isOrphan(word: string, { isTaken, isThere, isRemoved }: Outcome): boolean | null {
    const { left = [], right = [], blocks = [] } = this.beside.get(word) ?? {};
    const [before, behind] = [left, right].map((side) => side.find((other) => !isTaken(other)));
    if (before === undefined && behind === undefined) return null;
    if (before === undefined && blocks.some(isRemoved)) return true;
    return [before, behind].some((other) => other !== undefined && !isThere(other));
  }

  /** What stood around it, for people. */
  of(word: string): string {
    const { left = [], right = [] } = this.beside.get(word) ?? {};
    return `${left.toReversed().join("")}|${right.join("")}`;
  }

  clear(): void {
    this.beside = new Map();
  }
}
