import { expect, test } from "vitest";
import { disc, markOf, ring, TONES, toneOf } from "../../src/console/layout";

const apart = (one: { x: number; y: number }, other: { x: number; y: number }) =>
  Math.hypot(one.x - other.x, one.y - other.y);

function closest(points: readonly { x: number; y: number }[]): number {
  const gaps = points.flatMap((one, at) => points.slice(at + 1).map((two) => apart(one, two)));
  return Math.min(...gaps);
}

test("marks of a disc do not cover each other, however many there are", () => {
  for (const count of [2, 7, 40]) {
    const points = disc(count, 13);
    expect(points).toHaveLength(count);
    expect(closest(points)).toBeGreaterThan(12);
    for (const point of points)
      expect(apart(point, { x: 0, y: 0 })).toBeLessThan(13 * Math.sqrt(count));
  }
});

test("thirty marks on the ring are far enough apart to be met by a finger", () => {
  const points = ring(30, 170);
  expect(closest(points)).toBeGreaterThan(2 * 13 + 4);
  expect(points[0]?.x).toBeCloseTo(0);
  expect(points[0]?.y).toBeCloseTo(-170);
  expect(ring(1, 170)).toEqual([{ x: 0, y: 0 }]);
});

test("nodes have shapes and colours of their own", () => {
  const shapes = Array.from({ length: TONES }, (_, node) => markOf(node, 5));
  expect(new Set(shapes).size).toBe(TONES);
  expect(new Set(shapes.map((_, node) => toneOf(node))).size).toBe(TONES);
  expect(markOf(TONES, 5)).toBe(markOf(0, 5));
});
