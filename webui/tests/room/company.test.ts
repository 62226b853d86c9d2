import fc from "fast-check";
import { expect, test } from "vitest";
import { personOf, toPresence } from "../../src/board/live/others";
import { END, START, TURN_MAX } from "../../src/place/limits";
import { Company, FIGURES, figureOf, poseOf } from "../../src/room/model/company";
import { METRE } from "../../src/room/model/metres";
import { Track } from "../../src/room/model/tracks";
import { person } from "./things";

test("somebody is between the places that were told, a little later, and comes to rest", () => {
  const track = new Track(true);
  track.tell({ x: 0, y: 0, heading: 0 }, 0);
  track.tell({ x: 1, y: 0, heading: 0 }, 100);
  track.tell({ x: 2, y: 0, heading: 0 }, 200);
  const xs = [130, 180, 230, 280, 330].map((now_ms) => track.at(now_ms).x);
  expect(xs).toEqual([0, 0.5, 1, 1.5, 2]);
  expect([track.isMoving(280), track.isMoving(340)]).toEqual([true, false]);
  expect(track.at(9_999).x).toBe(2);
});

test("who stood still for long begins to move where they stood", () => {
  const track = new Track(true);
  track.tell({ x: 0, y: 0, heading: 0 }, 0);
  track.tell({ x: 1, y: 0, heading: 0 }, 5_000);
  expect(track.at(5_010).x).toBeLessThan(0.2);
  expect(track.at(5_130).x).toBe(1);
});

test("a turn goes the short way round, and who comes from afar is there at once", () => {
  const track = new Track(true);
  track.tell({ x: 0, y: 0, heading: 3 }, 0);
  track.tell({ x: 0, y: 0, heading: -3 }, 100);
  expect(Math.abs(track.at(180).heading)).toBeGreaterThan(3);
  track.tell({ x: 500, y: 0, heading: 0 }, 200);
  expect(track.at(200).x).toBe(500);
});

test("without smooth motion one is where one was told of last", () => {
  const track = new Track(false);
  track.tell({ x: 0, y: 0, heading: 0 }, 0);
  track.tell({ x: 1, y: 0, heading: 0 }, 100);
  expect([track.at(100).x, track.isMoving(100)]).toEqual([1, false]);
});

test("who is on the board is where they point, or in the middle of what they see", () => {
  const pointing = person("ann", { pointer: [METRE, 0], view: [0, 0, 1, 1] });
  const looking = person("bob", { pointer: [], view: [0, 0, 2 * METRE, 4 * METRE] });
  const walking = person("eve", { pointer: [0, 0], avatar: [METRE, METRE, TURN_MAX / 4] });
  expect(poseOf(pointing)).toEqual({ x: 1, y: 0, heading: 0 });
  expect(poseOf(looking)).toEqual({ x: 1, y: 2, heading: 0 });
  expect(poseOf(walking)?.heading).toBeCloseTo(Math.PI / 2);
  expect(poseOf(person("tom", {}))).toBeNull();
  const company = new Company(() => true);
  company.update([pointing, walking], 0);
  expect(company.at(0).map(({ who, isOnBoard }) => [who, isOnBoard])).toEqual([
    ["ann", true],
    ["eve", false],
  ]);
  company.update([walking], 10);
  expect(company.at(10).map(({ who }) => who)).toEqual(["eve"]);
});

test("a stance survives the way to the others, and is left out where there is none", () => {
  const shown = person("ann", { avatar: [1, -2, 3] });
  const sent = toPresence(shown) as unknown[];
  expect([sent.length, sent[11]]).toEqual([13, [1, -2, 3]]);
  expect((toPresence({ ...shown, avatar: null }) as unknown[]).length).toBe(11);
});

test("garbage in what others show throws nothing and puts nobody out of the place", () => {
  const numbers = fc.oneof(fc.double(), fc.integer(), fc.constant(Number.NaN));
  const value = fc.oneof(fc.array(numbers, { maxLength: 5 }), fc.anything());
  fc.assert(
    fc.property(value, value, value, (avatar, pointer, view) => {
      const found = personOf("x", { name: "X", avatar, pointer, view });
      if (found === null) return;
      const company = new Company(() => true);
      company.update([found], 0);
      company.update([found], 50);
      for (const { pose } of company.at(60)) {
        expect(pose.x * METRE).toBeGreaterThanOrEqual(START);
        expect(pose.x * METRE).toBeLessThanOrEqual(END);
        expect(Number.isFinite(pose.y) && Number.isFinite(pose.heading)).toBe(true);
      }
      if (found.avatar !== null) {
        expect(found.avatar.turn).toBeGreaterThanOrEqual(0);
        expect(found.avatar.turn).toBeLessThan(TURN_MAX);
      }
    }),
  );
});

test("people have one of a few figures, the same on every page", () => {
  const found = new Set(Array.from({ length: 60 }, (_, at) => figureOf(`session-${at}`)));
  expect(found.size).toBe(FIGURES.length);
  expect(figureOf("ann")).toBe(figureOf("ann"));
});
