/** Undo and redo of one's own edits, and of nothing else (docs/decisions/0045-undo-by-letters.md). */

import type { Merge, Work } from "../document/doc";
import { behind } from "../document/place";
import type { ShownBlock, ShownChange, Verb, ViewEvent } from "../document/types";
import { diffBlocks } from "../editor/diff";
import type { Spot as Source } from "../shared/anchor";
import { isFormat, isInsert, type RichDelta, richLength, sameRich } from "../shared/rich";
import { Note, type Spot, type Spots } from "./note";
import { TakingBack } from "./taking-back";
import { Tracks, workOn } from "./tracks";

export { type CutText, linesOf, markOf, movedBy, standingAgain } from "./cutting";
export { type Known, namedLetters } from "./naming";
export type { Note, Spot, Spots } from "./note";
export { takenTransaction } from "./shown";

/** So many edits can be taken back. */
const NOTES_MAX = 200;
/** What comes so soon after another edit, and beside it, is taken back with it. */
const PAUSE_MS = 500;
/** After so many notes it is looked what they no longer ask for. */
const SWEPT_AFTER = 50;

const OF_ORDER: ReadonlySet<string> = new Set(["split", "join", "insert", "remove", "move"]);

export type Way = "undo" | "redo";

/** What the person did. */
export interface Did {
  readonly verbs: readonly Verb[];
  /** The blocks as they were, from the one behind `start` to the last that the verbs change. */
  readonly blocks: readonly ShownBlock[];
  readonly start: string;
  /** Where the caret was; null: nowhere in the text. */
  readonly spots: Spots | null;
  readonly time_ms: number;
  /** Which word of an input method it is a part of. */
  readonly composition?: number | undefined;
  /** It is taken back for itself. */
  readonly isAlone?: boolean;
  readonly naming?: Naming | undefined;
}

/** Where the nodes have letters that are shown behind these verbs; null: they have not all of them. */
export type Naming = (place: Spot, count: number, after: readonly Verb[]) => Source | null;

/** What takes an edit back. */
export interface Taken {
  readonly verbs: readonly Verb[];
  /** Where the caret was. */
  readonly spots: Spots | null;
  /** Blocks whose text it needs and that are not here: nothing is done yet. */
  readonly missing: readonly string[];
}

/** What an edit has changed, in the text of its block behind it. */
interface Reach {
  readonly block: string;
  readonly from: number;
  readonly to: number;
}

export class History {
  tracks = new Tracks();
  private readonly done: Note[] = [];
  private undone: Note[] = [];
  /** What the last edit reached; null: the next one is not beside it. */
  private recent: Reach | null = null;
  private time_ms = 0;
  private composition: number | undefined;
  private count = 0;

  own(did: Did): void {
    const { verbs, blocks, start, isAlone = false } = did;
    // What others did in the meantime was not looked at.
    if (this.isEmpty) this.tracks = new Tracks();
    const work = workOn(blocks, start);
    const last = this.done.at(-1);
    const note = last !== undefined && this.goesOn(did, work) ? last : this.begin(did, work);
    this.undone = [];
    const before: Verb[] = [];
    this.name(did.naming, before);
    for (const verb of verbs) {
      this.recent = reachOf(verb, this.recent);
      this.tracks.follow(verb, work, start, note);
      before.push(verb);
    }
    this.name(undefined, []);
    if (isAlone) this.recent = null;
    this.time_ms = did.time_ms;
    this.composition = did.composition;
  }

  private name(naming: Naming | undefined, verbs: readonly Verb[]): void {
    this.tracks.sourceOf = (place, count) => naming?.(place, count, verbs) ?? null;
  }

  /** There is nothing to take back, and nothing is looked at. */
  get isEmpty(): boolean {
    return this.done.length + this.undone.length === 0;
  }

  /** What takes the last edit back. */
  get last(): Note | null {
    return this.done.at(-1) ?? null;
  }

  /** Whether that has not been taken back, as far as is known. */
  isDone(note: Note): boolean {
    return this.done.includes(note);
  }

  /** Whether it is taken back together with the edit before. */
  private goesOn({ verbs, time_ms, composition, isAlone }: Did, work: Work): boolean {
    const { recent } = this;
    const [verb] = verbs;
    if (isAlone || recent === null || verb === undefined) return false;
    if (composition !== undefined && composition === this.composition) return true;
    return time_ms - this.time_ms <= PAUSE_MS && isBeside(verb, recent, work);
  }

  private begin({ spots }: Did, work: Work): Note {
    const note = new Note();
    this.mark(note, spots, work);
    this.done.push(note);
    if (this.done.length > NOTES_MAX) this.done.shift();
    this.count += 1;
    if (this.count % SWEPT_AFTER === 0) this.tracks.sweep(this.done);
    return note;
  }

  private mark(note: Note, spots: Spots | null, work: Work): void {
    if (spots === null) return;
    this.tracks.put(note.anchor, spots.anchor, work);
    this.tracks.put(note.head, spots.head, work);
  }

  /** What others did. */
  others({ changes, before, after, unseen = [], isRefused = false }: ViewEvent): void {
    if (this.isEmpty) return;
    for (const change of unseen) this.tracks.unseen(change);
    if (before === after) return;
    const all = lasting(changes ?? diffBlocks(before.blocks, after.blocks, ""), after.blocks);
    const isOrder = all.some(([kind]) => OF_ORDER.has(kind));
    const { tracks } = this;
    const isBack = all.some((change) => change[0] === "edit" && tracks.gone.has(change[3] ?? ""));
    const isKnown = all.some((change) => tracks.texts.has(blockOf(change)));
    if (!isOrder && !isKnown && !isBack) return;
    const ids = new Set(all.map(blockOf));
    const blocks = isOrder ? before.blocks : before.blocks.filter(({ id }) => ids.has(id));
    const work = workOn(blocks, "");
    tracks.writing.begin(isBack || (all.some(hasCome) && all.some(hasGone)), isRefused);
    for (let at = 0; at < all.length; at += 1) {
      const change = all[at] as ShownChange;
      this.recent = this.recent && carried(this.recent, change);
      const merge = mergeOf(change, all[at + 1], work);
      tracks.follow(merge ?? change, work, "", null);
      if (merge !== null) at += 1;
    }
    tracks.writing.end(tracks.texts.values());
  }

  /**
   * Takes back what was done last, or what was taken back last; null: there is nothing. The caller
   * does the verbs, which are for these blocks. `spots`: where the caret is now.
   */
  take(
    way: Way,
    blocks: readonly ShownBlock[],
    spots: Spots | null,
    naming?: Naming,
  ): Taken | null {
    const [from, to] = way === "undo" ? [this.done, this.undone] : [this.undone, this.done];
    this.recent = null;
    const work = workOn(blocks, "");
    for (;;) {
      const note = from.at(-1);
      if (note === undefined) return null;
      const missing = this.missing(note, work);
      if (missing.length > 0) return { verbs: [], spots: null, missing };
      from.pop();
      const taking = new TakingBack(this.tracks, work);
      this.mark(taking.note, spots, work);
      this.name(naming, taking.verbs);
      taking.take(note);
      this.name(undefined, []);
      const { verbs } = taking;
      if (verbs.length === 0) continue; // others have left nothing of it
      to.push(taking.note);
      return { verbs, spots: this.spotsOf(note, work), missing };
    }
  }

  private spotsOf(note: Note, work: Work): Spots | null {
    const anchor = this.tracks.find(note.anchor, work);
    const head = this.tracks.find(note.head, work);
    return anchor && head && { anchor, head };
  }

  /** The blocks in whose texts the note has to find something, and that are not here. */
  private missing({ entries, letters }: Note, work: Work): string[] {
    const seams = entries.flatMap((entry) => ("seam" in entry ? [entry.seam] : []));
    const missing: string[] = [];
    for (const [id, text] of this.tracks.texts) {
      const block = work.get(id);
      if (block === undefined || block.content !== null) continue;
      const isNeeded = text.all.some(
        ({ origin, from, length, mark }) =>
          seams.some((seam) => seam === mark || seam.block === id) ||
          letters.some((set) => origin > 0 && set.has(origin, from, from + length)),
      );
      if (isNeeded) missing.push(id);
    }
    return missing;
  }
}

/**
 * Without blocks that come and go at once: what has gone here may be told to have come there, and
 * that it has gone as well.
 */
function lasting(
  changes: readonly ShownChange[],
  after: readonly ShownBlock[],
): readonly ShownChange[] {
  if (!changes.some(([kind]) => kind === "insert")) return changes;
  const ids = new Set(after.map(({ id }) => id));
  return changes.map((change) => {
    if (change[0] !== "insert") return change;
    return ["insert", change[1], change[2].filter(({ id }) => ids.has(id))];
  });
}

/** Whether some text comes with it. */
function hasCome(change: ShownChange): boolean {
  if (change[0] === "edit") return change[2].some(isInsert);
  return change[0] === "insert" || (change[0] === "show" && change[1].content !== null);
}

/** Whether some text goes with it. */
function hasGone(change: ShownChange): boolean {
  if (change[0] === "remove") return true;
  return change[0] === "edit" && change[2].some((item) => typeof item === "number" && item < 0);
}

/** A text that went to a place of another: the page is told that it is put in, and its block out. */
function mergeOf(change: ShownChange, next: ShownChange | undefined, work: Work): Merge | null {
  if (change[0] !== "edit" || next?.[0] !== "remove" || next[1].length !== 1) return null;
  const [block = ""] = next[1];
  const content = work.content(block) ?? [];
  const [, into, delta] = change;
  const [at] = delta;
  const isBehind = typeof at === "number" && at > 0;
  const text = isBehind ? delta.slice(1) : delta;
  if (block === into || content.length === 0 || !sameRich(text, content)) return null;
  return ["merge", block, into, isBehind ? at : 0, content];
}

function blockOf(change: ShownChange): string {
  if (change[0] === "show") return change[1].id;
  return typeof change[1] === "string" ? change[1] : "";
}

/** What an edit changes: from where, and up to where in the text before it and behind it. */
function extentOf(delta: RichDelta): { from: number; old: number; now: number } {
  let [at, shift, from, end] = [0, 0, -1, 0];
  for (const item of delta) {
    const isKept = typeof item === "number" && item > 0;
    if (!isKept && from < 0) from = at;
    if (isInsert(item)) shift += richLength([item]);
    else if (isFormat(item)) at += item[0];
    else at += Math.abs(item);
    if (typeof item === "number" && item < 0) shift += item;
    if (!isKept) end = at;
  }
  return { from, old: end, now: end + shift };
}

function reachOf(verb: Verb, before: Reach | null): Reach | null {
  switch (verb[0]) {
    case "edit": {
      const { from, now } = extentOf(verb[2]);
      return { block: verb[1], from, to: now };
    }
    case "set":
      return before?.block === verb[1] ? before : null;
    case "split":
      return { block: verb[3], from: 0, to: 0 };
    case "join":
      return { block: verb[2], from: 0, to: Number.POSITIVE_INFINITY };
    case "insert": {
      const last = verb[2].at(-1);
      return last === undefined ? null : { block: last.id, from: 0, to: richLength(last.content) };
    }
    default:
      return null;
  }
}

function isBeside(verb: Verb, { block, from, to }: Reach, work: Work): boolean {
  switch (verb[0]) {
    case "edit": {
      const extent = extentOf(verb[2]);
      return verb[1] === block && extent.from <= to && extent.old >= from;
    }
    case "set":
    case "insert":
      return verb[1] === block;
    case "split":
      return verb[1] === block && from <= verb[2] && verb[2] <= to;
    case "join":
      if (verb[1] === block) return from === 0;
      return verb[2] === block && to >= (work.get(block)?.length ?? 0);
    case "remove":
      return verb[1].length === 1 && verb[1][0] === block;
    default:
      return false;
  }
}

/** What was reached, behind a change of others; null: it is not one stretch any more. */
function carried(reach: Reach, change: ShownChange): Reach | null {
  if (change[0] === "edit" || change[0] === "split") {
    const { block } = reach;
    const to = behind({ block, offset: reach.to }, change, "left", () => 0);
    const from = behind({ block, offset: reach.from }, change, "right", () => 0);
    if (from.block !== to.block) return null;
    return { block: to.block, from: Math.min(from.offset, to.offset), to: to.offset };
  }
  if (change[0] === "set" || change[0] === "move" || change[0] === "rename") return reach;
  const { block } = reach;
  if (change[0] === "remove") return change[1].includes(block) ? null : reach;
  if (change[0] === "join" && change[2] === block) return null;
  return blockOf(change) === block && change[0] !== "insert" ? null : reach;
}
