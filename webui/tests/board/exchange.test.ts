import { expect, test } from "vitest";
import { separated } from "../../src/board/exchange/brought";
import { ofOurs } from "../../src/board/exchange/clipboard";
import { excalidrawIn } from "../../src/board/exchange/excalidraw-in";
import { excalidrawOf } from "../../src/board/exchange/excalidraw-out";
import { fileName } from "../../src/board/exchange/exchange";
import { jsonOf, thingsIn } from "../../src/board/exchange/json";
import { isList, markdownIn } from "../../src/board/exchange/markdown-in";
import { picturesIn } from "../../src/board/exchange/picture-data";
import { FILE_MAX, ImportRefusal, THINGS_MAX } from "../../src/board/exchange/refusal";
import { svgOf } from "../../src/board/exchange/svg";
import { newArrow, newInk, newThing } from "../../src/board/model/make";
import { styleOf } from "../../src/board/model/style";
import { PAPER } from "../../src/board/page/theme";
import { readSpot, type Spot, written } from "../../src/board/pictures/spots";
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
  expect(refusalOf(" ".repeat(FILE_MAX + 1))).toEqual(["too_large", 0]);
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

const HASH = "ab".repeat(32);
const GIF = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";

function picture(hash: string): Thing {
  const frame = { x: 640, y: 1_280, width: 6_400, height: 3_200, turn: 0 };
  return newThing("picture", frame, {}, { text: "A <cat>", props: [["picture", hash]] });
}

test("a picture stands in the file itself, as .excalidraw and as SVG", () => {
  const cat = picture(HASH);
  const data = new Map([[HASH, GIF]]);
  const out = excalidrawOf([cat], mapOf([cat]), data);
  const { things, files, left } = excalidrawIn(out);
  expect([things.length, left, files.get(HASH)?.type, files.get(HASH)?.size]).toEqual([
    1,
    0,
    "image/gif",
    14,
  ]);
  const { pictures, things: plain } = separated(things, files);
  expect([plain.length, pictures.length]).toEqual([0, 1]);
  const { x, y, width, height } = readSpot(written(pictures[0]?.spot as Spot));
  expect([x, y, width, height]).toEqual([640, 1_280, 6_400, 3_200]);
  const svg = svgOf([cat], mapOf([cat]), PAPER, measure, data);
  expect(svg).toContain(`<image href="${GIF}"`);
  expect(svg).toContain("<title>A &lt;cat&gt;</title>");
  // What could not be had is a frame with what it shows in words.
  expect(svgOf([cat], mapOf([cat]), PAPER, measure, new Map())).not.toContain("<image");
});

test("pictures of a file that no node takes are left out, and counted", () => {
  const image = { type: "image", id: "i", x: 0, y: 0, width: 10, height: 10, fileId: "f" };
  const of = (dataURL: unknown) =>
    excalidrawIn(
      JSON.stringify({ type: "excalidraw", elements: [image], files: { f: { dataURL } } }),
    );
  for (const url of [
    "data:image/svg+xml;base64,PHN2Zz4=",
    "https://elsewhere.example/cat.png",
    "data:image/png;base64,",
    "data:image/png;base64,***",
    7,
    undefined,
  ]) {
    expect([of(url).things.length, of(url).left]).toEqual([0, 1]);
  }
  expect(of(GIF).things.length).toBe(1);
});

test("things of another place say where their pictures are", () => {
  const cat = picture(HASH);
  const { from, things } = ofOurs(jsonOf([cat], "p-7"), { x: 0, y: 0 }, 5);
  expect([from, things.length, picturesIn(things)]).toEqual(["p-7", 1, new Set([HASH])]);
  expect(ofOurs(jsonOf([cat], "../x"), { x: 0, y: 0 }, 5).from).toBe("");
  expect(picturesIn([picture("../../secret")])).toEqual(new Set());
});

test("a Markdown text becomes notes, in a frame for each heading", () => {
  const things = markdownIn(
    "Why we meet\r\nand when\n\n# Went well\n- The order\n  held\n- [x] Tests\n\n## Slow ##\n1. Builds\n",
  );
  expect(things.map(({ kind, text }) => [kind, text])).toEqual([
    ["sticky", "Why we meet and when"],
    ["frame", "Went well"],
    ["sticky", "The order held"],
    ["sticky", "Tests"],
    ["frame", "Slow"],
    ["sticky", "Builds"],
  ]);
  const [, frame, one] = things as [Thing, Thing, Thing];
  expect(Math.abs(one.x - frame.x) * 2 + one.width).toBeLessThanOrEqual(frame.width);
  expect(Math.abs(one.y - frame.y) * 2 + one.height).toBeLessThanOrEqual(frame.height);
  expect(isList("- one\n- two")).toBe(true);
  for (const text of ["- one", "one\ntwo", "- one\ntwo\n- three", ""]) {
    expect(isList(text)).toBe(false);
  }
  const many = Array.from({ length: THINGS_MAX + 1 }, () => "- x").join("\n");
  expect(() => markdownIn(many)).toThrow(ImportRefusal);
});

test("a spot that cannot be read is the middle of the place", () => {
  expect(readSpot("{")).toMatchObject({ x: 0, y: 0, width: 0 });
  expect(readSpot(JSON.stringify({ x: 1.5, y: "2", turn: -1, width: -7 }))).toMatchObject({
    x: 0,
    y: 0,
    width: 0,
    turn: 23_039,
  });
});

test("an SVG holds texts as texts, whatever they say", () => {
  const note = sticky(0, 0, `<script>alert("1")</script>&\u0000`);
  const svg = svgOf([note], mapOf([note]), PAPER, measure, new Map());
  expect(svg).toContain("&lt;script&gt;");
  expect(svg).not.toContain("<script");
  expect(svg).not.toContain("\u0000");
});

test("a file is named as the board is, by what file systems take", () => {
  expect(fileName("Plan: 2026/27?")).toBe("Plan 2026 27");
  expect(fileName("///")).toBe("board");
});
