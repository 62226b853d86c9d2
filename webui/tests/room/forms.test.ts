import { expect, test } from "vitest";
import { DEGREE } from "../../src/board/model/units";
import { SIZE_MAX } from "../../src/place/limits";
import { bodyOf, FOOT, holderOf, onPanel, panelOf } from "../../src/room/model/forms";
import { layoutOf } from "../../src/room/model/layout";
import { METRE } from "../../src/room/model/metres";
import { partsOf } from "../../src/room/model/parts";
import { auraOf, SEEN_MAX, Sight } from "../../src/room/model/sight";
import { slabOf } from "../../src/room/model/slabs";
import { isSame, tilesOf } from "../../src/room/model/tiles";
import { byId, note, THEME, thing, wall } from "./things";

const AROUND = auraOf({ x: 0, y: 0 }, 0);
const laid = (things: ReturnType<typeof note>[], moved: string[] = []) =>
  layoutOf(things, byId(things), new Set(moved), AROUND);

test("drawings lie, what has a body stands, and a frame that is a wall is a panel", () => {
  const things = [note(1, 1), thing("light", [2, 2]), thing("furniture", [3, 3]), wall(0, -5)];
  const [paper, lamp, table, panel] = things as [never, never, never, never];
  const layout = laid(things);
  expect(layout.lying).toEqual([paper]);
  expect(layout.standing).toEqual([lamp, table]);
  expect(layout.panels.map((one) => one.thing)).toEqual([panel]);
});

test("a panel stands at the upper edge of its frame and looks to where the frame lay", () => {
  const panel = panelOf(wall(10, 20));
  expect([panel.x, panel.y, panel.heading]).toEqual([10, 18, 0]);
  expect([panel.width, panel.height]).toEqual([6, 4]);
  // Turned by a quarter its upper edge is at the right.
  const turned = panelOf(wall(10, 20, { turn: 90 * DEGREE }));
  expect(turned.x).toBeCloseTo(12);
  expect(turned.y).toBeCloseTo(20);
});

test("a point of a panel is the point of the plane that is shown there", () => {
  for (const turn of [0, 90 * DEGREE, 200 * DEGREE]) {
    const frame = wall(10, 20, { turn });
    const panel = panelOf(frame);
    const middle = onPanel(panel, 0, FOOT + panel.height / 2);
    expect(middle.x).toBeCloseTo(frame.x);
    expect(middle.y).toBeCloseTo(frame.y);
    const top = onPanel(panel, 0, FOOT + panel.height);
    expect(top.x).toBeCloseTo(panel.x * METRE);
    expect(top.y).toBeCloseTo(panel.y * METRE);
  }
});

test("what lies in a wall hangs on it, on the smaller one of two; what stands does not", () => {
  const [large, small] = [wall(0, 0), wall(1, 0, { width: 2 * METRE, height: 2 * METRE })];
  const [inner, outer, lamp] = [note(1, 0), note(-2, 0), thing("light", [0, 1])];
  const layout = laid([large, small, inner, outer, lamp]);
  expect(layout.hung.get(small.id)).toEqual([inner]);
  expect(layout.hung.get(large.id)).toEqual([outer]);
  expect(layout.standing).toEqual([lamp]);
  expect(layout.lying).toEqual([]);
  expect(holderOf(note(9, 9), layout.panels)).toBeNull();
});

test("what somebody carries lies nowhere, and what has a height floats", () => {
  const [one, other] = [note(1, 1), { ...note(3, 3), z: METRE }];
  const layout = laid([one, other], [one.id]);
  expect([layout.lying, layout.floating]).toEqual([[], [other]]);
});

test("a square of the floor is drawn anew only when something of it is another thing", () => {
  const [one, other] = [note(1, 1), note(30, 1)];
  const before = tilesOf([one, other], byId([one, other]), [-1e6, -1e6, 1e6, 1e6]);
  const moved = { ...other, x: other.x + 64 };
  const after = tilesOf([one, moved], byId([one, moved]), [-1e6, -1e6, 1e6, 1e6]);
  const key = "0 0";
  expect(isSame(before.get(key)?.made ?? [], after.get(key)?.made ?? [1])).toBe(true);
  expect(isSame(before.get("3 0")?.made ?? [], after.get("3 0")?.made ?? [])).toBe(false);
});

test("an arrow on the floor is drawn anew when what it is bound to moves", () => {
  const [one, other] = [note(0, 0), note(5, 0)];
  const arrow = thing("arrow", [2, 0], { links: [one.id, other.id] });
  const made = (things: ReturnType<typeof note>[]) =>
    tilesOf([arrow], byId([arrow, ...things]), [-1e6, -1e6, 1e6, 1e6]).get("0 0")?.made ?? [];
  expect(isSame(made([one, other]), made([one, other]))).toBe(true);
  expect(isSame(made([one, other]), made([one, { ...other, x: 6 * METRE }]))).toBe(false);
});

test("what was seen is seen until it is a good deal further away", () => {
  const sight = new Sight();
  const one = note(0, -25);
  const things = byId([one]);
  const at = (y: number) => sight.look(things, { x: 0, y }).length;
  expect([at(3), at(0), at(4), at(9)]).toEqual([0, 1, 1, 0]);
});

test("of ten thousand things the nearest are shown, within little time", () => {
  const things = Array.from({ length: 10_000 }, (_, at) =>
    at % 2 === 0
      ? note((at % 40) - 20, (at % 37) - 18)
      : thing("token", [(at % 30) - 15, (at % 29) - 14]),
  );
  const all = byId(things);
  const start_ms = performance.now();
  const seen = new Sight().look(all, { x: 0, y: 0 });
  const layout = layoutOf(seen, all, new Set(), AROUND);
  expect(performance.now() - start_ms).toBeLessThan(3_000);
  expect(seen.length).toBe(SEEN_MAX);
  for (const tile of layout.tiles.values()) expect(tile.things.length).toBeLessThanOrEqual(500);
});

test("absurd sizes and places are shown as far as there is room, and nothing throws", () => {
  const kinds = ["furniture", "ball", "dice", "token", "light", "switch", "door", "vote", "timer"];
  const absurd = [...kinds, "clock", "link", "card", "sticky", "frame", "nonsense"].flatMap(
    (kind) => [
      thing(kind, [0, 0], { width: SIZE_MAX, height: SIZE_MAX, depth: SIZE_MAX, z: -SIZE_MAX }),
      thing(kind, [0, 0], { width: 0, height: 0, z: SIZE_MAX }),
      thing(kind, [0, 0], {
        props: [
          ["wall", true],
          ["face", 1e9],
          ["on", "yes"],
        ],
        style: [["fill", "x"]],
      }),
    ],
  );
  const layout = laid(absurd);
  expect(layout.tiles.size).toBeLessThan(200);
  for (const one of absurd) {
    const { across, deep, high } = bodyOf(one);
    for (const size of [across, deep, high]) {
      expect(size).toBeGreaterThan(0);
      expect(size).toBeLessThanOrEqual(40);
    }
    for (const { at, size } of partsOf(one, THEME)) {
      expect([...at, ...size].every(Number.isFinite)).toBe(true);
    }
    const panel = panelOf(one);
    expect(panel.height).toBeLessThanOrEqual(5);
    expect(slabOf("a", [one], Number.MAX_VALUE, byId([one]))?.up).toBeLessThanOrEqual(30);
  }
});

test("a lamp that is on shines, a die shows its face, and an unknown thing is a box", () => {
  const lit = partsOf(thing("light", [0, 0], { props: [["on", true]] }), THEME);
  const unlit = partsOf(thing("light", [0, 0], { props: [["on", false]] }), THEME);
  expect([lit.some(({ isLit }) => isLit), unlit.some(({ isLit }) => isLit)]).toEqual([true, false]);
  const pips = (face: number) =>
    partsOf(thing("dice", [0, 0], { props: [["face", face]] }), THEME).length;
  expect([pips(1), pips(6), pips(7)]).toEqual([3, 13, 1]);
  expect(partsOf(thing("nonsense", [0, 0]), THEME).map(({ form }) => form)).toEqual(["box"]);
});
