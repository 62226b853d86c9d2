import { expect, test } from "vitest";
import { socketUrl } from "../src/api";
import { cleanName } from "../src/name";
import { initials, peopleOf } from "../src/people";
import { routeOf } from "../src/router";
import { announcement, badgeText, type SaveFacts } from "../src/save-text";

const facts = (save: SaveFacts["save"], more: Partial<SaveFacts> = {}): SaveFacts => ({
  save,
  waited_s: 0,
  isStopped: false,
  isKept: true,
  ...more,
});

test("the badge names the kept edits while they cannot be sent", () => {
  expect(badgeText(facts({ kind: "offline", edits: 12, places: 2 }))).toBe(
    "Offline · 2 changes kept",
  );
  expect(badgeText(facts({ kind: "offline", edits: 9, places: 1 }))).toBe(
    "Offline · 1 change kept",
  );
  expect(badgeText(facts({ kind: "saving", edits: 1, places: 1 }, { waited_s: 3 }))).toBe(
    "Still saving…",
  );
});

test("nothing is said to be kept before the store has it, or when it cannot have it", () => {
  const offline = { kind: "offline", edits: 3, places: 2 } as const;
  expect(badgeText(facts(offline, { isKept: false }))).toBe("Offline · 2 changes in this tab");
  expect(badgeText(facts(offline, { isKept: null }))).toBe("Offline · 2 changes in this tab only");
  const kept = { kind: "kept", edits: 0, places: 1 } as const;
  expect(badgeText(facts(kept, { isKept: false }))).toBe("1 change in this tab");
  expect(badgeText(facts(kept, { isKept: null }))).toBe("1 change in this tab only");
  expect(announcement(facts(offline, { isKept: null }), false)).toBe("2 changes in this tab only");
});

test("ordinary saving is not said aloud, trouble and its end are", () => {
  expect(announcement(facts({ kind: "saving", edits: 1, places: 1 }), false)).toBe("");
  expect(announcement(facts({ kind: "saved", edits: 0, places: 0 }), false)).toBe("");
  expect(announcement(facts({ kind: "saved", edits: 0, places: 0 }), true)).toBe(
    "All edits are saved.",
  );
  const late = facts({ kind: "saving", edits: 1, places: 1 }, { waited_s: 10 });
  expect(announcement(late, false)).toBe("Saving takes longer than usual.");
});

test("a name is one line of 1 to 80 characters", () => {
  expect(cleanName("  Ann \n Lee ")).toBe("Ann Lee");
  expect(cleanName(" \t ")).toBeNull();
  expect([...(cleanName("😀".repeat(90)) ?? "")].length).toBe(80);
});

const nowhere = { block: null, anchor: 0, head: 0, view: null, isIdle: false, calls: 0 };

test("people are those who show a name, with a place that may be drawn", () => {
  const others = new Map<string, unknown>([
    ["a", { name: "Ann", block: "b0", anchor: 1, head: 2 }],
    ["b", { name: "Bob", block: null, anchor: 0, head: 0 }],
    ["c", { name: "Cyd", block: 7, anchor: -4, head: Number.NaN }],
    ["d", { block: "b0" }],
    ["e", "nonsense"],
  ]);
  expect(peopleOf(others)).toEqual([
    { ...nowhere, who: "a", name: "Ann", block: "b0", anchor: 1, head: 2 },
    { ...nowhere, who: "b", name: "Bob" },
    { ...nowhere, who: "c", name: "Cyd" },
  ]);
  expect(initials("ann marie lee")).toBe("AM");
});

test("a path that is no document's, nor another page's, leads nowhere", () => {
  expect(routeOf("/doc/abc_1")).toEqual({ page: "document", id: "abc_1" });
  expect(routeOf("/doc/a%2Fb")).toEqual({ page: "nowhere" });
});

test("a node's address becomes that of its socket; anything else is refused", () => {
  expect(socketUrl("http://127.0.0.1:8001")).toBe("ws://127.0.0.1:8001/ws");
  expect(socketUrl("https://example.org/x")).toBe("wss://example.org/ws");
  expect(socketUrl("javascript:alert(1)")).toBeNull();
  expect(socketUrl("nonsense")).toBeNull();
});
