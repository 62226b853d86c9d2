import { expect, test } from "vitest";
import { Announcer, type News } from "../../src/board/live/announcer";
import { Bells } from "../../src/board/live/bells";
import { OrderClock } from "../../src/board/live/order-clock";
import {
  type Actor,
  countsOf,
  type Deed,
  deedsOf,
  KICK,
  kickFrom,
  ownChoice,
} from "../../src/board/model/acts";
import { actFor, foreseen } from "../../src/board/model/foreseen";
import { copiesOf } from "../../src/board/model/make";
import { MADE_ACTING, MADE_FURNITURE, newActing } from "../../src/board/model/make-acting";
import { nameOf } from "../../src/board/model/saying";
import * as settings from "../../src/board/model/settings";
import { addressText, type Now, STILL, spanOf, stateOf } from "../../src/board/model/states";
import { wiresOf, wiringOf } from "../../src/board/model/wires";
import { deedAt, linkButton, pillOf, voteLayout } from "../../src/board/model/zones";
import { type Given, readForm } from "../../src/board/page/forms";
import { checkThing, type Thing, type Value, withProps } from "../../src/place/thing";
import { boardWords } from "../../src/words/board";
import { settingsWords } from "../../src/words/settings";

const ANN: Actor = { mayWrite: true, isOnline: true, isOwn: (who) => who === "ann" };
const READER: Actor = { ...ANN, mayWrite: false };
const AWAY: Actor = { ...ANN, isOnline: false };
const SPOT = { x: 6_400, y: 6_400 };

const made = (
  what: (typeof MADE_ACTING)[number],
  props: Record<string, Value> = {},
  more: Partial<Thing> = {},
): Thing => ({ ...withProps(newActing(what, SPOT, {}, 1), props), ...more });
const asked = (deeds: readonly Deed[]) => deeds.map(({ action, given }) => [action, ...given]);
const now = (more: Partial<Now> = {}): Now => ({ ...STILL, isOwn: ANN.isOwn, ...more });
const mapOf = (...things: readonly Thing[]) => new Map(things.map((one) => [one.id, one]));

/** What no page makes, and any client can. */
const ABSURD: readonly Record<string, Value>[] = [
  { faces: 1_000_000_000, face: -7, rolls: Number.MAX_SAFE_INTEGER },
  { faces: "six", face: "x", choices: "many", labels: 7, on: "yes", up: "no", form: 3 },
  { due: 253_402_300_799_000, seconds: -4, rings: -1 },
  { choices: 1_000_000, labels: "\n".repeat(1_999), vx: 2 ** 52, vy: -(2 ** 52) },
  { choices: -5, place: "../admin", href: "javascript:alert(1)", seconds: 2 ** 52 },
  { place: "x".repeat(65), href: `https://${"x".repeat(1_990)}`, due: -1, face: 2 ** 52 },
];

test("all that can be made is what cells take, and says how it stands", () => {
  for (const one of [...MADE_ACTING, ...MADE_FURNITURE]) {
    const thing = newActing(one, SPOT, {}, 1);
    expect(() => checkThing(thing)).not.toThrow();
    expect(stateOf(thing, new Map(), now()), one).not.toBe("");
    const deeds = deedsOf(thing, ANN).length;
    expect(deeds > 0, one).toBe(one !== "clock" && thing.kind !== "furniture");
  }
});

test("each thing has the acts of its kind, as it stands", () => {
  expect(asked(deedsOf(made("light"), ANN))).toEqual([["toggle"]]);
  expect(deedsOf(made("switch", { on: true }), ANN)[0]?.label).toBe(boardWords.turnOff);
  expect(asked(deedsOf(made("timer", { seconds: 90 }), ANN))).toEqual([["start", 90_000]]);
  expect(asked(deedsOf(made("timer", { due: 5 }), ANN))).toEqual([["stop"], ["start", 300_000]]);
  const vote = made("vote", { labels: "Tea\nCoffee" }, { votes: [["ann", 1]] });
  const deeds = deedsOf(vote, ANN);
  expect(asked(deeds)).toEqual([
    ["choose", 0],
    ["choose", -1],
    ["choose", 2],
  ]);
  expect(deeds.map(({ label }) => label)).toEqual([
    boardWords.choose("Tea"),
    boardWords.takeBack("Coffee"),
    boardWords.choose(boardWords.choice(3)),
  ]);
  expect([ownChoice(vote, ANN.isOwn), countsOf(vote)]).toEqual([1, [0, 1, 0]]);
  expect(deedsOf(made("door", { place: "p-2" }), ANN)[0]?.to).toBe("/p/p-2");
  expect(deedsOf(made("link", { href: "http://a.org/x" }), READER)[0]).toMatchObject({
    to: "http://a.org/x",
    hindrance: "",
  });
});

test("who may not write cannot use things, and sees why; what is for all at once needs a connection", () => {
  const reasons = (actor: Actor) =>
    MADE_ACTING.flatMap((one) => deedsOf(made(one), actor).map(({ hindrance }) => hindrance));
  const blocked = reasons(READER).filter((one) => one === boardWords.mayNotUse);
  // Doors, links and documents lead somewhere, and change nothing.
  const leading = (["door", "link", "document"] as const).flatMap((one) =>
    deedsOf(made(one), READER),
  );
  expect(leading.length).toBe(4);
  expect(blocked.length).toBe(reasons(READER).length - leading.length);
  const needing = MADE_ACTING.filter((one) =>
    deedsOf(made(one), AWAY).some(({ hindrance }) => hindrance === boardWords.needsConnection),
  );
  expect(needing).toEqual(["timer", "dice", "ball"]);
});

test("absurd properties are shown as nothing, and open nothing", () => {
  for (const props of ABSURD) {
    for (const one of [...MADE_ACTING, ...MADE_FURNITURE]) {
      const thing = withProps(newActing(one, SPOT, {}, 1), props);
      const deeds = deedsOf(thing, ANN);
      expect(deeds.length).toBeLessThanOrEqual(100);
      for (const { to } of deeds) expect(to ?? "").not.toMatch(/javascript|\.\./);
      for (const { given } of deeds) expect(given.every(Number.isSafeInteger)).toBe(true);
      expect(stateOf(thing, new Map(), now()).length).toBeLessThan(4_000);
      expect(settings.leftOf(thing, 0)).toBeLessThanOrEqual(settings.SECONDS_MAX);
      deedAt(thing, SPOT, ANN);
    }
  }
});

test.each([
  ["javascript:alert(1)", null],
  ["JAVASCRIPT:alert(1)", null],
  ["data:text/html,<script>", null],
  ["https://a b", null],
  ["https:///", null],
  ["//evil.org", null],
  ["ftp://a.org", null],
  ["https://example.org/path?q=1", "https://example.org/path?q=1"],
])("a link goes to pages of the web alone: %s", (href, address) => {
  expect(settings.addressOf(made("link", { href }))?.href ?? null).toBe(address);
});

test("what a person writes as an address becomes one, or is told to be none", () => {
  expect(settings.cleanAddress(" example.org/a ")).toBe("https://example.org/a");
  expect(settings.cleanAddress("http://localhost:8000")).toBe("http://localhost:8000");
  for (const none of ["", "javascript:alert(1)", "no address", "x@y.org", "mailto:a@b.org"])
    expect(settings.cleanAddress(none), none).toBeNull();
  expect(settings.cleanPlace("https://here/p/abc-1")).toBe("abc-1");
  expect(settings.cleanPlace("../x")).toBeNull();
});

test("the host of a link is never cut", () => {
  const url = new URL(`https://${"a".repeat(60)}.org/${"b".repeat(200)}`);
  const text = addressText(url, 40);
  expect(text.startsWith(url.host)).toBe(true);
  expect(text.length).toBeLessThan(80);
});

test("a press on lamps, dice and tokens uses them anywhere, on others at their buttons", () => {
  for (const one of ["light", "switch", "dice", "piece", "ball"] as const)
    expect(deedAt(made(one), SPOT, ANN), one).not.toBeNull();
  const point = (zone: { left: number; top: number; width: number; height: number }) => ({
    x: SPOT.x + (zone.left + zone.width / 2) * 64,
    y: SPOT.y + (zone.top + zone.height / 2) * 64,
  });
  const timer = made("timer");
  expect(deedAt(timer, SPOT, ANN)).toBeNull();
  expect(deedAt(timer, point(pillOf(timer)), ANN)?.action).toBe("start");
  const link = made("link", { href: "https://a.org" });
  expect(deedAt(link, SPOT, ANN)).toBeNull();
  expect(deedAt(link, SPOT, READER)?.to).toBe("https://a.org/");
  expect(deedAt(link, point(linkButton(link)), ANN)?.action).toBe("open");
  const vote = made("vote");
  expect(voteLayout(vote).rows.map((row) => deedAt(vote, point(row), ANN)?.given)).toEqual([
    [0],
    [1],
    [2],
  ]);
  expect(deedAt(vote, point(voteLayout(vote).question), ANN)).toBeNull();
  // Turned by a quarter its buttons are beside it.
  const turned = { ...vote, turn: 90 * 64 };
  const [row] = voteLayout(turned).rows;
  const [x, y] = row === undefined ? [0, 0] : [row.left + row.width / 2, row.top + row.height / 2];
  expect(deedAt(turned, { x: SPOT.x - y * 64, y: SPOT.y + x * 64 }, ANN)?.given).toEqual([0]);
});

test("choices that have no room are counted, and none lies outside of the vote", () => {
  for (const choices of [0, 1, 3, 12, 100]) {
    const vote = made("vote", { choices });
    const { rows, left, rest } = voteLayout(vote);
    expect(rows.length + left).toBe(choices);
    const bottom = vote.height / 128;
    for (const row of left > 0 ? [...rows, rest] : rows)
      expect(row.top + row.height).toBeLessThanOrEqual(bottom);
  }
});

test("a ball is kicked away from where it is pushed", () => {
  expect(kickFrom({ x: 0, y: 0 }, { x: -10, y: 0 })).toEqual([KICK, 0]);
  expect(kickFrom({ x: 0, y: 0 }, { x: 0, y: 0 })).toEqual([KICK, 0]);
  const [vx = 0, vy = 0] = kickFrom({ x: 0, y: 0 }, { x: 30, y: 40 });
  expect([vx, vy]).toEqual([-540, -720]);
});

test("what is foreseen is shown over a state that has it already as if it were not", () => {
  const who = { by: "", who: "ann" };
  const lamp = made("light", {}, { id: "l" });
  const plate = made("switch", {}, { id: "s", links: ["l"] });
  const act = actFor(plate, "toggle", [], 0, who);
  const before = mapOf(plate, lamp);
  const after = mapOf(...foreseen(act, before));
  expect([...after.values()].map(settings.isOn)).toEqual([true, true]);
  expect([...foreseen(act, after)].map(settings.isOn)).toEqual([true, true]);
  const vote = made("vote");
  const choose = actFor(vote, "choose", [2], 0, who);
  const [chosen] = foreseen(choose, mapOf(vote));
  expect(chosen?.votes).toEqual([["ann", 2]]);
  const die = made("dice");
  expect(foreseen(actFor(die, "roll", [], 0, who), mapOf(die))[0]?.props).toEqual(die.props);
  // What no cell takes is shown as it is.
  expect(foreseen(actFor(vote, "choose", [99], 0, who), mapOf(vote))).toEqual([vote]);
  expect(foreseen(act, new Map())).toEqual([]);
});

test("how things stand is said in words", () => {
  const timer = made("timer", { due: 100_000 });
  expect(stateOf(timer, new Map(), now({ orderTime_ms: 40_500 }))).toBe(
    boardWords.timeLeft("1:00"),
  );
  expect(stateOf(made("timer"), new Map(), now())).toBe(boardWords.waits("5:00"));
  expect(stateOf(made("timer"), new Map(), now({ isRinging: () => true }))).toBe(
    boardWords.ringing,
  );
  expect([spanOf(59), spanOf(3_600), spanOf(604_800)]).toEqual(["0:59", "1:00:00", "168:00:00"]);
  const die = made("dice", { face: 4 });
  expect(stateOf(die, new Map(), now())).toBe("shows 4");
  expect(stateOf(die, new Map(), now({ isRolling: () => true }))).toBe(boardWords.isRolling);
  const lamp = made("light");
  const plate = made("switch", {}, { links: [lamp.id, "gone"] });
  expect(stateOf(plate, mapOf(plate, lamp), now())).toBe("off, lights 1 lamp");
  const votes = [["ann", 0] as const, ["bob", 0] as const];
  const vote = made("vote", { choices: 2, labels: "Tea\nCoffee" }, { votes });
  expect(stateOf(vote, new Map(), now())).toBe("Tea: 2, Coffee: 0, you chose Tea");
  const card = made("card", { up: false, back: "Deck" }, { text: "Queen of hearts" });
  expect(nameOf(card)).toBe("Card “Deck”");
  expect(nameOf(withProps(card, { up: true }))).toBe("Card “Queen of hearts”");
});

test("wires are drawn from what is selected, connected and taken away", () => {
  const [one, other] = [made("light"), made("light")];
  const plate = made("switch", { on: true }, { links: [one.id] });
  const things = mapOf(one, other, plate);
  expect(wiresOf([plate], things)).toEqual([{ from: plate, to: one, isLive: true }]);
  expect(wiresOf([one], things).length).toBe(1);
  expect(wiresOf([other], things)).toEqual([]);
  const wiring = wiringOf([plate, one, other]);
  expect([wiring?.isConnected, wiring?.changed[0]?.links]).toEqual([false, [one.id, other.id]]);
  const connected = { ...plate, links: [one.id, other.id] };
  const less = wiringOf([connected, other]);
  expect([less?.isConnected, less?.changed[0]?.links]).toEqual([true, [one.id]]);
  expect(wiringOf([one, other])).toBeNull();
  const bare = { ...one, id: "bare", props: [] };
  expect(wiringOf([plate, bare])?.changed.map(({ props }) => props)).toContainEqual([
    ["on", false],
  ]);
  const full = { ...plate, links: Array.from({ length: 32 }, (_, at) => `l${at}`) };
  expect(wiringOf([full, other])?.isTooMany).toBe(true);
});

test("copies do not run, roll or count votes", () => {
  const timer = made("timer", { due: 99 });
  const ball = made("ball", { vx: 5, vy: 6 });
  const copies = copiesOf([timer, ball], 0, 0, 1);
  expect(copies.map(({ props }) => props.map(([name]) => name))).toEqual([["seconds"], []]);
});

test("a timer rings once for who has seen it run, until it is heard or has rung for long", () => {
  let now_ms = 0;
  const rung: string[] = [];
  const bells = new Bells(
    () => now_ms,
    (id) => rung.push(id),
  );
  const timer = made("timer", { due: 50, rings: 2 }, { id: "t" });
  bells.look(mapOf(timer));
  const done = withProps(timer, { due: 0, rings: 3 });
  bells.look(mapOf(done));
  bells.look(mapOf(done));
  expect([rung, bells.ringingSince("t")]).toEqual([["t"], 0]);
  bells.hush("t");
  expect(bells.ringingSince("t")).toBeNull();
  bells.look(new Map());
  bells.look(mapOf(withProps(done, { rings: 4 })));
  expect(rung).toEqual(["t"]);
  bells.look(mapOf(withProps(done, { rings: 5 })));
  now_ms = 31_000;
  expect([rung.length, bells.ringingSince("t")]).toEqual([2, null]);
});

test("the order's time is known by what comes, however late it is", () => {
  let clock_ms = 1_000;
  const order = new OrderClock(() => clock_ms);
  expect(order.now_ms).toBe(1_000);
  order.hear(5_000);
  clock_ms = 2_000;
  order.hear(5_200);
  expect(order.now_ms).toBe(6_000);
  for (const absurd of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 52]) order.hear(absurd);
  expect(order.now_ms).toBe(6_000);
});

test("what others have things do is said as it stands; a ball that rolls is not", () => {
  const said: News[] = [];
  const due: (() => void)[] = [];
  const announcer = new Announcer(
    (_, act) => due.push(act),
    (news) => said.push(news),
  );
  const [lamp, ball] = [made("light"), made("ball", { vx: 9 })];
  announcer.look(mapOf(lamp, ball), false);
  const on = { ...withProps(lamp, { on: true }), version: 1 };
  announcer.look(mapOf(on, { ...ball, x: 7_000, version: 1 }), false);
  for (const act of due) act();
  expect(said).toEqual([{ added: [], changed: 0, gone: 0, acted: [lamp.id] }]);
});

const GIVEN: Given = {
  ...{ text: " Name ", minutes: 5, seconds: 0, faces: 6, choices: "A\n\n B ", form: "card" },
  ...{ back: "", href: "", place: "", document: "", lamps: [], title: "" },
};

test("forms say what is to be, and why it cannot", () => {
  const read = (thing: Thing, given: Partial<Given>) => readForm(thing, { ...GIVEN, ...given });
  expect(settings.secondsOf(read(made("timer"), { minutes: 1, seconds: 30 }).thing)).toBe(90);
  for (const minutes of [0, null, -1, 10_081])
    expect(read(made("timer"), { minutes }).problem).toBe(settingsWords.badLength);
  for (const faces of [1, 1_001, 2.5, null])
    expect(read(made("dice"), { faces }).problem).toBe(settingsWords.badFaces);
  const vote = read(made("vote"), {}).thing;
  expect([vote.text, settings.labelsOf(vote)]).toEqual(["Name", ["A", "B"]]);
  expect(vote.y - vote.height / 2).toBe(made("vote").y - made("vote").height / 2);
  expect(read(made("vote"), { choices: " \n" }).problem).toBe(settingsWords.noChoices);
  expect(read(made("vote"), { choices: "x\n".repeat(101) }).problem).not.toBe("");
  expect(read(made("vote"), { choices: "x".repeat(2_001) }).problem).not.toBe("");
  expect(read(made("link"), { href: "javascript:alert(1)" }).problem).toBe(
    settingsWords.badAddress,
  );
  expect(settings.addressOf(read(made("link"), { href: "a.org" }).thing)?.host).toBe("a.org");
  const door = read(made("door"), { text: "", place: "p2", title: "Plan" }).thing;
  expect([settings.placeOf(door), door.text]).toEqual(["p2", "Plan"]);
  expect(read(made("switch"), { lamps: ["l"] }).thing.links).toEqual(["l"]);
  for (const one of MADE_ACTING) checkThing(read(made(one), {}).thing);
});
