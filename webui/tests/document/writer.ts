/** Somebody who writes tokens, splits, joins, moves, cuts, pastes, removes, takes back and does again. */

import type { ShownBlock, Verb, ViewEvent } from "../../src/document/types";
import { plainText } from "../../src/shared/rich";
import { History, type Way } from "../../src/undo/history";
import { type Named, namedStretches } from "../../src/undo/naming";
import { bordersOf, TOKEN, type Tokens, tokensIn, tokensOf, WIDTH } from "./tokens";
import type { Page } from "./world";

const KINDS = ["paragraph", "quote", "bullet", "heading", "code"];
const BLOCKS_MAX = 12;

export class Writer {
  private history = new History();
  private clipboard = "";
  /** Where the nodes had the letters that are on it. */
  private named: readonly Named[] = [];
  private time_ms = 0;
  /** What has come back with whole blocks that were taken out; it goes again by redo. */
  private readonly cameBack = new Set<string>();

  constructor(
    readonly page: Page,
    private readonly tokens: Tokens,
    private readonly draw: () => number,
    private readonly removes: boolean,
    private readonly journal: string[],
  ) {
    this.watch();
  }

  /** Follows what others do; of a page that was opened again anew. */
  watch(): void {
    this.history = new History();
    this.page.model.onView = (event: ViewEvent) => {
      this.history.others(event);
      this.tokens.look(event.after, this.page.name);
    };
    this.page.model.onChange = () => this.look();
  }

  private look(): void {
    const { model, session, name } = this.page;
    this.tokens.drafted(model.drafts);
    if (session.saves && model.save.kind === "saved") this.tokens.isSaved(name);
  }

  /** The power fails. */
  fail(): void {
    this.tokens.failed(this.page.name, this.waiting);
  }

  /** From now on it may not write. */
  mayNot(): void {
    this.tokens.mayNot(this.page.name, this.waiting);
  }

  /** The blocks that it takes something out of, without an answer. */
  private get waiting(): ReadonlySet<string> {
    const waiting = this.page.model.unconfirmed.flatMap((verb) =>
      verb[0] === "edit" && verb[2].some((item) => Number(item) < 0) ? [verb[1]] : [],
    );
    return new Set(waiting);
  }

  act(): void {
    if (!this.page.model.isLoaded) return;
    const { blocks } = this.page.model.value;
    const chosen = this.draw();
    if (chosen > 0.9) this.take(this.draw() < 0.65 ? "undo" : "redo");
    else {
      const block = this.pick(blocks.filter(({ content }) => content !== null));
      const verbs = block === undefined ? this.begin() : this.verbs(chosen, block, blocks);
      this.do(verbs);
    }
  }

  /** What is on the clipboard comes back into the document. */
  end(): void {
    const { blocks } = this.page.model.value;
    const block = this.pick(blocks.filter(({ content }) => content !== null));
    if (this.clipboard === "") return;
    this.do(block === undefined ? this.begin() : this.paste(block));
  }

  private do(verbs: readonly Verb[]): void {
    if (verbs.length === 0) return;
    const { blocks } = this.page.model.value;
    this.time_ms += this.draw() < 0.3 ? 100 : 1_000;
    const { time_ms } = this;
    this.history.own({ verbs, blocks, start: "", spots: null, time_ms, isAlone: true });
    this.change(verbs);
  }

  private change(verbs: readonly Verb[]): void {
    const { model, name, world } = this.page;
    this.journal.push(`${(world.now_ms / 1_000).toFixed(2)} ${name} ${JSON.stringify(verbs)}`);
    this.tokens.note(verbs, name);
    model.change(verbs);
    this.tokens.look(model.value, name);
  }

  private take(way: Way): void {
    if (this.clipboard !== "") return; // what was cut would come back, and be pasted
    const { model, name } = this.page;
    const { blocks } = model.value;
    const taken = this.history.take(way, blocks, null);
    if (taken === null || taken.missing.length > 0) return;
    const before = new Set(tokensOf(blocks));
    this.change(taken.verbs);
    const after = new Set(tokensOf(model.value.blocks));
    const isRemoval = taken.verbs.some(([kind]) => kind === "remove");
    for (const verb of taken.verbs)
      for (const { content } of verb[0] === "insert" ? verb[2] : [])
        for (const token of tokensIn(plainText(content))) this.cameBack.add(token);
    for (const token of before) {
      if (after.has(token)) continue;
      this.tokens.free.add(token);
      const isOut = isRemoval || this.cameBack.has(token);
      if (!isOut && this.tokens.authors.get(token) !== name)
        this.tokens.seen.push(`missing: ${token}, which ${name} has taken back and not written`);
    }
    for (const token of after) if (!before.has(token)) this.tokens.free.add(token);
  }

  private begin(): Verb[] {
    const content = [this.clipboard || this.tokens.write(this.page.name)];
    this.clipboard = "";
    return [["insert", "", [{ id: this.tokens.newId(), attributes: { type: "bullet" }, content }]]];
  }

  private verbs(chosen: number, block: ShownBlock, blocks: readonly ShownBlock[]): Verb[] {
    const { id, content } = block;
    const text = plainText(content ?? []);
    const at = this.pick(bordersOf(text)) ?? 0;
    const head = at > 0 ? [at] : [];
    if (chosen < 0.4) return [["edit", id, [...head, this.tokens.write(this.page.name)]]];
    if (chosen < 0.45) return this.takeOut(block, (token) => this.tokens.erased.add(token));
    if (chosen < 0.55) return this.clipboard === "" ? this.cut(block) : this.paste(block);
    if (chosen < 0.67 && blocks.length < BLOCKS_MAX)
      return [["split", id, at, this.tokens.newId(), { type: this.pick(KINDS) ?? "paragraph" }]];
    if (chosen < 0.77) return this.join(block, blocks);
    if (chosen < 0.82) return this.move(block, blocks);
    if (chosen < 0.85) return [["set", id, { type: this.pick(KINDS) ?? "paragraph" }]];
    if (chosen < 0.88 && this.removes && blocks.length > 3) return [["remove", [id]]];
    return text.length > 0 ? [["edit", id, [[text.length, { bold: this.draw() < 0.5 }]]]] : [];
  }

  /** One of the own tokens of a block. */
  private takeOut({ id, content }: ShownBlock, note: (token: string, at: number) => void): Verb[] {
    const text = plainText(content ?? []);
    const own = [...text.matchAll(TOKEN)].filter(
      ([token]) => this.tokens.authors.get(token) === this.page.name,
    );
    const found = this.pick(own);
    if (found === undefined) return [];
    note(found[0], found.index);
    return [["edit", id, [...(found.index > 0 ? [found.index] : []), -WIDTH]]];
  }

  private cut(block: ShownBlock): Verb[] {
    return this.takeOut(block, (token, offset) => {
      this.clipboard = token;
      this.named = namedStretches(this.page.model, { block: block.id, offset }, WIDTH);
      this.tokens.cut(token, this.page.name, block.id);
    });
  }

  private paste({ id, content }: ShownBlock): Verb[] {
    const at = this.pick(bordersOf(plainText(content ?? []))) ?? 0;
    const token = this.clipboard;
    this.clipboard = "";
    if (tokensOf(this.page.model.value.blocks).includes(token)) this.tokens.copied.add(token);
    const again = this.named.map(({ far, count, source }): Verb => {
      const { block, version, offset } = source;
      return ["letters", block, version, offset, count, id, at + far, false];
    });
    return [["edit", id, [...(at > 0 ? [at] : []), token]], ...again];
  }

  private join(block: ShownBlock, blocks: readonly ShownBlock[]): Verb[] {
    const former = blocks[blocks.indexOf(block) - 1];
    return former === undefined || former.content === null ? [] : [["join", block.id, former.id]];
  }

  private move(block: ShownBlock, blocks: readonly ShownBlock[]): Verb[] {
    const other = this.pick(blocks);
    const isSame = other === block || other === blocks[blocks.indexOf(block) - 1];
    return other === undefined || isSame ? [] : [["move", [block.id], other.id]];
  }

  private pick<T>(some: readonly T[]): T | undefined {
    return some[Math.floor(this.draw() * some.length)];
  }
}
