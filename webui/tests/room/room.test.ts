import { expect, test } from "vitest";
import { LocalPlace } from "../../src/board/live/local-doors";
import { Others } from "../../src/board/live/others";
import type { Board } from "../../src/board/model/board";
import type { Thing } from "../../src/place/thing";
import { Room } from "../../src/room/live/room";
import { frontOf, nearOf } from "../../src/room/model/focus";
import { inLengths, METRE } from "../../src/room/model/metres";
import { STILL } from "../../src/room/model/walker";
import { seat, settled } from "../board/things";
import { note, person, thing, wall } from "./things";

interface Guest {
  readonly room: Room;
  readonly board: Board;
  readonly said: string[];
  readonly others: Others;
  readonly stances: unknown[];
  put(...things: Thing[]): Promise<void>;
  frames(count: number): void;
  now_ms: number;
}

function guest(place: LocalPlace, who: string, isCalm = false): Guest {
  const { board, said } = seat(place, who);
  const others = new Others(() => found.now_ms);
  const stances: unknown[] = [];
  const stands = (stance: unknown) => void stances.push(stance);
  const room: Room = new Room(
    { board, place: board.place, others, stands },
    () => isCalm,
    () => found.now_ms,
  );
  const found: Guest = {
    room,
    board,
    said,
    others,
    stances,
    now_ms: 0,
    put: async (...things) => {
      board.put(things);
      await settled();
      room.changed();
    },
    frames: (count) => {
      for (let frame = 0; frame < count; frame++) {
        found.now_ms += 16;
        room.advance(found.now_ms, STILL);
      }
    },
  };
  room.enter({ x: 0, y: 0 }, 0);
  return found;
}

test("what stands before one is in front, and what is behind is not", async () => {
  const ann = guest(new LocalPlace(), "ann");
  const [before, behind, afar] = [
    thing("light", [0, -2]),
    thing("switch", [0, 2]),
    thing("dice", [0, -9]),
  ];
  await ann.put(before, behind, afar);
  ann.frames(1);
  expect(ann.room.focus?.id).toBe(before.id);
  expect(ann.room.near.map(({ thing: { id } }) => id).sort()).toEqual(
    [before.id, behind.id].sort(),
  );
  ann.room.walker.look(Math.PI, 0);
  ann.frames(1);
  expect(ann.room.focus?.id).toBe(behind.id);
});

test("Tab goes through what is near and ends behind the last one", async () => {
  const ann = guest(new LocalPlace(), "ann");
  const [one, other] = [thing("light", [0, -2]), thing("switch", [0, 3])];
  await ann.put(one, other);
  ann.frames(1);
  expect([ann.room.step(1), ann.room.focus?.id]).toEqual([true, other.id]);
  expect(ann.room.step(1)).toBe(false);
  expect([ann.room.step(-1), ann.room.focus?.id]).toEqual([true, one.id]);
  // What was turned to stays in focus until one walks away.
  ann.room.walker.stand({ x: 0, y: 3 });
  ann.frames(2);
  expect(ann.room.focus?.id).not.toBe(one.id);
});

test("a note is carried before one and put down by one change, which others have", async () => {
  const place = new LocalPlace();
  const [ann, bob] = [guest(place, "ann"), guest(place, "bob")];
  const paper = note(0, -1.5, "Milk");
  await ann.put(paper);
  ann.frames(1);
  expect(ann.room.take(ann.room.focus as Thing)).toBe(true);
  ann.frames(2);
  expect(ann.room.layout.lying).toEqual([]);
  expect(ann.room.slabs.map(({ things }) => things[0]?.id)).toEqual([paper.id]);
  ann.room.walker.stand({ x: 5, y: 5 }, Math.PI / 2);
  ann.frames(2);
  expect(bob.room.things.get(paper.id)?.x).toBe(paper.x);
  ann.room.putDown();
  await settled();
  const now = bob.room.things.get(paper.id);
  expect((now?.x ?? 0) / METRE).toBeCloseTo(7.1, 1);
  expect((now?.y ?? 0) / METRE).toBeCloseTo(5, 1);
  expect(now?.version).toBe(1);
});

test("what is carried and let go is back where it was", async () => {
  const ann = guest(new LocalPlace(), "ann");
  const paper = note(0, -1.5);
  await ann.put(paper);
  ann.frames(1);
  ann.room.take(paper);
  ann.room.walker.stand({ x: 5, y: 5 });
  ann.frames(2);
  ann.room.letGo();
  await settled();
  ann.frames(2);
  expect(ann.room.layout.lying.map(({ x, version }) => [x, version])).toEqual([[paper.x, 0]]);
});

test("who grabs second is told who was first, and carries nothing", async () => {
  const place = new LocalPlace();
  const [ann, bob] = [guest(place, "ann"), guest(place, "bob")];
  const table = thing("furniture", [0, -2]);
  await ann.put(table);
  bob.room.changed();
  ann.frames(1);
  bob.frames(1);
  ann.room.take(table);
  await settled();
  expect(bob.room.take(table)).toBe(true);
  await settled();
  bob.frames(1);
  expect([bob.said, bob.room.carry]).toEqual([["lost to ann"], null]);
  ann.room.putDown();
  await settled();
  expect(ann.said).toEqual([]);
});

test("what is locked stays, and what others delete is carried no further", async () => {
  const place = new LocalPlace();
  const [ann, bob] = [guest(place, "ann"), guest(place, "bob")];
  const [fast, loose] = [thing("dice", [0, -1], { locked: true }), thing("dice", [1, -1])];
  await ann.put(fast, loose);
  ann.frames(1);
  expect(ann.room.take(fast)).toBe(false);
  ann.room.take(loose);
  place.run("r", "ann", ["release", [loose.id], ""]);
  place.run("r", "bob", ["delete", [loose.id], "", -1]);
  ann.room.changed();
  ann.frames(1);
  expect(ann.room.carry).toBeNull();
  expect(bob.room.things.has(loose.id)).toBe(false);
});

test("the cells about who walks are asked for, and the board's view is not", () => {
  const ann = guest(new LocalPlace(), "ann");
  const boxes: number[][] = [];
  const { board } = ann;
  const view = board.place.view.bind(board.place);
  board.place.view = (asked) => {
    boxes.push([...asked.box]);
    view(asked);
  };
  ann.room.walker.stand({ x: 100, y: 0 });
  ann.frames(1);
  const [left = 0, , right = 0] = boxes[0] ?? [];
  expect((left + right) / 2 / METRE).toBeCloseTo(100, 0);
  board.look(board.camera.zoomed(2));
  expect(boxes.length).toBe(1);
  // Behind it the board shows where one has gone.
  ann.room.leave();
  const [west = 0, , east = 0] = boxes[1] ?? [];
  expect((west + east) / 2 / METRE).toBeCloseTo(100, 0);
});

test("others are told where one stands when that changes, and that one has left", () => {
  const ann = guest(new LocalPlace(), "ann");
  ann.frames(3);
  expect(ann.stances.length).toBe(1);
  ann.room.go({ x: 0, y: -1 });
  ann.frames(60);
  const last = ann.stances.at(-1) as { x: number; y: number };
  expect([last.x, Math.round(last.y / METRE)]).toEqual([0, -1]);
  ann.room.leave();
  expect(ann.stances.at(-1)).toBeNull();
});

test("frames end when nothing moves any more", () => {
  const ann = guest(new LocalPlace(), "ann");
  ann.room.go({ x: 0, y: -1 });
  let frames = 0;
  do {
    ann.now_ms += 16;
    frames += 1;
  } while (ann.room.advance(ann.now_ms, STILL) && frames < 500);
  expect(frames).toBeGreaterThan(10);
  expect(frames).toBeLessThan(200);
});

test("who follows somebody goes after them and stays beside", () => {
  const ann = guest(new LocalPlace(), "ann");
  ann.others.update([person("bob", { avatar: [0, -6 * METRE, 0] })], new Map());
  ann.room.follow("bob");
  ann.room.changed();
  ann.frames(300);
  const far = Math.hypot(ann.room.walker.x, ann.room.walker.y + 6);
  expect(far).toBeLessThan(2);
  expect(far).toBeGreaterThan(1);
});

test("what others drag is at their height, and so is a lamp that somebody carries", async () => {
  const ann = guest(new LocalPlace(), "ann");
  const [lamp, paper] = [thing("light", [0, -2]), note(3, -2)];
  await ann.put(lamp, paper);
  const drag = (one: Thing) => [[one.id, one.x + METRE, one.y, one.width, one.height, 0]];
  const bob = person("bob", { avatar: [0, 0, 0], drag: drag(lamp) });
  const eve = person("eve", { pointer: [0, 0], drag: drag(paper) });
  ann.others.update([bob, eve], ann.room.things);
  ann.room.changed();
  ann.frames(20);
  expect(ann.room.still).toEqual([]);
  const [mover] = ann.room.movers(ann.now_ms);
  expect([mover?.thing.id, Math.round(mover?.pose.x ?? 0)]).toEqual([lamp.id, 1]);
  expect(mover?.up).toBeGreaterThan(0.5);
  expect(ann.room.slabs[0]?.up).toBeLessThan(0.2);
});

test("a press picks what stands before what lies, a wall before both, and what hangs there", async () => {
  const ann = guest(new LocalPlace(), "ann");
  const [panel, hung, box, paper] = [
    wall(0, -8),
    note(0, -8),
    thing("furniture", [4, -4]),
    note(-4, -4),
  ];
  await ann.put(panel, hung, box, paper);
  ann.frames(1);
  const from = { x: 0, y: 0, up: 1.6 };
  const towards = (x: number, y: number, up: number) =>
    ann.room.picked({ from, by: { x: x - from.x, y: y - from.y, up: up - from.up } });
  const id = (picked: ReturnType<typeof towards>) =>
    picked?.kind === "thing" ? picked.id : picked?.kind;
  expect(id(towards(4, -4, 0.3))).toBe(box.id);
  expect(id(towards(-4, -4, 0))).toBe(paper.id);
  expect(id(towards(0, -10, 2.35))).toBe(hung.id);
  expect(id(towards(2.5, -10, 3.8))).toBe(panel.id);
  expect(id(towards(1, -1, 0))).toBe("floor");
  expect(towards(0, -5, 9)).toBeNull();
});

test("what is near is told in the order of nearness, as much as can be listened to", async () => {
  const ann = guest(new LocalPlace(), "ann");
  await ann.put(
    ...Array.from({ length: 60 }, (_, at) => thing("token", [(at % 8) * 0.5, -(at % 7) * 0.5])),
  );
  ann.frames(1);
  const near = nearOf(ann.room.layout, { x: 0, y: 0 });
  expect(near.length).toBe(24);
  expect(near.every((one, at) => at === 0 || one.far >= (near[at - 1]?.far ?? 0))).toBe(true);
  expect(frontOf([], { x: 0, y: 0 }, 0)).toBeNull();
});

test("far from the middle of the world a metre is still a metre", async () => {
  const ann = guest(new LocalPlace(), "ann");
  ann.room.walker.stand({ x: 200_000, y: 200_000 });
  await ann.put(thing("dice", [200_000, 199_998]));
  ann.frames(2);
  expect(ann.room.near[0]?.far).toBeCloseTo(1.5, 1);
  expect(inLengths({ x: 200_000, y: 0 }).x).toBe(200_000 * METRE);
});
