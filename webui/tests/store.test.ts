import "fake-indexeddb/auto";
import { expect, test, vi } from "vitest";
import { Keeper, takeKept } from "../src/keeper";
import { documentsWithKeptEdits, documentsWithKeptTexts } from "../src/kept-list";
import { type Kept, Store } from "../src/store";

function kept(client: string, state: unknown, ...texts: string[]): Kept {
  const drafts = texts.map((text) => ({ id: text, code: "gone", text }));
  const session = { client, selves: [], numbers: [] };
  return { doc: "doc", client, principal: "guest", session, state, drafts };
}

const nothing = (): void => undefined;

test("what a tab leaves behind is there for the next one", async () => {
  const store = await Store.open();
  const state = { calls: [[1, "edit"]], value: new Map([["b0", ["text"]]]) };
  await store.keep(kept("one", state, "a draft"));
  store.close();
  const again = await Store.open();
  expect(await again.kept("doc", "guest")).toEqual([kept("one", state, "a draft")]);
  expect(await again.kept("other", "guest")).toEqual([]);
  await again.forget("one", "doc");
  expect(await again.kept("doc", "guest")).toEqual([]);
  again.close();
});

test("the home page can tell which documents have edits that were not sent", async () => {
  const store = await Store.open();
  await store.keep(kept("one", null, "only a draft"));
  expect(await documentsWithKeptEdits("guest")).toEqual(new Set());
  await store.keep(kept("two", { calls: [] }));
  expect(await documentsWithKeptEdits("guest")).toEqual(new Set(["doc"]));
  await store.forget("two", "doc");
  await store.forget("one", "doc");
  store.close();
});

test("the home page can tell in which documents texts wait for a place, and whose they are", async () => {
  const store = await Store.open();
  await store.keep(kept("one", { calls: [] }));
  expect(await documentsWithKeptTexts("guest")).toEqual(new Set());
  await store.keep(kept("two", null, "a draft"));
  expect(await documentsWithKeptTexts("guest")).toEqual(new Set(["doc"]));
  expect(await documentsWithKeptTexts("user:bob")).toEqual(new Set());
  for (const client of ["one", "two"]) await store.forget(client, "doc");
  store.close();
});

test("hiding the tab writes at once what is not written", async () => {
  const store = await Store.open();
  const keeper = new Keeper(store, () => kept("three", { calls: [1] }), false, nothing);
  keeper.changed(true);
  keeper.flush();
  expect(await store.kept("doc", "guest")).toEqual([kept("three", { calls: [1] })]);
  await store.forget("three", "doc");
  store.close();
});

test("no call goes out before it is kept: the state as of then, whatever is being written (E1)", async () => {
  const store = await Store.open();
  let calls = 1;
  const keeper = new Keeper(store, () => kept("six", { calls }), false, nothing);
  const first = keeper.kept();
  calls = 2;
  await keeper.kept();
  expect(await store.kept("doc", "guest")).toEqual([kept("six", { calls: 2 })]);
  await first;
  await store.forget("six", "doc");
  store.close();
  await new Keeper(null, () => kept("six", null), false, nothing).kept();
});

test("a document with nothing of the person's in it is forgotten", async () => {
  const store = await Store.open();
  await store.keep(kept("four", { calls: [1] }));
  const keeper = new Keeper(store, () => kept("four", null), true, nothing);
  keeper.changed(false);
  keeper.flush();
  expect(await store.kept("doc", "guest")).toEqual([]);
  store.close();
});

test("E2: nothing is kept before a write that has it has ended", async () => {
  const store = await Store.open();
  let tell = (): void => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const keeper = new Keeper(store, () => kept("nine", { calls: 1 }), false, tell);
  expect(keeper.isKept).toBe(true);
  keeper.changed(true);
  keeper.flush();
  expect(keeper.isKept).toBe(false);
  keeper.changed(true);
  await keeper.kept();
  expect(keeper.isKept).toBe(true);
  await told;
  keeper.changed(true, false);
  expect(keeper.isKept).toBe(true);
  keeper.changed(true);
  keeper.changed(false);
  expect(keeper.isKept).toBe(true);
  await store.forget("nine", "doc");
  store.close();
});

test("without a store, closing the tab would lose edits, and the keeper says so", () => {
  expect(new Keeper(null, () => kept("five", null), false, nothing).hasFailed).toBe(true);
});

test("what was kept for the former protocol does not keep the page from opening", async () => {
  await new Promise<void>((resolve, reject) => {
    const deleting = indexedDB.deleteDatabase("groupcore");
    deleting.onsuccess = () => resolve();
    deleting.onerror = () => reject(deleting.error);
  });
  await new Promise<void>((resolve) => {
    const opening = indexedDB.open("groupcore", 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore("sessions", { keyPath: ["client", "doc"] });
    };
    opening.onsuccess = () => {
      opening.result.close();
      resolve();
    };
  });
  expect(await documentsWithKeptEdits("guest")).toEqual(new Set());
});

test("what one person has left behind is not shown to another, and not sent by them", async () => {
  const store = await Store.open();
  await store.keep({ ...kept("six", { calls: [1] }), principal: "user:ann" });
  expect(await store.kept("doc", "user:bob")).toEqual([]);
  expect(await documentsWithKeptEdits("user:bob")).toEqual(new Set());
  expect((await store.kept("doc", "user:ann")).length).toBe(1);
  await store.forget("six", "doc");
  store.close();
});

test("what was kept when everybody was a guest is a guest's", async () => {
  await new Promise<void>((resolve, reject) => {
    const deleting = indexedDB.deleteDatabase("groupcore");
    deleting.onsuccess = () => resolve();
    deleting.onerror = () => reject(deleting.error);
  });
  const { principal: _, ...old } = kept("seven", { calls: [1] });
  await new Promise<void>((resolve) => {
    const opening = indexedDB.open("groupcore", 2);
    opening.onupgradeneeded = () => {
      const table = opening.result.createObjectStore("documents", { keyPath: ["client", "doc"] });
      table.createIndex("doc", "doc");
      table.put(old);
    };
    opening.onsuccess = () => {
      opening.result.close();
      resolve();
    };
  });
  expect(await documentsWithKeptEdits("guest")).toEqual(new Set(["doc"]));
});

async function left(store: Store, client: string): Promise<Kept[]> {
  return (await store.kept("doc", "guest")).filter((one) => one.client === client);
}

test("the outline is written when it is another one, not with every edit, and is read with them", async () => {
  const store = await Store.open();
  const outline = { title: "Long", blocks: [["b0", "paragraph", 5, true]] };
  const state = (calls: number, of = outline) => ({
    outline: [of, { version: calls }, [["planted", ["b0"]]]],
    calls,
  });
  const put = vi.spyOn(IDBObjectStore.prototype, "put");
  for (let calls = 1; calls <= 5; calls += 1) await store.keep(kept("eight", state(calls)));
  expect(put).toHaveBeenCalledTimes(6);
  expect(await left(store, "eight")).toEqual([kept("eight", state(5))]);
  const other = { ...outline, title: "Other" };
  await store.keep(kept("eight", state(6, other)));
  // Once nothing waits, the next edit finds it there.
  await store.forget("eight", "doc");
  expect(await left(store, "eight")).toEqual([]);
  await store.keep(kept("eight", state(7, other)));
  expect(put).toHaveBeenCalledTimes(9);
  expect(await left(store, "eight")).toEqual([kept("eight", state(7, other))]);
  expect(await documentsWithKeptEdits("guest")).toContain("doc");
  put.mockRestore();
  await store.forget("eight", "doc");
  store.close();
});

test("an outline that a tab has left alone is taken out by the next tab, but not a living one's", async () => {
  const store = await Store.open();
  const state = { outline: [{ title: "T", blocks: [] }, {}] };
  for (const client of ["dead", "living", "waiting"]) await store.keep(kept(client, state));
  for (const client of ["dead", "living"]) await store.forget(client, "doc");
  const locks = { take: async (client: string) => client === "dead" };
  await takeKept("doc", { store, locks, principal: "guest" });
  expect((await store.untidy()).map(([client]) => client)).not.toContain("dead");
  expect(await store.untidy()).toContainEqual(["living", "doc"]);
  expect(await left(store, "waiting")).toEqual([kept("waiting", state)]);
  await store.forget("waiting", "doc");
  for (const [client, doc] of await store.untidy()) await store.tidy(client, doc);
  expect(await store.untidy()).toEqual([]);
  store.close();
});

test("some time after the last edit was saved nothing is left in the store", async () => {
  vi.useFakeTimers();
  const done: string[] = [];
  const note = (what: string) => async () => void done.push(what);
  const store = { keep: note("keep"), forget: note("forget"), tidy: note("tidy") };
  let state: unknown = { calls: [1] };
  const keeper = new Keeper(store as unknown as Store, () => kept("nine", state), false, nothing);
  keeper.changed(true);
  await vi.advanceTimersByTimeAsync(200);
  state = null;
  keeper.changed(false);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(done).toEqual(["keep", "forget"]);
  state = { calls: [2] };
  keeper.changed(true);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(done).toEqual(["keep", "forget", "keep"]);
  state = null;
  keeper.changed(false);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(done).toEqual(["keep", "forget", "keep", "forget", "tidy"]);
  vi.useRealTimers();
});
