import { expect, test } from "vitest";
import { excalidrawIn } from "../../src/board/exchange/excalidraw-in";
import { excalidrawOf } from "../../src/board/exchange/excalidraw-out";
import { fileName } from "../../src/board/exchange/exchange";
import { jsonOf, thingsIn } from "../../src/board/exchange/json";
import { ImportRefusal } from "../../src/board/exchange/refusal";
import { svgOf } from "../../src/board/exchange/svg";
import { newArrow, newInk } from "../../src/board/model/make";
import { styleOf } from "../../src/board/model/style";
import { PAPER } from "../../src/board/page/theme";
import type { Thing } from "../../src/place/thing";
import { at, shape, sticky } from "./things";

const measure = (text: string, size: number) => text.length * size * 0.6;

function some(): Thing[] {
  const [one, note] = [
    shape(0, 0, { text: "One", group: "g" }),
    { ...sticky(400, 0, "Two"), order: 2 },
  ];
  const arrow = newArrow([one, note], [one.id, note.id], {}, 3, "end");
  const ink = newInk(
    [
      { x: 0, y: 0 },
      { x: 640, y: 640 },
      { x: 1_280, y: 0 },
    ],
    {},
    4,
  );
  return [one, note, arrow, ink];
}

const mapOf = (things: readonly Thing[]) => new Map(things.map((one) => [one.id, one]));

function refusalOf(text: string): [string, number] {
  try {
    excalidrawIn(text);
  } catch (error) {
    if (error instanceof ImportRefusal) return [error.code, error.element];
    throw error;
  }
  return ["", 0];
}

const file = (...elements: object[]) => JSON.stringify({ type: "excalidraw", elements });

test("what goes out as .excalidraw comes in again as it lies, bound and grouped", () => {
  const things = some();
  const { things: found, left } = excalidrawIn(excalidrawOf(things, mapOf(things)));
  expect(left).toBe(0);
  expect(found.map(({ kind }) => kind)).toEqual(["shape", "shape", "arrow", "ink"]);
  // The arrow lies between the edges of the two now: 50 and 100 pixels from their middles.
  expect(found.map((thing) => at(thing))).toEqual([
    [0, 0],
    [400, 0],
    [175, 0],
    [10, 5],
  ]);
  expect(found.map(({ text }) => text)).toEqual(["One", "Two", "", ""]);
  expect(found[2]?.links).toEqual([found[0]?.id, found[1]?.id]);
  expect(found[0]?.group).not.toBe("");
  expect(found[0] && styleOf(found[0]).fill).toBe("blue");
});

test("JSON of ours comes in again as it was, but for votes and versions", () => {
  const things = some();
  expect(thingsIn(jsonOf(things))).toEqual(things);
});

test("a file of absurd or hostile content is refused, with the element that is", () => {
  const plain = { type: "rectangle", id: "r", x: 0, y: 0, width: 10, height: 10 };
  expect(refusalOf("{")).toEqual(["not_readable", 0]);
  expect(refusalOf("[]")).toEqual(["other_kind", 0]);
  expect(refusalOf(JSON.stringify({ type: "excalidraw", elements: 7 }))).toEqual(["other_kind", 0]);
  expect(refusalOf(" ".repeat(5_000_001))).toEqual(["too_large", 0]);
  expect(refusalOf(file(...Array.from({ length: 2_001 }, () => plain)))).toEqual(["too_many", 0]);
  expect(refusalOf(file(plain, { ...plain, width: 1e9 }))).toEqual(["absurd", 2]);
  expect(refusalOf(file({ ...plain, x: "0" }))).toEqual(["absurd", 1]);
  expect(refusalOf(file({ ...plain, type: 3 }))).toEqual(["absurd", 1]);
  expect(refusalOf(file({ ...plain, type: "text", text: "x".repeat(10_001) }))).toEqual([
    "absurd",
    1,
  ]);
  const line = {
    ...plain,
    type: "freedraw",
    points: [
      [0, 0],
      [1e300, 0],
    ],
  };
  expect(refusalOf(file(line))).toEqual(["absurd", 1]);
});

test("links, pictures and embedded pages of a file are left out, and counted", () => {
  const embed = {
    type: "embeddable",
    id: "e",
    x: 0,
    y: 0,
    width: 1,
    height: 1,
    link: "javascript:0",
  };
  const box = {
    type: "rectangle",
    id: "r",
    x: 0,
    y: 0,
    width: 10,
    height: 10,
    link: "javascript:0",
  };
  const { things, left } = excalidrawIn(file(embed, box));
  expect([things.length, left, JSON.stringify(things).includes("javascript")]).toEqual([
    1,
    1,
    false,
  ]);
});

test("an SVG holds texts as texts, whatever they say", () => {
  const note = sticky(0, 0, `<script>alert("1")</script>&\u0000`);
  const svg = svgOf([note], mapOf([note]), PAPER, measure);
  expect(svg).toContain("&lt;script&gt;");
  expect(svg).not.toContain("<script");
  expect(svg).not.toContain("\u0000");
});

test("a file is named as the board is, by what file systems take", () => {
  expect(fileName("Plan: 2026/27?")).toBe("Plan 2026 27");
  expect(fileName("///")).toBe("board");
});
