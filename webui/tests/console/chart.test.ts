import { expect, test } from "vitest";
import { niceMax, pathOf, peaks } from "../../src/console/chart";

test("a scale ends at 1, 2 or 5 times a power of ten, and not below what it is to show", () => {
  expect([0, 3, 11, 49, 51, 200, 2001].map((most) => niceMax(most, 10))).toEqual([
    10, 10, 20, 50, 100, 200, 5000,
  ]);
});

test("of several values in few pixels the largest is drawn, and what is out of sight is not", () => {
  const points = [5, 9, 2, 7].map((value, place) => ({ at_ms: place * 10, value }));
  expect(peaks(points, 0, 40, 2)).toEqual([9, 7]);
  expect(peaks(points, 20, 40, 2)).toEqual([2, 7]);
  expect(peaks([], 0, 40, 2)).toEqual([null, null]);
});

test("a line goes over a few missing seconds, and is broken where more are missing", () => {
  expect(pathOf([1, null, 2], 30, 10, 2)).toBe("M5.0 5.0L25.0 0.0");
  expect(pathOf([1, null, null, null, null, 2], 60, 10, 2)).toBe("M5.0 5.0M55.0 0.0");
  expect(pathOf([9], 10, 10, 2)).toBe("M5.0 0.0");
});
