import { afterEach, expect, test } from "vitest";
import type { RichDelta } from "../../src/shared/rich";
import { Page, type Truth, World } from "./world";

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
  expect(ann.model.save).toEqual({ kind: "saved", edits: 0 });
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
