// @vitest-environment jsdom

import fc from "fast-check";
import { expect, test } from "vitest";
import { asStyle, both, type Counts, countsOf, NOT_COUNTED } from "../../src/editor/numbering";

const blocks = fc.array(
  fc.tuple(
    fc.constantFrom("paragraph", "bullet", "todo", "numbered"),
    fc.integer({ min: 0, max: 8 }),
  ),
  { maxLength: 12 },
);

function elements(all: readonly (readonly [string, number])[]): Element[] {
  return all.map(([type, depth]) => {
    const block = document.createElement("p");
    block.dataset.type = type;
    block.dataset.depth = String(depth);
    return block;
  });
}

/** The nine counters behind these blocks, one rule of editor.css after the other. */
function counted(all: readonly (readonly [string, number])[], start: readonly number[]): number[] {
  const now = [...start];
  for (const [type, depth] of all) {
    if (type === "paragraph" || (type !== "numbered" && depth === 0)) now.fill(0);
    if (type !== "numbered") continue;
    now[depth] = (now[depth] ?? 0) + 1;
    now.fill(0, depth + 1);
  }
  return now;
}

function done(counts: Counts, start: readonly number[]): number[] {
  return counts.map(({ isSet, value }, depth) => (isSet ? value : (start[depth] ?? 0) + value));
}

test("a run of blocks counts as its blocks would, one after the other", () => {
  const numbers = fc.array(fc.nat(9), { minLength: 9, maxLength: 9 });
  fc.assert(
    fc.property(blocks, blocks, numbers, (some, others, start) => {
      const all = both(countsOf(elements(some)), countsOf(elements(others)));
      expect(done(all, start)).toEqual(counted([...some, ...others], start));
    }),
  );
});

test("what does not count says so, and the rest in the order in which browsers do it", () => {
  expect(asStyle(NOT_COUNTED)).toEqual(["none", "none"]);
  const list = countsOf(
    elements([
      ["numbered", 1],
      ["numbered", 0],
      ["numbered", 0],
    ]),
  );
  const [increment, set] = asStyle(list);
  expect(increment).toBe("n0 2");
  expect(set).toBe("n1 0 n2 0 n3 0 n4 0 n5 0 n6 0 n7 0 n8 0");
});
