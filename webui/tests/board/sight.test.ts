/** What a page is told of a place's tree follows what it sees. */

import { expect, test } from "vitest";
import { LocalPlace } from "../../src/board/live/local-doors";
import type { PlaceView } from "../../src/board/live/place-view";
import { SessionDoors } from "../../src/board/live/session-doors";
import { Camera } from "../../src/board/model/camera";
import type { Out } from "../../src/client/messages";
import type { Kind, Openable, Session } from "../../src/client/session";
import type { Box } from "../../src/place/squares";
import { PlaceObject } from "../../src/place/wire";
import { FakeHost, snapshot } from "../client/host";
import { seat, settled, shape } from "./things";

const HERE: Box = [0, 0, 64_000, 64_000];
/** In another quarter of the place than the origin, in pixels. */
const FAR = 12_000_000;
const TREE = [
  ["r", "inner"],
  ["r0", "inner"],
  ["r1", "leaf"],
  ["r2", "leaf"],
  ["r3", "inner"],
] as const;

function outline(): { host: FakeHost; place: PlaceObject } {
  const host = new FakeHost();
  const place = new PlaceObject(host, "place/hall", PlaceObject.type);
  place.sight = HERE;
  place.ask();
  const far = [["r3", 900, [1, 1, 2, 2], ["red"]]];
  place.hear(snapshot({ title: "Hall", version: 3, tree: TREE, far }));
  return { host, place };
}

test("a place is asked for with what is seen of it, and told what else is seen", () => {
  const { host, place } = outline();
  expect(host.sent).toEqual([{ t: "open", name: "place/hall", type: "PlaceOutline", sight: HERE }]);
  place.look([5, 5, 6, 6]);
  expect(host.sent.at(-1)).toEqual({ t: "look", name: "place/hall", sight: [5, 5, 6, 6] });
  place.ask();
  expect(host.sent.at(-1)).toMatchObject({ t: "open", birth: "b", sight: [5, 5, 6, 6] });
});

test("what comes to a sight is added, and what lies below what has left it is forgotten", () => {
  const { place } = outline();
  const below = ["r30", "r31", "r32", "r33"].map((path) => [path, "leaf"] as const);
  const news = { title: "Hall", version: 3, tree: below, far: [["r31", 7, [1, 1, 2, 2], []]] };
  place.hear(snapshot({ ...news, left: [] }));
  expect([place.tree.size, place.far.size, place.tree.get("r1")]).toEqual([9, 2, "leaf"]);
  place.hear(snapshot({ title: "Hall", version: 3, tree: [], far: [], left: ["r3"] }));
  expect([...place.tree]).toEqual(TREE.map((pair) => [...pair]));
  expect([...place.far.keys()]).toEqual(["r3"]);
  place.hear(snapshot({ title: "Hall", version: 4, tree: [["r", "leaf"]], far: [] }));
  expect([place.tree.size, place.far.size]).toEqual([1, 0]);
});

test("small steps are not told, larger ones and other sizes are", () => {
  const host = new FakeHost();
  const session = {
    attach<T extends Openable>(
      kind: Kind<T>,
      name: string,
      type: string,
      prepare: (object: T) => void,
    ): T {
      const object = new kind(host, name, type);
      prepare(object);
      return object;
    },
  } as unknown as Session;
  const doors = new SessionDoors(session, "hall", () => () => undefined);
  doors.outline.ask();
  expect(host.sent).toMatchObject([{ t: "open", sight: [0, 0, 1, 1] }]);
  host.sent = [];
  const looks: Box[] = [
    [0, 0, 1_000, 1_000],
    [200, 0, 1_200, 1_000],
    [300, 0, 1_300, 1_000],
    [0, 0, 2_000, 2_000],
    [0, 0, 2_000, 2_000],
  ];
  for (const box of looks) doors.look(box);
  const told = host.sent.map((one: Out) => (one.t === "look" ? one.sight : one.t));
  expect(told).toEqual([looks[0], looks[2], looks[3]]);
});

test("below a cell of which nothing is known lies a sketch, and no cell is opened there", () => {
  const place = new LocalPlace();
  place.divide("r");
  const box: Box = [FAR * 64, FAR * 64, FAR * 64 + 64_000, FAR * 64 + 64_000];
  place.tree.set("r3", "inner");
  place.far.set("r3", { count: 900, box, colours: [] });
  const { board } = seat(place, "ann");
  const [session] = place.sessions;
  board.look(new Camera(FAR * 64, FAR * 64, 1, 1_000, 800));
  expect([...(session?.held ?? [])]).toEqual([]);
  expect(board.place.sketches.map(({ count }) => count)).toEqual([900]);
  expect((board.place as PlaceView).isLoaded).toBe(true);
  expect(board.place.bounds).toEqual(box);
});

test("what comes to be known of the tree is opened without a step", () => {
  const place = new LocalPlace();
  place.divide("r");
  place.tree.set("r0", "inner");
  const { board } = seat(place, "ann");
  const [session] = place.sessions;
  expect([...(session?.held ?? [])]).toEqual([]);
  for (const digit of "0123") place.tree.set(`r0${digit}`, "leaf");
  session?.onChange?.();
  expect([...(session?.held ?? [])]).toEqual(["r03"]);
  expect((board.place as PlaceView).isLoaded).toBe(true);
});

test("a thing that is put where the tree is not known is handed on from where one is", async () => {
  const place = new LocalPlace();
  place.divide("r");
  const { board, said } = seat(place, "ann");
  place.tree.set("r3", "inner");
  const other = shape(FAR, FAR);
  board.put([other]);
  await settled();
  expect(said).toEqual([]);
  expect(place.at("r0").things.size).toBe(0);
  expect(place.at("r3").things.size).toBe(1); // which is a leaf for itself, in this process
});
