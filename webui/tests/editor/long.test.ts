// @vitest-environment jsdom

import { afterEach, expect, test, vi } from "vitest";
import { toBlocks } from "../../src/editor/schema";
import { block, MemoryModel } from "../document-double";
import { bench, cleared, select, type } from "./bench";

const BLOCKS = 2_000;

afterEach(cleared);

function long(): MemoryModel {
  return new MemoryModel(Array.from({ length: BLOCKS }, (_, at) => block(`b${at}`, `words ${at}`)));
}

/** How often something is asked of a node or a block, while this is done. */
function askedIn(act: () => void): number {
  const get = vi.spyOn(WeakMap.prototype, "get");
  act();
  const { length } = get.mock.calls;
  get.mockRestore();
  return length;
}

test("a letter in a document of 2,000 blocks, one's own or another's, is compared in one", () => {
  const model = long();
  const { view } = bench(model);
  select(view, "b900", 5);
  for (let round = 0; round < 3; round += 1) {
    expect(askedIn(() => type(view, "x"))).toBeLessThan(60);
    expect(askedIn(() => model.others([["edit", "b890", [2, "o"]]]))).toBeLessThan(60);
    expect(askedIn(() => model.others([["edit", "b1500", [2, "o"]]], false))).toBeGreaterThan(0);
  }
  expect(toBlocks(view.state.doc)).toEqual(model.value.blocks);
  expect(model.value.blocks[900]?.content).toEqual(["wordsxxx 900"]);
  expect(model.value.blocks[890]?.content).toEqual(["woooords 890"]);
});

test("what the editor shows otherwise than the model is put right, also far from what has changed", () => {
  const model = long();
  const { view } = bench(model);
  // Another block than the one that the next change is of.
  const { value } = model;
  const blocks = value.blocks.map((one, at) => (at === 1_500 ? block("b1500", "other") : one));
  model.value = { ...value, blocks };
  model.others([["edit", "b10", [2, "o"]]]);
  expect(toBlocks(view.state.doc)).toEqual(model.value.blocks);
  expect(view.state.doc.child(1_500).textContent).toBe("other");
});
