/** Somebody with a page and a history, who writes at random, takes back and does again. */

import type { ShownBlock, Verb, ViewEvent } from "../../src/document/types";
import { plainText, richLength } from "../../src/shared/rich";
import { History, type Naming, namedLetters, type Spots, type Way } from "../../src/undo/history";
import { newTable, tableEdit } from "../document/tables";
import type { Page } from "../document/world";

/** Who has put each letter into the document, who has taken it out, and in which blocks it was. */
export class Books {
  readonly brought = new Map<string, Set<string>>();
  readonly taken = new Map<string, Set<string>>();
  readonly places = new Map<string, Set<string>>();
  /** The blocks that letters would come back to. */
  readonly hidden = new Map<string, Set<string>>();
  /** Blocks, with who has taken them out, and what that one knew to be in them, seen or hidden. */
  readonly removed = new Map<string, { who: string; known: string }[]>();
  /** Blocks, with those that somebody has joined them to. */
  readonly joined = new Map<string, Set<string>>();
  private letters = 0;
  private ids = 0;

  newLetter(): string {
    this.letters += 1;
    return String.fromCodePoint(0x4e00 + this.letters);
  }

  newId(): string {
    this.ids += 1;
    return `b${this.ids}`;
  }

  /** `before`, `after`: how often each letter was there. A text on its way may be seen twice. */
  note(who: string, before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): void {
    for (const letter of after.keys()) if (!before.has(letter)) add(this.brought, letter, who);
    for (const [letter, times] of before) {
      if (times > (after.get(letter) ?? 0)) add(this.taken, letter, who);
    }
  }

  remove(who: string, block: string, known: string): void {
    this.removed.set(block, [...(this.removed.get(block) ?? []), { who, known }]);
  }

  /** The blocks that a letter was in, seen or not, and those that these were joined to. */
  whereabouts(letter: string): Set<string> {
    const found = new Set([...(this.places.get(letter) ?? []), ...(this.hidden.get(letter) ?? [])]);
    for (const id of found) for (const into of this.joined.get(id) ?? []) found.add(into);
    return found;
  }
}

function add(map: Map<string, Set<string>>, letter: string, who: string): void {
  map.set(letter, (map.get(letter) ?? new Set()).add(who));
}

export class Person {
  history = new History();
  /** Letters that had been here, and were told anew. */
  readonly told = new Set<string>();
  private readonly seenOnce = new Set<string>();
  private time_ms = 0;
  private readonly naming: Naming = (...letters) => namedLetters(this.page.model, ...letters);

  constructor(
    readonly page: Page,
    private readonly books: Books,
    private readonly draw: () => number,
    /** Whether blocks are taken out, with all that is in them by then. */
    private readonly removes = true,
  ) {
    page.model.onView = (event: ViewEvent) => {
      const before = timesIn(event.before.blocks);
      this.history.others(event);
      this.look();
      for (const [letter, times] of timesIn(event.after.blocks)) {
        const isMore = times > (before.get(letter) ?? 0);
        if (isMore && this.seenOnce.has(letter)) this.told.add(letter);
        this.seenOnce.add(letter);
      }
    };
  }

  get name(): string {
    return this.page.name;
  }

  /** What is read, block by block, without the names of the blocks. */
  get seen(): string {
    return JSON.stringify(
      this.page.model.value.blocks.map(({ attributes, content }) => [
        Object.entries(attributes).sort(),
        content?.map((run) =>
          typeof run === "string" ? run : [run[0], Object.entries(run[1]).sort()],
        ),
      ]),
    );
  }

  get letters(): Set<string> {
    return lettersIn(this.page.model.value.blocks);
  }

  private change(verbs: readonly Verb[]): void {
    const { model } = this.page;
    const { blocks } = model.value;
    const textOf = (id: string): string =>
      plainText(blocks.find((block) => block.id === id)?.content ?? []);
    model.change(verbs);
    this.books.note(this.name, timesIn(blocks), timesIn(model.value.blocks));
    for (const verb of verbs) {
      if (verb[0] === "join") add(this.books.joined, verb[1], verb[2]);
      if (verb[0] !== "remove") continue;
      for (const id of verb[1]) this.books.remove(this.name, id, textOf(id) + this.hiddenIn(id));
    }
    for (const letter of this.letters) this.seenOnce.add(letter);
    this.look();
  }

  private look(): void {
    for (const { id, content } of this.page.model.value.blocks) {
      for (const letter of plainText(content ?? [])) add(this.books.places, letter, id);
    }
    for (const id of this.history.tracks.texts.keys()) {
      for (const letter of this.hiddenIn(id)) add(this.books.hidden, letter, id);
    }
  }

  /** The letters that would come back to a block. */
  private hiddenIn(id: string): string {
    const all = this.history.tracks.texts.get(id)?.all ?? [];
    return plainText(all.flatMap(({ hidden }) => hidden ?? []));
  }

  /** Takes back, or does again; false: there was nothing. */
  take(way: Way): boolean {
    const { blocks } = this.page.model.value;
    const taken = this.history.take(way, blocks, this.spots(), this.naming);
    if (taken === null) return false;
    if (taken.missing.length > 0) throw new Error(`not here: ${taken.missing}`);
    this.change(taken.verbs);
    return true;
  }

  takeAll(way: Way): number {
    let count = 0;
    while (this.take(way)) count += 1;
    return count;
  }

  /** Writes what the others find. */
  begin(): void {
    const content = () => [`${this.words()}${this.words()}`];
    const blocks = [0, 1, 2].map(() => ({
      id: this.books.newId(),
      attributes: {},
      content: content(),
    }));
    this.change([["insert", "", blocks]]);
  }

  act(): void {
    if (!this.page.model.isLoaded) return;
    const { blocks } = this.page.model.value;
    const block = this.pick(blocks.filter(({ content }) => content !== null));
    const verbs = block === undefined ? [this.insert("")] : this.verbs(block, blocks);
    if (verbs.length === 0) return;
    this.time_ms += this.draw() < 0.4 ? 100 : 1_000;
    const spots = this.spots();
    const { time_ms, naming } = this;
    this.history.own({ verbs, blocks, start: "", spots, time_ms, naming });
    this.change(verbs);
  }

  private spots(): Spots | null {
    const { blocks } = this.page.model.value;
    const block = this.pick(blocks.filter(({ content }) => content !== null));
    if (block === undefined || this.draw() < 0.3) return null;
    const spot = () => ({ block: block.id, offset: this.upTo(block.length) });
    return { anchor: spot(), head: spot() };
  }

  private pick<T>(some: readonly T[]): T | undefined {
    return some[Math.floor(this.draw() * some.length)];
  }

  private upTo(most: number): number {
    return Math.floor(this.draw() * (most + 1));
  }

  private words(): string {
    return Array.from({ length: 1 + this.upTo(2) }, () => this.books.newLetter()).join("");
  }

  private verbs(block: ShownBlock, blocks: readonly ShownBlock[]): Verb[] {
    const { draw } = this;
    const { id, length } = block;
    const chosen = draw();
    if (block.attributes.type === "table" && chosen < 0.75) {
      const delta = tableEdit(block.content ?? [], this.words(), draw, () => undefined);
      return delta.length > 0 ? [["edit", id, delta]] : [];
    }
    const at = this.upTo(length);
    const head = at > 0 ? [at] : [];
    if (chosen < 0.35) return [["edit", id, [...head, this.words()]]];
    if (chosen < 0.5) {
      const count = Math.min(1 + this.upTo(3), length - at);
      if (count === 0) return [];
      const fresh = draw() < 0.3 ? [this.words()] : [];
      return [["edit", id, [...head, ...fresh, -count]]];
    }
    if (chosen < 0.6) {
      const count = Math.min(3, length - at);
      const bold = draw() < 0.7 ? true : null;
      return count === 0 ? [] : [["edit", id, [...head, [count, { bold }]]]];
    }
    if (chosen < 0.72 && block.attributes.type !== "table") {
      const fresh = this.books.newId();
      const attributes = { type: draw() < 0.5 ? "paragraph" : "quote" };
      const more: Verb[] = draw() < 0.5 ? [] : [["edit", fresh, [this.words()]]];
      return [["split", id, at, fresh, attributes], ...more];
    }
    return this.onOrder(block, blocks);
  }

  private onOrder(block: ShownBlock, blocks: readonly ShownBlock[]): Verb[] {
    const { draw } = this;
    const { id } = block;
    const at = blocks.indexOf(block);
    const chosen = draw();
    const former = blocks[at - 1];
    if (chosen < 0.35) {
      const isText = [former, block].every(
        (one) => one?.content && one.attributes.type !== "table",
      );
      return isText && former !== undefined ? [["join", id, former.id]] : [];
    }
    if (chosen < 0.5) return [this.insert(id)];
    if (chosen < 0.65) return [["set", id, { level: this.upTo(3) }]];
    if (chosen < 0.8) {
      const ids = blocks.slice(at, at + 1 + this.upTo(1)).map((one) => one.id);
      const after = this.pick(blocks.filter((one) => !ids.includes(one.id)));
      return after === undefined || after === former ? [] : [["move", ids, after.id]];
    }
    const ids = blocks.slice(at, at + 1 + this.upTo(1));
    if (!this.removes || blocks.length < 3 || ids.some(({ content }) => content === null))
      return [];
    return [["remove", ids.map((one) => one.id)]];
  }

  private insert(after: string): Verb {
    const id = this.books.newId();
    if (this.draw() < 0.3) {
      const content = newTable(this.words());
      return ["insert", after, [{ id, attributes: { type: "table" }, content }]];
    }
    const attributes = { type: "bullet" };
    const first = { id, attributes, content: [this.words()] };
    const second = { id: this.books.newId(), attributes, content: [] };
    return ["insert", after, this.draw() < 0.5 ? [first] : [first, second]];
  }

  /** The history and the document agree on how long each text is. */
  check(): void {
    const { tracks, isEmpty } = this.history;
    if (isEmpty) return;
    if (tracks.misfits > 0) throw new Error(`${this.name}: ${tracks.misfits} texts were others`);
    for (const { id, content } of this.page.model.value.blocks) {
      const text = tracks.texts.get(id);
      if (content === null || text === undefined) continue;
      if (text.length !== richLength(content)) throw new Error(`${this.name}: ${id} is another`);
    }
  }
}

function lettersIn(blocks: readonly ShownBlock[]): Set<string> {
  return new Set(timesIn(blocks).keys());
}

/** How often each letter is there. */
function timesIn(blocks: readonly ShownBlock[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const letter of blocks.map(({ content }) => plainText(content ?? [])).join("")) {
    if (letter < "\u4e00" || letter > "\u9fff") continue;
    times.set(letter, (times.get(letter) ?? 0) + 1);
  }
  return times;
}
