import "fake-indexeddb/auto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bring } from "../../src/board/exchange/brought";
import { ofOurs } from "../../src/board/exchange/clipboard";
import { jsonOf } from "../../src/board/exchange/json";
import { newThing } from "../../src/board/model/make";
import { propText } from "../../src/board/model/style";
import { pixels } from "../../src/board/model/units";
import { Album } from "../../src/board/pictures/album";
import { Store } from "../../src/store";
import { HASH, PlaceNode, type Tab, tab, until } from "./node";

let node: PlaceNode;
let store: Store;
beforeEach(async () => {
  node = new PlaceNode();
  store = await Store.open();
});
afterEach(async () => {
  for (const { client, doc } of await store.kept("p1", "guest")) await store.forget(client, doc);
  for (const { id } of await store.uploads("p1", "guest")) await store.forgetUpload(id);
  store.close();
});

const loaded = (one: Tab): Promise<unknown> =>
  until(() => expect(one.controller.place.isLoaded).toBe(true));
const cat = (name = "cat.png") => new File(["cat"], name, { type: "image/png" });
const there = () => [...node.place.at("r").things.values()];

test("a picture is sent once, and lies where it was dropped, no larger than a hand", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  ann.controller.pictures.add([cat(), cat("dog.png")], { x: 640, y: 640 }, 7);
  expect(ann.controller.state.save.kind).toBe("saving");
  await until(() => expect(there().length).toBe(2));
  const [one, other] = there().sort((a, b) => a.x - b.x);
  expect([one?.kind, one && propText(one, "picture")]).toEqual(["picture", HASH]);
  expect([pixels(one?.width ?? 0), pixels(one?.height ?? 0)]).toEqual([480, 240]);
  // Two are beside each other, about the point.
  expect(((one?.x ?? 0) + (other?.x ?? 0)) / 2).toBe(640);
  expect(Math.abs((one?.x ?? 0) - (other?.x ?? 0))).toBeGreaterThan(one?.width ?? 0);
  expect(node.taken.length).toBe(2);
  await until(() => expect(ann.controller.state.save.kind).toBe("saved"));
  expect(await store.uploads("p1", "guest")).toEqual([]);
  ann.controller.close();
});

test("a picture that was dropped without a connection is sent by the next page, once", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  node.cut();
  ann.controller.pictures.add([cat()], { x: 0, y: 0 }, 1);
  await until(() => expect(ann.shown().uploads[0]?.stage).toBe("waiting"));
  expect(ann.shown().save.edits).toBe(1);
  ann.crash();
  node.isUp = true;
  const again = await tab(node, store);
  await until(() => expect(there().length).toBe(1));
  expect(node.taken.length).toBe(1);
  await until(() => expect(again.controller.state.save.kind).toBe("saved"));
  again.controller.close();
});

test("what no node takes stays on a card that says why, until it is sent again or removed", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  node.refuses = "no_room";
  ann.controller.pictures.add([cat()], { x: 0, y: 0 }, 1);
  await until(() => expect(ann.shown().uploads[0]?.stage).toBe("failed"));
  const [card] = ann.shown().uploads;
  expect(card?.problem).toBe("It is not taken.");
  expect(there()).toEqual([]);
  node.refuses = "";
  ann.controller.pictures.retry(card?.id);
  await until(() => expect(there().length).toBe(1));
  node.refuses = "bad_picture";
  ann.controller.pictures.add([cat()], { x: 0, y: 0 }, 1);
  await until(() => expect(ann.shown().uploads[0]?.stage).toBe("failed"));
  ann.controller.pictures.cancel(ann.shown().uploads[0]?.id ?? "");
  await until(() => expect(ann.shown().uploads).toEqual([]));
  expect([there().length, await store.uploads("p1", "guest")]).toEqual([1, []]);
  ann.controller.close();
});

test("a thing that is pasted from another place brings its picture", async () => {
  const ann = await tab(node, store);
  await loaded(ann);
  const frame = { x: 0, y: 0, width: 640, height: 640, turn: 0 };
  const copied = [1, 2].map((order) =>
    newThing("picture", frame, {}, { order, props: [["picture", HASH]] }),
  );
  for (const place of ["p9", "p1"]) {
    const brought = ofOurs(jsonOf(copied, place), { x: 0, y: 0 }, 1);
    bring(brought, ann.controller.board, ann.controller.pictures);
  }
  await until(() => expect(there().length).toBe(4));
  await until(() => expect(node.adopted).toEqual([["p9", HASH]]));
  ann.controller.close();
});

test("the album asks for a picture once, and by and by for one that cannot be had", async () => {
  const asked: string[] = [];
  const waits: (readonly [number, () => void])[] = [];
  let isThere = false;
  const album = new Album(
    "p1",
    async (url) => {
      asked.push(url);
      if (!isThere) throw new Error("not there");
      return {} as ImageBitmap;
    },
    (delay_ms, act) => {
      waits.push([delay_ms, act]);
      return () => undefined;
    },
    () => undefined,
  );
  expect([album.image(HASH), album.image(HASH)]).toEqual([null, null]);
  await until(() => expect(waits.length).toBe(1));
  expect([album.hasFailed(HASH), album.image(HASH), asked.length]).toEqual([true, null, 1]);
  waits[0]?.[1]();
  album.image(HASH);
  await until(() => expect(waits.length).toBe(2));
  expect(waits.map(([delay_ms]) => delay_ms)).toEqual([5_000, 10_000]);
  isThere = true;
  album.again();
  album.image(HASH);
  await until(() => expect(album.image(HASH)).not.toBeNull());
  expect(asked).toEqual(Array.from({ length: 3 }, () => `/api/v1/places/p1/pictures/${HASH}`));
});
