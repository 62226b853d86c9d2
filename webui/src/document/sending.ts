/**
 * Which own verbs are sent now.
 *
 * Rules.
 *   X1  A verb is sent when everything before it that it depends on is confirmed: so it says what
 *       the person meant, in terms of what the nodes have.
 *   X2  Verbs of the outline are sent in their order, and several at a time: they name blocks.
 *   X3  Nothing is sent, and numbered, before its object is open: what waits is carried over what
 *       has happened meanwhile.
 *   X4  Behind a reconnect, verbs of blocks are numbered before what was missed is looked at, by the
 *       versions that the page had: the blocks carry them as any late edit, whatever has become of
 *       their texts. So it is with a block whose text is replaced, and nobody says by which steps.
 *       Where steps say what has become of all texts that wait, they are carried over those (X3).
 *   X5  A text that was taken out is not written in any more: what waits is given back when it is deleted.
 *   X6  A block that brings a text back is sent when that is deleted: until then, letters of it may go
 *       elsewhere by what others have done before they knew.
 */

import { encode } from "../client/msgpack";
import { insertedText } from "../shared/rich";
import type { BlockObject } from "./block";
import { callOf, type Own, type OwnCall, type OwnVerb } from "./carry";
import type { Confirmed } from "./confirmed";
import type { OutlineObject } from "./outline";
import type { Overlay } from "./overlay";
import { textsOf, writtenBy } from "./own";
import type { NewBlock, Verb } from "./types";
import type { UnsavedTexts } from "./unsaved";

/** About what the blocks of one message may take. */
const SEEDS_BYTES_MAX = 40_000;
/** So many blocks are named in one message. */
const IDS_MAX = 800;

const OF_OUTLINE = new Set(["insert", "remove", "move", "rename"]);

export class Sender {
  constructor(
    private readonly outline: OutlineObject,
    private readonly confirmed: Confirmed,
    private readonly overlay: Overlay,
    private readonly author: string,
    private readonly unsaved: UnsavedTexts,
  ) {}

  private isAhead = false;
  /** The block whose text is about to be another one, for which nobody says how. */
  private replaced: BlockObject | null = null;

  /** X4: numbers what can be sent as soon as blocks are open again; `replaced`: of this one alone. */
  sendAhead(replaced: BlockObject | null = null): void {
    this.isAhead = true;
    this.replaced = replaced;
    this.send();
    this.isAhead = false;
    this.replaced = null;
  }

  /** Sends what can be sent. */
  send(): void {
    const before: Own[] = [];
    let isOutlineWaiting = this.isAhead;
    for (const own of [...this.overlay.own]) {
      const isOutline = OF_OUTLINE.has(own.verb[0]);
      if (own.call === null && !(isOutline && isOutlineWaiting)) {
        const isFree = !before.some((one) => mustPrecede(one, own));
        const call = isFree ? this.call(own) : null;
        if (call !== null) {
          this.unsaved.note(call.group, call.n, insertedText(writtenBy(own.verb)));
          this.overlay.own = this.overlay.own.map((one) => (one === own ? { ...own, call } : one));
        } else if (isOutline) {
          isOutlineWaiting = true;
        }
      }
      before.push(own);
    }
  }

  private call({ verb, extends: isGoingOn }: Own): OwnCall | null {
    switch (verb[0]) {
      case "edit": {
        const [, id, delta] = verb;
        const more = isGoingOn ? [true] : []; // K6
        return this.onBlock(id, ({ steps }) => ["edit", steps, delta, this.author, ...more]);
      }
      case "set":
        return this.onBlock(verb[1], () => ["set", Object.entries(verb[2])]);
      case "split": {
        const [, id, at, fresh, attributes] = verb;
        const pairs = Object.entries(attributes);
        return this.onBlock(id, (block) => ["split", block.steps, at, fresh, pairs]);
      }
      case "merge":
        if (this.confirmed.open(verb[2]) === null || this.confirmed.isStaying(verb[2])) return null;
        return this.onBlock(verb[1], () => ["join", verb[2]]);
      case "insert":
        if (verb[2].some(({ of }) => of !== undefined && this.isStanding(of))) return null;
        return this.onOutline([verb[1]], "insert", verb[1], verb[2].map(seedOf));
      case "remove":
        return this.onOutline(verb[1], "remove", verb[1]);
      case "move":
        return this.onOutline([...verb[1], verb[2]], "move", verb[1], verb[2]);
      case "rename":
        return this.onOutline([], "rename", verb[1]);
      case "letters":
        return this.letters(verb);
      default:
        return null;
    }
  }

  /**
   * The block that had the letters is told, whatever has become of it; where they have gone on from
   * there, that block before it, so that nothing comes there in vain.
   */
  private letters(verb: Extract<OwnVerb, readonly ["letters", ...unknown[]]>): OwnCall | null {
    const [operation, id, base, start, count, into, at, isSeen] = verb;
    const { blocks } = this.confirmed;
    const [block, there] = [blocks.get(id), blocks.get(into)];
    const later = this.overlay.own.slice(
      this.overlay.own.findIndex((own) => own.verb === verb) + 1,
    );
    if (later.some((own) => own.verb[0] === "letters" && own.verb[1] === into)) return null;
    const isAway = there !== undefined && there.status !== "unborn" && !there.isReady;
    if (this.isAhead || isAway || block?.isReady !== true) return null;
    const place = [into, there?.lastShown ?? 0, at, isSeen];
    return callOf(id, operation, block.submitCall(operation, base, start, count, ...place));
  }

  private onBlock(
    id: string,
    how: (block: BlockObject) => readonly [string, ...unknown[]],
  ): OwnCall | null {
    const block = this.replaced === null ? this.confirmed.open(id) : this.confirmed.blocks.get(id);
    if (block == null || !(this.isAhead ? block.isKnown : block.isReady)) return null;
    if (this.replaced !== null && this.replaced !== block) return null;
    if (this.confirmed.isStaying(id)) return null;
    const [operation, ...args] = how(block);
    return callOf(id, operation, block.submitCall(operation, ...args));
  }

  /** X6. */
  private isStanding(id: string): boolean {
    const block = this.confirmed.blocks.get(id);
    if (this.overlay.own.some(({ verb }) => verb[0] === "remove" && verb[1].includes(id)))
      return true;
    if (block === undefined) return false;
    return (
      !block.isReady || block.status === "open" || (block.status === "joined" && block.number > 0)
    );
  }

  /** X2: the outline has heard of these blocks, or will have by what is on its way to it. */
  private onOutline(ids: readonly string[], operation: string, ...args: unknown[]): OwnCall | null {
    if (!this.outline.isReady) return null;
    if (ids.some((id) => this.isComing(id) || this.isGivingBirth(id))) return null;
    return callOf("", operation, this.outline.submitCall(operation, ...args));
  }

  /** Whether a block is shown that the outline does not know yet, because it was split off. */
  private isComing(id: string): boolean {
    if (id === "" || this.outline.entries.has(id)) return false;
    if (this.overlay.base.blocks.has(id)) return true;
    return this.overlay.own.some(({ verb }) => verb[0] === "split" && verb[3] === id);
  }

  /** Whether the outline will put a block behind this one that was split off it. */
  private isGivingBirth(id: string): boolean {
    const births = this.confirmed.blocks.get(id)?.births.keys() ?? [];
    return [...births].some((fresh) => !this.outline.entries.has(fresh));
  }
}

function seedOf({ id, attributes, content }: NewBlock): unknown[] {
  return [id, Object.entries(attributes), content];
}

/** X1. Where a block that was split off comes to stand depends on where the first one does. */
function mustPrecede({ verb: earlier }: Own, { verb: later }: Own): boolean {
  if (OF_OUTLINE.has(earlier[0]) && OF_OUTLINE.has(later[0])) return false;
  if (earlier[0] === "split" && placesOf(later).includes(earlier[1])) return true;
  if (later[0] === "split" && placesOf(earlier).includes(later[1])) return true;
  if (/^(set|move|rename|letters)$/.test(earlier[0])) return false;
  const texts = textsOf(earlier);
  if (later[0] === "set") {
    const makes = earlier[0] === "split" ? [earlier[3]] : earlier[0] === "edit" ? [] : texts;
    return makes.includes(later[1]);
  }
  return textsOf(later).some((id) => texts.includes(id));
}

/** Blocks whose place in the order a verb changes, or names. */
function placesOf(verb: OwnVerb): readonly string[] {
  if (verb[0] === "insert") return [verb[1]];
  return verb[0] === "move" ? [...verb[1], verb[2]] : [];
}

/** The same in several, none of which is too large for one message. */
export function chopped(verb: Verb): Verb[] {
  if (verb[0] === "insert") return choppedInsert(verb[1], verb[2]);
  if (verb[0] !== "remove" && verb[0] !== "move") return [verb];
  const verbs: Verb[] = [];
  let after = verb[0] === "move" ? verb[2] : "";
  for (let at = 0; at < verb[1].length; at += IDS_MAX) {
    const some = verb[1].slice(at, at + IDS_MAX);
    verbs.push(verb[0] === "move" ? ["move", some, after] : ["remove", some]);
    after = some.at(-1) ?? after;
  }
  return verbs;
}

function choppedInsert(first: string, blocks: readonly NewBlock[]): Verb[] {
  const verbs: Verb[] = [];
  let run: NewBlock[] = [];
  let bytes = 0;
  for (const block of blocks) {
    const size = 100 + encode(block.content).length;
    if (verbs.length === 0 || bytes + size > SEEDS_BYTES_MAX) {
      const after = run.at(-1)?.id ?? first;
      [run, bytes] = [[], 0];
      verbs.push(["insert", after, run]);
    }
    run.push(block);
    bytes += size;
  }
  return verbs;
}
