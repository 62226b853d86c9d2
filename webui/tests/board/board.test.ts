import { expect, test } from "vitest";
import { LocalPlace } from "../../src/board/live/local-doors";
import { endsOf } from "../../src/board/model/arrows";
import * as commands from "../../src/board/model/commands";
import { shapeOf } from "../../src/board/model/style";
import { at, click, drag, press, seat, settled, shape, sticky } from "./things";

test("a rectangle is drawn where one drags, is selected, and the tool is put away", async () => {
  const { board } = seat(new LocalPlace(), "ann");
  board.take("rectangle");
  drag(board, [100, 100], [300, 200]);
  await settled();
  const [thing] = [...board.things.values()];
  expect(thing && [thing.kind, shapeOf(thing), ...at(thing)]).toEqual([
    "shape",
    "rectangle",
    200,
    150,
  ]);
  expect([thing?.width, thing?.height]).toEqual([200 * 64, 100 * 64]);
  expect(board.selected).toEqual([thing?.id]);
  expect(board.toolName).toBe("select");
});

test("what one does is seen at once by oneself, and by others when it is done", async () => {
  const place = new LocalPlace();
  const [ann, bob] = [seat(place, "ann"), seat(place, "bob")];
  ann.board.put([shape(200, 200)]);
  expect(ann.board.things.size).toBe(1);
  await settled();
  expect(bob.board.things.size).toBe(1);
});

test("a drag moves what is selected, by one change at its end", async () => {
  const place = new LocalPlace();
  const { board } = seat(place, "ann");
  const [one, other] = [shape(200, 200), shape(400, 200)];
  board.put([one, other]);
  await settled();
  drag(board, [120, 120], [500, 300]);
  expect([...board.selected].sort()).toEqual([one.id, other.id].sort());
  board.down(press(board, 200, 200));
  board.move(press(board, 220, 210));
  board.move(press(board, 250, 230));
  expect(at(board.things.get(one.id))).toEqual([200, 200]);
  expect(at(board.seen.get(one.id))).toEqual([250, 230]);
  board.up(press(board, 250, 230));
  await settled();
  expect([at(board.things.get(one.id)), at(board.things.get(other.id))]).toEqual([
    [250, 230],
    [450, 230],
  ]);
  expect(board.things.get(one.id)?.version).toBe(1);
});

test("an arrow is bound to what it begins and ends on, and follows it", async () => {
  const { board } = seat(new LocalPlace(), "ann");
  const [one, other] = [shape(200, 200), shape(600, 200)];
  board.put([one, other]);
  await settled();
  board.take("arrow");
  drag(board, [200, 200], [600, 200], { isFree: false });
  await settled();
  const arrow = [...board.things.values()].find(({ kind }) => kind === "arrow");
  expect(arrow?.links).toEqual([one.id, other.id]);
  drag(board, [600, 200], [600, 500]);
  await settled();
  const now = board.things.get(arrow?.id ?? "");
  if (now === undefined) throw new Error("the arrow is gone");
  const [, to] = endsOf(now, board.things);
  // Its tip is above the middle of the shape, at its edge.
  expect(to.y / 64).toBeLessThan(500 - 30);
  expect(to.y / 64).toBeGreaterThan(500 - 50);
  board.remove([other.id]);
  await settled();
  const loose = board.things.get(now.id);
  expect(loose && endsOf(loose, board.things)[1].y).toBeCloseTo(to.y, -1);
});

test("undo takes back one's own, and leaves what others did since", async () => {
  const place = new LocalPlace();
  const [ann, bob] = [seat(place, "ann"), seat(place, "bob")];
  const one = shape(200, 200);
  ann.board.put([one]);
  await settled();
  ann.board.select([one.id]);
  commands.nudge(ann.board, 1, 0, true);
  await settled();
  bob.board.change([{ ...(bob.board.things.get(one.id) ?? one), text: "Bob's" }]);
  await settled();
  ann.board.undo();
  await settled();
  expect([at(bob.board.things.get(one.id)), bob.board.things.get(one.id)?.text]).toEqual([
    [200, 200],
    "Bob's",
  ]);
  // What somebody else has written into stays, though one has put it.
  ann.board.undo();
  await settled();
  expect(bob.board.things.size).toBe(1);
});

test("what was put, moved and taken back twice comes again as often as it is wanted", async () => {
  const { board, said } = seat(new LocalPlace(), "ann");
  const one = shape(200, 200);
  board.put([one]);
  board.select([one.id]);
  commands.nudge(board, 1, 0, false);
  await settled();
  for (let round = 0; round < 3; round++) {
    board.undo();
    board.undo();
    await settled();
    expect(board.things.size).toBe(0);
    board.redo();
    board.redo();
    await settled();
    expect(at(board.things.get(one.id))).toEqual([201, 200]);
  }
  expect(said).toEqual([]);
});

test("who grabs first has it, and who comes second is told by whom", async () => {
  const place = new LocalPlace();
  const [ann, bob] = [seat(place, "ann"), seat(place, "bob")];
  const one = shape(200, 200);
  ann.board.put([one]);
  await settled();
  ann.board.down(press(ann.board, 200, 200));
  ann.board.move(press(ann.board, 260, 200));
  await settled();
  bob.board.down(press(bob.board, 200, 200));
  bob.board.move(press(bob.board, 200, 300));
  expect(at(bob.board.seen.get(one.id))).toEqual([200, 300]);
  await settled();
  expect(bob.said).toEqual(["lost to ann"]);
  expect(at(bob.board.seen.get(one.id))).toEqual([200, 200]);
  bob.board.up(press(bob.board, 200, 300));
  ann.board.up(press(ann.board, 260, 200));
  await settled();
  expect(at(bob.board.things.get(one.id))).toEqual([260, 200]);
  drag(bob.board, [260, 200], [260, 400]);
  await settled();
  expect(at(ann.board.things.get(one.id))).toEqual([260, 400]);
});

test("a group goes together, a second press goes into it, and ungrouping ends it", async () => {
  const { board } = seat(new LocalPlace(), "ann");
  const [one, other] = [shape(200, 200), shape(400, 200)];
  board.put([one, other]);
  board.select([one.id, other.id]);
  commands.group(board);
  await settled();
  click(board, 900, 700);
  expect(board.selected).toEqual([]);
  click(board, 200, 200);
  expect([...board.selected].sort()).toEqual([one.id, other.id].sort());
  click(board, 200, 200, { count: 2 });
  expect(board.selected).toEqual([one.id]);
  board.select([one.id, other.id]);
  commands.ungroup(board);
  await settled();
  click(board, 900, 700);
  click(board, 200, 200);
  expect(board.selected).toEqual([one.id]);
});

test("what is locked is neither moved nor deleted nor restyled until it is unlocked", async () => {
  const { board, said } = seat(new LocalPlace(), "ann");
  const one = shape(200, 200);
  board.put([one]);
  board.select([one.id]);
  commands.toggleLock(board);
  await settled();
  drag(board, [200, 200], [300, 300]);
  commands.remove(board);
  board.restyle(["shape"], { fill: "red" });
  board.take("eraser");
  drag(board, [180, 200], [220, 200]);
  await settled();
  expect(at(board.things.get(one.id))).toEqual([200, 200]);
  expect(board.handles).toEqual([]);
  board.select([one.id]);
  commands.toggleLock(board);
  await settled();
  commands.remove(board);
  await settled();
  expect([board.things.size, said]).toEqual([0, []]);
});

test("a frame takes along what lies in it", async () => {
  const { board } = seat(new LocalPlace(), "ann");
  board.take("frame");
  drag(board, [100, 100], [700, 600]);
  const [inner, outer] = [shape(300, 300), shape(800, 300)];
  board.put([inner, outer]);
  await settled();
  drag(board, [100, 200], [150, 220]);
  await settled();
  expect([at(board.things.get(inner.id)), at(board.things.get(outer.id))]).toEqual([
    [350, 320],
    [800, 300],
  ]);
});

test("a drag ends at the edges of others, and not with Ctrl", async () => {
  const { board } = seat(new LocalPlace(), "ann");
  const [one, other] = [shape(200, 200), shape(500, 400)];
  board.put([one, other]);
  await settled();
  drag(board, [200, 200], [203, 396], { isFree: false });
  await settled();
  expect(at(board.things.get(one.id))[1]).toBe(400);
  drag(board, [203, 400], [203, 396], { isFree: true });
  await settled();
  expect(at(board.things.get(one.id))[1]).toBe(396);
});

test("a press into a sticky note writes into it, and a text begins where one presses", () => {
  const { board, written } = seat(new LocalPlace(), "ann");
  const note = sticky(300, 300, "Milk");
  board.put([note]);
  click(board, 300, 300, { count: 2 });
  expect(written.map(({ id }) => id)).toEqual([note.id]);
  board.take("text");
  click(board, 700, 500);
  expect(written.at(-1)?.kind).toBe("text");
  expect(board.things.size).toBe(1);
});

test("with Alt a copy is dragged, and arrows among copies bind the copies", async () => {
  const { board } = seat(new LocalPlace(), "ann");
  const [one, other] = [shape(200, 200), shape(400, 200)];
  board.put([one, other]);
  await settled();
  board.take("arrow");
  drag(board, [200, 200], [400, 200], { isFree: false });
  await settled();
  commands.selectAll(board);
  commands.duplicate(board);
  await settled();
  expect(board.things.size).toBe(6);
  const copy = board.chosen.find(({ kind }) => kind === "arrow");
  const ids = new Set(board.selected);
  expect(copy?.links.every((link) => ids.has(link))).toBe(true);
  board.select([one.id]);
  drag(board, [200, 200], [200, 500], { isAlt: true });
  await settled();
  expect([board.things.size, at(board.things.get(one.id))]).toEqual([7, [200, 200]]);
});

test("what is read only is looked at, and nothing of it changes", async () => {
  const place = new LocalPlace();
  const [ann, bob] = [seat(place, "ann"), seat(place, "bob")];
  const one = shape(200, 200);
  ann.board.put([one]);
  await settled();
  bob.board.mayWrite = false;
  drag(bob.board, [200, 200], [300, 300]);
  commands.remove(bob.board);
  commands.nudge(bob.board, 1, 0, true);
  await settled();
  expect(at(ann.board.things.get(one.id))).toEqual([200, 200]);
});
