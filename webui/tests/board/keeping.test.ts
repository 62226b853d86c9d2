import "fake-indexeddb/auto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { moved } from "../../src/board/model/transform";
import { documentsWithKeptEdits } from "../../src/kept-list";
import { keptDocuments } from "../../src/offline/kept-documents";
import { Store } from "../../src/store";
import { boardWords } from "../../src/words/board";
import { PlaceNode, type Tab, tab, until } from "./node";
import { at, shape } from "./things";

/** In another quarter of the place than the origin, in pixels. */
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

const loaded = (one: Tab): Promise<unknown> =>
  until(() => expect(one.controller.place.isLoaded).toBe(true));
const left = async (): Promise<number> => (await store.kept("p1", "guest")).length;
const waitKept = (one: Tab): Promise<unknown> =>
  until(() => expect(one.controller.state.isKept).toBe(true));

/** All is done, and nothing is left of it in the browser. */
async function settled(one: Tab): Promise<void> {
  await until(async () => {
    expect(one.controller.state.save.kind).toBe("saved");
    expect(await left()).toBe(0);
  });
}

test("what was drawn without a connection is sent by the next page, once, under the same numbers", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  node.cut();
  const [one, other] = [shape(100, 100), shape(400, 100)];
  ann.controller.board.put([one]);
  ann.controller.board.put([other]);
  ann.controller.board.change(moved([one], 640, 0));
  ann.controller.setTitle("Another plan");
  await waitKept(ann);
  await until(() => expect(ann.shown().save.places).toBe(3));
  expect(await documentsWithKeptEdits("guest")).toEqual(new Set(["p1"]));
  expect(await keptDocuments("guest")).toEqual([
    { id: "p1", isPlace: true, title: "Another plan", places: 3, isShowable: true },
  ]);
  const { client } = ann.controller.session;
  ann.crash();

  node.isUp = true;
  const again = await tab(node, store);
  expect(again.controller.session.client).toBe(client);
  expect(again.controller.board.things.size).toBe(2);
  await settled(again);
  expect(node.ran.sort()).toEqual(["place 1 rename", "r 1 put", "r 2 put", "r 3 change"]);
  expect([...node.place.at("r").things.keys()].sort()).toEqual([one.id, other.id].sort());
  expect(at(node.place.at("r").things.get(one.id))).toEqual([110, 100]);
  expect([node.title, again.said]).toEqual(["Another plan", []]);
  // The next call goes on behind them.
  again.controller.board.put([shape(0, 0)]);
  await settled(again);
  expect(node.ran.at(-1)).toBe("r 4 put");
  again.controller.close();
});

test("what was done, and its answer was lost with the page, is not done twice", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  node.swallowed = "put";
  const one = shape(100, 100);
  ann.controller.board.put([one]);
  await until(() => expect(node.ran).toEqual(["r 1 put"]));
  ann.crash();
  node.swallowed = "";
  const again = await tab(node, store);
  await settled(again);
  expect([node.ran, again.said]).toEqual([["r 1 put"], []]);
  again.controller.close();
});

test("no call goes out before the browser has it", async () => {
  const seen: number[] = [];
  node.before = async () => {
    seen.push(await left());
  };
  const ann = await tab(node, store);
  await loaded(ann);
  ann.controller.board.put([shape(100, 100)]);
  await settled(ann);
  expect(seen).toEqual([1]);
  ann.controller.close();
});

test("what is refused for good is said with its reason, and is not kept on", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  const [one, other] = [shape(100, 100), shape(400, 100)];
  ann.controller.board.put([one, other]);
  await settled(ann);
  node.cut();
  ann.controller.board.change(moved([one], 640, 0));
  ann.controller.board.change(moved([other], 640, 0));
  await waitKept(ann);
  ann.crash();
  const locked = { id: one.id, changes: [["locked", true] as const], expected: [], to: "" };
  node.place.run("r", "bob", ["change", [locked], ""]);
  node.isUp = true;
  const again = await tab(node, store);
  await settled(again);
  await until(() =>
    expect(again.said).toEqual([boardWords.keptNotDone(1, boardWords.thing_locked)]),
  );
  const { things } = node.place.at("r");
  expect([at(things.get(one.id)), at(things.get(other.id))]).toEqual([
    [100, 100],
    [410, 100],
  ]);
  expect(at(again.controller.board.things.get(one.id))).toEqual([100, 100]);
  again.controller.close();
});

test.each(["undecided", "decided", "given up"])(
  "a joint move that its page left %s is done whole by the next one",
  async (how) => {
    node.place.divide("r");
    const [one, other] = [shape(100, 100), shape(FAR, FAR)];
    node.place.run("r0", "bob", ["put", [one], ""]);
    node.place.run("r3", "bob", ["put", [other], ""]);
    const ann = await tab(node, store);
    await loaded(ann);
    ann.controller.place.view({ box: [0, 0, FAR * 64, FAR * 64], dx: 0, dy: 0 });
    await until(() => expect(ann.controller.board.things.size).toBe(2));
    // The node has not heard what was decided.
    node.before = async (_, operation) => {
      if (operation === "decide" || (how === "undecided" && node.ran.length === 2)) node.cut();
    };
    ann.controller.board.change(moved([one, other], 640, 0));
    await until(() => expect(node.ran).toEqual(["r0 1 prepare", "r3 1 prepare"]));
    if (how === "undecided") node.cut();
    await until(() => expect(node.isUp).toBe(false));
    await waitKept(ann);
    ann.crash();
    node.before = async () => undefined;
    const [name] = ann.controller.session.stored.selves;
    if (how === "given up") node.place.run("r0", name ?? "", ["departed"]);
    node.isUp = true;
    const again = await tab(node, store);
    await settled(again);
    expect(at(node.place.at("r0").things.get(one.id))).toEqual([110, 100]);
    expect(at(node.place.at("r3").things.get(other.id))).toEqual([FAR + 10, FAR]);
    expect([node.place.at("r0").busy.size, node.place.at("r3").busy.size]).toEqual([0, 0]);
    expect(again.said).toEqual([]);
    again.controller.close();
  },
);

test("what was done when the page had to stop is sent by the next one", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  node.before = async () => node.cut(4426);
  const one = shape(100, 100);
  ann.controller.board.put([one]);
  await until(() => expect(ann.controller.session.stopped?.code).toBe("outdated"));
  expect([ann.controller.board.things.size, ann.said]).toEqual([1, []]);
  ann.controller.close();
  ann.crash();
  node.before = async () => undefined;
  node.isUp = true;
  const again = await tab(node, store);
  await settled(again);
  expect([...node.place.at("r").things.keys()]).toEqual([one.id]);
  again.controller.close();
});

test("without a connection the next page shows the board as it was, with what was drawn", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  const [one, other] = [shape(100, 100), shape(400, 100)];
  ann.controller.board.put([one]);
  await settled(ann);
  node.cut();
  ann.controller.board.put([other]);
  await waitKept(ann);
  ann.crash();
  for (let reload = 0; reload < 2; reload++) {
    const again = await tab(node, store);
    const { isLoaded, title, save } = again.controller.state;
    expect([isLoaded, title, save.kind, save.places]).toEqual([true, "Plan", "offline", 1]);
    expect([...again.controller.board.things.keys()].sort()).toEqual([one.id, other.id].sort());
    await waitKept(again);
    again.controller.close();
    again.crash();
  }
  node.isUp = true;
  const back = await tab(node, store);
  await settled(back);
  expect(node.place.at("r").things.size).toBe(2);
  back.controller.close();
});

test("a page that is closed leaves what it could not send, and asks only where nothing is kept", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  node.cut();
  ann.controller.board.put([shape(100, 100)]);
  await waitKept(ann);
  expect(ann.controller.hide()).toBe(false);
  ann.controller.close();
  ann.crash();
  await until(async () => expect(await left()).toBe(1));
  node.isUp = true;
  const bare = await tab(node, null);
  await loaded(bare);
  node.cut();
  bare.controller.board.put([shape(100, 100)]);
  expect([bare.controller.hide(), bare.controller.state.isKept]).toEqual([true, null]);
  bare.controller.close();
});

test("what the page before had hold of is let go, and its doing is nobody else's", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  const one = shape(100, 100);
  ann.controller.board.put([one]);
  await settled(ann);
  await ann.controller.place.grab([one.id]);
  expect(node.place.at("r").grabs.size).toBe(1);
  node.cut();
  ann.controller.board.change(moved([one], 640, 0));
  await waitKept(ann);
  ann.crash();
  node.isUp = true;
  const again = await tab(node, store);
  await settled(again);
  await until(() => expect(node.place.at("r").grabs.size).toBe(0));
  expect(at(node.place.at("r").things.get(one.id))).toEqual([110, 100]);
  // What others did would be said by now.
  const other = shape(400, 100);
  node.place.run("r", "bob", ["put", [other], ""]);
  node.tell();
  await until(() => expect(again.controller.state.said).toContain(boardWords.rectangle));
  expect(again.controller.state.said).not.toContain(boardWords.saidChanged(1));
  again.controller.close();
});

test("somebody else's edits are left alone, and another tab's while it lives", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  node.cut();
  ann.controller.board.put([shape(100, 100)]);
  await waitKept(ann);
  const other = await tab(node, store);
  expect(other.controller.session.client).not.toBe(ann.controller.session.client);
  expect(await documentsWithKeptEdits("user:bob")).toEqual(new Set());
  other.controller.close();
  ann.controller.close();
});
