/**
 * Where everything is by now that own edits wrote, took out, divided, joined or moved.
 *
 * Each change of the document comes by here, own ones with the note that takes them down; so a note
 * names letters and blocks, and no places. Only texts that an own edit has touched are looked at.
 */

import { Blocks } from "../document/blocks";
import { behindStep } from "../document/brought-back";
import { type Doc, type Step, Work } from "../document/doc";
import type { ShownBlock, ShownChange } from "../document/types";
import type { Spot as Source } from "../shared/anchor";
import { cutRich, divideRich, type RichDelta, richLength } from "../shared/rich";
import { diffRich } from "../shared/rich-diff";
import { Letters } from "./letters";
import type { Note, Seam, Spot } from "./note";
import { type Left, LeftPlaces } from "./places";
import { markRun, OwnText, written } from "./text";
import { Writing } from "./writing";

type Of<K extends ShownChange[0]> = Extract<ShownChange, readonly [K, ...unknown[]]>;

/** Some neighbouring blocks, behind `start`, that are being changed. */
export function workOn(blocks: readonly ShownBlock[], start: string): Work {
  const all = Blocks.of(new Map(blocks.map((block) => [block.id, block])));
  const doc: Doc = { title: "", order: blocks.map(({ id }) => id), blocks: all };
  return new Work(doc, new Map([[start, ""]]));
}

/** A block that is out; `beside`: what others have put into it since, which does not come back. */
interface Gone extends ShownBlock {
  readonly beside?: RichDelta;
}

export class Tracks {
  readonly texts = new Map<string, OwnText>();
  readonly places = new LeftPlaces();
  /** Blocks that own edits have taken out. */
  readonly gone = new Map<string, Gone>();
  /** Where blocks begin that own edits have divided or joined. */
  private seams: Seam[] = [];
  /** What blocks are called that have come back. */
  private readonly names = new Map<string, string>();
  readonly writing = new Writing();
  /** How often a text was not as it was taken to be. */
  misfits = 0;
  /** Where the nodes have so many letters, from a place on; null: that is not known. */
  sourceOf: (place: Spot, count: number) => Source | null = () => null;
  /** Where they had the texts of blocks that own edits have taken out. */
  readonly sources = new Map<string, Source>();

  /** What the block is called by now. */
  nameOf(id: string): string {
    let name = id;
    for (let next = this.names.get(name); next !== undefined; next = this.names.get(name)) {
      name = next;
    }
    return name;
  }

  /** A change of the work, which begins behind `start`; an own one is taken down in `note`. */
  follow(change: Step | ShownChange, work: Work, start: string, note: Note | null): void {
    switch (change[0]) {
      case "edit":
        this.edit(change, work, note);
        break;
      case "set":
        this.set(change, work, note);
        break;
      case "split":
        this.split(change, work, note);
        break;
      case "join":
        this.join(change, null, work, start, note);
        break;
      case "merge":
        this.join(change, change[3], work, start, note);
        break;
      case "insert":
        this.insert(change, work, note);
        break;
      case "remove":
        this.remove(change[1], work, start, note);
        break;
      case "move":
        this.move(change[1], work, start, note);
        break;
      case "show":
        this.show(change[1], work);
    }
    work.apply(change);
  }

  /** The text of a block, to be looked at from now on. */
  take(block: ShownBlock): OwnText {
    const known = this.texts.get(block.id);
    if (known !== undefined) return known;
    const text = OwnText.of(block.length);
    this.texts.set(block.id, text);
    return text;
  }

  /** The text of the block, if it is looked at and as it was taken to be. */
  private known(block: ShownBlock | undefined, note: Note | null): OwnText | undefined {
    if (block === undefined || block.content === null) return undefined;
    this.checkText(block);
    return note === null ? this.texts.get(block.id) : this.take(block);
  }

  private checkText({ id, length }: ShownBlock): void {
    const text = this.texts.get(id);
    if (text === undefined || text.length === length) return;
    this.misfits += 1;
    this.texts.delete(id);
  }

  // --- texts ------------------------------------------------------------------------------------

  private edit([, id, delta, joined = ""]: Of<"edit">, work: Work, note: Note | null): void {
    this.goesOn(joined);
    const block = work.get(id);
    if (block?.content && this.writing.isMixed) this.take(block);
    const text = this.known(block, note);
    if (!block?.content || text === undefined) return;
    const sourceOf = (offset: number, count: number): Source | null =>
      this.sourceOf({ block: id, offset }, count);
    this.writing.edit(text, delta, block.content, note, sourceOf);
  }

  /** The text of a block that own edits have taken out goes on in that of another one. */
  private goesOn(id: string): void {
    const block = this.gone.get(id);
    if (block === undefined) return;
    this.checkText(block);
    this.writing.lose(this.take(block), block.content ?? [], true);
    this.forget(id);
    this.places.drop(id);
  }

  /**
   * Others knew nothing yet of an own edit that has taken a block out: what they split off it, or took out
   * of it, stands elsewhere by then, and does not come back with it.
   */
  unseen(change: ShownChange): void {
    const block =
      change[0] === "edit" || change[0] === "split" ? this.gone.get(change[1]) : undefined;
    if (block?.content == null) return;
    const { id, attributes, content, beside = [] } = block;
    const [[left], steps] = behindStep([{ id, attributes, content, of: id, beside }], change) ?? [
      [],
      [],
    ];
    if (left === undefined) return;
    this.checkText(block);
    const text = this.take(block);
    const length = richLength(left.content);
    for (const step of steps) {
      if (step[0] === "split") {
        const rest = new OwnText(text.cut(step[2]));
        this.writing.edit(rest, divideRich(beside, step[2])[1], cutRich(content, step[2]), null);
        this.texts.set(step[3], rest);
      } else if (step[0] === "edit") {
        this.writing.edit(text, step[2], content, null);
        this.sources.delete(id);
      }
    }
    if (steps.length > 0 && length === 0) this.forget(id);
    else this.gone.set(id, { ...block, content: left.content, length, beside: left.beside ?? [] });
  }

  private forget(id: string): void {
    this.texts.delete(id);
    this.gone.delete(id);
    this.sources.delete(id);
  }

  private show(block: ShownBlock, work: Work): void {
    const before = work.get(block.id);
    const text = this.texts.get(block.id);
    if (before === undefined) return;
    if (text === undefined) {
      const come =
        block.content && before.content === null ? this.writing.gain(block.content) : null;
      if (come !== null) this.texts.set(block.id, come);
      return;
    }
    const last = before.content ?? text.last;
    text.last = block.content === null ? last : null;
    if (block.content === null || last === null) return;
    this.writing.edit(text, diffRich(last, block.content), last, null);
  }

  // --- blocks -----------------------------------------------------------------------------------

  private set([, id, patch]: Of<"set">, work: Work, note: Note | null): void {
    const block = work.get(id);
    if (block === undefined || note === null) return;
    const names = Object.keys(patch);
    const before = Object.fromEntries(names.map((name) => [name, block.attributes[name] ?? null]));
    note.add({ kind: "set", block: id, before, now: patch });
  }

  private split(change: Of<"split">, work: Work, note: Note | null): void {
    const [, id, at, fresh, attributes] = change;
    const text = this.known(work.get(id), note);
    this.places.drop(fresh);
    this.places.pass(id, fresh);
    if (text === undefined) return;
    this.texts.set(fresh, new OwnText(text.cut(at)));
    if (note === null) return;
    const seam = this.seam(fresh, attributes);
    text.append([markRun(seam)]);
    note.add({ kind: "split", seam });
  }

  /** `at`: where its text goes; null: to the end. */
  private join(
    [, id, into]: readonly [string, string, string, ...unknown[]],
    at: number | null,
    work: Work,
    start: string,
    note: Note | null,
  ): void {
    const block = work.get(id);
    const other = work.get(into);
    if (block === undefined || other === undefined) return;
    const known = this.known(block, note);
    const [before = start] = befores(work, new Set([id]), start).values();
    this.places.leave(id, before, note === null ? null : id);
    this.texts.delete(id);
    const target = this.known(other, note) ?? (known && this.take(other));
    if (target === undefined) return;
    if (note !== null) {
      const seam = this.seam(id, block.attributes);
      target.append([markRun(seam)]);
      note.add({ kind: "join", seam });
    }
    const { all } = known ?? OwnText.of(block.length);
    if (at === null) target.append(all);
    else target.put(at, all);
  }

  private seam(block: string, attributes: Seam["attributes"]): Seam {
    const seam = { block, attributes };
    this.seams.push(seam);
    return seam;
  }

  private insert([, , all]: Of<"insert">, work: Work, note: Note | null): void {
    const letters = new Letters();
    const blocks = all.filter(({ id }) => !work.has(id));
    for (const { id, content } of blocks) {
      const length = richLength(content);
      // One that is out may be told to have come, and a moment later to be out.
      if (note === null && this.texts.get(id)?.length === length) continue;
      const text = note === null ? this.writing.gain(content) : OwnText.of(length);
      if (text === null) this.texts.delete(id);
      else this.texts.set(id, text);
      if (note !== null && text !== null) this.writing.named(text, 0, length, letters);
    }
    if (note !== null) note.add({ kind: "born", blocks: blocks.map(({ id }) => id), letters });
  }

  private remove(ids: readonly string[], work: Work, start: string, note: Note | null): void {
    const blocks: string[] = [];
    for (const [id, before] of befores(work, new Set(ids), start)) {
      const block = work.get(id);
      this.places.leave(id, before, note === null ? null : id);
      if (note === null || block === undefined) {
        const text = this.texts.get(id);
        if (text !== undefined) this.writing.lose(text, block?.content ?? []);
        if (!this.gone.has(id)) this.texts.delete(id);
      } else {
        this.gone.set(id, block);
        const source = this.sourceOf({ block: id, offset: 0 }, block.length);
        if (source !== null && block.content !== null) this.sources.set(id, source);
        blocks.push(id);
      }
    }
    if (note !== null && blocks.length > 0) note.add({ kind: "gone", blocks });
  }

  private move(ids: readonly string[], work: Work, start: string, note: Note | null): void {
    for (const [block, before] of befores(work, new Set(ids), start)) {
      // Whoever moved it last has put it where it is.
      if (note === null) this.places.sweep((left) => !this.isLeftBy(left, block));
      const place = note === null ? null : new Moved(block);
      this.places.leave(block, before, place);
      if (place !== null) note?.add({ kind: "move", block, place });
    }
  }

  private isLeftBy(left: Left, block: string): boolean {
    return left instanceof Moved && this.nameOf(left.block) === block;
  }

  /** A block that own edits have taken out comes back under a fresh name, with its text. */
  comeBack(block: ShownBlock, fresh: string): void {
    this.checkText(block);
    this.take(block);
    this.rename(block.id, fresh);
  }

  /** A block of one's own has come back under a fresh name, with its text. */
  rename(id: string, fresh: string): void {
    this.names.set(id, fresh);
    for (const seam of this.seams) if (seam.block === id) seam.block = fresh;
    const text = this.texts.get(id);
    if (text !== undefined) this.texts.set(fresh, text);
    this.forget(id);
    this.places.show(id, fresh);
  }

  // --- marks ------------------------------------------------------------------------------------

  /** Has a mark go along with this place. */
  put(mark: object, { block, offset }: Spot, work: Work): void {
    const found = work.get(block);
    if (!found?.content || offset > found.length) return;
    this.known(found, null);
    this.take(found).insert(offset, markRun(mark));
  }

  /** Where the mark is, if that is shown. */
  find(mark: object, work: Work): Spot | null {
    for (const [block, text] of this.texts) {
      const offset = text.placeOf(mark);
      if (offset !== null) return work.has(block) ? { block, offset } : null;
    }
    return null;
  }

  /** Forgets what no note asks for. */
  sweep(notes: readonly Note[]): void {
    const origins = new Set(notes.flatMap(({ letters }) => letters.flatMap((l) => [...l.origins])));
    const entries = notes.flatMap((note) => note.entries);
    const marks = new Set<unknown>(notes.flatMap(({ anchor, head }) => [anchor, head]));
    const blocks = new Set<unknown>();
    for (const entry of entries) {
      if (entry.kind === "split" || entry.kind === "join") {
        marks.add(entry.seam);
        blocks.add(entry.seam.block);
      } else if (entry.kind === "gone") {
        for (const id of entry.blocks) blocks.add(this.nameOf(id));
      } else if (entry.kind === "move") {
        marks.add(entry.place);
      }
    }
    for (const id of this.gone.keys()) {
      if (!blocks.has(id)) this.forget(id);
    }
    this.seams = this.seams.filter((seam) => marks.has(seam));
    this.places.sweep((left) => blocks.has(left) || marks.has(left));
    for (const [id, text] of this.texts) {
      text.map((run) => {
        if (run.mark !== null) return marks.has(run.mark) ? [run] : [];
        if (origins.has(run.origin)) return [run];
        return run.hidden === null ? [written(0, 0, run.length)] : [];
      });
      if (text.all.every(({ origin, mark }) => origin === 0 && mark === null)) {
        if (!this.gone.has(id)) this.texts.delete(id);
      }
    }
  }
}

/** The place that a moved block has left. */
class Moved {
  constructor(readonly block: string) {}
}

/** Behind which block each of these stands, of those that stay; in their order. */
function befores(work: Work, ids: ReadonlySet<string>, start: string): Map<string, string> {
  const found = new Map<string, string>();
  let before = start;
  for (const id of work.doc.order) {
    if (ids.has(id)) found.set(id, before);
    else before = id;
  }
  return found;
}
