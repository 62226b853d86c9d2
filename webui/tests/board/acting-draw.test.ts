import { expect, test } from "vitest";
import "../../src/board/draw/acting/acting-marks";
import type { Mark } from "../../src/board/draw/mark";
import { marksOf } from "../../src/board/draw/marks";
import { Motion } from "../../src/board/draw/motion";
import { copyTo, pastedFrom } from "../../src/board/exchange/clipboard";
import { excalidrawIn } from "../../src/board/exchange/excalidraw-in";
import { excalidrawOf } from "../../src/board/exchange/excalidraw-out";
import { jsonOf, thingsIn } from "../../src/board/exchange/json";
import { svgOf } from "../../src/board/exchange/svg";
import {
  MADE_ACTING,
  MADE_FURNITURE,
  type Made,
  newActing,
} from "../../src/board/model/make-acting";
import { addressOf } from "../../src/board/model/settings";
import { type Now, STILL } from "../../src/board/model/states";
import { PAPER } from "../../src/board/page/theme";
import { type Thing, type Value, withProps } from "../../src/place/thing";

const ALL = [...MADE_ACTING, ...MADE_FURNITURE];
const measure = (text: string, size: number) => text.length * size * 0.6;
const made = (what: Made, props: Record<string, Value> = {}, more: Partial<Thing> = {}): Thing => ({
  ...withProps(newActing(what, { x: 6_400, y: 6_400 }, {}, 1), props),
  ...more,
});
const now = (more: Partial<Now> = {}): Now => ({ ...STILL, time_ms: 0, orderTime_ms: 0, ...more });
const marks = (thing: Thing, at: Now = now()): Mark[] =>
  marksOf(thing, new Map([[thing.id, thing]]), PAPER, measure, at);
const texts = (thing: Thing, at?: Now): string[] =>
  marks(thing, at).flatMap((mark) => (mark.kind === "text" ? mark.lines : []));
const paths = (thing: Thing, at?: Now) => JSON.stringify(marks(thing, at));

test("everything is drawn, whatever its size and its properties, with numbers that canvases take", () => {
  const absurd = [
    { faces: 1_000_000_000, face: 2 ** 52, choices: 1_000_000, due: 253_402_300_799_000 },
    { faces: "x", labels: "\n".repeat(1_999), form: 4, href: "javascript:alert(1)", place: "/" },
  ];
  for (const what of ALL) {
    for (const [width, height] of [
      [0, 0],
      [1, 1_048_576],
      [1_048_576, 1],
      [6_400, 6_400],
    ] as const) {
      for (const props of [{}, ...absurd]) {
        const thing = made(what, props, { width, height, text: "Name ".repeat(400) });
        const all = marks(thing);
        expect(all.length).toBeLessThan(500);
        expect(JSON.stringify(all)).not.toMatch(/NaN|Infinity|null,null/);
        expect(all.some((one) => one.kind === "path" && one.d.includes("NaN"))).toBe(false);
      }
    }
  }
});

test("how a thing stands can be seen", () => {
  for (const [what, props] of [
    ["light", { on: true }],
    ["switch", { on: true }],
    ["dice", { face: 4 }],
    ["piece", { up: false }],
    ["card", { up: false }],
    ["door", { place: "p" }],
    ["link", { href: "https://a.org" }],
    ["timer", { due: 60_000 }],
  ] as const) {
    expect(paths(made(what, props, { id: "x" })), what).not.toBe(
      paths(made(what, {}, { id: "x" })),
    );
  }
  expect(texts(made("dice", { faces: 20, face: 17 }))).toContain("17");
  expect(texts(made("timer", { due: 60_000 }))).toContain("1:00");
  const clock = made("clock");
  expect(paths(clock, now({ time_ms: 3_600_000 * 3 }))).not.toBe(paths(clock));
});

test("a vote shows its counts, and whose choice one's own is only to oneself", () => {
  const votes = [["ann", 0] as const, ["bob", 0] as const];
  const vote = made("vote", { labels: "Tea\nCoffee\nMilk" }, { votes, text: "Drink?" });
  expect(texts(vote)).toEqual(["Drink?", "2", "Tea", "0", "Coffee", "0", "Milk"]);
  const mine = now({ isOwn: (who) => who === "ann" });
  expect(marks(vote, mine).length).toBe(marks(vote).length + 1);
  expect(texts(made("vote", { choices: 100 })).at(-1)).toMatch(/^\+9\d more/);
});

test("a card that lies face down shows nothing of its front", () => {
  const card = made("card", { up: false }, { text: "Queen" });
  expect(texts(card)).toEqual([]);
  expect(texts(withProps(card, { up: true }))).toEqual(["Queen"]);
});

test("a die tumbles until the order has it fall, the same face for all at the end", () => {
  const motion = new Motion();
  const before = made("dice", { face: 2, rolls: 1 }, { id: "d" });
  const shown = (die: Thing, time_ms: number, isRolling: boolean, isCalm = false) =>
    motion.shown([die], now({ time_ms, isCalm, isRolling: () => isRolling }))[0] as Thing;
  expect(shown(before, 0, false)).toBe(before);
  shown(before, 100, true);
  expect(shown(before, 130, true)).not.toBe(before);
  expect(motion.nextIn_ms([before], now({ isCalm: false }))).toBe(0);
  const after = withProps(before, { face: 5, rolls: 2 });
  expect(shown(after, 160, false)).not.toBe(after);
  expect(shown(after, 900, false)).toBe(after);
  expect(motion.nextIn_ms([after], now())).toBeNull();
  // No answer comes: it lies still by and by.
  shown(after, 1_000, true);
  expect(shown(after, 9_000, true)).toBe(after);
});

test("who wants nothing to move sees each state as it is", () => {
  const motion = new Motion();
  const calm = (time_ms: number) => now({ time_ms, isCalm: true, isRolling: () => true });
  const [die, ball] = [made("dice", { face: 2 }), made("ball")];
  motion.shown([die, ball], calm(0));
  const next = [withProps(die, { face: 3, rolls: 1 }), { ...ball, x: 9_000 }];
  expect(motion.shown(next, calm(10))).toEqual(next);
  expect(motion.nextIn_ms(next, calm(10))).toBeNull();
});

test("a ball glides from tick to tick, and does not glide where it was put", () => {
  const motion = new Motion();
  const ball = made("ball", {}, { id: "b" });
  const at = (x: number, time_ms: number) =>
    motion.shown([{ ...ball, x }], now({ time_ms, isCalm: false }))[0]?.x ?? 0;
  expect(at(6_400, 0)).toBe(6_400);
  expect(at(7_100, 50)).toBe(6_400);
  expect(at(7_100, 85)).toBe(6_750);
  expect(at(7_100, 200)).toBe(7_100);
  expect(at(900_000, 250)).toBe(900_000);
});

test("a picture is drawn anew when a figure of it changes, not before", () => {
  const motion = new Motion();
  const timer = made("timer", { due: 10_300 });
  expect(motion.nextIn_ms([timer], now({ orderTime_ms: 0 }))).toBe(310);
  expect(motion.nextIn_ms([made("clock")], now({ time_ms: 400, isCalm: false }))).toBe(600);
  expect(motion.nextIn_ms([made("light"), made("vote")], now())).toBeNull();
});

test("an address that is pasted is a link; one that is no page of the web is a note", () => {
  const paste = (text: string) => {
    const data = { getData: (type: string) => (type === "text/plain" ? text : "") };
    return pastedFrom(data as unknown as DataTransfer, { x: 0, y: 0 }, 1).things[0];
  };
  const link = paste(" https://example.org/a?b=1 ");
  expect([link?.kind, link && addressOf(link)?.href]).toEqual([
    "link",
    "https://example.org/a?b=1",
  ]);
  expect(link && paste("javascript:alert(1)")?.kind).toBe("sticky");
  expect(paste("see https://example.org")?.kind).toBe("sticky");
  const copied = new Map<string, string>();
  const data = { setData: (type: string, text: string) => copied.set(type, text) };
  const card = made("card", { up: false, back: "Deck" }, { text: "Queen" });
  copyTo(data as unknown as DataTransfer, [card, link as Thing], "p1");
  expect(copied.get("text/plain")).toBe("Deck\nhttps://example.org/a?b=1");
});

test("what acts is in pictures and files: drawn, as shapes with words, and whole", () => {
  const link = made("link", { href: "https://a.org/" }, { text: "<b>Site</b>" });
  const vote = made("vote", { labels: "Tea\nMilk\nRum" }, { votes: [["user:ann", 1]] });
  const all = [...ALL.map((what) => made(what)), link, vote];
  const map = new Map(all.map((one) => [one.id, one]));
  const svg = svgOf(all, map, PAPER, measure, new Map());
  expect(svg).toContain("&lt;b&gt;Site");
  expect(svg).not.toContain("<b>");
  const text = excalidrawOf(all, map);
  const elements = JSON.parse(text).elements as { type: string; link: string | null }[];
  expect(elements.filter(({ type }) => type !== "text").length).toBe(all.length);
  expect(elements.filter((one) => one.link === "https://a.org/").length).toBe(1);
  expect(text).toContain("Tea: 0, Milk: 1");
  expect(excalidrawIn(text).things.length).toBe(all.length);
  const json = jsonOf(all);
  expect(json).not.toContain("user:ann");
  expect(JSON.parse(json).things.at(-1).counts).toEqual([0, 1, 0]);
  const back = thingsIn(json);
  expect(back.map(({ kind, props, links }) => [kind, props, links])).toEqual(
    all.map(({ kind, props, links }) => [kind, props, links]),
  );
});
