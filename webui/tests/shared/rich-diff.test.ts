import fc from "fast-check";
import { expect, test } from "vitest";
import { applyRich, type Rich } from "../../src/shared/rich";
import { diffRich } from "../../src/shared/rich-diff";
import { richTexts } from "../random";

test("the edit between two texts leads from one to the other", () => {
  fc.assert(
    fc.property(richTexts, richTexts, fc.option(fc.nat(20), { nil: undefined }), (one, two, at) => {
      expect(applyRich(diffRich(one, two, at), one)).toEqual(two);
    }),
  );
});

test("other marks on the same letters are a change of marks: nothing is taken out", () => {
  const before: Rich = ["one 1 2 two ", ["three", { italic: true }]];
  const after: Rich = [["one ", { bold: true }], "1 2 ", ["two ", { bold: true }], "three"];
  expect(diffRich(before, after)).toEqual([
    [4, { bold: true }],
    4,
    [4, { bold: true }],
    [5, { italic: null }],
  ]);
});

test("an embed is replaced by another one, not changed into it, as nodes allow no such change", () => {
  const one: Rich = ["a", ["\ufffc", { embed: "row-a" }], "b"];
  const two: Rich = ["a", ["\ufffc", { embed: "row-a_2" }], ["b", { bold: true }]];
  expect(diffRich(one, two)).toEqual([
    1,
    ["\ufffc", { embed: "row-a_2" }],
    -1,
    [1, { bold: true }],
  ]);
});
