import { expect, test } from "vitest";
import { DEGREE } from "../../src/board/model/units";
import { END, START } from "../../src/place/limits";
import { panelOf } from "../../src/room/model/forms";
import { Steering } from "../../src/room/model/keys";
import { METRE } from "../../src/room/model/metres";
import { eyeOf, nearer } from "../../src/room/model/rig";
import { Solids } from "../../src/room/model/solids";
import { GIRTH, STILL, type Stride, Walker } from "../../src/room/model/walker";
import { thing, wall } from "./things";

const FORWARD: Stride = { ...STILL, forward: 1 };
const walk = (walker: Walker, stride: Stride, seconds: number): void => {
  for (let passed = 0; passed < seconds; passed += 1 / 60) walker.step(stride, 1 / 60);
};

test("who walks forward goes to smaller y, and to the right after a quarter turn", () => {
  const walker = new Walker(new Solids([], []));
  walk(walker, FORWARD, 1);
  expect(walker.x).toBeCloseTo(0);
  expect(walker.y).toBeLessThan(-2.5);
  walker.look(Math.PI / 2, 0);
  const { y } = walker;
  walk(walker, FORWARD, 1);
  expect(walker.x).toBeGreaterThan(2.5);
  expect(walker.y).toBeCloseTo(y);
});

test("aslant one is as fast as straight on", () => {
  const [one, other] = [new Walker(new Solids([], [])), new Walker(new Solids([], []))];
  walk(one, FORWARD, 1);
  walk(other, { ...STILL, forward: 1, aside: 1 }, 1);
  expect(Math.hypot(other.x, other.y)).toBeCloseTo(Math.hypot(one.x, one.y), 1);
});

test("nobody goes through furniture or a wall; who walks at it aslant slides along", () => {
  const table = thing("furniture", [0, -3], { width: 4 * METRE });
  const walker = new Walker(new Solids([table], []));
  walk(walker, FORWARD, 3);
  expect(walker.y).toBeGreaterThanOrEqual(-2.5 + GIRTH - 0.01);
  walker.look(0.6, 0);
  walk(walker, FORWARD, 5);
  expect(walker.y).toBeLessThan(-4);
  const panel = new Walker(new Solids([], [panelOf(wall(0, 0))]));
  panel.stand({ x: 0, y: -4 }, Math.PI);
  walk(panel, { ...FORWARD, isRunning: true }, 3);
  expect(panel.y).toBeLessThanOrEqual(-2 - GIRTH + 0.01);
});

test("a turned solid is in the way where it stands, not where it would unturned", () => {
  const bar = thing("furniture", [0, -3], {
    width: 6 * METRE,
    height: METRE / 2,
    turn: 90 * DEGREE,
  });
  const aside = new Walker(new Solids([bar], []));
  aside.stand({ x: 1.5, y: 0 });
  walk(aside, FORWARD, 3);
  expect(aside.y).toBeLessThan(-8);
});

test("a rug is walked over, and so is what is not solid", () => {
  const rug = thing("furniture", [0, -3], { props: [["form", "rug"]] });
  const walker = new Walker(new Solids([rug, thing("dice", [0, -4])], []));
  walk(walker, FORWARD, 2);
  expect(walker.y).toBeLessThan(-6);
});

test("who is deep inside of something walks out of it, and is not thrown far", () => {
  const huge = thing("furniture", [0, 0], { width: 30 * METRE, height: 30 * METRE });
  const walker = new Walker(new Solids([huge], []));
  walker.stand({ x: 1, y: 1 });
  expect([walker.x, walker.y]).toEqual([1, 1]);
  walk(walker, FORWARD, 1);
  expect(walker.y).toBeLessThan(-1);
});

test("one goes to a point and stops there, or before what is in the way", () => {
  const walker = new Walker(new Solids([thing("furniture", [0, -6], { width: 20 * METRE })], []));
  walker.goTo({ x: 2, y: -3 });
  walk(walker, STILL, 4);
  expect([walker.x, walker.y].map((one) => Math.round(one * 10) / 10)).toEqual([2, -3]);
  expect(walker.target).toBeNull();
  walker.goTo({ x: 2, y: -30 });
  walk(walker, STILL, 8);
  expect(walker.target).toBeNull();
  expect(walker.y).toBeGreaterThan(-5.6);
});

test("a key ends the way to a point", () => {
  const walker = new Walker(new Solids([], []));
  walker.goTo({ x: 0, y: 50 });
  walk(walker, FORWARD, 0.2);
  expect(walker.target).toBeNull();
  expect(walker.y).toBeLessThan(0);
});

test("nobody leaves the place, and what is no number moves nobody", () => {
  const walker = new Walker(new Solids([], []));
  walker.stand({ x: END, y: END });
  walk(walker, { ...FORWARD, forward: -1 }, 2);
  expect(walker.y * METRE).toBeLessThan(END);
  walker.stand({ x: -1e30, y: Number.NaN });
  expect(walker.x * METRE).toBeGreaterThan(START);
  expect(walker.y).toBe(0);
  walker.look(Number.NaN, Number.POSITIVE_INFINITY);
  walker.step({ ...FORWARD, forward: Number.NaN }, 1);
  expect([walker.x, walker.y, walker.yaw, walker.pitch].every(Number.isFinite)).toBe(true);
});

test("without smooth motion one step is taken for a key, and a point is reached at once", () => {
  const walker = new Walker(new Solids([thing("furniture", [0, -3])], []));
  walker.hop(FORWARD);
  expect(walker.y).toBeCloseTo(-0.8);
  walker.hop({ ...STILL, turn: 1 });
  expect(walker.yaw).toBeCloseTo(Math.PI / 8);
  walker.leap({ x: 4, y: 4 });
  expect(Math.hypot(walker.x - 4, walker.y - 4)).toBeLessThan(0.1);
  walker.stand({ x: 0, y: 0 }, 0);
  walker.leap({ x: 0, y: -9 });
  expect(walker.y).toBeGreaterThan(-2.6);
});

test("ten thousand things in the way cost little", () => {
  const things = Array.from({ length: 10_000 }, (_, at) =>
    thing("furniture", [at % 100, Math.floor(at / 100)]),
  );
  const solids = new Solids(things, []);
  const walker = new Walker(solids);
  walker.stand({ x: 50, y: 50 });
  const start_ms = performance.now();
  for (let frame = 0; frame < 60; frame++) walker.step({ ...FORWARD, isRunning: true }, 1 / 60);
  expect(performance.now() - start_ms).toBeLessThan(1_000);
});

test("keys that are down together and a stick say how one walks", () => {
  const steering = new Steering();
  const key = (code: string) => ({
    code,
    key: "",
    shiftKey: true,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
  });
  steering.down(key("KeyW"));
  steering.down(key("KeyD"));
  expect(steering.stride).toEqual({ forward: 1, aside: 1, turn: 0, isRunning: true });
  steering.up(key("KeyW"));
  steering.push(Number.NaN, 5);
  expect(steering.stride).toEqual({ forward: 0, aside: 1, turn: 0, isRunning: true });
  steering.clear();
  expect(steering.stride).toBe(STILL);
});

test("the eye is behind who walks, before what stands behind them, and comes to rest", () => {
  const walker = new Walker(new Solids([], []));
  const free = eyeOf(walker, walker.solids, false);
  expect(free.y).toBeGreaterThan(3);
  const panel = { ...panelOf(wall(0, 0)), x: 0, y: 2 };
  const near = eyeOf(walker, new Solids([], [panel]), false);
  expect(near.y).toBeLessThan(2);
  expect(eyeOf(walker, walker.solids, true).y).toBe(0);
  let eye = near;
  for (let frame = 0; frame < 200 && eye !== free; frame++) eye = nearer(eye, free, 1 / 60);
  expect(eye).toBe(free);
});
