import fc from "fast-check";
import { expect, test } from "vitest";
import { diffDocuments, diffText } from "../../src/model/diff";
import { DocumentValue } from "../../src/model/document";
import {
  applyDelta,
  composeDelta,
  type Delta,
  divideDelta,
  isDelta,
  transformDelta,
} from "../../src/shared/delta";
import { codePointLength, slice } from "../../src/shared/text";
import { choices, documents, editOf, letters, plain } from "../random";

const edits = fc
  .tuple(letters, letters, letters)
  .map(([base, one, two]) => ({ base, one: diffText(base, one), two: diffText(base, two) }));

function document(...texts: string[]): DocumentValue {
  const blocks = texts.map((text, place) => ({ id: `b${place}`, attributes: {}, text }));
  return new DocumentValue("", blocks);
}

test("a diff of two texts is canonical and leads from one to the other", () => {
  fc.assert(
    fc.property(letters, letters, fc.nat(12), (one, two, caret) => {
      const delta = diffText(one, two, Math.min(caret, two.length));
      expect(isDelta([...delta])).toBe(true);
      expect(applyDelta(delta, one)).toBe(two);
    }),
  );
});

test("a typed letter among equal ones is found where the caret is", () => {
  expect(diffText("aaa", "aaaa", 1)).toEqual(["a"]);
  expect(diffText("aaa", "aaaa", 3)).toEqual([2, "a"]);
});

test("positions count code points, not UTF-16 units", () => {
  expect(diffText("😀b", "😀ab", 3)).toEqual([1, "a"]);
  expect(applyDelta([1, -1], "😀😀")).toBe("😀");
});

test("two concurrent edits of a text lead to the same text in either order", () => {
  fc.assert(
    fc.property(edits, ({ base, one, two }) => {
      const left = applyDelta(transformDelta(two, one, true), applyDelta(one, base));
      const right = applyDelta(transformDelta(one, two, false), applyDelta(two, base));
      expect(left).toBe(right);
    }),
  );
});

test("of two inserts at one place the one ordered first stands left", () => {
  expect(transformDelta(["mine"], ["first"], true)).toEqual([5, "mine"]);
});

test("a composed edit does what both do one after the other", () => {
  fc.assert(
    fc.property(letters, letters, letters, (base, middle, end) => {
      const delta = composeDelta(diffText(base, middle), diffText(middle, end));
      expect(isDelta([...delta])).toBe(true);
      expect(applyDelta(delta, base)).toBe(end);
    }),
  );
});

test("a divided edit gives both halves of the edited text", () => {
  fc.assert(
    fc.property(letters, letters, fc.nat(6), (base, end, place) => {
      const at = Math.min(place, codePointLength(base));
      const [before, behind] = divideDelta(diffText(base, end), at);
      const left = applyDelta(before, slice(base, 0, at));
      expect(left + applyDelta(behind, slice(base, at))).toBe(end);
    }),
  );
});

test("an edit that reaches behind the text is refused", () => {
  const tooFar: Delta = [3, "x"];
  expect(() => applyDelta(tooFar, "ab")).toThrow("the edit reaches 3 of 2 characters");
});

test("a diff of two documents leads from one to the other", () => {
  fc.assert(
    fc.property(documents, fc.array(choices, { maxLength: 8 }), (before, picks) => {
      let after = before;
      picks.forEach((choice, index) => {
        after = after.apply(editOf(choice, after, `n${index}`)).document;
      });
      const changes = diffDocuments(before, after);
      expect(plain(before.apply(changes).document)).toEqual(plain(after));
    }),
  );
});

test("the Enter key in a block is found as a split", () => {
  const after = document("he", "llo", "next").blocks;
  const [first, second, third] = after;
  if (first === undefined || second === undefined || third === undefined) throw new Error("three");
  const value = new DocumentValue("", [first, { ...second, id: "new" }, { ...third, id: "b1" }]);
  expect(diffDocuments(document("hello", "next"), value)).toEqual([["split", "b0", 2, "new", {}]]);
});

test("the Backspace key at the start of a block is found as a join", () => {
  const changes = diffDocuments(document("he", "llo"), document("hello"));
  expect(changes).toEqual([["join", "b1", "b0", 2, "b0"]]);
});

test("a deleted selection over a seam is a join and one cut", () => {
  const after = document("heo");
  const changes = diffDocuments(document("hello", "mid", "two"), after, { block: "b0", offset: 2 });
  expect(changes).toEqual([
    ["join", "b2", "b0", 5, "b1"],
    ["delete", "b1", "b0"],
    ["text", "b0", [2, -5]],
  ]);
});

test("a block that stands elsewhere is one move", () => {
  const [one, two, three] = document("1", "2", "3").blocks;
  if (one === undefined || two === undefined || three === undefined) throw new Error("three");
  const after = new DocumentValue("", [three, one, two]);
  expect(diffDocuments(document("1", "2", "3"), after)).toEqual([["move", "b2", null, "b1"]]);
});

test("a transaction that fails half way changes nothing", () => {
  const value = document("a");
  expect(() =>
    value.apply([
      ["text", "b0", ["x"]],
      ["delete", "none", null],
    ]),
  ).toThrow("there is no block none");
  expect(value.get("b0")?.text).toBe("a");
});
