import { expect, test, vi } from "vitest";
import { headingsAt } from "../src/contents/asking";
import { hasFar, headingAbove, headingsOf, levelOf, type Told } from "../src/contents/headings";
import type { ShownBlock } from "../src/document/types";

function heading(id: string, level: number | null, text: string | null, length = 0): ShownBlock {
  const attributes = { type: "heading", ...(level === null ? {} : { level }) };
  return { id, attributes, content: text === null ? null : [text], length };
}
const paragraph = (id: string): ShownBlock => ({
  id,
  attributes: { type: "paragraph" },
  content: ["words"],
  length: 5,
});
const NOBODY: ReadonlyMap<string, Told> = new Map();

test("headings stand in their order with their levels; other blocks do not", () => {
  const blocks = [
    paragraph("p"),
    heading("a", 1, "One"),
    paragraph("q"),
    heading("b", 3, " T  wo\n"),
  ];
  expect(headingsOf(blocks, NOBODY)).toEqual([
    { id: "a", level: 1, text: "One" },
    { id: "b", level: 3, text: "T wo" },
  ]);
});

test("of a heading that is not here it is shown what a node has said", () => {
  const far = heading("a", null, null, 3);
  const told = new Map([["a", { level: 2, text: "Far" }]]);
  expect(headingsOf([far], NOBODY)).toEqual([{ id: "a", level: 1, text: null }]);
  expect(headingsOf([far], told)).toEqual([{ id: "a", level: 2, text: "Far" }]);
  expect([hasFar([far]), hasFar([heading("a", 2, "Here")])]).toEqual([true, false]);
});

test("headings that are the same still are not sent again", async () => {
  const asked: string[] = [];
  const answers = [
    { version: "v1", headings: [{ id: "a", place: 0, level: 2, text: "One" }] },
    { version: "v1" },
    { version: "v2", headings: [] },
  ];
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    return new Response(JSON.stringify(answers.shift()), { status: 200 });
  });
  const first = await headingsAt("plan", null);
  expect(first.headings).toEqual(new Map([["a", { level: 2, text: "One" }]]));
  expect(await headingsAt("plan", first)).toBe(first);
  expect((await headingsAt("plan", first)).headings.size).toBe(0);
  const path = "/api/v1/documents/plan/headings?known=";
  expect(asked).toEqual([path, `${path}v1`, `${path}v1`]);
  vi.unstubAllGlobals();
});

test("what is here counts for more than what a node said", () => {
  const told = new Map([["a", { level: 1, text: "Before" }]]);
  expect(headingsOf([heading("a", 2, "Now")], told)).toEqual([{ id: "a", level: 2, text: "Now" }]);
});

test("a block stands under the heading above it, and a heading under itself", () => {
  const blocks = [paragraph("p"), heading("a", 1, "One"), paragraph("q"), heading("b", 1, "Two")];
  expect(blocks.map(({ id }) => headingAbove(blocks, id))).toEqual([null, "a", "a", "b"]);
  expect(headingAbove(blocks, "gone")).toBeNull();
  expect(headingAbove(blocks, null)).toBeNull();
});

test.each([
  [{}, 1],
  [{ level: 0 }, 1],
  [{ level: 2.9 }, 2],
  [{ level: 99 }, 6],
  [{ level: "2" }, 1],
])("a level of %o is %d", (attributes, level) => {
  expect(levelOf(attributes)).toBe(level);
});
