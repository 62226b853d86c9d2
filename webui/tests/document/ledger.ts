/** The books of a game: every letter is written once, so it says what has become of it. */

import type { DocumentValue, ShownBlock } from "../../src/document/types";
import { plainText } from "../../src/shared/rich";
import { Neighbours } from "./neighbours";
import type { Page } from "./world";

/** So many of them are common characters; the others take two units each. */
const COMMON = 0x5200;

/** What was written, by whom, and what somebody has taken out. */
export class Ledger {
  readonly authors = new Map<string, string>();
  readonly erased = new Set<string>();
  readonly removed = new Set<string>();
  readonly places = new Map<string, Set<string>>();
  /** What a page has said to be saved, and what was not when its tab was closed. */
  readonly saved = new Set<string>();
  readonly left = new Set<string>();
  private readonly joins = new Map<string, Set<string>>();
  private readonly splits = new Map<string, string>();
  private readonly neighbours = new Neighbours();
  private seen = new WeakSet<ShownBlock>();
  private count = 0;
  private letters = 0;

  newId(): string {
    this.count += 1;
    return `b${this.count}`;
  }

  newLetter(author: string): string {
    const at = this.letters;
    this.letters += 1;
    const letter = String.fromCodePoint(at < COMMON ? 0x4e00 + at : 0x20000 + at - COMMON);
    this.authors.set(letter, author);
    return letter;
  }

  erase(letters: readonly string[]): void {
    for (const letter of letters) this.erased.add(letter);
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) this.removed.add(id);
  }

  /** What goes into a block that is removed goes with it. */
  join(block: string, into: string): void {
    this.joins.set(block, (this.joins.get(block) ?? new Set()).add(into));
  }

  /** What is joined to a block whose end was split off meanwhile goes to the end. */
  split(block: string, fresh: string): void {
    this.join(block, fresh);
    this.splits.set(fresh, block);
  }

  /** Whether somebody has removed a block that the letter was in, or may have gone to. */
  isOut(letter: string): boolean {
    return this.isRemoved(new Set(this.places.get(letter)));
  }

  private isRemoved(reached: Set<string>): boolean {
    for (const id of reached) for (const into of this.joins.get(id) ?? []) reached.add(into);
    return [...reached].some((id) => this.removed.has(id));
  }

  /**
   * Whether a letter has no place: a neighbour is neither there nor taken out by itself, or it began a
   * text that was removed. Of one that had none, somebody has removed what it was in, or what that was
   * split off.
   */
  private hasNoPlace(letter: string, times: ReadonlyMap<string, number>): boolean {
    const isOrphan = this.neighbours.isOrphan(letter, {
      isTaken: (other) => this.erased.has(other),
      isThere: (other) => times.has(other),
      isRemoved: (block) => this.removed.has(block),
    });
    if (isOrphan !== null) return isOrphan;
    const reached = new Set(this.places.get(letter));
    for (const id of reached) {
      const source = this.splits.get(id);
      if (source !== undefined) reached.add(source);
    }
    return this.isRemoved(reached);
  }

  /** A tab is closed: what was answered to it and is on no disk yet, a failing power may take. */
  leave(page: Page): void {
    for (const letter of this.writtenBy(page)) if (!this.saved.has(letter)) this.left.add(letter);
  }

  private writtenBy({ name }: Page): string[] {
    return [...this.authors].filter(([, author]) => author === name).map(([letter]) => letter);
  }

  /** Remembers in which blocks a letter has been seen, and what is saved. */
  look(page: Page, value: DocumentValue = page.model.value): void {
    if (page.session.saves && page.model.save.kind === "saved")
      for (const letter of this.writtenBy(page)) if (!this.left.has(letter)) this.saved.add(letter);
    for (const block of value.blocks) {
      if (this.seen.has(block)) continue;
      this.seen.add(block);
      const { id, content } = block;
      for (const letter of plainText(content ?? [])) {
        if (!this.places.has(letter) && this.authors.get(letter) === page.name) {
          const source = value.blocks.find((one) => one.id === this.splits.get(id));
          const words = [source, block].flatMap((one) => this.lettersOf(one?.content ?? null));
          this.neighbours.note(letter, words, [id, source?.id ?? id]);
        }
        const places = this.places.get(letter) ?? new Set();
        this.places.set(letter, places.add(id));
      }
    }
  }

  private lettersOf(content: ShownBlock["content"]): readonly string[] {
    return [...plainText(content ?? [])].filter((one) => this.authors.has(one));
  }

  /**
   * Throws where a letter is lost, or there twice: `text` is the document, `kept` drafts and title.
   * What is kept as the text around it was deleted (`deleted`) is lost where that is not so.
   */
  check(text: string, kept: string, deleted: string): void {
    const times = new Map<string, number>();
    for (const letter of text) times.set(letter, (times.get(letter) ?? 0) + 1);
    const given = new Set(kept);
    for (const letter of deleted) if (this.hasNoPlace(letter, times)) given.add(letter);
    for (const [letter, author] of this.authors) {
      const found = times.get(letter) ?? 0;
      if (found > 1) throw new Error(`${letter} of ${author} is there ${found} times`);
      if (found === 1 || this.erased.has(letter) || !this.places.has(letter)) continue;
      const isOut = this.isOut(letter) || this.left.has(letter);
      if (isOut || given.has(letter)) continue;
      const how = deleted.includes(letter)
        ? `a draft, beside ${this.neighbours.of(letter)}`
        : "lost";
      throw new Error(`${letter} of ${author} is ${how}`);
    }
    for (const letter of times.keys()) {
      const isOurs = letter >= "\u4e00" && letter <= "\u9fff";
      if (isOurs && !this.authors.has(letter)) throw new Error(`${letter} has come back`);
    }
  }

  /** All is as it must be: what is not there any more is done with, and the rest is where it is. */
  close(text: string): void {
    const there = new Set(text);
    for (const letter of this.authors.keys()) if (!there.has(letter)) this.authors.delete(letter);
    for (const some of [this.erased, this.removed, this.places, this.saved, this.left, this.joins])
      some.clear();
    this.splits.clear();
    this.neighbours.clear();
    this.seen = new WeakSet();
  }
}
