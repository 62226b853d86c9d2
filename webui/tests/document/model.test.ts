import { afterEach, expect, test, vi } from "vitest";
import { openModel, type StoredDocument } from "../../src/document/model";
import type { RichDelta } from "../../src/shared/rich";
import { Page, type Truth, World } from "./world";

vi.setConfig({ testTimeout: 60_000 });
let world: World;
afterEach(() => world.close());

function truth({ title, blocks }: Truth): unknown {
  return { title, blocks };
}

test("what one page writes is in the document, and in the other page", async () => {
  world = new World(1);
  const [ann, bob] = [new Page(world, "ann"), new Page(world, "bob")];
  await world.elapse(0.5);
  expect([ann.model.isLoaded, ann.model.value.blocks]).toEqual([true, []]);
  ann.model.change([
    ["insert", "", [{ id: "a", attributes: { type: "heading" }, content: ["One two"] }]],
  ]);
  ann.model.change([["edit", "a", [3, "!"]]]);
  ann.model.change([["split", "a", 4, "b", { type: "paragraph" }]]);
  ann.model.change([["edit", "b", [4, [".", { bold: true }]]]]);
  const seen = ann.texts;
  expect(seen).toEqual({
    title: "untitled",
    blocks: [
      ["a", { type: "heading" }, ["One!"]],
      ["b", { type: "paragraph" }, [" two", [".", { bold: true }]]],
    ],
  });
  expect(ann.model.save.kind).toBe("saving");
  await world.elapse(2);
  expect([ann.texts, bob.texts, truth(await world.look())]).toEqual([seen, seen, seen]);
  expect(ann.model.save).toEqual({ kind: "saved", edits: 0, places: 0 });
  bob.model.change([
    ["join", "b", "a"],
    ["set", "a", { type: "quote" }],
    ["rename", "Plan"],
  ]);
  const joined = bob.texts;
  await world.elapse(2);
  expect([ann.texts, bob.texts, truth(await world.look())]).toEqual([joined, joined, joined]);
  const edit: RichDelta = [-1, "o"];
  ann.model.change([["edit", "a", edit]]);
  ann.model.change([["remove", ["a"]]]);
  await world.elapse(2);
  expect([ann.texts, bob.texts]).toEqual([
    { title: "Plan", blocks: [] },
    { title: "Plan", blocks: [] },
  ]);
});

/** Two pages that show a document of these blocks. */
async function shown(...texts: string[]): Promise<[Page, Page]> {
  world = new World(1);
  const [ann, bob] = [new Page(world, "ann"), new Page(world, "bob")];
  await world.elapse(0.3);
  const blocks = texts.map((text, at) => ({ id: `b${at}`, attributes: {}, content: [text] }));
  ann.model.change([["insert", "", blocks]]);
  await world.elapse(1);
  return [ann, bob];
}

function contents(page: Page): unknown {
  return page.model.value.blocks.map(({ id, content }) => [id, ...(content ?? ["closed"])]);
}

test("what was typed behind an unborn block goes with its birth, however fast", async () => {
  const [ann, bob] = await shown("One two");
  ann.model.change([["split", "b0", 3, "b1", {}]]);
  ann.model.change([["edit", "b1", ["!"]]]);
  ann.model.change([["split", "b1", 2, "b2", {}]]);
  ann.model.change([["edit", "b2", [3, "?"]]]);
  bob.model.change([["edit", "b0", [7, "."]]]);
  expect(contents(ann)).toEqual([
    ["b0", "One"],
    ["b1", "! "],
    ["b2", "two?"],
  ]);
  await world.elapse(3);
  const all = [
    ["b0", "One"],
    ["b1", "! "],
    ["b2", "two.?"],
  ];
  expect([contents(ann), contents(bob)]).toEqual([all, all]);
});

test("a seed is shown without a group, and gets one when somebody writes", async () => {
  const [ann, bob] = await shown("One", "Two");
  expect([...ann.model.confirmed.blocks.keys()]).toEqual([]);
  bob.model.change([["edit", "b1", [3, "!"]]]);
  await world.elapse(1);
  expect([...ann.model.confirmed.blocks.keys()]).toEqual(["b1"]);
  expect(contents(ann)).toEqual([
    ["b0", "One"],
    ["b1", "Two!"],
  ]);
});

test("unsent edits survive a closed tab, and are done once", async () => {
  const [ann, bob] = await shown("One");
  ann.model.change([["edit", "b0", [3, " sent"]]]);
  await world.elapse(0.02); // it is on its way, and nobody has answered
  ann.model.change([["edit", "b0", [8, " unsent"]]]);
  ann.model.change([["insert", "b0", [{ id: "b9", attributes: {}, content: ["New"] }]]]);
  const before = contents(ann);
  ann.reload();
  expect(contents(ann)).toEqual(before);
  expect(ann.model.save).toEqual({ kind: "offline", edits: 3, places: 2 });
  await world.elapse(3);
  const all = [
    ["b0", "One sent unsent"],
    ["b9", "New"],
  ];
  expect([contents(ann), contents(bob)]).toEqual([all, all]);
  expect([ann.model.save.kind, ann.model.stored()]).toEqual(["saved", null]);
});

test("of the blocks that are open, those are kept that something rests on", async () => {
  const [ann, bob] = await shown(...Array.from({ length: 30 }, (_, at) => `Line ${at}`));
  const kept = (): string[] => {
    const { blocks = [] } = (ann.model.stored() ?? {}) as Partial<StoredDocument>;
    return blocks.map(([id]) => id).sort();
  };
  for (let at = 0; at < 30; at += 1) bob.model.change([["edit", `b${at}`, ["a "]]]);
  await world.elapse(2);
  ann.model.look(0, 29);
  await world.elapse(1);
  expect(ann.model.confirmed.blocks.size).toBe(30);
  ann.model.change([["edit", "b5", ["x"]]]);
  ann.model.change([["edit", "b7", ["y"]]]);
  ann.model.change([["edit", "b5", [1, "z"]]]);
  expect(kept()).toEqual(["b5", "b7"]);
  // Without a connection one reads on in all of them, also behind a reload.
  ann.lose();
  expect(kept()).toHaveLength(30);
  ann.reload();
  await world.elapse(2);
  expect(kept()).toEqual([]);
  expect((contents(bob) as unknown[]).slice(5, 8)).toEqual([
    ["b5", "xza Line 5"],
    ["b6", "a Line 6"],
    ["b7", "ya Line 7"],
  ]);
  // A text goes from one block to another: what is shown of one depends on what is here of others.
  ann.model.change([["split", "b3", 2, "b99", {}]]);
  ann.model.look(0, 30);
  let most = 0;
  for (let step = 0; step < 100; step += 1) {
    ann.model.change([["edit", "b20", ["."]]]);
    await world.elapse(0.005);
    most = Math.max(most, kept().length);
  }
  expect(most).toBeGreaterThanOrEqual(30);
});

test("what another page's life has sent under another id becomes a draft", async () => {
  const [ann, bob] = await shown("One");
  ann.model.change([["edit", "b0", [3, " first"]]]);
  await world.elapse(2);
  ann.model.change([["edit", "b0", [9, " sent"]]]);
  const document = structuredClone(ann.model.stored());
  const { session } = new Page(world, "eve");
  const other = openModel(session, "plan", document);
  expect(other.drafts.map(({ code, text }) => [code, text])).toEqual([
    ["outcome_unknown", " sent"],
  ]);
  await world.elapse(2);
  expect(contents(bob)).toEqual([["b0", "One first sent"]]);
});

test("what was written into a block that somebody removes is a draft", async () => {
  const [ann, bob] = await shown("One", "Two");
  await world.elapse(1);
  bob.lose();
  bob.model.change([["edit", "b1", [3, " and more"]]]);
  ann.model.change([["remove", ["b1"]]]);
  await world.elapse(3);
  expect(bob.model.drafts.map(({ text }) => text)).toEqual([" and more"]);
  const { drafts } = bob.model;
  bob.reload();
  expect(bob.model.drafts).toEqual(drafts);
  bob.model.discardDraft(drafts[0]?.id ?? "");
  await world.elapse(1);
  expect([bob.model.drafts, bob.model.stored()]).toEqual([[], null]);
  expect([contents(ann), contents(bob)]).toEqual([[["b0", "One"]], [["b0", "One"]]]);
});

test("nothing is open that is far from what is looked at, and nothing that waits is closed", async () => {
  const texts = Array.from({ length: 90 }, (_, at) => `Line ${at}`);
  const [ann, bob] = await shown(...texts);
  for (let at = 0; at < 90; at += 1) bob.model.change([["edit", `b${at}`, ["x"]]]);
  await world.elapse(3);
  expect(bob.model.save.kind).toBe("saved");
  ann.model.look(0, 9);
  await world.elapse(1);
  const open = [...ann.model.confirmed.blocks.keys()];
  expect([open.includes("b0"), open.includes("b29"), open.includes("b70")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(ann.model.value.blocks[80]).toMatchObject({ content: null });
  const showing = ann.model.show("b80");
  await world.elapse(1);
  await showing;
  expect(ann.model.value.blocks[80]?.content).toEqual(["xLine 80"]);
});

test("what one looks at stays readable while a great many edits wait", async () => {
  const texts = Array.from({ length: 90 }, (_, at) => `Line ${at}`);
  const [ann, bob] = await shown(...texts);
  ann.model.look(0, 9);
  await world.elapse(1);
  for (let at = 0; at < 90; at += 1) ann.model.change([["edit", `b${at}`, ["x"]]]);
  const missing = new Set<string>();
  for (let step = 0; step < 300; step += 1) {
    await world.elapse(0.01);
    for (const { id, content } of ann.model.value.blocks.slice(0, 10)) {
      if (content === null) missing.add(id);
    }
  }
  expect([...missing]).toEqual([]);
  expect(ann.model.save.kind).toBe("saved");
  bob.model.look(80, 89);
  await world.elapse(3);
  expect(bob.model.value.blocks[89]?.content).toEqual(["xLine 89"]);
});

test("a held block changes when it is let go", async () => {
  const [ann, bob] = await shown("One", "Two");
  bob.model.change([["edit", "b0", ["x"]]]);
  await world.elapse(1);
  ann.model.hold("b0");
  bob.model.change([["edit", "b0", ["y"]]]);
  await world.elapse(1);
  expect(contents(ann)).toEqual([
    ["b0", "xOne"],
    ["b1", "Two"],
  ]);
  ann.model.change([["edit", "b0", [4, "!"]]]);
  ann.model.hold(null);
  await world.elapse(1);
  expect(contents(ann)).toEqual([
    ["b0", "yxOne!"],
    ["b1", "Two"],
  ]);
  expect(contents(bob)).toEqual(contents(ann));
});

test("a document that is refused says so", async () => {
  world = new World(1);
  const ann = new Page(world, "ann");
  await world.elapse(0.3);
  const error = {
    t: "error",
    name: "doc/plan",
    code: "no_such_document",
    message: "gone",
  } as const;
  ann.model.outline.hear({ ...error, temporary: false });
  expect(ann.model.problem).toEqual({ code: "no_such_document", message: "gone" });
});
