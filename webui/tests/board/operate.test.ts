import "fake-indexeddb/auto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Acting } from "../../src/board/live/acting";
import { LocalPlace } from "../../src/board/live/local-doors";
import { PlaceView } from "../../src/board/live/place-view";
import { Camera } from "../../src/board/model/camera";
import { actFor } from "../../src/board/model/foreseen";
import { type Made, newActing } from "../../src/board/model/make-acting";
import { isOn } from "../../src/board/model/settings";
import { units } from "../../src/board/model/units";
import { prop, type Thing } from "../../src/place/thing";
import { Store } from "../../src/store";
import { boardWords } from "../../src/words/board";
import { PlaceNode, type Tab, tab, until } from "./node";
import { click, drag, press, seat, settled } from "./things";

const FAR = 12_000_000;

let node: PlaceNode;
let store: Store;
beforeEach(async () => {
  node = new PlaceNode();
  store = await Store.open();
});
afterEach(async () => {
  for (const { client, doc } of await store.kept("p1", "guest")) await store.forget(client, doc);
  store.close();
});

const put = (what: Made, x: number, y: number, more: Partial<Thing> = {}): Thing => ({
  ...newActing(what, { x: units(x), y: units(y) }, {}, 1),
  ...more,
});

/** A tab before a place in which these things are. */
async function before(...things: readonly Thing[]): Promise<Tab> {
  const one = await tab(node, store);
  await until(() => expect(one.controller.place.isLoaded).toBe(true));
  one.controller.board.put(things);
  await saved(one);
  node.ran.length = 0;
  return one;
}

const saved = (one: Tab): Promise<unknown> =>
  until(() => expect(one.controller.state.save.kind).toBe("saved"));
const here = (id: string): Thing => node.place.at("r").things.get(id) as Thing;
const operations = (): string[] => node.ran.map((one) => one.split(" ")[2] ?? "");

test("a lamp is on at once, and once it is asked for; what came of it is said", async () => {
  const lamp = put("light", 100, 100, { text: "Desk" });
  const ann = await before(lamp);
  const done = ann.controller.operate(lamp.id, "toggle");
  const shown = ann.controller.place.things.get(lamp.id);
  expect([shown && isOn(shown), isOn(here(lamp.id))]).toEqual([true, false]);
  expect(await done).toBe(true);
  expect([isOn(here(lamp.id)), operations()]).toEqual([true, ["operate"]]);
  await until(() => expect(ann.shown().said).toBe("Lamp “Desk”: on."));
  ann.controller.close();
});

test("two presses are two acts, each done once; a die is not thrown while it rolls", async () => {
  const [lamp, die] = [put("light", 100, 100), put("dice", 300, 100)];
  const ann = await before(lamp, die);
  const { controller } = ann;
  await Promise.all([controller.operate(lamp.id, "toggle"), controller.operate(lamp.id, "toggle")]);
  expect([isOn(here(lamp.id)), operations()]).toEqual([false, ["operate", "operate"]]);
  const first = controller.operate(die.id, "roll");
  expect(controller.acting.isRolling(die.id)).toBe(true);
  expect(prop(controller.place.things.get(die.id) as Thing, "face")).toBe(0);
  expect(await controller.operate(die.id, "roll")).toBe(false);
  expect(await first).toBe(true);
  expect([prop(here(die.id), "rolls"), controller.acting.isRolling(die.id)]).toEqual([1, false]);
  await until(() => expect(ann.shown().said).toContain(`shows ${prop(here(die.id), "face")}`));
  controller.close();
});

test("what is refused is told with its reason, and is as it was", async () => {
  const lamp = put("light", 100, 100);
  const vote = put("vote", 500, 300);
  const ann = await before(lamp, vote);
  const { controller, said } = ann;
  node.place.run("r", "bob", ["grab", [lamp.id], ""]);
  expect(await controller.operate(lamp.id, "toggle")).toBe(false);
  expect(isOn(controller.place.things.get(lamp.id) as Thing)).toBe(false);
  await until(() => expect(said.at(-1)).toBe(boardWords.thing_held));
  expect(await controller.operate(vote.id, "choose", [77])).toBe(false);
  await until(() => expect(said.at(-1)).toBe(boardWords.bad_action));
  expect(await controller.operate("nothing", "toggle")).toBe(false);
  await until(() => expect(said.at(-1)).toBe(boardWords.no_such_thing));
  controller.close();
});

test("without a connection lamps and votes are kept, and sent by the next page, once", async () => {
  const [lamp, vote, die] = [put("light", 100, 100), put("vote", 500, 300), put("dice", 300, 100)];
  const ann = await before(lamp, vote, die);
  const { controller, said } = ann;
  node.cut();
  await until(() => expect(controller.state.save.kind).toBe("offline"));
  void controller.operate(lamp.id, "toggle");
  void controller.operate(vote.id, "choose", [1]);
  expect(await controller.operate(die.id, "roll")).toBe(false);
  await until(() => expect(said.at(-1)).toBe(boardWords.needsConnection));
  expect(isOn(controller.place.things.get(lamp.id) as Thing)).toBe(true);
  await until(() => expect(controller.state.isKept).toBe(true));
  ann.crash();
  node.isUp = true;
  const again = await tab(node, store);
  await saved(again);
  expect(operations().sort()).toEqual(["operate", "operate"]);
  expect(isOn(here(lamp.id))).toBe(true);
  expect(here(vote.id).votes.map(([, choice]) => choice)).toEqual([1]);
  expect(again.said).toEqual([]);
  again.controller.close();
});

test("what was done, and its answer was lost with the page, is not done twice", async () => {
  const lamp = put("light", 100, 100);
  const ann = await before(lamp);
  node.swallowed = "operate";
  void ann.controller.operate(lamp.id, "toggle");
  await until(() => expect(operations()).toEqual(["operate"]));
  ann.crash();
  node.swallowed = "";
  const again = await tab(node, store);
  await saved(again);
  expect([operations(), isOn(here(lamp.id))]).toEqual([["operate"], true]);
  again.controller.close();
});

test("an act whose end was lost with its page is not asked for again; one that was never sent is", async () => {
  const place = new LocalPlace();
  const { board } = seat(place, "ann");
  const lamp = put("light", 100, 100);
  board.put([lamp]);
  await settled();
  const act = actFor(lamp, "toggle", [], 0, { by: "", who: "ann" });
  const wish = { puts: [], edits: [], deletions: [], act };
  const left = { wish, paths: [[lamp.id, "r"] as const], joint: null };
  const lit = () => isOn(place.at("r").things.get(lamp.id) as Thing);
  expect(await board.place.takeUp([{ ...left, calls: [["r", 7]] }])).toEqual([]);
  expect(lit()).toBe(false);
  expect(await board.place.takeUp([{ ...left, calls: [] }])).toEqual([]);
  expect(lit()).toBe(true);
});

test("a switch lights lamps of other cells: it is told where they are", async () => {
  const place = new LocalPlace();
  place.divide("r");
  const { board } = seat(place, "ann");
  const lamp = put("light", FAR, FAR);
  const plate = put("switch", 100, 100, { links: [lamp.id] });
  board.look(new Camera(-FAR * 64, -FAR * 64, 0.05, 2_000_000, 2_000_000));
  place.run("r3", "bob", ["put", [lamp], ""]);
  place.run("r0", "bob", ["put", [plate], ""]);
  expect(board.place.lampsOf(plate.id)).toEqual({ [lamp.id]: "r3" });
  await board.place.operate(actFor(plate, "toggle", [], 0, { by: "", who: "ann" }));
  await settled();
  expect(isOn(place.at("r3").things.get(lamp.id) as Thing)).toBe(true);
});

test("who may not write is told so, and nothing is asked of the place; a door opens for them", async () => {
  const place = new LocalPlace();
  const view = new PlaceView(place.session("ann"));
  const { board } = seat(place, "bob");
  const [lamp, door] = [
    put("light", 100, 100),
    put("door", 400, 100, { props: [["place", "p2"]] }),
  ];
  board.put([lamp, door]);
  view.view({ box: [0, 0, 64_000, 64_000], dx: 0, dy: 0 });
  await settled();
  const told: string[] = [];
  const acting = new Acting({
    ...{ place: view, mayWrite: () => false, principal: "user:ann", isShared: false, voter: "v" },
    ...{ isSelf: () => false, now_ms: () => 0, isRinging: () => false, isCalm: () => true },
    ...{ hush: () => undefined, tell: () => undefined, nameOf: () => "", changed: () => undefined },
    ...{ cards: { card: () => null }, read: () => undefined },
    say: (notice) => told.push(notice),
    go: (to) => told.push(to),
  });
  acting.useAt(lamp, lamp);
  expect(await acting.operate(lamp.id, "toggle")).toBe(false);
  expect(acting.use(door)).toBe(true);
  expect(told).toEqual([boardWords.mayNotUse, boardWords.mayNotUse, "/p/p2"]);
  expect(isOn(place.at("r").things.get(lamp.id) as Thing)).toBe(false);
});

test("a press on a lamp toggles it and selects it; a drag and Shift do not", async () => {
  const lamp = put("light", 200, 200);
  const ann = await before(lamp);
  const { board } = ann.controller;
  click(board, 200, 200);
  expect(board.selected).toEqual([lamp.id]);
  await saved(ann);
  expect(isOn(here(lamp.id))).toBe(true);
  drag(board, [200, 200], [300, 260]);
  click(board, 300, 260, { isShift: true });
  await saved(ann);
  expect(operations().filter((one) => one === "operate").length).toBe(1);
  // Pressed twice it is toggled twice, not written into.
  click(board, 300, 260);
  board.down(press(board, 300, 260, { count: 2 }));
  board.up(press(board, 300, 260, { count: 2 }));
  await saved(ann);
  expect([isOn(here(lamp.id)), operations().filter((one) => one === "operate").length]).toEqual([
    true,
    3,
  ]);
  ann.controller.close();
});

test("a timer rings for who has it in sight, and it is said", async () => {
  const timer = put("timer", 200, 200, { text: "Tea" });
  const ann = await before(timer);
  const { controller } = ann;
  node.place.run("r", "bob", ["operate", timer.id, "start", [1], "", {}]);
  node.tell();
  await until(() =>
    expect(prop(controller.place.things.get(timer.id) as Thing, "due") > 0).toBe(true),
  );
  node.place.run("r", "nodes", ["tick", 1]);
  node.place.run("r", "nodes", ["tick", 2]);
  node.tell();
  await until(() => expect(ann.said.at(-1)).toBe(boardWords.rings("Timer “Tea”")));
  expect(controller.acting.isRinging(timer.id)).toBe(true);
  controller.close();
});
