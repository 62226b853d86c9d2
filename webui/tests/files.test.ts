import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Feed } from "../src/files/feed";
import { choicesFor } from "../src/files/offers";
import { likedHere, openedHere, ownHere } from "../src/files/own";
import { viewOf, viewPath } from "../src/files/paths";
import { Selection } from "../src/files/selection.svelte";
import { documentOf, folderOf, workspaceOf } from "../src/files/types";
import {
  type Files,
  mayArrange,
  mayDelete,
  mayGoInto,
  mayMakeIn,
  mayTidy,
  order,
  pathOf,
  rowsIn,
} from "../src/files/views";

const doc = (id: string, more: object = {}) =>
  documentOf({ id, title: id, workspace: "home", role: "editor", changed: `2026-${id}`, ...more });
const folder = (id: string, more: object = {}) =>
  folderOf({ id, name: id, workspace: "home", created: "2026", ...more });
const gone = { at: "2026", by: "Ann", own: true };
const DOWN = { key: "changed", isDown: true } as const;

function filesOf(role = "editor"): Files {
  const documents = [
    doc("01", { changed_by: "Ann" }),
    doc("02", { folder: "g", changed_by: "Bob" }),
    doc("03", { folder: "f", trashed: gone }),
    doc("04", { workspace: null, role: "viewer" }),
    doc("05", { folder: "h", trashed: { ...gone, own: false } }),
  ];
  const folders = [folder("f"), folder("g", { folder: "f" }), folder("h", { trashed: gone })];
  return {
    documents: new Map(documents.map((one) => [one.id, one])),
    folders: new Map(folders.map((one) => [one.id, one])),
    workspaces: [workspaceOf({ id: "home", name: "Home", role })],
    favourites: ["g", "03", "01"],
    recent: [
      { id: "02", at: "" },
      { id: "gone", at: "" },
      { id: "01", at: "" },
    ],
  };
}

const idsIn = (path: string, search = "", who = ""): string[] => {
  const view = viewOf(path) ?? { kind: "all" };
  return rowsIn(filesOf(), view, search, who, DOWN).map(({ id }) => id);
};

test("each part of the files has an address of its own", () => {
  for (const path of [
    "/",
    "/recent",
    "/favourites",
    "/shared",
    "/trash",
    "/folder/f1",
    "/workspace/home",
  ]) {
    const view = viewOf(path);
    expect(view && viewPath(view)).toBe(path);
  }
  for (const path of ["/folder/", "/folder/a/b", "/people", "/trash/x"])
    expect(viewOf(path)).toBeNull();
});

test("a part shows what belongs there, and the trash what was thrown away by itself", () => {
  expect(idsIn("/")).toEqual(["04", "02", "01"]);
  expect(idsIn("/workspace/home")).toEqual(["f", "01"]);
  expect(idsIn("/folder/f")).toEqual(["g"]);
  expect(idsIn("/folder/g")).toEqual(["02"]);
  expect(idsIn("/shared")).toEqual(["04"]);
  expect(idsIn("/trash")).toEqual(["h", "03"]);
  expect(idsIn("/favourites")).toEqual(["g", "01"]);
  expect(idsIn("/recent")).toEqual(["02", "01"]);
});

test("a search looks everywhere, also at folders, but not in the trash", () => {
  expect(idsIn("/folder/f", " 0")).toEqual(["04", "02", "01"]);
  expect(idsIn("/", "G")).toEqual(["g"]);
  expect(idsIn("/trash", "3")).toEqual(["03"]);
  expect(idsIn("/", "", "Bob")).toEqual(["02"]);
});

test("titles are in the order of people, and folders stand first", () => {
  const rows = [doc("Part 10"), doc("part 9"), folder("z")];
  const by = (isDown: boolean) =>
    [...rows].sort(order({ key: "title", isDown })).map(({ title }) => title);
  expect(by(false)).toEqual(["z", "part 9", "Part 10"]);
  expect(by(true)).toEqual(["z", "Part 10", "part 9"]);
});

test("what one may follows from the workspace, and from owning a document", () => {
  const files = filesOf();
  const own = doc("x", { role: "owner", workspace: null });
  expect([
    mayArrange(files, "home"),
    mayArrange(files, ""),
    mayArrange(filesOf("viewer"), "home"),
  ]).toEqual([true, false, false]);
  expect([mayTidy(files, own), mayTidy(filesOf("viewer"), doc("y"))]).toEqual([true, false]);
  expect([mayDelete(files, folder("f")), mayDelete(filesOf("owner"), folder("f"))]).toEqual([
    false,
    true,
  ]);
  expect(mayDelete(files, own)).toBe(true);
});

test("who came by a link is not offered what only people with an account may do", () => {
  const files = filesOf("viewer");
  const row = files.documents.get("04");
  if (row === undefined) throw new Error("the document is not there");
  const act = (): void => undefined;
  const acts = { open: act, rename: act, duplicate: act, move: act, like: act, shift: act };
  const all = { ...acts, throwAway: act, restore: act, delete: act };
  const offered = (isVisitor: boolean, of = row): string[] =>
    choicesFor(files, of, { kind: "shared" }, isVisitor, all).map(({ id }) => id);
  expect(offered(true)).toEqual(["open", "download"]);
  expect(offered(false)).toEqual(["open", "duplicate", "like", "download"]);
  expect(offered(false, { ...row, isPlace: true })).toEqual(["open", "duplicate", "like"]);
});

test("nothing is made in the trash, nor where one may not write", () => {
  expect(mayMakeIn(filesOf(), { kind: "all" }, null)).toBe(true);
  expect(mayMakeIn(filesOf(), { kind: "trash" }, null)).toBe(false);
  expect(mayMakeIn(filesOf("viewer"), { kind: "workspace", id: "home" }, "home")).toBe(false);
});

test("a folder goes into none that is in it", () => {
  const files = filesOf();
  expect(pathOf(files, "g").map(({ id }) => id)).toEqual(["f", "g"]);
  expect(["f", "g", "h", ""].map((to) => mayGoInto(files, folder("f"), to))).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

test("an answer without an id is none", () => {
  expect(() => documentOf({ title: "x" })).toThrow();
});

test("Shift chooses a stretch, Space one row, and rows that go are chosen no more", () => {
  const ids = ["a", "b", "c", "d"];
  const selection = new Selection();
  selection.keep(ids, []);
  expect(selection.current).toBe("a");
  selection.go(ids, "b");
  selection.go(ids, "d", true);
  expect([...selection.chosen]).toEqual(["b", "c", "d"]);
  selection.go(ids, "c", true);
  expect([...selection.chosen]).toEqual(["b", "c"]);
  selection.toggle("a");
  expect([...selection.around("a")].sort()).toEqual(["a", "b", "c"]);
  expect(selection.around("d")).toEqual(["d"]);
  selection.go(ids, "b");
  selection.keep(["a", "c", "d"], ids);
  expect([selection.current, ...selection.chosen]).toEqual(["c", "c", "a"]);
  selection.keep([], ["a", "c", "d"]);
  expect([selection.current, selection.chosen.size]).toEqual(["", 0]);
});

// --- what this browser keeps ---

test("favourites and opened documents are kept in the browser, in one's own order", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  });
  likedHere("a");
  likedHere("b");
  likedHere("c", "a");
  for (let number = 0; number < 60; number += 1) openedHere(`d${number}`);
  openedHere("d30");
  expect(ownHere().favourites).toEqual(["c", "a", "b"]);
  expect(ownHere().recent.length).toBe(50);
  expect(
    ownHere()
      .recent.slice(0, 2)
      .map(({ id }) => id),
  ).toEqual(["d30", "d59"]);
  kept.set("groupcore.files", "{");
  expect(ownHere()).toEqual({ favourites: [], recent: [] });
  vi.unstubAllGlobals();
});

// --- the feed ---

class Wire {
  sent: string[] = [];
  onopen = (): void => undefined;
  onmessage = (_: { data: string }): void => undefined;
  onclose = (_: { code: number }): void => undefined;
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.onclose({ code: 1006 });
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function follow(ticket: () => Promise<string | null> = async () => "t") {
  const wires: Wire[] = [];
  const said: string[] = [];
  const open = () => {
    const wire = new Wire();
    wires.push(wire);
    return wire as unknown as WebSocket;
  };
  const feed = new Feed({
    url: "ws://here/feed",
    ticket,
    open,
    begun: () => said.push("begun"),
    told: (message) => said.push(String(message.gone)),
    lost: () => said.push("lost"),
    signedOut: () => said.push("signed out"),
  });
  return { feed, wires, said };
}

test("a page shows its ticket, is told, and comes back when the node is gone", async () => {
  const { feed, wires, said } = follow();
  await vi.advanceTimersByTimeAsync(0);
  wires[0]?.onopen();
  expect(wires[0]?.sent).toEqual(['{"ticket":"t"}']);
  wires[0]?.onmessage({ data: '{"t":"begin"}' });
  wires[0]?.onmessage({ data: '{"t":"changed","gone":["a"]}' });
  wires[0]?.onmessage({ data: '{"t":"again"}' });
  wires[0]?.onmessage({ data: '{"t":"alive"}' });
  wires[0]?.onclose({ code: 1012 });
  expect(said).toEqual(["begun", "a", "begun", "lost"]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(wires.length).toBe(2);
  await vi.advanceTimersByTimeAsync(60_000); // silence
  expect(wires.length).toBeGreaterThan(2);
  feed.close();
  const count = wires.length;
  await vi.advanceTimersByTimeAsync(120_000);
  expect(wires.length).toBe(count);
});

test("who is signed out is told so and does not knock on", async () => {
  const first = follow();
  await vi.advanceTimersByTimeAsync(0);
  first.wires[0]?.onclose({ code: 4403 });
  const second = follow(async () => null);
  await vi.advanceTimersByTimeAsync(120_000);
  expect([first.said, first.wires.length]).toEqual([["lost", "signed out"], 1]);
  expect([second.said, second.wires.length]).toEqual([["signed out"], 0]);
});

test("a page without a ticket tries again, at once when the browser is online", async () => {
  let tries = 0;
  const { feed, wires } = follow(async () => {
    tries += 1;
    if (tries < 3) throw new Error("away");
    return "";
  });
  await vi.advanceTimersByTimeAsync(0);
  feed.wake();
  await vi.advanceTimersByTimeAsync(0);
  feed.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect([tries, wires.length]).toEqual([3, 1]);
});
