import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { carried, type Step } from "../../src/shared/late-edits";
import {
  applyRich,
  canonicalRich,
  composeRich,
  divideRich,
  invertRich,
  isInsert,
  type Marks,
  marksAt,
  type Rich,
  type RichDelta,
  type RichItem,
  richLength,
  transformRich,
  transformRichPosition,
} from "../../src/shared/rich";
import { isRich, isRichDelta } from "../../src/shared/rich-parsing";

interface Vectors {
  apply: { text: Rich; delta: RichDelta; result: Rich }[];
  invert: { text: Rich; delta: RichDelta; result: RichDelta }[];
  compose: { first: RichDelta; second: RichDelta; result: RichDelta }[];
  transform: { delta: RichDelta; other: RichDelta; other_first: boolean; result: RichDelta }[];
  divide: {
    delta: RichDelta;
    at: number;
    before: RichDelta;
    behind: RichDelta;
    at_after: number;
  }[];
  marks_at: { text: Rich; at: number; result: Marks }[];
  late: { delta: RichDelta; steps: Step[]; here: RichDelta; gone: unknown[]; lost: Rich }[];
  /** Edits that extend what their writers wrote last; and what two do where they insert at one place. */
  extending: (Vectors["late"][number] & {
    one: RichDelta;
    two: RichDelta;
    one_first: boolean;
    over: RichDelta;
  })[];
  refused: { wire: unknown }[];
}

const path = new URL("../../../docs/vectors/rich.json", import.meta.url);
const vectors = JSON.parse(readFileSync(path, "utf-8")) as Vectors;

test("rich edits do what the vectors say", () => {
  for (const { text, delta, result } of vectors.apply) {
    expect(applyRich(delta, text)).toEqual(result);
    expect(isRich(text) && isRichDelta(delta) && isRich(result)).toBe(true);
  }
  for (const { text, delta, result } of vectors.invert) {
    expect(invertRich(delta, text)).toEqual(result);
  }
  for (const { first, second, result } of vectors.compose) {
    expect(composeRich(first, second)).toEqual(result);
  }
});

test("rich edits are carried over each other as the vectors say", () => {
  for (const { delta, other, other_first, result } of vectors.transform) {
    expect(transformRich(delta, other, other_first)).toEqual(result);
  }
  for (const { delta, at, before, behind, at_after } of vectors.divide) {
    expect(divideRich(delta, at)).toEqual([before, behind]);
    expect(transformRichPosition(at, delta)).toBe(at_after);
  }
});

test("what is typed has the marks that the vectors say", () => {
  for (const { text, at, result } of vectors.marks_at) expect(marksAt(text, at)).toEqual(result);
});

test("a late edit goes where the vectors say", () => {
  for (const { delta, steps, here, gone, lost } of vectors.late) {
    expect(carried(delta, steps)).toEqual({ here, gone, lost });
  }
});

test("what extends its writer's words stands where the vectors say", () => {
  for (const { delta, steps, here, gone, lost, one, two, one_first, over } of vectors.extending) {
    expect(carried(delta, steps, true)).toEqual({ here, gone, lost });
    expect(transformRich(one, two, !one_first, one_first)).toEqual(over);
  }
});

test.each(vectors.refused)("no delta: $wire", ({ wire }) => {
  expect(isRichDelta(wire)).toBe(false);
});

const words = fc.string({ unit: fc.constantFrom("a", "é", "😀", " "), minLength: 1, maxLength: 4 });
const marks = fc.record(
  { bold: fc.constant(true), size: fc.constantFrom(1, 2) },
  { requiredKeys: [] },
);
const patches = fc.record(
  { bold: fc.constantFrom(true, null), size: fc.constantFrom(1, 2, null) },
  { requiredKeys: [] },
);
const texts = fc
  .array(fc.tuple(words, marks), { maxLength: 4 })
  .map((runs) => canonicalRich(runs) as Rich);
const items: fc.Arbitrary<RichItem> = fc.oneof(
  fc.integer({ min: 1, max: 4 }),
  fc.integer({ min: -3, max: -1 }),
  fc.tuple(words, marks),
  fc.tuple(fc.integer({ min: 1, max: 3 }), patches),
);
const choices = fc.array(items, { maxLength: 6 });

/** The items as far as they fit in the text. */
function fitted(choice: readonly RichItem[], text: Rich): RichDelta {
  let left = richLength(text);
  const kept: RichItem[] = [];
  for (const item of choice) {
    if (isInsert(item)) {
      kept.push(item);
      continue;
    }
    const wanted = Math.abs(typeof item === "number" ? item : item[0]);
    const count = Math.min(wanted, left);
    left -= count;
    if (count > 0) kept.push(typeof item === "number" ? Math.sign(item) * count : [count, item[1]]);
  }
  return canonicalRich(kept);
}

test("two edits at the same time lead to one text, in either order", () => {
  const check = (text: Rich, some: RichItem[], others: RichItem[]): void => {
    const [one, two] = [fitted(some, text), fitted(others, text)];
    const first = applyRich(transformRich(two, one, true), applyRich(one, text));
    expect(applyRich(transformRich(one, two, false), applyRich(two, text))).toEqual(first);
  };
  fc.assert(fc.property(texts, choices, choices, check), { numRuns: 2_000 });
});

test("one edit for two, and one that takes it back", () => {
  const check = (text: Rich, some: RichItem[], others: RichItem[]): void => {
    const one = fitted(some, text);
    const between = applyRich(one, text);
    const two = fitted(others, between);
    const after = applyRich(two, between);
    expect(applyRich(composeRich(one, two), text)).toEqual(after);
    expect(applyRich(invertRich(one, text), between)).toEqual(text);
  };
  fc.assert(fc.property(texts, choices, choices, check), { numRuns: 1_000 });
});

test("a divided edit is the edit", () => {
  const check = (text: Rich, some: RichItem[], at: number): void => {
    const delta = fitted(some, text);
    const place = at % (richLength(text) + 1);
    const [before, behind] = divideRich(delta, place);
    expect(isRichDelta(before) && isRichDelta(behind)).toBe(true);
    const cut = transformRichPosition(place, before);
    expect(composeRich(before, canonicalRich([cut, ...behind]))).toEqual(delta);
  };
  fc.assert(fc.property(texts, choices, fc.nat(20), check), { numRuns: 1_000 });
});
