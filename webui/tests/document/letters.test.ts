/**
 * People type words letter by letter where others do: at the end of a block, and right behind words that
 * others are typing still. Each word is whole in the end (K6 of carry.ts, decision 202).
 */

import { expect, test } from "vitest";
import type { ShownBlock } from "../../src/document/types";
import { plainText } from "../../src/shared/rich";
import { chanceOf } from "./fuzz";
import { Page, World } from "./world";

const LETTERS = 5;
const WORDS = 6;
const FIRST = 0x4e00;

interface Setting {
  readonly seed: number;
  readonly delay_s: number;
  readonly offline: number;
  readonly splits: number;
}

/** Who types words, each letter its own edit behind the one before. */
class Typist {
  readonly words: string[] = [];
  private word = "";
  private typed = 0;

  constructor(
    readonly page: Page,
    private readonly draw: () => number,
    private readonly next: () => string,
  ) {}

  /** Types the next letter; false: all words are there. */
  type(): boolean {
    const { model } = this.page;
    if (this.typed === this.word.length) {
      if (this.words.length === WORDS) return false;
      this.word = Array.from({ length: LETTERS }, this.next).join("");
      this.words.push(this.word);
      this.typed = 0;
    }
    const place = this.place(model.value.blocks.filter(({ content }) => content !== null));
    if (place === null) return true;
    const [id, at] = place;
    const letter = this.word[this.typed] as string;
    model.change([["edit", id, at > 0 ? [at, letter] : [letter]]]);
    this.typed += 1;
    return true;
  }

  /** Behind the letter before; a word begins at an end, or behind any letter that is not inside a word. */
  private place(blocks: readonly ShownBlock[]): [string, number] | null {
    const texts = blocks.map(({ id, content }) => [id, plainText(content ?? [])] as const);
    if (this.typed > 0) {
      const letter = this.word[this.typed - 1] as string;
      const found = texts.find(([, text]) => text.includes(letter));
      return found === undefined ? null : [found[0], found[1].indexOf(letter) + 1];
    }
    const [id, text] = texts[Math.floor(this.draw() * texts.length)] ?? ["", ""];
    if (id === "") return null;
    const ends = bordersOf(text);
    const isLast = this.draw() < 0.6;
    return [id, (isLast ? ends.at(-1) : ends[Math.floor(this.draw() * ends.length)]) ?? 0];
  }

  split(id: () => string): void {
    const { model } = this.page;
    const blocks = model.value.blocks.filter(({ content }) => content !== null);
    const block = blocks[Math.floor(this.draw() * blocks.length)];
    if (block === undefined || model.value.blocks.length > 5) return;
    const ends = bordersOf(plainText(block.content ?? []));
    const at = ends[Math.floor(this.draw() * ends.length)] ?? 0;
    model.change([["split", block.id, at, id(), { type: "paragraph" }]]);
  }
}

/** Places that are inside of no word: where what stands left and right is of two words. */
function bordersOf(text: string): number[] {
  const wordAt = (at: number) => Math.floor((text.charCodeAt(at) - FIRST) / LETTERS);
  return Array.from({ length: text.length + 1 }, (_, at) => at).filter(
    (at) => at === 0 || at === text.length || wordAt(at - 1) !== wordAt(at),
  );
}

async function play({ seed, delay_s, offline, splits }: Setting): Promise<string[]> {
  const world = new World(seed, { delay_s, objects: 64, hosts: true });
  const draw = chanceOf(seed);
  let letters = 0;
  const next = (): string => String.fromCharCode(FIRST + letters++);
  let blocks = 0;
  const typists = ["p0", "p1", "p2"].map((name) => new Typist(new Page(world, name), draw, next));
  try {
    await world.elapse(0.3);
    const [first] = typists as [Typist];
    first.page.model.change([
      ["insert", "", [{ id: "first", attributes: { type: "paragraph" }, content: [] }]],
    ]);
    await world.elapse(1);
    for (let isTyping = true; isTyping; ) {
      isTyping = false;
      for (const typist of typists) {
        if (draw() < offline) typist.page.fade(0, draw());
        if (draw() < splits) typist.split(() => `s${blocks++}`);
        const count = 1 + Math.floor(draw() * 3);
        for (let one = 0; one < count; one += 1) isTyping = typist.type() || isTyping;
      }
      await world.elapse(draw() * 0.08);
    }
    await world.elapse(3);
    await world.rest(3);
    const shown = typists.map(({ page }) => page.texts);
    expect(shown[1]).toEqual(shown[0]);
    expect(shown[2]).toEqual(shown[0]);
    const truth = (await world.look()).blocks.map(([, , content]) => plainText(content));
    const words = typists.flatMap(({ words }) => words);
    return words.filter((word) => truth.filter((text) => text.includes(word)).length !== 1);
  } finally {
    world.close();
  }
}

const seeds = Array.from({ length: 40 }, (_, at) => at);

test.each(seeds)("words that many type at one place are whole, game %i", async (seed) => {
  const slow = seed % 2 === 1;
  const setting = { delay_s: slow ? 0.1 : 0.01, offline: seed % 3 === 0 ? 0.05 : 0 };
  expect(await play({ seed, splits: seed % 4 === 3 ? 0.05 : 0, ...setting })).toEqual([]);
});
