// @vitest-environment jsdom

import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { movedTo } from "../../src/editor/moving";
import { away, blocksOf, MemoryModel } from "../document-double";
import { bench, cleared, key, select, type } from "./bench";

afterEach(cleared);

const ids = (model: MemoryModel): string => model.value.blocks.map(({ id }) => id).join(" ");

test("Alt with an arrow moves all selected blocks, with the selection in them", () => {
  const on = bench(new MemoryModel(blocksOf("a", "b", "c", "d")));
  select(on.view, "b1", 0, 4);
  key(on.view, "ArrowDown", { altKey: true });
  expect(ids(on.model)).toBe("b0 b3 b1 b2");
  key(on.view, "ArrowUp", { altKey: true });
  key(on.view, "ArrowUp", { altKey: true });
  expect(ids(on.model)).toBe("b1 b2 b0 b3");
  key(on.view, "ArrowUp", { altKey: true });
  expect(ids(on.model)).toBe("b1 b2 b0 b3");
  expect(on.model.done.every(([verb]) => verb === "move")).toBe(true);
  type(on.view, "x");
  expect(on.model.value.blocks[0]?.content).toEqual(["x"]);
});

test("blocks are moved to where they are dropped, loaded or not, and are the same blocks", () => {
  const some = fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(some, fc.nat(6), (chosen, index) => {
      const blocks = [...blocksOf("a", "b", "c", "d", "e"), away("far", 9)];
      const on = bench(new MemoryModel(blocks));
      const moved = new Set(chosen.map((at) => blocks[at]?.id ?? ""));
      const transaction = movedTo(on.view.state, moved, index);
      if (transaction !== null) on.view.dispatch(transaction);
      const rest = (part: typeof blocks): string[] =>
        part.map(({ id }) => id).filter((id) => !moved.has(id));
      const wanted = [
        ...rest(blocks.slice(0, index)),
        ...blocks.map(({ id }) => id).filter((id) => moved.has(id)),
        ...rest(blocks.slice(index)),
      ];
      expect(ids(on.model)).toBe(wanted.join(" "));
      expect(on.model.done.every(([verb]) => verb === "move")).toBe(true);
    }),
    { numRuns: 40 },
  );
});
