/** The books of a game of tokens: each is written once, and says where it stands and who may take it out. */

import type { DocumentValue, ShownBlock, Verb } from "../../src/document/types";
import { plainText } from "../../src/shared/rich";
import { Neighbours } from "./neighbours";

export const TOKEN = /\[[A-Z]\d{4}\]/gu;
export const WIDTH = 7;

/** Where the tokens stand when all is delivered. */
export interface Found {
  /** The text of each block. */
  readonly texts: readonly string[];
  /** The drafts that each writer is shown. */
  readonly drafts: readonly (readonly { readonly code: string; readonly text: string }[])[];
  /** Codes of drafts that the game has given a reason for, beside texts that were removed. */
  readonly reasons: ReadonlySet<string>;
}

export function tokensIn(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

export function tokensOf(blocks: readonly ShownBlock[]): string[] {
  return blocks.flatMap(({ content }) => tokensIn(plainText(content ?? [])));
}

/** The places in a text that are in no token. */
export function bordersOf(text: string): number[] {
  const inside = new Set<number>();
  for (const { index } of text.matchAll(TOKEN))
    for (let at = index + 1; at < index + WIDTH; at += 1) inside.add(at);
  return Array.from({ length: text.length + 1 }, (_, at) => at).filter((at) => !inside.has(at));
}

export class Tokens {
  readonly authors = new Map<string, string>();
  /** Taken out by who wrote them. */
  readonly erased = new Set<string>();
  /** Taken back, or done again: there or not, and never twice. */
  readonly free = new Set<string>();
  /** Cut and pasted by who wrote them. */
  readonly moved = new Set<string>();
  /** Cut, and not known to be saved without: by whom, and out of which block. */
  private readonly cuts = new Map<string, readonly [author: string, block: string]>();
  /** Cuts that were done, and that a power cut may have taken: the token may stand where it was, too. */
  private readonly uncut = new Set<string>();
  /** Pasted by who saw them where they had been cut, as they were there again. */
  readonly copied = new Set<string>();
  /** Not known to be saved when their writer's tab was closed: a power cut may take them. */
  readonly left = new Set<string>();
  /** What was seen on the way that must not be. */
  readonly seen: string[] = [];
  private readonly saved = new Set<string>();
  private readonly removed = new Set<string>();
  private readonly places = new Map<string, Set<string>>();
  private readonly goes = new Map<string, Set<string>>();
  /** What a block was split off, and by whom; what that one had joined to it before; and who has seen it. */
  private readonly splits = new Map<string, readonly [sources: readonly string[], by: string]>();
  private readonly joins: (readonly [from: string, to: string, by: string])[] = [];
  private readonly seenBy = new Map<string, Set<string>>();
  /** Blocks that nobody but who split them off had seen when a token became a draft. */
  private readonly alone = new Map<string, ReadonlySet<string>>();
  private readonly neighbours = new Neighbours();
  private readonly looked = new WeakSet<ShownBlock>();
  private ids = 0;

  newId(): string {
    this.ids += 1;
    return `b${this.ids}`;
  }

  write(author: string): string {
    const letter = String.fromCharCode("A".charCodeAt(0) + Number(author.slice(1)));
    const token = `[${letter}${String(this.authors.size).padStart(4, "0")}]`;
    this.authors.set(token, author);
    return token;
  }

  /** Notes which blocks texts go to, and which are taken out. */
  note(verbs: readonly Verb[], by: string): void {
    for (const verb of verbs) {
      if (verb[0] === "split") {
        this.go(verb[1], verb[3]);
        const own = this.joins.filter(([, to, who]) => to === verb[1] && who === by);
        this.splits.set(verb[3], [[verb[1], ...own.map(([from]) => from)], by]);
      }
      if (verb[0] === "join") {
        this.go(verb[1], verb[2]);
        this.joins.push([verb[1], verb[2], by]);
      }
      if (verb[0] === "remove") for (const id of verb[1]) this.removed.add(id);
    }
  }

  private go(from: string, to: string): void {
    this.goes.set(from, (this.goes.get(from) ?? new Set()).add(to));
  }

  look({ blocks }: DocumentValue, name: string): void {
    for (const block of blocks) {
      if (this.looked.has(block)) continue;
      this.looked.add(block);
      this.seenBy.set(block.id, (this.seenBy.get(block.id) ?? new Set()).add(name));
      for (const token of tokensOf([block])) {
        if (!this.places.has(token) && this.authors.get(token) === name) {
          const [[source] = []] = this.splits.get(block.id) ?? [];
          const text = blocks.filter(({ id }) => id === source || id === block.id);
          this.neighbours.note(token, tokensOf(text), [block.id]);
        }
        this.places.set(token, (this.places.get(token) ?? new Set()).add(block.id));
      }
    }
  }

  /** What a page shows as drafts. */
  drafted(drafts: readonly { readonly text: string }[]): void {
    for (const token of drafts.flatMap(({ text }) => tokensIn(text)))
      if (!this.alone.has(token)) this.alone.set(token, new Set(this.splitAlone()));
  }

  private splitAlone(): string[] {
    const all = [...this.splits].filter(([id, [, by]]) =>
      [...(this.seenBy.get(id) ?? [])].every((name) => name === by),
    );
    return all.map(([id]) => id);
  }

  /** Who wrote it has cut it out. */
  cut(token: string, author: string, block: string): void {
    this.moved.add(token);
    this.cuts.set(token, [author, block]);
  }

  /** The power fails; `waiting`: the blocks that this page takes something out of, without an answer. */
  failed(name: string, waiting: ReadonlySet<string>): void {
    for (const [token, [author, block]] of this.cuts)
      if (author === name && !waiting.has(block)) this.uncut.add(token);
  }

  /** Who may not write any more may not have cut what waits yet, though it was pasted. */
  mayNot(name: string, waiting: ReadonlySet<string>): void {
    for (const [token, [author, block]] of this.cuts)
      if (author === name && waiting.has(block)) this.uncut.add(token);
  }

  /** The page says that all is saved. */
  isSaved(author: string): void {
    for (const [token, [by]] of this.cuts) if (by === author) this.cuts.delete(token);
    for (const [token, by] of this.authors)
      if (by === author && !this.left.has(token)) this.saved.add(token);
  }

  /** The tab is closed. */
  leave(author: string): void {
    for (const [token, by] of this.authors)
      if (by === author && !this.saved.has(token)) this.left.add(token);
  }

  /** Whether somebody has removed a block that the token was in, or may have gone to. */
  private isOut(token: string): boolean {
    const reached = new Set(this.places.get(token));
    for (const id of reached) for (const to of this.goes.get(id) ?? []) reached.add(to);
    return [...reached].some((id) => this.removed.has(id));
  }

  /**
   * Whether a token has no place, though nobody removed its block: it is the rest of one that was
   * removed, or that was joined to another one, and removed meanwhile, split off by its writer alone.
   * Nobody else had seen that block when it became a draft.
   */
  private isRest(token: string): boolean {
    const reached = new Set(this.places.get(token));
    for (const id of reached) {
      const [sources] = this.splits.get(id) ?? [[]];
      if (this.alone.get(token)?.has(id)) for (const source of sources) reached.add(source);
      for (const to of this.goes.get(id) ?? []) reached.add(to);
    }
    return [...reached].some((id) => this.removed.has(id));
  }

  /** Whether what stood beside a token when it was written went out with a text that somebody has removed. */
  private isOrphan(token: string, times: ReadonlyMap<string, number>): boolean {
    const isThere = (other: string): boolean => times.has(other);
    const isGiven = (other: string): boolean => this.erased.has(other) || this.free.has(other);
    const isTaken = (other: string): boolean => isGiven(other) && !isThere(other);
    const isRemoved = (block: string): boolean => this.removed.has(block);
    return this.neighbours.isOrphan(token, { isTaken, isThere, isRemoved }) === true;
  }

  /** What is wrong, one line each: `missing`, `torn`, `doubled` or `unplaced`. */
  wrong({ texts, drafts, reasons }: Found): string[] {
    const wrong = [...this.seen];
    const times = new Map<string, number>();
    for (const text of texts) {
      const rest = text.replace(TOKEN, "");
      if (rest !== "") wrong.push(`torn: ${rest} in ${text}`);
      for (const token of tokensIn(text)) times.set(token, (times.get(token) ?? 0) + 1);
    }
    const codes = new Map<string, string>();
    for (const { code, text } of drafts.flat())
      for (const token of tokensIn(text)) codes.set(token, code);
    for (const [token, author] of this.authors) {
      const count = times.get(token) ?? 0;
      const code = codes.get(token);
      const isOut = this.isOut(token);
      // A cut that its writer might not do is taken back; what is pasted later is a copy.
      const isCopy = this.copied.has(token) && reasons.has("forbidden");
      if (count > (this.uncut.has(token) || isCopy ? 2 : 1))
        wrong.push(`doubled: ${token} of ${author} stands ${count} times`);
      if (count === 1 && code !== undefined && !this.mayBeBoth(token, code, reasons))
        wrong.push(`doubled: ${token} of ${author} stands, and is a draft (${code})`);
      const isTaken = this.erased.has(token) || this.free.has(token) || isOut;
      if (count > 0 || isTaken || this.left.has(token)) continue;
      if (code === undefined) wrong.push(`missing: ${token} of ${author}`);
      else if (!reasons.has(code) && !this.isRest(token) && !this.isOrphan(token, times))
        wrong.push(`unplaced: ${token} of ${author} is a draft (${code}), its text is there`);
    }
    return wrong;
  }

  /** A text that may not be pasted, as its writer may not write, may not have been cut either. */
  private mayBeBoth(token: string, code: string, reasons: ReadonlySet<string>): boolean {
    return reasons.has(code) && (this.moved.has(token) || this.free.has(token));
  }
}
