/** What the history keeps, and for how long. */

import { expect, test } from "vitest";
import type { ShownBlock, Verb } from "../../src/document/types";
import { History } from "../../src/undo/history";
import { applied, block, blocksOf } from "../document-double";

/** A document of one person. */
class Sheet {
  readonly history = new History();
  private time_ms = 0;

  constructor(public blocks: readonly ShownBlock[]) {}

  do(...verbs: Verb[]): void {
    this.time_ms += 1_000;
    this.history.own({ verbs, blocks: this.blocks, start: "", spots: null, time_ms: this.time_ms });
    this.change(verbs);
  }

  take(way: "undo" | "redo"): boolean {
    const taken = this.history.take(way, this.blocks, null);
    this.change(taken?.verbs ?? []);
    return taken !== null;
  }

  others(...changes: Verb[]): void {
    this.told(changes, false);
  }

  /** What takes own edits back that were refused. */
  refused(...changes: Verb[]): void {
    this.told(changes, true);
  }

  private told(changes: readonly Verb[], isRefused: boolean): void {
    const before = { title: "", blocks: this.blocks };
    this.change(changes);
    const after = { title: "", blocks: this.blocks };
    this.history.others({ changes, before, after, isRefused });
  }

  private change(verbs: readonly Verb[]): void {
    this.blocks = verbs.reduce<readonly ShownBlock[]>(applied, this.blocks);
  }

  get texts(): unknown[] {
    return this.blocks.map(({ content }) => content);
  }

  /** How much is looked at. */
  get runs(): number {
    return [...this.history.tracks.texts.values()].reduce((sum, { all }) => sum + all.length, 0);
  }
}

test("two hundred edits can be taken back, and what is older is no burden", () => {
  const sheet = new Sheet(blocksOf("start"));
  for (let count = 0; count < 1_000; count += 1) {
    const half = Math.floor((sheet.blocks[0]?.length ?? 0) / 2);
    if (count % 3 < 2) sheet.do(["edit", "b0", [half, "abc"]]);
    else sheet.do(["edit", "b0", [half, -3]]);
  }
  expect(sheet.runs).toBeLessThan(1_500);
  let count = 0;
  while (sheet.take("undo")) count += 1;
  expect(count).toBe(200);
  while (sheet.take("redo")) count -= 1;
  expect(count).toBe(0);
});

test("ten thousand blocks that are taken out come back in one verb, in a moment", () => {
  const sheet = new Sheet(Array.from({ length: 10_000 }, (_, at) => block(`b${at}`, `text ${at}`)));
  const texts = sheet.texts;
  const ids = sheet.blocks.slice(1).map(({ id }) => id);
  sheet.do(["edit", "b77", ["mine "]], ["remove", ids]);
  const begun = performance.now();
  const taken = sheet.history.take("undo", sheet.blocks, null);
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(taken?.verbs.map((verb) => verb[0])).toEqual(["insert", "edit"]);
  const blocks = (taken?.verbs ?? []).reduce<readonly ShownBlock[]>(applied, sheet.blocks);
  expect(blocks.map(({ content }) => content)).toEqual(texts);
});

test("a text that went to a place of another is followed, though it is told in two parts", () => {
  const sheet = new Sheet(blocksOf("one", "two"));
  sheet.do(["edit", "b1", [1, "MINE"]]);
  sheet.others(["edit", "b0", [1, "tMINEwo"]], ["remove", ["b1"]]);
  sheet.others(["edit", "b0", [3, "his"]]);
  sheet.take("undo");
  expect(sheet.texts).toEqual([["othiswone"]]);
});

test("a text that stands in a new block at the same moment is followed", () => {
  const sheet = new Sheet(blocksOf("onetwo"));
  sheet.do(["edit", "b0", [3, "MINE"]]);
  const fresh = { id: "x", attributes: {}, content: ["MINEtwo"] };
  sheet.others(["edit", "b0", [3, -7]], ["insert", "b0", [fresh]]);
  sheet.take("undo");
  expect(sheet.texts).toEqual([["one"], ["two"]]);
});

test("a text that is told to come before it is told to go is followed, also a part of it", () => {
  const sheet = new Sheet(blocksOf("one", "twothree"));
  sheet.do(["edit", "b1", [3, "MINE"]]);
  sheet.others(["edit", "b0", [3, "oMINEthree and more"]], ["edit", "b1", [2, -10]]);
  sheet.take("undo");
  expect(sheet.texts).toEqual([["oneothree and more"], ["tw"]]);
});

test.each(["[B0004]", "[!"])(
  "what others write elsewhere while they take out what one wrote is theirs: %s",
  (theirs) => {
    const sheet = new Sheet(blocksOf("one", "two"));
    sheet.do(["edit", "b0", [3, "[A0007]"]]);
    sheet.others(["edit", "b1", [3, theirs]], ["edit", "b0", [3, -7]]);
    sheet.take("undo");
    expect(sheet.texts).toEqual([["one"], [`two${theirs}`]]);
  },
);

test("what is hidden in an empty block comes back to where it was, wherever others moved that", () => {
  const sheet = new Sheet(blocksOf("gone", "two"));
  sheet.do(["edit", "b0", [-4]]);
  sheet.do(["split", "b0", 0, "x", {}]);
  sheet.others(["move", ["x"], "b1"]);
  sheet.take("undo");
  expect(sheet.texts).toEqual([[], ["two"]]);
  sheet.take("undo");
  expect(sheet.texts).toEqual([["gone"], ["two"]]);
  sheet.take("redo");
  sheet.take("redo");
  expect(sheet.texts).toEqual([[], [], ["two"]]);
});

test("of a text that comes back as a whole, the letters that are in both are the same", () => {
  const sheet = new Sheet(blocksOf("some words"));
  sheet.do(["edit", "b0", [5, "[own]"]]);
  sheet.others(["edit", "b0", ["all in some of [own] these words anew", -15]]);
  sheet.take("undo");
  expect(sheet.texts).toEqual([["all in some of  these words anew"]]);
});

test("blocks that are told to have come and gone at once change nothing", () => {
  const sheet = new Sheet(blocksOf("one"));
  sheet.do(["insert", "b0", [{ id: "x", attributes: {}, content: ["two"] }]]);
  sheet.do(["edit", "b0", [3, "!"]]);
  sheet.take("undo");
  sheet.take("undo");
  const fresh = { id: "x", attributes: {}, content: ["two"] };
  sheet.others(["insert", "b0", [fresh]], ["remove", ["x"]]);
  sheet.take("redo");
  expect(sheet.texts).toEqual([["one"], ["two"]]);
});

test("a text that goes on in another block, whose own removal came too late, comes back no second time", () => {
  const sheet = new Sheet(blocksOf("one", "two"));
  sheet.do(["edit", "b1", [3, "MINE"]]);
  sheet.do(["remove", ["b1"]]);
  sheet.others(["edit", "b0", [3, "two hisMINE"], "b1"]);
  sheet.take("undo");
  expect(sheet.texts).toEqual([["onetwo his"]]);
  expect(sheet.take("undo")).toBe(false);
});

test("when others have left nothing of an edit, the one before is taken back", () => {
  const sheet = new Sheet(blocksOf("one", "two"));
  sheet.do(["edit", "b0", ["a"]]);
  sheet.do(["edit", "b1", ["b"]]);
  sheet.others(["remove", ["b1"]]);
  sheet.take("undo");
  expect(sheet.texts).toEqual([["one"]]);
  expect(sheet.take("undo")).toBe(false);
});

test("where the caret was stays left of what others insert there, and goes with its letter", () => {
  const history = new History();
  let blocks: readonly ShownBlock[] = blocksOf("text", "more");
  const spot = { block: "b0", offset: 4 };
  const verbs: Verb[] = [["edit", "b0", [4, "mine"]]];
  history.own({ verbs, blocks, start: "", spots: { anchor: spot, head: spot }, time_ms: 0 });
  blocks = verbs.reduce<readonly ShownBlock[]>(applied, blocks);
  const others = (change: Verb): void => {
    const before = { title: "", blocks };
    blocks = applied(blocks, change);
    history.others({ changes: [change], before, after: { title: "", blocks } });
  };
  others(["edit", "b0", [4, "theirs "]]);
  others(["edit", "b0", ["so "]]);
  others(["split", "b0", 3, "n", {}]);
  const taken = history.take("undo", blocks, null);
  const where = { block: "n", offset: 4 };
  expect(taken?.verbs).toEqual([["edit", "n", [11, -4]]]);
  expect(taken?.spots).toEqual({ anchor: where, head: where });
});

test("letters of a deletion that is refused stand again, and undo does not bring them once more", () => {
  const sheet = new Sheet(blocksOf("one two three"));
  sheet.do(["edit", "b0", ["A"]]);
  sheet.do(["edit", "b0", [5, -4]]); // Aone three
  sheet.others(["edit", "b0", [1, "X"]]);
  sheet.refused(["edit", "b0", [6, "two "]]);
  expect(sheet.texts).toEqual([["AXone two three"]]);
  expect(sheet.take("undo")).toBe(true);
  expect(sheet.texts).toEqual([["Xone two three"]]);
  expect(sheet.take("undo")).toBe(false);
});

test.each([
  ["the first", "ab"],
  ["the last", "cd"],
  ["a part", "bc"],
])("of deletions side by side %s may be refused alone", (_, back) => {
  const sheet = new Sheet(blocksOf("(abcd)"));
  sheet.do(["edit", "b0", [1, -2]]);
  sheet.do(["edit", "b0", [1, -2]]);
  sheet.refused(["edit", "b0", [1, back]]);
  expect(sheet.texts).toEqual([[`(${back})`]]);
  while (sheet.take("undo"));
  expect(sheet.texts).toEqual([["(abcd)"]]);
});

test("what is put back by a refusal, and was not taken out there, is others' text", () => {
  const sheet = new Sheet(blocksOf("one two"));
  sheet.do(["edit", "b0", [3, -4]]);
  sheet.refused(["edit", "b0", ["two"]]);
  sheet.take("undo");
  expect(sheet.texts).toEqual([["twoone two"]]);
});
