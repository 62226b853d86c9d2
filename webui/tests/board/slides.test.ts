import { expect, test } from "vitest";
import { Camera } from "../../src/board/model/camera";
import { newThing } from "../../src/board/model/make";
import { units } from "../../src/board/model/units";
import {
  cameraFor,
  onTheWay,
  renewed,
  slideActOf,
  slidesOf,
  swipeOf,
} from "../../src/board/present/slides";
import type { Thing } from "../../src/place/thing";

const frame = (id: string, x: number, y: number): Thing => ({
  ...newThing(
    "frame",
    { x: units(x), y: units(y), width: units(400), height: units(300), turn: 0 },
    {},
  ),
  id,
});
const mapOf = (...things: Thing[]) => new Map(things.map((thing) => [thing.id, thing]));
const ids = (things: readonly Thing[]) => things.map(({ id }) => id);
const key = (name: string, more: Partial<KeyboardEvent> = {}) =>
  slideActOf({
    key: name,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    shiftKey: false,
    ...more,
  });

test("slides are the frames, row by row", () => {
  const note = newThing("sticky", { x: 0, y: 0, width: 10, height: 10, turn: 0 }, {});
  const all = [frame("below", 0, 900), frame("right", 900, 20), note, frame("left", 0, 0)];
  expect(ids(slidesOf(all))).toEqual(["left", "right", "below"]);
});

test("a slide out of sight stays one, and one that was deleted goes", () => {
  const [one, two] = [frame("1", 0, 0), frame("2", 900, 0)];
  const slides = [one, two];
  expect(renewed(slides, mapOf(one), 0, true)).toBe(slides);
  const moved = { ...one, x: units(50), version: 2 };
  expect(renewed(slides, mapOf(moved), 0, true)[0]).toBe(moved);
  expect(ids(renewed(slides, mapOf(two), 0, true))).toEqual(["2"]);
  // What is not here yet is not gone.
  expect(renewed(slides, mapOf(two), 0, false)).toBe(slides);
});

test("a slide fills the screen, a small one, too, and the way there ends where it should", () => {
  const camera = new Camera(0, 0, 1, 1_280, 720);
  const to = cameraFor(frame("1", 5_000, 0), camera);
  expect(to.zoom).toBeGreaterThan(2);
  const [from, middle] = [camera, onTheWay(camera, to, 0.5)];
  expect(middle.zoom).toBeGreaterThan(from.zoom);
  expect(middle.zoom).toBeLessThan(to.zoom);
  expect(onTheWay(camera, to, 1)).toBe(to);
  expect(onTheWay(camera, to, 0).centre.x).toBeCloseTo(camera.centre.x);
});

test("arrows, Page keys, the space bar and presses go on and back; letters with Ctrl are the browser's", () => {
  for (const name of ["ArrowRight", "PageDown", " ", "Enter"]) expect(key(name)).toBe("next");
  for (const name of ["ArrowLeft", "PageUp", "Backspace"]) expect(key(name)).toBe("previous");
  expect(key(" ", { shiftKey: true })).toBe("previous");
  expect(key("Escape")).toBe("end");
  expect([key("f", { ctrlKey: true }), key("x"), key("toString")]).toEqual([null, null, null]);
  expect([swipeOf(0, 0), swipeOf(-90, 10), swipeOf(90, 10), swipeOf(60, 200)]).toEqual([
    ...["next", "next", "previous", "next"],
  ]);
});
