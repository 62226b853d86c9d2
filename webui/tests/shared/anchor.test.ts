import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Anchor,
  type AnchorRange,
  type AnchorStep,
  carried,
  rangeCarried,
  type Side,
  stretch,
} from "../../src/shared/anchor";
import { canonicalRich, type RichItem, transformRichPosition } from "../../src/shared/rich";

interface Vectors {
  anchors: { anchor: Anchor; steps: AnchorStep[]; behind: Anchor[] }[];
  ranges: { range: AnchorRange; steps: AnchorStep[]; behind: AnchorRange }[];
}

const path = new URL("../../../docs/vectors/anchors.json", import.meta.url);
const vectors = JSON.parse(readFileSync(path, "utf-8")) as Vectors;

test("anchors are carried as the vectors say", () => {
  for (const { anchor, steps, behind } of vectors.anchors) {
    let now = anchor;
    const all = steps.map((step) => {
      now = carried(now, step);
      expect(carried(now, step)).toEqual(now);
      return now;
    });
    expect(all).toEqual(behind);
  }
});

test("ranges are carried as the vectors say", () => {
  for (const { range, steps, behind } of vectors.ranges) {
    expect(steps.reduce(rangeCarried, range)).toEqual(behind);
  }
});

test("a range has what is inserted inside, and at its ends only if it grows", () => {
  const step: AnchorStep = ["edit", "a", 1, [2, "x", 1, "y", 1, "z"]];
  const ends = ({ start, end }: AnchorRange) => [start.offset, end.offset];
  expect(ends(rangeCarried(stretch("a", 0, 2, 4), step))).toEqual([3, 6]);
  expect(ends(rangeCarried(stretch("a", 0, 2, 4, true), step))).toEqual([2, 7]);
});

/** A letter of its own: the number of the edit that wrote it, and which one it is there. */
type Letter = string;

/** What an edit makes of letters, and where an anchor then holds on, by looking at each letter. */
function followed(
  letters: readonly Letter[],
  delta: readonly RichItem[],
  name: string,
  held: Letter | null,
  side: Side,
): { letters: Letter[]; held: Letter | null } {
  // Written at a place, before what is deleted there; deleted ones are there for a moment.
  const moment: { letter: Letter; isGone: boolean }[] = [];
  let at = 0;
  let count = 0;
  for (const item of delta) {
    if (typeof item === "string") {
      for (const _ of item) moment.push({ letter: `${name}.${count++}`, isGone: false });
      continue;
    }
    const size = Math.abs(item as number);
    for (const letter of letters.slice(at, at + size))
      moment.push({ letter, isGone: (item as number) < 0 });
    at += size;
  }
  for (const letter of letters.slice(at)) moment.push({ letter, isGone: false });
  const index = moment.findIndex(({ letter }) => letter === held);
  const near = side === "left" ? moment.slice(0, index + 1).reverse() : moment.slice(index);
  const staying = held === null ? null : (near.find(({ isGone }) => !isGone)?.letter ?? null);
  return {
    letters: moment.filter(({ isGone }) => !isGone).map(({ letter }) => letter),
    held: staying,
  };
}

const items = fc.oneof(
  fc.integer({ min: 1, max: 4 }),
  fc.integer({ min: -3, max: -1 }),
  fc.string({ unit: fc.constantFrom("a", "é", "😀"), minLength: 1, maxLength: 3 }),
);

test("an anchor stands beside its letter, or the nearest one that is left on its side", () => {
  const check = (
    size: number,
    place: number,
    side: Side,
    edits: readonly (readonly RichItem[])[],
  ): void => {
    let letters = Array.from({ length: size }, (_, at) => `first.${at}`);
    let offset = place % (size + 1);
    let held = letters[side === "left" ? offset - 1 : offset] ?? null;
    edits.forEach((choice, number) => {
      let left = letters.length;
      const fitted = choice.flatMap((item): RichItem[] => {
        if (typeof item !== "number") return [item];
        const count = Math.min(Math.abs(item), left);
        left -= count;
        return count > 0 ? [Math.sign(item) * count] : [];
      });
      const delta = canonicalRich(fitted);
      offset = transformRichPosition(offset, delta, side);
      ({ letters, held } = followed(letters, delta, `${number}`, held, side));
      const end = side === "left" ? 0 : letters.length;
      const found = held === null ? end : letters.indexOf(held) + (side === "left" ? 1 : 0);
      expect(offset).toBe(found);
    });
  };
  const edits = fc.array(fc.array(items, { maxLength: 6 }), { maxLength: 5 });
  const sides = fc.constantFrom<Side>("left", "right");
  fc.assert(fc.property(fc.nat(8), fc.nat(8), sides, edits, check), { numRuns: 2_000 });
});
