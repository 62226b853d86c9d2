/** A document in memory that the editor is tested with: verbs apply at once, others' too. */

import type { Past, PastStep } from "../src/document/block";
import type {
  AttributeValue,
  DocumentModel,
  DocumentValue,
  Draft,
  NewBlock,
  Rich,
  SaveState,
  ShownBlock,
  ShownChange,
  Verb,
  ViewEvent,
} from "../src/document/types";
import { applyRich, cutRich, joinRich, richLength } from "../src/shared/rich";

export function block(id: string, content: Rich | string, type = "paragraph"): ShownBlock {
  const rich = typeof content !== "string" ? content : content === "" ? [] : [content];
  return { id, attributes: { type }, content: rich, length: richLength(rich) };
}

/** Blocks b0, b1, … with these texts. */
export function blocksOf(...texts: (Rich | string)[]): ShownBlock[] {
  return texts.map((text, place) => block(`b${place}`, text));
}

export function away(id: string, length: number): ShownBlock {
  return { id, attributes: { type: "paragraph" }, content: null, length };
}

const fresh = ({ id, attributes, content }: NewBlock): ShownBlock => ({
  id,
  attributes,
  content,
  length: richLength(content),
});

/** The blocks after the change; strict: what does not apply is an error. */
export function applied(blocks: readonly ShownBlock[], change: ShownChange): ShownBlock[] {
  const place = (id: string): number => {
    const found = blocks.findIndex((one) => one.id === id);
    if (found < 0) throw new Error(`there is no block ${id}`);
    return found;
  };
  const result = [...blocks];
  const text = (one: ShownBlock): Rich => {
    if (one.content === null) throw new Error(`the text of ${one.id} is not here`);
    return one.content;
  };
  const put = (at: number, content: Rich): void => {
    result[at] = { ...(blocks[at] as ShownBlock), content, length: richLength(content) };
  };
  switch (change[0]) {
    case "edit": {
      const at = place(change[1]);
      put(at, applyRich(change[2], text(blocks[at] as ShownBlock)));
      return result;
    }
    case "set": {
      const at = place(change[1]);
      const attributes: Record<string, AttributeValue> = { ...blocks[at]?.attributes };
      for (const [name, value] of Object.entries(change[2])) {
        if (value === null) delete attributes[name];
        else attributes[name] = value;
      }
      result[at] = { ...(blocks[at] as ShownBlock), attributes };
      return result;
    }
    case "split": {
      const [, id, cut, newId, attributes] = change;
      const at = place(id);
      const whole = text(blocks[at] as ShownBlock);
      if (cut > richLength(whole)) throw new Error("the split is behind the end");
      put(at, cutRich(whole, 0, cut));
      result.splice(at + 1, 0, fresh({ id: newId, attributes, content: cutRich(whole, cut) }));
      return result;
    }
    case "join": {
      const from = place(change[1]);
      const into = place(change[2]);
      const both = [blocks[into], blocks[from]].map((one) => text(one as ShownBlock));
      put(into, joinRich(both[0] as Rich, both[1] as Rich));
      result.splice(from, 1);
      return result;
    }
    case "insert": {
      for (const { id } of change[2]) {
        if (blocks.some((one) => one.id === id)) throw new Error(`there is a block ${id}`);
      }
      const at = change[1] === "" ? 0 : place(change[1]) + 1;
      result.splice(at, 0, ...change[2].map(fresh));
      return result;
    }
    case "remove":
      for (const id of change[1]) place(id);
      return blocks.filter(({ id }) => !change[1].includes(id));
    case "move": {
      const moved = change[1].map((id) => blocks[place(id)] as ShownBlock);
      const rest = blocks.filter(({ id }) => !change[1].includes(id));
      const at = change[2] === "" ? 0 : rest.findIndex(({ id }) => id === change[2]) + 1;
      if (at === 0 && change[2] !== "") throw new Error(`there is no block ${change[2]}`);
      return [...rest.slice(0, at), ...moved, ...rest.slice(at)];
    }
    case "show":
      result[place(change[1].id)] = change[1];
      return result;
    case "letters":
    case "rename":
      return result;
  }
}

interface KeptPast extends Past {
  steps: number;
  past: PastStep[];
  frames: Map<string, readonly [number, number]>;
  lastShown: number;
}

export class MemoryModel implements DocumentModel {
  isLoaded = true;
  value: DocumentValue;
  drafts: readonly Draft[] = [];
  save: SaveState = { kind: "saved", edits: 0, places: 0 };
  problem = null;
  onView: ((event: ViewEvent) => void) | null = null;
  onChange: (() => void) | null = null;
  /** Everything that the person did. */
  readonly done: Verb[] = [];
  readonly looks: [number, number][] = [];
  readonly holds: (string | null)[] = [];
  readonly shown: string[] = [];
  readonly unconfirmed: readonly Verb[] = [];
  private readonly pasts = new Map<string, KeptPast>();

  constructor(blocks: readonly ShownBlock[], title = "Title") {
    this.value = { title, blocks };
  }

  change(verbs: readonly Verb[]): void {
    this.done.push(...verbs);
    this.apply(verbs);
  }

  /** Somebody else does this (`by`); `isTold` false: the page is told to look at all anew. */
  others(changes: readonly ShownChange[], isTold = true, by = ""): void {
    const before = this.value;
    this.apply(changes, by);
    this.onView?.({ changes: isTold ? changes : null, before, after: this.value });
  }

  past(id: string): KeptPast {
    const past = this.pasts.get(id) ?? {
      steps: 0,
      past: [],
      again: [],
      frames: new Map(),
      parcel: id,
      lastShown: 0,
    };
    this.pasts.set(id, past);
    return past;
  }

  askPast(): void {}

  arrived(source: string): readonly [string, number, number] | null {
    for (const [id, { frames }] of this.pasts) {
      const frame = frames.get(source);
      if (frame !== undefined) return [id, ...frame];
    }
    return null;
  }

  private step(id: string, by: string, step: PastStep[1]): void {
    const past = this.past(id);
    past.past.push([by, step]);
    past.steps += 1;
    past.lastShown = step[0] === "closed" ? past.lastShown : past.steps;
  }

  private note(change: ShownChange, by: string): void {
    if (change[0] === "edit") this.step(change[1], by, ["edit", change[2]]);
    if (change[0] === "split") this.step(change[1], by, ["cut", change[2], change[3]]);
    if (change[0] !== "join") return;
    const [, id, into] = change;
    const [text, other] = [id, into].map(
      (one) => this.value.blocks.find((block) => block.id === one)?.content ?? [],
    ) as [Rich, Rich];
    this.step(id, by, ["closed"]);
    this.step(into, by, ["edit", [richLength(other), ...text]]);
    this.past(into).frames.set(id, [this.past(into).steps, richLength(other)]);
  }

  private apply(changes: readonly ShownChange[], by = "self"): void {
    let { title, blocks } = this.value;
    for (const change of changes) {
      this.value = { title, blocks };
      this.note(change, by);
      blocks = applied(blocks, change);
      if (change[0] === "rename") title = change[1];
    }
    this.value = { title, blocks };
  }

  hold(id: string | null): void {
    this.holds.push(id);
  }

  look(first: number, last: number): void {
    this.looks.push([first, last]);
  }

  show(id: string): Promise<void> {
    this.shown.push(id);
    return Promise.resolve();
  }

  discardDraft(id: string): void {
    this.drafts = this.drafts.filter((draft) => draft.id !== id);
  }
}
