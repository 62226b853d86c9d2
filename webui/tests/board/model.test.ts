import { expect, test } from "vitest";
import { fitted, wrapped } from "../../src/board/draw/text-layout";
import { Announcer, type News } from "../../src/board/live/announcer";
import { Others, personOf, toPresence } from "../../src/board/live/others";
import { aligned, distributed, restacked } from "../../src/board/model/arrange";
import { Camera } from "../../src/board/model/camera";
import { handlesOf, resized } from "../../src/board/model/handles";
import { actOf, type Keyed } from "../../src/board/model/keys";
import { colourIn, nearestName } from "../../src/board/model/palette";
import { holding, inReadingOrder } from "../../src/board/model/reading";
import { snapped } from "../../src/board/model/snapping";
import { turnedAbout } from "../../src/board/model/transform";
import { at, shape, sticky } from "./things";

const measure = (text: string, size: number) => text.length * size;
const key = (name: string, more: Partial<Keyed> = {}): Keyed => {
  const none = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };
  return { key: name, code: "", ...none, ...more };
};

test("the place under the pointer stays when one zooms", () => {
  const camera = new Camera(1_000, 2_000, 1, 800, 600);
  const point = { x: 300, y: 200 };
  const now = camera.zoomed(2.5, point);
  expect(now.toPlace(point)).toEqual(camera.toPlace(point));
  expect(camera.zoomed(1_000).zoom).toBe(8);
  const { x, y } = camera.panned(10, -20).toScreen(camera.toPlace(point));
  expect([x, y]).toEqual([310, 180]);
});

test("what is fitted is seen whole, between the tools", () => {
  const box = [0, 0, 640_000, 64_000] as const;
  const camera = new Camera(0, 0, 1, 1_280, 748).fitting(box);
  const from = camera.toScreen({ x: box[0], y: box[1] });
  const to = camera.toScreen({ x: box[2], y: box[3] });
  expect(from.x).toBeGreaterThanOrEqual(47);
  expect(to.x).toBeLessThanOrEqual(1_233);
  expect(from.y).toBeGreaterThanOrEqual(119);
});

test("words go into the next line where there is no room, and long ones are cut", () => {
  expect(wrapped("aa bb cc", 1, 5, measure)).toEqual(["aa bb", "cc"]);
  expect(wrapped("abcdefgh", 1, 3, measure)).toEqual(["abc", "def", "gh"]);
  expect(wrapped("a\n\nb", 1, 5, measure)).toEqual(["a", "", "b"]);
  const { size, lines } = fitted("word ".repeat(30).trim(), 40, 400, 100, measure);
  expect(size).toBeLessThan(40);
  expect(lines.length * size * 1.3).toBeLessThanOrEqual(100);
});

test("things are aligned, spaced out and brought to the front; groups count as one", () => {
  const [one, two, three] = [shape(100, 100), shape(250, 300), shape(600, 200)];
  expect(aligned([one, two, three], "top").map((thing) => at(thing)[1])).toEqual([100, 100, 100]);
  const pair = [{ ...one, group: "g" }, { ...two, group: "g" }, three];
  expect(aligned(pair, "bottom").map((thing) => at(thing)[1])).toEqual([100, 300, 300]);
  const xs = distributed([one, two, three], "across").map((thing) => at(thing)[0]);
  expect(xs).toEqual([100, 350, 600]);
  const all = new Map([one, two, three].map((thing, order) => [thing.id, { ...thing, order }]));
  expect(restacked([one], all, "front").map(({ order }) => order)).toEqual([3]);
  expect(restacked([three], all, "back").map(({ order }) => order)).toEqual([-1]);
});

test("a handle resizes about the other side, also of what is turned", () => {
  const frame = { x: 0, y: 0, width: 100, height: 60, turn: 0 };
  const right = resized(frame, "e", { x: 100, y: 0 }, false, false, 8).frame;
  expect([right.x, right.width, right.height]).toEqual([25, 150, 60]);
  const same = resized(frame, "se", { x: 150, y: 90 }, true, false, 8).frame;
  expect([same.width, same.height]).toEqual([200, 120]);
  const quarter = { ...frame, turn: 90 * 64 };
  const turned = resized(quarter, "e", { x: 0, y: 100 }, false, false, 8).frame;
  expect([turned.width, Math.round(turned.x), Math.round(turned.y)]).toEqual([150, 0, 25]);
  expect(handlesOf(frame, 1).map(({ name }) => name)).toContain("turn");
});

test("what is turned four times by a quarter lies as before", () => {
  let things = [shape(100, 0), shape(0, 50)];
  const before = things.map((thing) => [...at(thing), thing.turn]);
  const all = new Map(things.map((thing) => [thing.id, thing]));
  for (let quarter = 0; quarter < 4; quarter++) {
    things = turnedAbout(things, { x: 0, y: 0 }, Math.PI / 2, all);
  }
  expect(things.map((thing) => [...at(thing), thing.turn])).toEqual(before);
});

test("edges and middles snap to the nearest of others", () => {
  const { dx, dy, guides } = snapped([103, 0, 203, 60], [[100, 200, 300, 260]], 6);
  expect([dx, dy, guides.length]).toEqual([-3, 0, 1]);
  expect(snapped([120, 0, 220, 60], [[100, 200, 300, 260]], 6).dx).toBe(0);
});

test("keys mean tools and commands; keys of the browser are left to it", () => {
  expect(actOf(key("s"))).toEqual({ do: "tool", tool: "sticky" });
  expect(actOf(key("z", { ctrlKey: true, shiftKey: true }))).toEqual({ do: "redo" });
  expect(actOf(key("ArrowUp", { shiftKey: true }))).toEqual({
    do: "nudge",
    dx: 0,
    dy: -1,
    isLarge: true,
  });
  for (const name of ["r", "t", "w", "l", "s", "p", "c", "v", "x"]) {
    expect(actOf(key(name, { ctrlKey: true })), name).toBeNull();
  }
  expect(actOf(key("s", { altKey: true }))).toBeNull();
});

test("things are read frame by frame, by rows from the left", () => {
  const frame = { ...shape(500, 500), kind: "frame", width: 64 * 600, height: 64 * 600 };
  const [a, b, c] = [
    sticky(400, 400, "Milk"),
    sticky(650, 410, "Eggs and milk"),
    sticky(0, 0, "Out"),
  ];
  const entries = inReadingOrder([c, b, a, frame]);
  expect(entries.map(({ thing }) => thing.id)).toEqual([frame.id, a.id, b.id, c.id]);
  expect(entries.map((entry) => entry.frame)).toEqual(["", frame.id, frame.id, ""]);
  expect(holding(entries, " MILK ").map(({ id }) => id)).toEqual([a.id, b.id]);
});

test("colours are names or six digits, and nothing else", () => {
  expect(["yellow", "#FFF", "none", "#12345g", "url(x)", 7].map(colourIn)).toEqual([
    ...["yellow", "#ffffff", "none"],
    ...[null, null, null],
  ]);
  expect(nearestName("#1e1e1e", 0)).toBe("ink");
  expect(nearestName("#ffec99", 1)).toBe("yellow");
});

test("what somebody shows is read with care, and comes as it went", () => {
  const shown = {
    name: "Ann",
    ...{ at: { x: 1, y: 2 }, selected: ["a"], ink: [{ x: 3, y: 4 }], view: [0, 0, 9, 9] as const },
    ...{
      drafts: [["a", 1, 2, 3, 4, 5]] as const,
      isIdle: false,
      calls: 3,
      colour: "red",
      width: 4,
    },
    ...{ avatar: { x: 5, y: -6, turn: 7 }, nimbus: "quiet" as const },
  };
  const [name, pointer, view, selection, drag, idle, calls, editing, ...rest] = toPresence(
    shown,
  ) as unknown[];
  const [line, colour, width, avatar, nimbus] = rest;
  const drawn = { line, colour, width, avatar, nimbus };
  const value = { name, pointer, view, selection, drag, idle, calls, ...drawn };
  expect(editing).toBe("");
  expect(personOf("s", value)).toEqual({ who: "s", ...shown });
  expect(personOf("s", { name: 7 })).toBeNull();
  const odd = personOf("s", { name: "x", pointer: [1, Number.NaN], drag: [["a", 1]], line: "no" });
  expect([odd?.at, odd?.drafts, odd?.ink, odd?.nimbus]).toEqual([null, [], [], ""]);
});

test("a drag of somebody else is shown until its operation has come", () => {
  let now_ms = 0;
  const others = new Others(() => now_ms);
  const one = shape(0, 0);
  const things = new Map([[one.id, one]]);
  const person = personOf("s", { name: "Ann", drag: [[one.id, 640, 0, 10, 10, 0]] });
  others.update(person === null ? [] : [person], things);
  expect(others.drafts(things)[0]?.x).toBe(640);
  others.update([], things);
  expect(others.drafts(things)[0]?.x).toBe(640);
  expect(others.drafts(new Map([[one.id, { ...one, x: 640, version: 1 }]]))).toEqual([]);
  others.update(person === null ? [] : [person], things);
  others.update([], things);
  now_ms = 2_000;
  expect(others.drafts(things)).toEqual([]);
});

test("what others do is gathered and said once; one's own, and what comes into sight, is not", () => {
  const said: News[] = [];
  const due: (() => void)[] = [];
  const announcer = new Announcer(
    (_, act) => due.push(act),
    (news) => said.push(news),
  );
  const [one, own, far] = [shape(0, 0), shape(9, 9), shape(5, 5)];
  announcer.look(new Map(), false);
  announcer.mine([own.id]);
  const both = new Map([one, own].map((thing) => [thing.id, thing]));
  announcer.look(both, false);
  announcer.look(new Map([...both, [one.id, { ...one, version: 1 }]]), false);
  announcer.look(new Map([...both, [far.id, far]]), true);
  expect(due.length).toBe(1);
  due[0]?.();
  expect(said).toEqual([{ added: [one.id], changed: 0, gone: 0, acted: [] }]);
});
