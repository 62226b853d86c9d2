/** Random people on a simulated cluster: nothing of what they write is lost, nothing there twice. */

import { Blocks } from "../../src/document/blocks";
import { Confirmed } from "../../src/document/confirmed";
import { type Doc, Work } from "../../src/document/doc";
import type { Overlay } from "../../src/document/overlay";
import type { DocumentValue, Draft, ShownBlock, Verb, ViewEvent } from "../../src/document/types";
import {
  insertedText,
  invertRich,
  plainText,
  type Rich,
  type RichDelta,
} from "../../src/shared/rich";
import { Ledger } from "./ledger";
import { newTable, tableEdit, wordsIn } from "./tables";
import { Page, World } from "./world";

/**
 * How a game is played. `loses` to `entitles` are chances a turn: of a lost connection, a closed tab,
 * some seconds offline; of the power of all nodes failing; of somebody's right to write changing.
 */
export interface Game {
  readonly seed: number;
  readonly pages: number;
  readonly turns: number;
  /** So long things take on their way at most. */
  readonly delay_s?: number;
  readonly loses?: number;
  readonly reloads?: number;
  readonly offline?: number;
  readonly fails?: number;
  readonly entitles?: number;
}

/** Small, fast and the same everywhere. */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A page whose person types, splits, joins, moves and removes; every letter is another one. */
export class Typist {
  readonly seen: string[] = [];

  constructor(
    readonly page: Page,
    private readonly ledger: Ledger,
    private readonly draw: () => number,
    /** Where there are more blocks, some go. */
    private readonly blocksMax = Number.POSITIVE_INFINITY,
    private readonly isWatched = true,
  ) {
    this.watch();
  }

  /** Checks that what is told leads from what was shown to what is; else only where letters are. */
  watch(): void {
    const { model } = this.page;
    if (!this.isWatched) {
      model.onView = ({ after }) => this.ledger.look(this.page, after);
      return;
    }
    checkLooks(model.confirmed);
    let last: DocumentValue | null = null;
    model.onView = (event: ViewEvent) => {
      if (last !== null && event.before !== last)
        throw new Error("what is told is of another view");
      last = null;
      checkTaken(model.overlay, this.ledger);
      const work = new Work(docOf(event.before), new Map());
      for (const change of event.changes ?? []) {
        if (!work.apply(change)) throw new Error(`cannot be shown: ${JSON.stringify(change)}`);
      }
      this.ledger.look(this.page, event.after);
      const told = JSON.stringify(work.doc.order.map((id) => viewOf(work.doc.blocks.get(id))));
      const after = JSON.stringify(event.after.blocks.map(viewOf));
      if (event.changes !== null && told !== after) throw new Error(`told ${told}, is ${after}`);
    };
  }

  private pick<T>(some: readonly T[]): T | undefined {
    return some[Math.floor(this.draw() * some.length)];
  }

  act(): void {
    const { model } = this.page;
    if (!model.isLoaded) return;
    const { blocks } = model.value;
    const block = this.pick(blocks.filter(({ content }) => content !== null));
    const verbs = block === undefined ? [this.insert("")] : this.verbs(block, blocks);
    model.change(verbs);
    this.ledger.look(this.page);
  }

  private verbs(block: ShownBlock, blocks: readonly ShownBlock[]): Verb[] {
    if (blocks.length > this.blocksMax && this.draw() < 0.4) return this.clear(block, blocks);
    const chosen = this.draw();
    const at = Math.floor(this.draw() * (block.length + 1));
    const head = at > 0 ? [at] : [];
    const { id } = block;
    if (block.attributes.type === "table" && chosen < 0.7) {
      const erased = (letters: readonly string[]): void => this.ledger.erase(letters);
      const delta = tableEdit(block.content ?? [], this.words(), this.draw, erased);
      return delta.length > 0 ? [["edit", id, delta]] : [];
    }
    if (chosen < 0.4) return [["edit", id, [...head, this.words()]]];
    if (chosen < 0.5) {
      const count = Math.min(1 + Math.floor(this.draw() * 3), block.length - at);
      if (count === 0) return [];
      this.ledger.erase(Array.from(plainText(block.content ?? [])).slice(at, at + count));
      return [["edit", id, [...head, -count]]];
    }
    if (chosen < 0.56) {
      const count = Math.min(3, block.length - at);
      const format: RichDelta = [...head, [count, { bold: this.draw() < 0.7 ? true : null }]];
      return count === 0 ? [] : [["edit", id, format]];
    }
    if (chosen < 0.68) {
      const fresh = this.ledger.newId();
      this.ledger.split(id, fresh);
      return [
        ["split", id, at, fresh, { type: "paragraph" }],
        ["edit", fresh, [this.words()]],
      ];
    }
    if (chosen < 0.8) return this.joinOrMove(block, blocks);
    if (chosen < 0.86) return [this.insert(id)];
    if (chosen < 0.9) return [["set", id, { level: Math.floor(this.draw() * 4) }]];
    if (chosen < 0.92) return [["rename", this.words()]];
    if (chosen < 0.95 && blocks.length > 3) {
      this.ledger.remove([id]);
      return [["remove", [id]]];
    }
    return [["edit", id, [...head, [this.words(), { link: "/x" }]]]];
  }

  /** Takes a block out, or puts it to the one before. */
  private clear(block: ShownBlock, blocks: readonly ShownBlock[]): Verb[] {
    const former = blocks[blocks.indexOf(block) - 1];
    if (this.draw() < 0.5 && former !== undefined && former.content !== null) {
      this.ledger.join(block.id, former.id);
      return [["join", block.id, former.id]];
    }
    this.ledger.remove([block.id]);
    return [["remove", [block.id]]];
  }

  private joinOrMove(block: ShownBlock, blocks: readonly ShownBlock[]): Verb[] {
    const other = this.pick(blocks);
    const former = blocks[blocks.indexOf(block) - 1];
    if (other === undefined || other === block) return [];
    const into = this.draw() < 0.8 ? former : other;
    if (this.draw() < 0.3) return [["move", [block.id], other.id]];
    if (into === undefined || into.content === null) return [];
    this.ledger.join(block.id, into.id);
    return [["join", block.id, into.id]];
  }

  private insert(after: string): Verb {
    if (this.draw() < 0.3) {
      const content = newTable(this.words());
      return [
        "insert",
        after,
        [{ id: this.ledger.newId(), attributes: { type: "table" }, content }],
      ];
    }
    const attributes = { type: "bullet" };
    const block = { id: this.ledger.newId(), attributes, content: [this.words()] };
    const second = { id: this.ledger.newId(), attributes, content: [] };
    return ["insert", after, this.draw() < 0.5 ? [block] : [block, second]];
  }

  private words(): string {
    return this.ledger.newLetter(this.page.name);
  }
}

function docOf(value: DocumentValue): Doc {
  const blocks = Blocks.of(new Map(value.blocks.map((block) => [block.id, block])));
  return { title: value.title, order: value.blocks.map(({ id }) => id), blocks };
}

/** Checks that what waits takes no letter out that nobody has taken out. */
function checkTaken({ base, own }: Overlay, { authors, erased }: Ledger): void {
  const work = new Work(base, new Map());
  for (const { verb } of own) {
    const content = verb[0] === "edit" ? work.content(verb[1]) : null;
    if (verb[0] === "edit" && content !== null) {
      const put = new Set(plainText(insertedText(verb[2])));
      const back = invertRich(verb[2], content);
      for (const letter of plainText(insertedText(back))) {
        if (authors.has(letter) && !erased.has(letter) && !put.has(letter))
          throw new Error(`${JSON.stringify(verb)} takes out ${letter}`);
      }
    }
    work.apply(verb);
  }
}

/** Checks each time that a look at what is new finds what a look at everything would have found. */
function checkLooks(confirmed: Confirmed): void {
  const refresh = confirmed.refresh.bind(confirmed);
  confirmed.refresh = () => {
    const other = Object.assign(Object.create(Confirmed.prototype), confirmed, {
      born: new Map(confirmed.born),
      gone: new Map(confirmed.gone),
    });
    refresh();
    other.lookAtAll();
    const [is, was] = [confirmed.doc, other.doc as Doc].map(({ order, blocks }) =>
      JSON.stringify(order.map((id) => viewOf(blocks.get(id)))),
    );
    if (is !== was) throw new Error(`confirmed is ${is}, looked at anew ${was}`);
  };
}

function viewOf(block: ShownBlock | undefined): unknown {
  if (block === undefined) return null;
  return [block.id, Object.entries(block.attributes).sort(), normal(block.content), block.length];
}

function normal(content: Rich | null): unknown {
  return content?.map((run) =>
    typeof run === "string" ? run : [run[0], Object.entries(run[1]).sort()],
  );
}

/** Plays a game; throws where something is wrong. */
export async function play(game: Game): Promise<void> {
  const world = new World(game.seed, {
    delay_s: game.delay_s ?? Number(process.env.DELAY ?? 0.02),
    disks: game.fails !== undefined,
    lists: game.entitles === undefined ? 0 : game.pages,
  });
  const draw = chanceOf(game.seed);
  const ledger = new Ledger();
  try {
    const typists = Array.from(
      { length: game.pages },
      (_, at) => new Typist(new Page(world, `p${at}`), ledger, draw),
    );
    await world.elapse(0.3);
    for (let turn = 0; turn < game.turns; turn += 1) {
      for (const typist of typists) {
        if (draw() < 0.5) typist.act();
        befall(typist, game, ledger, draw);
      }
      if (draw() < (game.fails ?? 0)) world.tell("doom", "");
      await world.elapse(0.01 * Math.floor(draw() * 6));
      for (const { page } of typists) ledger.look(page);
    }
    const alone = game.pages === 1 ? typists[0]?.page.texts : null;
    await settle(world, typists, ledger, alone);
  } finally {
    world.close();
  }
}

/** What happens to somebody who writes. */
export function befall(typist: Typist, game: Game, ledger: Ledger, draw: () => number): void {
  const { page } = typist;
  if (draw() < (game.loses ?? 0)) page.lose();
  if (draw() < (game.offline ?? 0)) page.lose(draw() * 3);
  if (draw() < (game.entitles ?? 0)) page.world.tell("entitle", page.name, draw() < 0.5);
  if (draw() >= (game.reloads ?? 0)) return;
  if (game.fails !== undefined) ledger.leave(page);
  page.reload();
  typist.watch();
}

const SETTLING_S = 20;

/** Lets time go on until all is as it must be, and gives the text; throws what is not, after a while. */
export async function settle(
  world: World,
  typists: readonly Typist[],
  ledger: Ledger,
  alone: unknown = null,
  settling_s = SETTLING_S,
): Promise<string> {
  await world.rest(2);
  for (let left = settling_s; ; left -= 1) {
    try {
      return await check(world, typists, ledger, alone);
    } catch (error) {
      if (left <= 0) throw error;
      await world.elapse(1);
    }
  }
}

async function check(
  world: World,
  typists: readonly Typist[],
  ledger: Ledger,
  alone: unknown,
): Promise<string> {
  const truth = await world.look();
  const wanted = JSON.stringify([
    truth.title,
    truth.blocks.map(([id, attributes, content]) => [
      id,
      Object.entries(attributes).sort(),
      normal(content),
    ]),
  ]);
  if (truth.owed.length > 0) throw new Error(`not handed over: ${truth.owed}`);
  for (const { page } of typists) {
    const { title, blocks } = page.model.value;
    const seen = JSON.stringify([
      title,
      blocks.map((one) => (viewOf(one) as unknown[]).slice(0, 3)),
    ]);
    const { own } = page.model.overlay;
    const { misfits } = page.model.overlay;
    if (misfits > 0) throw new Error(`${misfits} steps did not fit`);
    if (own.length > 0) throw new Error(`${page.name} waits for ${JSON.stringify(own)}`);
    if (page.model.save.kind !== "saved") throw new Error(`not saved: ${page.model.save.kind}`);
    if (seen !== wanted) throw new Error(`${page.name} sees\n${seen}, but it is\n${wanted}`);
    if (alone !== null && JSON.stringify(alone) !== JSON.stringify(page.texts)) {
      throw new Error(`was shown\n${JSON.stringify(alone)}, is\n${JSON.stringify(page.texts)}`);
    }
  }
  const text = truth.blocks.map(([, , content]) => plainText(content)).join("");
  for (const [id, , content] of truth.blocks) {
    // Any text is a table: whatever was done to it at once, its words are in the cells.
    const letters = plainText(content).replaceAll("\ufffc", "").length;
    if (wordsIn(content).length !== letters) throw new Error(`cells of ${id} lack words`);
  }
  const drafts = typists.flatMap(({ page }) => page.model.drafts);
  // Blocks may be gone with the power.
  const isDeleted = ({ code }: Draft): boolean =>
    world.failures === 0 && (code === "block_deleted" || code === "no_such_block");
  const textOf = (some: readonly Draft[]): string => some.map((draft) => draft.text).join("");
  const kept = textOf(drafts.filter((draft) => !isDeleted(draft))) + truth.title;
  ledger.check(text, kept, textOf(drafts.filter(isDeleted)));
  return text;
}
