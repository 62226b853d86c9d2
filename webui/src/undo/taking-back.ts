/**
 * Takes what a note says back, as far as it is still there to be taken back.
 *
 * Rules.
 *   U1  What others have written stays. A block of one's own with letters of others stays as well,
 *       and so do the row and the cell of a table around them. A block without is joined to the one
 *       before: what others write in it at this very moment is then not out with it.
 *   U2  A mark, an attribute and a place are what they were before only where they are still what
 *       the edit made them.
 *   U3  What is done is taken down in its turn: to take that back is redo.
 */

import type { Work } from "../document/doc";
import type { AttributePatch, NewBlock, ShownBlock, Verb } from "../document/types";
import { randomId } from "../ids";
import type { Spot as Source } from "../shared/anchor";
import { cutRich, type MarkValue, marksOf, RichBuilder, richLength } from "../shared/rich";
import { layoutOf } from "../shared/table";
import { Letters, type Stretch } from "./letters";
import { type Entry, Note, type Seam } from "./note";
import { OwnText, partOf, type Run, seenOf } from "./text";
import type { Tracks } from "./tracks";

type Of<K extends Entry["kind"]> = Extract<Entry, { kind: K }>;

const NONE = new Letters();
/** More blocks at a time are taken out at once, as by any deletion. */
const JOINED_MAX = 10;

export class TakingBack {
  /** What is done, in its order. */
  readonly verbs: Verb[] = [];
  /** U3. */
  readonly note = new Note();

  constructor(
    private readonly tracks: Tracks,
    private readonly work: Work,
  ) {}

  take(note: Note): void {
    for (const entry of note.entries.toReversed()) this.entry(entry);
  }

  private entry(entry: Entry): void {
    switch (entry.kind) {
      case "text":
        this.flip(entry.shown, entry.hidden);
        break;
      case "mark":
        this.unmark(entry);
        break;
      case "set":
        this.reset(entry);
        break;
      case "split":
        this.rejoin(entry.seam);
        break;
      case "join":
        this.divide(entry.seam);
        break;
      case "born":
        this.unbear(entry);
        break;
      case "gone":
        this.bringBack(entry);
        break;
      case "move":
        this.moveBack(entry);
    }
  }

  private do(verb: Verb): void {
    this.tracks.follow(verb, this.work, "", this.note);
    this.verbs.push(verb);
  }

  /** Does what the tracks are told of in another way. */
  private done(verb: Verb): void {
    this.work.apply(verb);
    this.verbs.push(verb);
  }

  /** The texts that are to be seen, with their blocks. */
  private get texts(): [OwnText, ShownBlock][] {
    return [...this.tracks.texts].flatMap(([id, text]) => {
      const block = this.work.get(id);
      return block?.content ? [[text, block]] : [];
    });
  }

  // --- texts ------------------------------------------------------------------------------------

  /**
   * Tells that letters which the nodes had there stand again, so that anchors find them: carets now, and
   * what is stored beside texts.
   */
  private standAgain(source: Source, count: number, into: string, at: number): void {
    const { block, version, offset } = source;
    if (count > 0) this.done(["letters", block, version, offset, count, into, at, false]);
  }

  private flip(hide: Letters, show: Letters, passed: ReadonlySet<string> = new Set()): void {
    if (hide.isEmpty && show.isEmpty) return;
    const [shown, hidden] = [new Letters(), new Letters()];
    // One for itself: what is shown and then not must not be shown by taking that back.
    this.note.add({ kind: "text", shown, hidden });
    for (const [text, block] of this.texts) {
      if (!passed.has(block.id)) this.flipText(text, block, [hide, show], [shown, hidden]);
    }
  }

  private flipText(
    text: OwnText,
    block: ShownBlock,
    [hide, show]: readonly [Letters, Letters],
    [shown, hidden]: readonly [Letters, Letters],
  ): void {
    const content = block.content ?? [];
    const kept = block.attributes.type === "table" ? keptMarkers(text, block, hide) : new Set();
    const builder = new RichBuilder();
    const back: [source: Source, count: number, at: number][] = [];
    let now = 0;
    text.map((run, place) =>
      stretches(run, run.hidden === null ? hide : show).flatMap(({ from, to, isIn }) => {
        const part = partOf(run, from, to);
        if (run.hidden === null && isIn) {
          return singles(part, place + from, kept).map(([one, at]) => {
            if (kept.has(at)) {
              builder.retain(one.length);
              now += one.length;
              return one;
            }
            builder.delete(one.length);
            hidden.add(one.origin, one.from, one.from + one.length);
            const source = this.tracks.sourceOf({ block: block.id, offset: at }, one.length);
            return { ...one, hidden: cutRich(content, at, at + one.length), source };
          });
        }
        builder.retain(seenOf(part));
        if (!isIn) {
          now += seenOf(part);
          return [part];
        }
        for (const item of part.hidden ?? []) builder.put(item);
        shown.add(part.origin, part.from, part.from + part.length);
        if (part.source !== null) back.push([part.source, part.length, now]);
        now += part.length;
        return [{ ...part, hidden: null, source: null }];
      }),
    );
    const delta = builder.finish();
    if (delta.length > 0) this.done(["edit", block.id, delta]);
    for (const [source, count, at] of back) this.standAgain(source, count, block.id, at);
  }

  /** U2. */
  private unmark({ letters, name, before, now }: Of<"mark">): void {
    for (const [text, block] of this.texts) {
      const builder = new RichBuilder();
      for (const [at, length, isIn] of seenStretches(text, letters)) {
        for (const item of isIn ? cutRich(block.content ?? [], at, at + length) : []) {
          const isStill = (marksOf(item)[name] ?? null) === now;
          builder.retain(richLength([item]), isStill ? patchOf(name, before) : undefined);
        }
        if (!isIn) builder.retain(length);
      }
      const delta = builder.finish();
      if (delta.length > 0) this.do(["edit", block.id, delta]);
    }
  }

  // --- blocks -----------------------------------------------------------------------------------

  /** U2. */
  private reset({ block, before, now }: Of<"set">): void {
    const id = this.tracks.nameOf(block);
    const attributes = this.work.get(id)?.attributes;
    if (attributes === undefined) return;
    const isStill = ([name]: [string, unknown]): boolean =>
      (attributes[name] ?? null) === now[name] && before[name] !== now[name];
    const patch: AttributePatch = Object.fromEntries(Object.entries(before).filter(isStill));
    if (Object.keys(patch).length > 0) this.do(["set", id, patch]);
  }

  /** The text of a block goes back to the one that it was divided from, if it still stands behind it. */
  private rejoin(seam: Seam): void {
    const { block: id } = seam;
    const block = this.work.get(id);
    const into = this.before(id);
    const isHere = into !== undefined && this.tracks.texts.get(into.id)?.placeOf(seam) != null;
    if (isHere && isText(block) && isText(into)) this.do(["join", id, into.id]);
    else if (isText(block) && block.length === 0) this.leave(seam);
  }

  /** An empty block that stands elsewhere goes; what is hidden in it goes back to where it came from. */
  private leave(seam: Seam): void {
    const { tracks } = this;
    const { block: id } = seam;
    const into = this.before(id);
    // U1: so nothing is lost that somebody writes in it by now.
    const verb: Verb = isText(into) ? ["join", id, into.id] : ["remove", [id]];
    const [home] = this.texts.find(([text]) => text.placeOf(seam) !== null) ?? [];
    const text = tracks.texts.get(id);
    if (home === undefined || text === undefined || home === text) {
      this.do(verb);
      return;
    }
    const behind = home.cutBehind(seam);
    home.append([...text.all, ...behind]);
    tracks.texts.delete(id);
    tracks.places.leave(id, into?.id ?? "", id);
    this.note.add({ kind: "join", seam });
    this.done(verb);
  }

  /** What were two texts is two again. */
  private divide(seam: Seam): void {
    const { tracks } = this;
    const { block: id, attributes } = seam;
    if (this.work.has(id) || tracks.places.find(id) === null) return;
    for (const [text, block] of this.texts) {
      const at = text.placeOf(seam);
      if (at === null || !isText(block)) continue;
      const fresh = randomId();
      tracks.texts.set(fresh, new OwnText(text.cutBehind(seam)));
      if (tracks.places.find(id) !== block.id) tracks.places.drop(id);
      tracks.rename(id, fresh);
      this.note.add({ kind: "split", seam });
      this.done(["split", block.id, at, fresh, attributes]);
      return;
    }
  }

  /** U1. */
  private unbear({ blocks, letters }: Of<"born">): void {
    const isOwn = (id: string): boolean => {
      const block = this.work.get(id);
      if (block?.content == null) return false;
      const text = this.tracks.take(block);
      return [...seenStretches(text, letters)].every(([, , isIn]) => isIn);
    };
    const own = blocks.map((id) => this.tracks.nameOf(id)).filter(isOwn);
    const joined = own.length > JOINED_MAX ? [] : own.filter((id) => this.isJoinable(id));
    const rest = own.filter((id) => !joined.includes(id));
    this.flip(letters, NONE, new Set(rest));
    for (const id of joined.toReversed()) this.do(["join", id, this.before(id)?.id ?? ""]);
    if (rest.length > 0) this.do(["remove", rest]);
  }

  private isJoinable(id: string): boolean {
    return isText(this.work.get(id)) && isText(this.before(id));
  }

  private before(id: string): ShownBlock | undefined {
    const { order } = this.work.doc;
    return this.work.get(order[order.indexOf(id) - 1] ?? "");
  }

  /** Blocks come back as new ones, since the groups of the old ones have ended. */
  private bringBack({ blocks }: Of<"gone">): void {
    let after: string | null = null;
    let fresh: NewBlock[] = [];
    const sources = new Map<string, Source>();
    const put = (): void => {
      if (after !== null && fresh.length > 0) this.insert(after, fresh);
      for (const { id, content } of fresh) {
        const source = sources.get(id);
        if (source !== undefined) this.standAgain(source, richLength(content), id, 0);
      }
      fresh = [];
    };
    for (const id of blocks.map((one) => this.tracks.nameOf(one))) {
      const block = this.tracks.gone.get(id);
      const behind = this.tracks.places.find(id);
      if (block === undefined || behind === null || this.work.has(id)) continue;
      if (behind !== fresh.at(-1)?.id) {
        put();
        after = behind;
      }
      const now = randomId();
      const source = this.tracks.sources.get(id);
      if (source !== undefined) sources.set(now, source);
      this.tracks.comeBack(block, now);
      const { attributes, content, beside } = block;
      const back = { id: now, attributes, content: content ?? [], of: id };
      fresh.push(beside === undefined ? back : { ...back, beside });
    }
    put();
  }

  private insert(after: string, fresh: readonly NewBlock[]): void {
    const letters = new Letters();
    this.done(["insert", after, fresh]);
    for (const { id, content } of fresh) {
      const text = this.tracks.texts.get(id);
      if (text !== undefined) this.tracks.writing.named(text, 0, richLength(content), letters);
    }
    this.note.add({ kind: "born", blocks: fresh.map(({ id }) => id), letters });
  }

  /** U2. */
  private moveBack({ block, place }: Of<"move">): void {
    const id = this.tracks.nameOf(block);
    const after = this.tracks.places.find(place);
    if (after === null || !this.work.has(id)) return;
    if (after !== id) {
      const last = this.verbs.at(-1);
      this.tracks.follow(["move", [id], after], this.work, "", this.note);
      if (last?.[0] === "move" && last[1].at(-1) === after) {
        this.verbs[this.verbs.length - 1] = ["move", [...last[1], id], last[2]];
      } else {
        this.verbs.push(["move", [id], after]);
      }
    }
    this.tracks.places.show(place, id);
  }
}

/** Whether it is a text that can be divided and joined. */
function isText(block: ShownBlock | undefined): block is ShownBlock {
  return block?.content != null && block.attributes.type !== "table";
}

function patchOf(name: string, value: MarkValue | null): Record<string, MarkValue | null> {
  return { [name]: value };
}

/** A run in stretches that are in the set and such that are not, counted from its start. */
function stretches({ origin, from, length }: Run, letters: Letters): Stretch[] {
  if (origin === 0) return [{ from: 0, to: length, isIn: false }];
  return letters
    .divide(origin, from, from + length)
    .map((one) => ({ from: one.from - from, to: one.to - from, isIn: one.isIn }));
}

/** What is shown of a text: where, how long, and whether these letters are in the set. */
function* seenStretches(text: OwnText, letters: Letters): Iterable<[number, number, boolean]> {
  let place = 0;
  for (const run of text.all) {
    if (run.hidden !== null || run.mark !== null) continue;
    for (const { from, to, isIn } of stretches(run, letters)) yield [place + from, to - from, isIn];
    place += run.length;
  }
}

/** A part of a text, with the markers for themselves that are kept. */
function singles(run: Run, place: number, kept: ReadonlySet<unknown>): [Run, number][] {
  const parts: [Run, number][] = [];
  let from = 0;
  for (let at = 0; at <= run.length; at += 1) {
    const isEdge = at === run.length || kept.has(place + at) || kept.has(place + at - 1);
    if (!isEdge || at === from) continue;
    parts.push([partOf(run, from, at), place + from]);
    from = at;
  }
  return parts;
}

/** U1: the places of the markers of a table that stay, since what is between them does. */
function keptMarkers(text: OwnText, { content }: ShownBlock, hide: Letters): Set<number> {
  const going = new Set<number>();
  for (const [at, length, isIn] of seenStretches(text, hide)) {
    for (let one = at; isIn && one < at + length; one += 1) going.add(one);
  }
  const kept = new Set<number>();
  for (const { end, pieces } of layoutOf(content ?? []).rows) {
    let isKept = false;
    for (const { key, start, from, to } of pieces) {
      let at = from;
      while (at < to && going.has(at)) at += 1;
      if (at === to) continue;
      isKept = true;
      if (key !== null) kept.add(start);
    }
    if (isKept && end >= 0) kept.add(end);
  }
  return kept;
}
