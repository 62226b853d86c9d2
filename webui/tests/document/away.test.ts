/** What a page holds unsent while others do something to the text that it stands in. */

import { afterEach, describe, expect, test, vi } from "vitest";
import { type Doc, Work } from "../../src/document/doc";
import { behind, type Place } from "../../src/document/place";
import type { ShownBlock, ShownChange, Verb } from "../../src/document/types";
import { Page, type Setting, World } from "./world";

vi.setConfig({ testTimeout: 60_000 });
let world: World;
afterEach(() => world.close());

function texts(page: Page): readonly string[] {
  return page.model.value.blocks.map(({ content }) => (content ?? ["(closed)"]).join(""));
}

function drafts(page: Page): unknown {
  return page.model.drafts.map(({ code, text }) => [code, text]);
}

/** A caret behind changes that are seen, as the editor carries it; all texts here are of ASCII. */
function carried(caret: Place, before: Doc, changes: readonly ShownChange[]): Place {
  const work = new Work(before, new Map());
  let place = caret;
  for (const change of changes) {
    place = behind(place, change, "left", (block) => work.get(block)?.length ?? 0);
    work.apply(change);
  }
  return place;
}

/** Two pages that have both written into the second one of three blocks, so that it has a group. */
async function shown(setting: Setting): Promise<[Page, Page]> {
  world = new World(1, setting);
  const [ann, bob] = [new Page(world, "p0"), new Page(world, "p1")];
  await world.elapse(0.3);
  const all = ["before", "one two three four", "behind"];
  const blocks = all.map((text, at) => ({ id: `b${at}`, attributes: {}, content: [text] }));
  ann.model.change([["insert", "", blocks]]);
  await world.elapse(1);
  for (const page of [ann, bob]) {
    page.model.change([["edit", "b1", [18, "."]]]);
    await world.elapse(1);
  }
  return [ann, bob];
}

/** What others do, and what there is then; `one two three fo[X]ur..` is the block that is written in. */
const DISTURBANCES: Record<string, [Verb[], string[]]> = {
  "split before the words": [
    [["split", "b1", 8, "b9", {}]],
    ["before", "one two ", "three fo[X]ur..", "behind"],
  ],
  "split behind the words": [
    [["split", "b1", 18, "b9", {}]],
    ["before", "one two three fo[X]ur", "..", "behind"],
  ],
  "split twice around the words": [
    [
      ["split", "b1", 8, "b9", {}],
      ["split", "b9", 10, "b8", {}],
    ],
    ["before", "one two ", "three fo[X]ur", "..", "behind"],
  ],
  "joined to the block before": [
    [["join", "b1", "b0"]],
    ["beforeone two three fo[X]ur..", "behind"],
  ],
  "joined by the block behind": [
    [["join", "b2", "b1"]],
    ["before", "one two three fo[X]ur..behind"],
  ],
  "split, and the end joined elsewhere": [
    [
      ["split", "b1", 8, "b9", {}],
      ["join", "b9", "b2"],
    ],
    ["before", "one two ", "behindthree fo[X]ur.."],
  ],
  "split, and joined again": [
    [
      ["split", "b1", 8, "b9", {}],
      ["edit", "b9", ["so "]],
      ["join", "b9", "b1"],
    ],
    ["before", "one two so three fo[X]ur..", "behind"],
  ],
  "split and joined again twice": [
    [
      ["split", "b1", 8, "b9", {}],
      ["split", "b9", 6, "b8", {}],
      ["edit", "b8", ["so "]],
      ["join", "b8", "b9"],
      ["join", "b9", "b1"],
    ],
    ["before", "one two three so fo[X]ur..", "behind"],
  ],
  "joined twice": [
    [
      ["join", "b1", "b0"],
      ["join", "b0", "b2"],
    ],
    ["behindbeforeone two three fo[X]ur.."],
  ],
  moved: [[["move", ["b1"], ""]], ["one two three fo[X]ur..", "before", "behind"]],
  "edited around the words": [
    [["edit", "b1", [-4, 10, "go", 4, "!"]]],
    ["before", "two three gofo[X]ur!..", "behind"],
  ],
  "of another kind": [
    [["set", "b1", { type: "heading", level: 2 }]],
    ["before", "one two three fo[X]ur..", "behind"],
  ],
};

/** What somebody cuts out and pastes, as the page says it; then there is this. */
const PASTES: Record<string, [Verb[], string[]]> = {
  "a block as another one": [
    [
      ["remove", ["b1"]],
      ["insert", "b2", [{ id: "n1", attributes: {}, content: ["one two three four.."] }]],
      ["letters", "b1", 2, 0, 20, "n1", 0, true],
    ],
    ["before", "behind", "one two three fo[X]ur.."],
  ],
  "a block into another one": [
    [
      ["remove", ["b1"]],
      ["edit", "b0", [3, "one two three four.."]],
      ["letters", "b1", 2, 0, 20, "b0", 3, true],
    ],
    ["befone two three fo[X]ur..ore", "behind"],
  ],
  "words into another block": [
    [
      ["edit", "b1", [8, -10]],
      ["edit", "b2", ["three four"]],
      ["letters", "b1", 2, 8, 10, "b2", 0, true],
    ],
    ["before", "one two ..", "three fo[X]urbehind"],
  ],
  "words to another place in their block, and from there into another one": [
    [
      ["edit", "b1", [8, -10]],
      ["edit", "b1", ["three four"]],
      ["letters", "b1", 2, 8, 10, "b1", 0, false],
      ["edit", "b1", [-10]],
      ["edit", "b2", [6, "three four"]],
      ["letters", "b1", 2, 8, 10, "b2", 6, false],
    ],
    ["before", "one two ..", "behindthree fo[X]ur"],
  ],
  "words into another block, and all of it is taken back": [
    [
      ["edit", "b1", [8, -10]],
      ["edit", "b2", ["three four"]],
      ["letters", "b1", 2, 8, 10, "b2", 0, false],
      ["edit", "b2", [-10]],
      ["edit", "b1", [8, "three four"]],
      ["letters", "b1", 2, 8, 10, "b1", 8, false],
    ],
    ["before", "one two three four[X]..", "behind"],
  ],
  "a block that is pasted, cut and pasted again": [
    [
      ["remove", ["b1"]],
      ["insert", "b2", [{ id: "n1", attributes: {}, content: ["one two three four.."] }]],
      ["letters", "b1", 2, 0, 20, "n1", 0, true],
      ["remove", ["n1"]],
      ["edit", "b0", ["one two three four.."]],
      ["letters", "n1", 0, 0, 20, "b0", 0, true],
    ],
    ["one two three fo[X]ur..before", "behind"],
  ],
  "a block that is pasted, and split there": [
    [
      ["remove", ["b1"]],
      ["insert", "b2", [{ id: "n1", attributes: {}, content: ["one two three four.."] }]],
      ["letters", "b1", 2, 0, 20, "n1", 0, true],
      ["split", "n1", 8, "n2", {}],
    ],
    ["before", "behind", "one two ", "three fo[X]ur.."],
  ],
};

/** What others join behind `one two three four..[X]`. */
const JOINED: Record<string, [Verb[], string[]]> = {
  "the next block": [[["join", "b2", "b1"]], ["before", "one two three four..[X]behind"]],
  "a block that is begun with other words": [
    [
      ["edit", "b2", ["[Y]"]],
      ["join", "b2", "b1"],
    ],
    ["before", "one two three four..[X][Y]behind"],
  ],
  "the next block, to what was split off": [
    [
      ["split", "b1", 8, "b9", {}],
      ["join", "b2", "b9"],
    ],
    ["before", "one two ", "three four..[X]behind"],
  ],
  "the next block, and the whole to the one before": [
    [
      ["join", "b2", "b1"],
      ["join", "b1", "b0"],
    ],
    ["beforeone two three four..[X]behind"],
  ],
};

const SETTINGS: Setting[] = [{}, { hosts: true }, { hosts: true, alone: true }];

describe.each(SETTINGS)("where nodes are %j", (setting) => {
  test.each(Object.entries(DISTURBANCES))(
    "unsent words are where their neighbours are: %s",
    async (_, [verbs, wanted]) => {
      const [ann, bob] = await shown(setting);
      ann.lose(2);
      ann.model.change([["edit", "b1", [16, "[X]"]]]);
      bob.model.change(verbs);
      await world.elapse(1);
      expect(texts(bob).join("")).not.toContain("[X]");
      await world.elapse(4);
      expect([texts(ann), texts(bob), drafts(ann)]).toEqual([wanted, wanted, []]);
      expect(ann.model.save.kind).toBe("saved");
    },
  );

  test.each(Object.entries(DISTURBANCES))(
    "who writes on while the connection comes back writes where they were: %s",
    async (_, [verbs, wanted]) => {
      const [ann, bob] = await shown(setting);
      ann.lose(2);
      ann.model.change([["edit", "b1", [16, "["]]]);
      bob.model.change(verbs);
      await world.elapse(1);
      const away: unknown[] = [];
      let caret: Place = { block: "b1", offset: 17 };
      let before = ann.model.overlay.shown;
      ann.model.onView = ({ changes }) => {
        if (!texts(ann).join("").includes("fo[")) away.push(texts(ann));
        caret = carried(caret, before, changes ?? []);
        before = ann.model.overlay.shown;
      };
      for (let typed = 0; typed < 4; typed += 1) {
        await world.elapse([1.1, 0.02, 0.02, 0.1][typed] ?? 0);
        const { block, offset } = caret;
        ann.model.change([["edit", block, [offset, "X]yz"[typed] ?? ""]]]);
        caret = { block, offset: offset + 1 };
        before = ann.model.overlay.shown;
      }
      await world.elapse(4);
      const all = wanted.map((text) => text.replace("[X]", "[X]yz"));
      expect([away, texts(ann), texts(bob), drafts(ann)]).toEqual([[], all, all, []]);
    },
  );

  test("blocks that are asked for, as texts went there, stay open until that is looked at, though one types on", async () => {
    const [ann, bob] = await shown(setting);
    ann.lose(2);
    ann.model.change([["edit", "b1", [16, "["]]]);
    for (const [block, fresh] of ["b1 b9", "b9 b8", "b8 b7"].map((both) => both.split(" "))) {
      bob.model.change([["split", block ?? "", 2, fresh ?? "", {}]]);
      await world.elapse(0.4);
    }
    let caret: Place = { block: "b1", offset: 17 };
    let before = ann.model.overlay.shown;
    ann.model.onView = ({ changes }) => {
      caret = carried(caret, before, changes ?? []);
      before = ann.model.overlay.shown;
    };
    const closed: string[] = [];
    const open = new Set<string>();
    for (let typed = 0; typed < 300; typed += 1) {
      const { block, offset } = caret;
      ann.model.change([["edit", block, [offset, "x"]]]);
      caret = { block, offset: offset + 1 };
      before = ann.model.overlay.shown;
      await world.elapse(0.005);
      const { blocks } = ann.model.confirmed;
      closed.push(...[...open].filter((id) => !blocks.has(id)));
      for (const id of open) if (!blocks.has(id)) open.delete(id);
      for (const id of blocks.keys()) open.add(id);
    }
    await world.elapse(4);
    const all = ["before", "on", "e ", "tw", `o three fo[${"x".repeat(300)}ur..`, "behind"];
    expect([texts(ann), texts(bob), drafts(ann), closed]).toEqual([all, all, [], []]);
  });

  test.each(Object.entries(DISTURBANCES))(
    "words on their way are where their neighbours are: %s",
    async (_, [verbs, wanted]) => {
      const [ann, bob] = await shown(setting);
      bob.model.change(verbs);
      ann.model.change([["edit", "b1", [16, "[X]"]]]);
      await world.elapse(4);
      expect([texts(ann), texts(bob), drafts(ann)]).toEqual([wanted, wanted, []]);
      expect(ann.model.save.kind).toBe("saved");
    },
  );

  test.each(
    Object.entries(JOINED).flatMap(([what, one]) =>
      [true, false].map((isAway) => [what, isAway, ...one] as const),
    ),
  )(
    "words at the end of a text stay before what is joined to it: %s, offline: %s",
    async (_, isAway, verbs, wanted) => {
      const [ann, bob] = await shown(setting);
      if (isAway) ann.lose(2);
      else bob.model.change(verbs);
      ann.model.change([["edit", "b1", [20, "[X]"]]]);
      if (isAway) bob.model.change(verbs);
      await world.elapse(5);
      expect([texts(ann), texts(bob), drafts(ann)]).toEqual([wanted, wanted, []]);
    },
  );

  test("a tab that is closed before it was online again sends its words from the store", async () => {
    const [ann, bob] = await shown(setting);
    ann.lose(2);
    ann.model.change([["edit", "b1", [16, "[X]"]]]);
    bob.model.change([["split", "b1", 8, "b9", {}]]);
    bob.model.change([["join", "b9", "b2"]]);
    await world.elapse(1);
    ann.reload();
    await world.elapse(4);
    const wanted = ["before", "one two ", "behindthree fo[X]ur.."];
    expect([texts(ann), texts(bob), drafts(ann)]).toEqual([wanted, wanted, []]);
    expect(ann.model.stored()).toBeNull();
  });

  test("lines that were divided offline are where their neighbours are, though all was joined", async () => {
    const [ann, bob] = await shown(setting);
    ann.lose(2);
    ann.model.change([["edit", "b1", [4, "[1]"]]]);
    ann.model.change([["split", "b1", 11, "a1", {}]]);
    ann.model.change([["edit", "a1", [6, "[2]"]]]);
    bob.model.change([["join", "b1", "b0"]]);
    await world.elapse(5);
    const all = texts(bob).join("");
    expect([texts(ann), drafts(ann)]).toEqual([texts(bob), []]);
    expect(all).toBe("beforeone [1]two three [2]four..behind");
  });

  test("what is taken out of a text that nobody had written in is that, and not what is like it", async () => {
    world = new World(1, setting);
    const [ann, bob] = [new Page(world, "p0"), new Page(world, "p1")];
    await world.elapse(0.3);
    ann.model.change([["insert", "", [{ id: "b0", attributes: {}, content: ["[one]"] }]]]);
    await world.elapse(1);
    ann.lose(2);
    ann.model.change([["edit", "b0", [-5]]]);
    bob.model.change([["edit", "b0", [5, "[two]"]]]);
    await world.elapse(5);
    expect([texts(ann), texts(bob)]).toEqual([["[two]"], ["[two]"]]);
  });

  test("what is taken out of a text that has gone behind a split is out there", async () => {
    world = new World(1, setting);
    const [ann, bob] = [new Page(world, "p0"), new Page(world, "p1")];
    await world.elapse(0.3);
    ann.model.change([["insert", "", [{ id: "b0", attributes: {}, content: ["[one]"] }]]]);
    await world.elapse(1);
    ann.lose(2);
    ann.model.change([["edit", "b0", [-5]]]);
    bob.model.change([["edit", "b0", [5, "[two]"]]]);
    await world.elapse(0.5);
    bob.model.change([["split", "b0", 0, "b9", {}]]);
    await world.elapse(5);
    const wanted = ["", "[two]"];
    expect([texts(ann), texts(bob)]).toEqual([wanted, wanted]);
  });

  test.each([
    ["", ""],
    [", with what was written in the copy", "[X]"],
  ])(
    "what was taken out and back while another joined its block stands once%s",
    async (_, words) => {
      const [ann, bob] = await shown(setting);
      ann.lose(1);
      const [back] = ann.model.value.blocks.slice(1);
      const { attributes, content } = back as ShownBlock;
      ann.model.change([["remove", ["b1"]]]);
      const copy = { id: "n1", attributes, content: content ?? [], of: "b1" };
      ann.model.change([["insert", "b0", [{ ...copy, id: "n0", of: "b9" }, copy]]]);
      if (words !== "") ann.model.change([["edit", "n1", [words]]]);
      bob.model.change([["join", "b1", "b2"]]);
      await world.elapse(5);
      const text = (content ?? []).join("");
      expect(texts(bob)).toEqual(["before", text, `behind${words}${text}`]);
      expect([texts(ann), drafts(ann)]).toEqual([texts(bob), []]);
    },
  );

  test("so it is of a block that nobody had written in when the connection was lost", async () => {
    const [ann, bob] = await shown(setting);
    ann.lose(2);
    ann.model.change([["remove", ["b2"]]]);
    const copy = { id: "n1", attributes: {}, content: ["behind"], of: "b2" };
    ann.model.change([["insert", "b1", [copy]]]);
    bob.model.change([["join", "b2", "b0"]]);
    await world.elapse(1);
    bob.model.change([["join", "b0", "b1"]]);
    await world.elapse(5);
    expect(texts(bob)).toEqual(["one two three four..beforebehind"]);
    expect([texts(ann), drafts(ann)]).toEqual([texts(bob), []]);
  });

  test("where somebody copies the block, pastes that and removes it, unsent words are a draft, at once", async () => {
    const [ann, bob] = await shown(setting);
    ann.lose(1);
    ann.model.change([["edit", "b1", [16, "[X]"]]]);
    bob.model.change([["remove", ["b1"]]]);
    const pasted = { id: "n1", attributes: {}, content: ["one two three four.."] };
    bob.model.change([["insert", "b2", [pasted]]]);
    await world.elapse(4);
    expect(texts(ann)).toEqual(["before", "behind", "one two three four.."]);
    expect(texts(bob)).toEqual(texts(ann));
    expect(drafts(ann)).toEqual([["block_deleted", "[X]"]]);
  });

  test.each(Object.entries(PASTES))(
    "unsent words follow letters that are cut out and pasted: %s",
    async (_, [verbs, wanted]) => {
      const [ann, bob] = await shown(setting);
      ann.lose(2);
      ann.model.change([["edit", "b1", [16, "[X]"]]]);
      bob.model.change(verbs);
      await world.elapse(1);
      expect(texts(bob).join("")).not.toContain("[X]");
      await world.elapse(4);
      expect([texts(ann), texts(bob), drafts(ann)]).toEqual([wanted, wanted, []]);
      expect(ann.model.save.kind).toBe("saved");
      expect(bob.model.save.kind).toBe("saved");
    },
  );

  test.each(Object.entries(PASTES))(
    "words on their way are once in the text, or a draft: %s",
    async (_, [verbs]) => {
      for (const wait_s of [0, 0.02, 0.05, 0.1]) {
        const [ann, bob] = await shown(setting);
        bob.model.change(verbs);
        await world.elapse(wait_s);
        const { length = 0 } = ann.model.value.blocks.find(({ id }) => id === "b1") ?? {};
        if (length > 16) ann.model.change([["edit", "b1", [16, "[X]"]]]);
        else ann.model.change([["edit", "b0", ["[X]"]]]);
        await world.elapse(4);
        const all = [...texts(ann), ...ann.model.drafts.map(({ text }) => text)];
        expect([all.join("|").split("[X]").length, texts(bob)]).toEqual([2, texts(ann)]);
        expect(ann.model.save.kind).toBe("saved");
        world.close();
      }
    },
  );

  test("words on their way to a block that is joined to one that is being removed are a draft", async () => {
    const [ann, bob] = await shown(setting);
    ann.lose(1);
    ann.model.change([["edit", "b1", [16, "[X]"]]]);
    bob.model.change([["join", "b1", "b0"]]);
    bob.model.change([["remove", ["b0"]]]);
    await world.elapse(5);
    expect([texts(ann), texts(bob)]).toEqual([["behind"], ["behind"]]);
    expect(drafts(ann)).toEqual([["block_deleted", "[X]"]]);
    expect(ann.model.save.kind).toBe("saved");
  });

  test("what a removal leaves no place for is a draft, at once", async () => {
    const [ann, bob] = await shown(setting);
    ann.lose(1);
    ann.model.change([["edit", "b1", [16, "[X]"]]]);
    bob.model.change([["remove", ["b1"]]]);
    await world.elapse(4);
    expect([texts(ann), texts(bob)]).toEqual([
      ["before", "behind"],
      ["before", "behind"],
    ]);
    expect(drafts(ann)).toEqual([["block_deleted", "[X]"]]);
  });
});

test("what one may not write any more is a draft, and says why", async () => {
  const [ann] = await shown({ lists: 2 });
  ann.lose(1);
  ann.model.change([["edit", "b1", [16, "[X]"]]]);
  ann.model.change([["insert", "b1", [{ id: "n1", attributes: {}, content: ["[Y]"] }]]]);
  ann.model.change([["split", "n1", 1, "n2", {}]]);
  ann.model.change([["edit", "n2", [2, "[Z]"]]]);
  world.tell("entitle", "p0", false);
  await world.elapse(4);
  expect(texts(ann)).toEqual(["before", "one two three four..", "behind"]);
  const kept = ann.model.drafts;
  expect(new Set(kept.map(({ code }) => code))).toEqual(new Set(["forbidden"]));
  expect(kept.map(({ text }) => text).sort()).toEqual(["[X]", "[Y]", "[Z]"]);
});

test("what is written in a text that was never open goes by its version, not by a comparison, where others split it twice", async () => {
  world = new World(1, { hosts: true, alone: true });
  const [ann, bob] = [new Page(world, "p0"), new Page(world, "p1")];
  await world.elapse(0.3);
  ann.model.change([["insert", "", [{ id: "b0", attributes: {}, content: ["[A0]"] }]]]);
  await world.elapse(1);
  ann.lose(2);
  ann.model.change([["edit", "b0", ["[C8]", 4, "[C4]"]]]);
  bob.model.change([["edit", "b0", ["[A2]"]]]);
  await world.elapse(0.5);
  bob.model.change([["split", "b0", 0, "b4", {}]]);
  await world.elapse(0.5);
  bob.model.change([["split", "b4", 4, "b6", {}]]);
  await world.elapse(4);
  const wanted = ["", "[A2][C8]", "[A0][C4]"];
  expect([texts(ann), texts(bob), drafts(ann)]).toEqual([wanted, wanted, []]);
  expect(ann.model.save.kind).toBe("saved");
});

test("splits and joins of texts that have all left the document are taken back before their edits are sent", async () => {
  const [ann, bob] = await shown({ hosts: true, alone: true });
  ann.lose(2);
  ann.model.change([["split", "b1", 8, "b9", {}]]);
  ann.model.change([["join", "b1", "b0"]]);
  ann.model.change([["edit", "b9", [5, "[X]"]]]);
  bob.model.change([["join", "b1", "b2"]]);
  await world.elapse(0.5);
  bob.model.change([["join", "b0", "b2"]]);
  await world.elapse(6);
  expect(texts(bob).join("|")).toContain("three[X] four");
  expect([texts(ann), drafts(ann)]).toEqual([texts(bob), []]);
});
