/** What leads from one document to another. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Blocks } from "../../src/document/blocks";
import { blockOf, type Doc, diffDocs, EMPTY_DOC, Work } from "../../src/document/doc";

function docOf(ids: readonly string[]): Doc {
  const blocks = new Map(ids.map((id) => [id, blockOf(id, { type: "paragraph" }, [id])]));
  return { title: "", order: ids, blocks: Blocks.of(blocks) };
}

test("blocks that come side by side come by one change", () => {
  const ids = Array.from({ length: 5_000 }, (_, at) => `b${at}`);
  const changes = diffDocs(EMPTY_DOC, docOf(ids));
  expect(changes.map(([kind]) => kind)).toEqual(["insert"]);

  const between = diffDocs(docOf(["a", "z"]), docOf(["a", "b", "c", "z", "y"]));
  expect(between.map((one) => [one[0], one[1]])).toEqual([
    ["insert", "a"],
    ["insert", "z"],
  ]);
});

test("what leads from one document to another makes it that", () => {
  const ids = fc.uniqueArray(fc.constantFrom(..."abcdefghij"));
  fc.assert(
    fc.property(ids, ids, (before, after) => {
      const work = new Work(docOf(before), new Map());
      for (const change of diffDocs(docOf(before), docOf(after)))
        expect(work.apply(change)).toBe(true);
      expect(work.doc.order).toEqual(after);
      expect(after.every((id) => work.has(id)) && work.doc.blocks.size === after.length).toBe(true);
    }),
  );
});
