import { expect, test } from "vitest";
import { LocalPlace } from "../../src/board/live/local-doors";
import { Camera } from "../../src/board/model/camera";
import { moved } from "../../src/board/model/transform";
import { at, seat, settled, shape } from "./things";

/** In another quarter of the place than the origin, in pixels. */
const FAR = 12_000_000;

test("a board opens the cells in its view, and closes those it has left", async () => {
  const place = new LocalPlace();
  place.divide("r");
  const { board } = seat(place, "ann");
  const [session] = place.sessions;
  expect([...(session?.held ?? [])]).toEqual(["r0"]);
  board.look(new Camera(FAR * 64, FAR * 64, 1, 1_000, 800));
  expect([...(session?.held ?? [])]).toEqual(["r3"]);
});

test("things dragged over a border are in one place for all, and those of two cells go together", async () => {
  const place = new LocalPlace();
  const [ann, bob] = [seat(place, "ann"), seat(place, "bob")];
  const [near, far] = [shape(0, 0), shape(FAR, FAR)];
  ann.board.put([near]);
  place.divide("r");
  const wide = new Camera(-FAR * 64, -FAR * 64, 0.05, 2_000_000, 2_000_000);
  for (const { board } of [ann, bob]) board.look(wide);
  ann.board.put([far]);
  await settled();
  expect([place.at("r0").things.size, place.at("r3").things.size]).toEqual([1, 1]);
  ann.board.change(moved([near, far], 640, 640));
  await settled();
  expect(at(bob.board.things.get(near.id))).toEqual([10, 10]);
  expect(at(bob.board.things.get(far.id))).toEqual([FAR + 10, FAR + 10]);
  ann.board.change(moved([ann.board.things.get(near.id) ?? near], FAR * 64, FAR * 64));
  await settled();
  expect(at(bob.board.things.get(near.id))).toEqual([FAR + 10, FAR + 10]);
  expect([ann.said, place.at("r0").things.size]).toEqual([[], 0]);
});

test("a refusal is told, and what was shown at once is as it was", async () => {
  const place = new LocalPlace();
  const { board, said } = seat(place, "ann");
  const one = shape(200, 200, { text: "x".repeat(20_000) });
  board.put([one]);
  expect(board.things.size).toBe(1);
  await settled();
  expect([board.things.size, said, board.mayUndo]).toEqual([0, ["bad_thing"], false]);
});

test("what is not here is a sketch", () => {
  const place = new LocalPlace();
  place.divide("r");
  const box = [0, 0, 64_000, 64_000] as const;
  place.far.set("r3", { count: 7, box, colours: ["blue"] });
  const { board } = seat(place, "ann");
  expect(board.place.bounds).toEqual(box);
  expect(board.place.sketches).toEqual([]);
});
