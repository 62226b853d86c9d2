/** Words to who is near: who hears them, through which squares, and once. */

import { expect, test, vi } from "vitest";
import type { Nimbus } from "../../src/board/live/others";
import { Topic } from "../../src/client/topic";
import { type Heard, lasts, Nearby } from "../../src/room/live/nearby";
import {
  ALL,
  focus,
  isHeard,
  reach,
  SIDE,
  squareOf,
  squaresAround,
  squaresFor,
} from "../../src/room/model/earshot";
import { lengths } from "../../src/room/model/metres";
import { wrapped } from "../../src/room/scene/labels";

const METRE = lengths(1);
const at = (x: number, y = 0) => ({ x: x * METRE, y: y * METRE });

test("words are heard by those who are in the nimbus and have the speaker in their focus", () => {
  const says = (nimbus: Nimbus) => ({ ...at(0), reach: reach(nimbus) });
  const heard = (from: Nimbus, far: number, to: Nimbus) => isHeard(says(from), at(far), to);
  expect([heard("", 9, ""), heard("", 11, ""), heard("", 9, "quiet")]).toEqual([
    true,
    false,
    false,
  ]);
  expect([heard("quiet", 2, ""), heard("quiet", 4, ""), heard("quiet", 4, "all")]).toEqual([
    true,
    false,
    false,
  ]);
  expect([heard("all", 900, ""), heard("all", 900, "all"), heard("all", 900, "quiet")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(heard("all", 2, "quiet")).toBe(true);
});

test("whoever is heard speaks in a square that the listener has open, wherever both stand", () => {
  let seed = 7;
  const draw = () => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return (seed / 2 ** 31 - 0.5) * 120;
  };
  for (let turn = 0; turn < 3_000; turn += 1) {
    const listener = at(draw(), draw());
    const speaker = at(draw(), draw());
    for (const to of ["", "quiet", "all"] as const) {
      const squares = squaresFor(listener, to, []);
      const said = { ...speaker, reach: reach("") };
      if (isHeard(said, listener, to)) expect(squares).toContain(squareOf(speaker));
      expect(squares.length).toBeLessThanOrEqual(5);
    }
  }
});

test("squares are let go of only well behind where they were opened", () => {
  const near = at(24 - 9);
  const open = squaresFor(near, "", []);
  expect(open).toContain("1:0");
  const away = at(24 - 12);
  expect(squaresFor(away, "", [])).not.toContain("1:0");
  expect(squaresFor(away, "", open)).toContain("1:0");
  expect(squaresFor(at(24 - 14), "", open)).not.toContain("1:0");
  expect(squaresAround({ x: -1, y: -1 }, 0)).toEqual(["-1:-1"]);
  expect(squareOf({ x: SIDE, y: -1 })).toBe("1:-1");
  expect(focus("quiet")).toBeLessThan(focus(""));
});

/** Topics that are joined: what one publishes all hear that have the square open. */
class Hall {
  readonly squares = new Map<string, Set<Ear>>();
  isUp = true;
}

class Ear extends Topic {
  published: unknown[] = [];
  constructor(
    private readonly hall: Hall,
    readonly who: string,
    name: string,
  ) {
    const host = { send: () => undefined, forget: () => undefined, isSelf: () => false };
    super(host as never, name, "PlaceEarshot");
    this.hear({ t: "opened", name, version: 0, done: [] } as never);
    hall.squares.set(name, (hall.squares.get(name) ?? new Set()).add(this));
  }
  override async publish(value: unknown): Promise<void> {
    if (!this.hall.isUp) throw new Error("no connection");
    const [kind, name, x, y, reach, text] = value as unknown[];
    for (const ear of this.hall.squares.get(this.name) ?? []) {
      ear.count += 1;
      const said = { kind, name, x, y, reach, text };
      ear.hear({ t: "event", name, version: ear.count, who: this.who, value: said } as never);
    }
    await Promise.resolve();
  }
  count = 0;
  override close(): void {
    this.hall.squares.get(this.name)?.delete(this);
    super.close();
  }
}

function person(hall: Hall, who: string, other?: () => unknown) {
  const ears = new Map<string, Ear>();
  const heard: Heard[] = [];
  const session = {
    attach: (_kind: unknown, name: string) => {
      if (other !== undefined) return other();
      const known = ears.get(name) ?? new Ear(hall, who, name);
      ears.set(name, known);
      return known;
    },
    isSelf: (one: string) => one === who,
  };
  const nearby = new Nearby({
    session: session as never,
    place: "p",
    name: () => who,
    now_ms: () => 1_000,
    heard: (one) => heard.push(one),
  });
  return { nearby, heard, texts: () => heard.map(({ name, text }) => `${name}: ${text}`) };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("who walks hears what is said near, once, and nothing from afar", async () => {
  const hall = new Hall();
  const [ann, bob, eve] = [person(hall, "Ann"), person(hall, "Bob"), person(hall, "Eve")];
  ann.nearby.stand(at(0), "");
  bob.nearby.stand(at(5), "");
  eve.nearby.stand(at(40), "");
  await ann.nearby.say("  hello\n there ");
  await settled();
  expect(ann.texts()).toEqual(["Ann: hello there"]);
  expect(bob.texts()).toEqual(["Ann: hello there"]);
  expect(eve.texts()).toEqual([]);
  expect([ann.heard[0]?.isOwn, bob.heard[0]?.isOwn]).toEqual([true, false]);
  bob.nearby.stand(at(30), "");
  await ann.nearby.say("gone?");
  ann.nearby.stand(at(0), "all");
  await ann.nearby.say("everybody!");
  await ann.nearby.wave();
  await settled();
  expect(bob.texts()).toEqual(["Ann: hello there", "Ann: everybody!", "Ann: "]);
  expect(eve.texts()).toEqual(["Ann: everybody!", "Ann: "]);
  expect(eve.heard.map(({ kind, isToAll }) => [kind, isToAll])).toEqual([
    ["words", true],
    ["wave", true],
  ]);
});

test("what was said is shown for a while, the last of each person", async () => {
  const hall = new Hall();
  const [ann, bob] = [person(hall, "Ann"), person(hall, "Bob")];
  for (const one of [ann, bob]) one.nearby.stand(at(0), "");
  await ann.nearby.say("one");
  await ann.nearby.say("two");
  await bob.nearby.say("three");
  await settled();
  const shown = (now_ms: number) => [...ann.nearby.fresh(now_ms).values()].map(({ text }) => text);
  expect(shown(1_000)).toEqual(["two", "three"]);
  const [, two] = ann.heard;
  expect(shown(1_000 + (two === undefined ? 0 : lasts(two)))).toEqual(["three"]);
  expect(shown(60_000)).toEqual([]);
});

test("what cannot be said is told, and of odd events nothing is heard", async () => {
  const hall = new Hall();
  const ann = person(hall, "Ann");
  ann.nearby.stand(at(0), "");
  hall.isUp = false;
  await expect(ann.nearby.say("lost")).rejects.toThrow("no connection");
  await expect(ann.nearby.say("   ")).resolves.toBeUndefined();
  hall.isUp = true;
  const [ear] = hall.squares.get(`place/p/near/${ALL}`) ?? [];
  await ear?.publish(["sings", "Ann", 0, 0, 0, "la"]);
  await ear?.publish(["words", 7, 0, 0, 0, "la"]);
  await ear?.publish(["words", "Ann", "x", 0, 0, "la"]);
  await settled();
  expect(ann.heard).toEqual([]);
  ann.nearby.close();
  expect([...hall.squares.values()].every((ears) => ears.size === 0)).toBe(true);
});

test("what is said while the square does not open is told soon, and is not said later", async () => {
  vi.useFakeTimers();
  try {
    const [hall, published] = [new Hall(), vi.fn()];
    const ann = person(hall, "Ann", () => ({
      ready: new Promise(() => undefined),
      events: async function* () {},
      publish: published,
      close: () => undefined,
    }));
    ann.nearby.stand(at(0), "");
    const said = expect(ann.nearby.say("lost")).rejects.toThrow("not_open");
    await vi.advanceTimersByTimeAsync(3_100);
    await said;
    expect(published).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});

test("a topic that counts anew once it is open again is heard on", async () => {
  const hall = new Hall();
  const topic = new Ear(hall, "Ann", "t");
  const heard: unknown[] = [];
  const following = (async () => {
    for await (const { value } of topic.events()) heard.push(value);
  })();
  const told = (version: number, value: string) =>
    topic.hear({ t: "event", name: "t", version, who: "b", value } as never);
  told(5, "five");
  told(5, "five again");
  topic.hear({ t: "opened", name: "t", version: 0, done: [] } as never);
  told(1, "one");
  await settled();
  topic.end(new Error("over"));
  await following;
  expect(heard).toEqual(["five", "one"]);
});

test("long words are broken between words, and end with dots", () => {
  expect(wrapped("short", 4)).toEqual(["short"]);
  const lines = wrapped("one two three four five six seven eight nine ten eleven twelve", 2);
  expect(lines).toEqual(["one two three four five six", "seven eight nine ten eleven …"]);
  expect(wrapped("x".repeat(60), 4).map((line) => line.length)).toEqual([28, 28, 4]);
});
