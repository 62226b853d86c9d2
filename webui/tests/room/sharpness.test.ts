import { expect, test } from "vitest";
import { LEAST, Sharpness, SLOW_MS } from "../../src/room/model/sharpness";

function frames(of: Sharpness, count: number, each_ms: number, from_ms: number): number {
  let now_ms = from_ms;
  for (let at = 0; at < count; at += 1) {
    now_ms += each_ms;
    of.begin(now_ms, true);
  }
  return now_ms;
}

test("S1: frames that come late have fewer pixels, and never too few", () => {
  const one = new Sharpness();
  const now_ms = frames(one, 20, 16, 0);
  expect(one.share).toBe(1);
  frames(one, 5, SLOW_MS + 20, now_ms);
  expect(one.share).toBeLessThan(1);
  frames(one, 100, SLOW_MS + 20, now_ms + 1_000);
  expect(one.share).toBe(LEAST);
});

test("S1: a single late frame, and a pause, change nothing", () => {
  const one = new Sharpness();
  let now_ms = 0;
  for (let at = 0; at < 20; at += 1) {
    now_ms = frames(one, 2, 16, now_ms);
    now_ms = frames(one, 1, SLOW_MS + 50, now_ms);
    now_ms += 5_000;
    one.begin(now_ms, false);
  }
  expect(one.share).toBe(1);
});

test("S2: what comes to rest is drawn once more with all pixels, and then no more", () => {
  const one = new Sharpness();
  const now_ms = frames(one, 30, SLOW_MS + 20, 0);
  expect(one.rest()).toBe(true);
  expect(one.share).toBe(1);
  expect(one.rest()).toBe(false);
  // The next move goes on with as many as was fast enough.
  expect(one.begin(now_ms + 5_000, false)).toBe(true);
  expect(one.share).toBe(LEAST);
});

test("S2: where frames are fast nothing is drawn twice", () => {
  const one = new Sharpness();
  frames(one, 30, 16, 0);
  expect(one.rest()).toBe(false);
});

test("S3: another size is tried with all pixels", () => {
  const one = new Sharpness();
  frames(one, 30, SLOW_MS + 20, 0);
  one.reset();
  expect(one.share).toBe(1);
});
