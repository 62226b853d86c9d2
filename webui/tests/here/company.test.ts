// @vitest-environment jsdom

import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "../../src/client";
import { Company, type Place } from "../../src/here/company";
import "../../src/here/noticing"; // the page loads it with the first of the others
import { whereAll } from "../../src/here/where";
import { type Caret, COLOURS, type Person } from "../../src/people";
import { block } from "../document-double";

/** A document with a presence, in which time passes when it is told to. */
class Room {
  readonly shown: unknown[][] = [];
  readonly others = new Map<string, unknown>();
  readonly drawn: (readonly Person[])[] = [];
  readonly visits: (Place | null)[] = [];
  readonly company: Company;
  now_ms = 0;
  changes = 0;
  /** Calls of the page that are not answered. */
  unanswered = 0;
  /** Where the text says that the caret is. */
  caret: Caret | null = null;
  private timers: { at_ms: number; act: () => void }[] = [];
  private tell: () => void = () => undefined;

  constructor(name = "Ann") {
    this.company = new Company(name, {
      later: (delay_ms, act) => this.timers.push({ at_ms: this.now_ms + delay_ms, act }),
      now_ms: () => this.now_ms,
      text: () => ({
        showPeople: (people) => this.drawn.push(people),
        visit: (place) => this.visits.push(place),
        caret: () => this.caret,
      }),
      changed: () => {
        this.changes += 1;
      },
    });
  }

  async enter(): Promise<this> {
    const here = {
      others: this.others,
      set: (value: unknown[]) => this.shown.push(value),
      changes: () => this.stream(),
    };
    const room = this;
    const session = {
      open: async () => here,
      get unanswered() {
        return room.unanswered;
      },
    };
    void this.company.meet(session as unknown as Session, "doc/plan/here");
    this.company.connected(true);
    await this.pass(0);
    return this;
  }

  private async *stream(): AsyncGenerator<unknown> {
    for (;;) {
      await new Promise<void>((resolve) => {
        this.tell = resolve;
      });
      yield null;
    }
  }

  /** Somebody shows this; null: is gone. */
  async shows(who: string, value: Partial<Record<string, unknown>> | null): Promise<void> {
    const here = { block: null, anchor: 0, head: 0, view: null, idle: false, calls: 0 };
    if (value === null) this.others.delete(who);
    else this.others.set(who, { name: who, ...here, ...value });
    this.tell();
    await this.pass(50);
  }

  async pass(delay_ms: number): Promise<void> {
    await turn();
    this.now_ms += delay_ms;
    for (;;) {
      const due = this.timers.filter(({ at_ms }) => at_ms <= this.now_ms);
      if (due.length === 0) break;
      this.timers = this.timers.filter(({ at_ms }) => at_ms > this.now_ms);
      for (const { act } of due) act();
      await turn();
    }
    await turn();
  }

  get state() {
    return this.company.state;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

beforeEach(() => localStorage.clear());
afterEach(() => localStorage.clear());

test("one goes along with who one follows, until one goes a way of one's own", async () => {
  const room = await new Room().enter();
  await room.shows("Bob", { view: "b5", block: "b6", head: 2 });
  room.company.follow("Bob");
  expect(room.state.following).toBe("Bob");
  await room.shows("Bob", { view: "b9", block: "b6", head: 2 });
  await room.shows("Eve", { view: "b1" });
  expect(room.visits.map((place) => place?.view)).toEqual(["b5", "b9"]);
  room.company.leave();
  expect(room.state.following).toBeNull();
  await room.shows("Bob", { view: "b20" });
  expect(room.visits.at(-1)).toBeNull();
});

test("who is followed may come back at another node, and is not followed when gone", async () => {
  const room = await new Room().enter();
  await room.shows("one", { name: "Bob", view: "b5" });
  room.company.follow("one");
  room.others.set("two", { name: "Bob", view: "b7", block: null, anchor: 0, head: 0 });
  await room.shows("one", null);
  expect(room.state.following).toBe("Bob");
  expect(room.visits.at(-1)).toMatchObject({ view: "b7" });
  await room.shows("two", null);
  expect(room.state.following).toBeNull();
});

test("others' carets are drawn, unless one chooses not to see them, and that is kept", async () => {
  const room = await new Room().enter();
  await room.shows("Bob", { block: "b1", head: 3 });
  expect(room.drawn.at(-1)?.map(({ name }) => name)).toEqual(["Bob"]);
  room.company.choose({ areCaretsShown: false });
  expect(room.drawn.at(-1)).toEqual([]);
  expect(room.state.people.map(({ name }) => name)).toEqual(["Bob"]);
  const next = await new Room().enter();
  expect(next.state.choices.areCaretsShown).toBe(false);
});

test("who does not show where they are shows their name, and no place", async () => {
  const room = await new Room().enter();
  room.company.viewed("b3");
  room.company.caretMoved({ block: "b4", anchor: 1, head: 2 });
  await room.pass(300);
  expect(room.shown.at(-1)).toEqual(["Ann", "b4", 1, 2, "b3", false, 0]);
  room.company.choose({ isOwnShown: false });
  expect(room.shown.at(-1)).toEqual(["Ann", null, 0, 0, null, false, 0]);
});

test("a selection that begins in another block is shown with that block", async () => {
  const room = await new Room().enter();
  room.company.caretMoved({ block: "b4", anchor: 1, head: 2, start: "b2" });
  await room.pass(300);
  expect(room.shown.at(-1)).toEqual(["Ann", "b4", 1, 2, null, false, 0, "b2"]);
});

test("a caret that goes along with the text is shown seldom, and behind its edits", async () => {
  const room = await new Room().enter();
  const heads = () => room.shown.map((value) => value?.[3]);
  room.company.caretMoved({ block: "b1", anchor: 2, head: 2 }, false);
  await room.pass(60);
  const before = heads().length;
  expect(heads().at(-1)).toBe(2);
  for (let head = 3; head <= 12; head += 1) {
    room.company.caretMoved({ block: "b1", anchor: head, head }, true);
    await room.pass(200);
  }
  expect(heads().slice(before)).toEqual([7, 12]); // in between others see it by the letters
  room.unanswered = 1;
  room.company.caretMoved({ block: "b1", anchor: 13, head: 13 }, true);
  await room.pass(5_000);
  expect(heads().length).toBe(before + 2); // it would be ahead of the letters
  room.unanswered = 0;
  await room.pass(1_000);
  expect(heads().slice(before)).toEqual([7, 12, 13]);
});

test("a caret that went along is named anew behind its edits: who comes later knows no writers", async () => {
  const room = await new Room().enter();
  const places = () => room.shown.slice(-1).map((value) => [value?.[3], value?.[8]]);
  room.company.caretMoved({ block: "b1", anchor: 7, head: 7, version: 5 }, false);
  await room.pass(60);
  room.unanswered = 1;
  room.company.caretMoved({ block: "b1", anchor: 7, head: 7, version: 5 }, true); // ahead of a letter
  await room.pass(1_000);
  room.unanswered = 0;
  room.caret = { block: "b1", anchor: 8, head: 8, version: 6 };
  await room.pass(1_000);
  expect(places()).toEqual([[8, 6]]);
  room.caret = null; // the text is not there, or has not the focus: what was told last
  room.company.caretMoved({ block: "b1", anchor: 8, head: 8, version: 6 }, true);
  await room.pass(1_000);
  expect(places()).toEqual([[8, 6]]);
});

test("a caret that goes along into another block is shown at once", async () => {
  const room = await new Room().enter();
  room.company.caretMoved({ block: "b1", anchor: 0, head: 0 }, true);
  await room.pass(60);
  room.company.caretMoved({ block: "b2", anchor: 0, head: 0 }, true);
  await room.pass(60);
  expect(room.shown.slice(-2).map((value) => value?.[1])).toEqual(["b1", "b2"]);
});

test("who does nothing for a while is idle until they do something, and so is a hidden page", async () => {
  const room = await new Room().enter();
  await room.pass(121_000);
  expect(room.shown.at(-1)?.[5]).toBe(true);
  room.company.viewed("b3");
  expect(room.shown.at(-1)?.[5]).toBe(false);
  room.company.away(true);
  expect(room.shown.at(-1)?.[5]).toBe(true);
  room.company.away(false);
  expect(room.shown.at(-1)?.[5]).toBe(false);
});

test("who leaves the page is gone at once, also when the browser hides it behind that", async () => {
  const room = await new Room().enter();
  room.company.gone();
  room.company.away(true);
  expect(room.shown.at(-1)).toBeNull();
  room.company.away(false);
  expect(room.shown.at(-1)?.[0]).toBe("Ann");
});

test("a call is heard by those who are here, once, and answered by going there or not", async () => {
  const room = await new Room().enter();
  await room.shows("Bob", { view: "b5", calls: 3 });
  expect(room.state.caller).toBeNull(); // before one has come
  await room.shows("Bob", { view: "b5", calls: 4 });
  expect(room.state.caller).toBe("Bob");
  room.company.answer(true);
  expect([room.state.caller, room.visits.at(-1)?.view]).toEqual([null, "b5"]);
  await room.shows("Bob", { view: "b6", calls: 5 });
  room.company.answer(false);
  await room.shows("Bob", { view: "b6", calls: 6 });
  expect(room.state.caller).toBeNull(); // not now
  await room.pass(61_000);
  await room.shows("Bob", { view: "b6", calls: 7 });
  expect(room.state.caller).toBe("Bob");
  await room.pass(31_000);
  expect(room.state.caller).toBeNull();
});

test("one calls the others where they can see one, and not again and again", async () => {
  const room = await new Room().enter();
  room.company.choose({ isOwnShown: false });
  room.company.call();
  expect(room.shown.at(-1)?.[6]).toBe(0);
  room.company.choose({ isOwnShown: true });
  room.company.call();
  room.company.call();
  expect([room.shown.at(-1)?.[6], room.state.isCalling]).toEqual([1, true]);
  await room.pass(11_000);
  room.company.call();
  expect(room.shown.at(-1)?.[6]).toBe(2);
});

test("coming and going is said in one sentence now and then, and changes of nodes are not", async () => {
  const room = await new Room().enter();
  await room.shows("Bob", {});
  await room.pass(3_000);
  expect(room.state.said).toBe("Bob came. 1 other is here.");
  for (const who of ["Cy", "Di", "Eve", "Fay"]) await room.shows(who, {});
  await room.shows("Bob", null);
  await room.pass(3_000);
  expect(room.state.said).toBe("Bob came. 1 other is here."); // too soon
  await room.pass(15_000);
  expect(room.state.said).toBe("Cy, Di, and 2 others came. Bob left. 4 others are here.");
  await room.shows("Cy at b", { name: "Cy" });
  await room.shows("Cy", null);
  await room.pass(30_000);
  expect(room.state.said).toBe("Cy, Di, and 2 others came. Bob left. 4 others are here.");
});

test("the page is told when the list changes, not at each step of a caret", async () => {
  const room = await new Room().enter();
  await room.shows("Bob", { block: "b1" });
  const before = room.changes;
  for (let head = 1; head < 20; head += 1) await room.shows("Bob", { block: "b1", head });
  expect([room.changes, room.company.people[0]?.head]).toEqual([before, 19]);
  await room.shows("Bob", { block: "b1", idle: true });
  expect(room.changes).toBe(before + 1);
});

test("people are under the heading above them, in a block of so many", () => {
  const blocks = [
    block("b0", "start"),
    block("b1", "Costs", "heading"),
    block("b2", "rent"),
    block("b3", [], "heading"),
    block("b4", "end"),
  ];
  const at = (who: string, where: Partial<Person>): Person => ({
    who,
    name: who,
    block: null,
    anchor: 0,
    head: 0,
    view: null,
    isIdle: false,
    calls: 0,
    ...where,
  });
  const people = [at("a", { view: "b0" }), at("b", { view: "b0", block: "b2" })];
  const more = [at("c", { block: "b4" }), at("d", {}), at("e", { block: "gone" })];
  const found = whereAll(blocks, [...people, ...more]);
  expect(Object.fromEntries(found)).toEqual({
    a: { heading: null, place: 1, of: 5 },
    b: { heading: "Costs", place: 3, of: 5 },
    c: { heading: null, place: 5, of: 5 },
  });
});

test("letters on the colours of people can be read, by day and by night", () => {
  const css = readFileSync("src/styles/base.css", "utf8");
  const [day, night] = css.split("prefers-color-scheme: dark") as [string, string];
  for (const part of [day, night]) {
    const of = (name: string) => new RegExp(`--${name}: #([0-9a-f]{6})`).exec(part)?.[1] ?? "";
    for (let colour = 0; colour < COLOURS; colour += 1) {
      expect(contrast(of(`person-${colour}`), of("person-ink"))).toBeGreaterThan(4.5);
      expect(contrast(of(`person-${colour}`), of("paper"))).toBeGreaterThan(4.5);
    }
  }
});

/** By WCAG 2. */
function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [
    number,
    number,
  ];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [red, green, blue] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
