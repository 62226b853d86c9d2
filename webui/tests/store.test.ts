import "fake-indexeddb/auto";
import { expect, test } from "vitest";
import { Keeper } from "../src/keeper";
import { DocumentSession } from "../src/session/session";
import { documentsWithKeptEdits, Store } from "../src/store";

function openSession(client: string): DocumentSession {
  const session = new DocumentSession("doc", client);
  session.connected();
  session.receive({
    t: "snapshot",
    doc: "doc",
    epoch: 1,
    version: 3,
    saved: 3,
    title: "Title",
    blocks: [["b0", { kind: "paragraph" }, "hello"]],
    applied: 0,
  });
  return session;
}

test("unsent edits come back after the tab was closed, with the same number", async () => {
  const session = openSession("one");
  session.localChange([["text", "b0", ["a"]]]);
  const sent = session.sendable();
  session.localChange([["text", "b0", [1, "b"]]]);
  const store = await Store.open();
  await store.keep(session.toStored(), session.isWorthKeeping);
  store.close();

  const again = await Store.open();
  const stored = (await again.sessions("doc")).find(({ client }) => client === "one");
  if (stored === undefined) throw new Error("nothing was kept");
  const restored = new DocumentSession("doc", "one", stored);
  expect(restored.view.get("b0")?.text).toBe("abhello");
  expect(restored.saveState()).toEqual({ kind: "offline", edits: 2 });
  expect(restored.connected()).toEqual({ t: "open", doc: "doc", epoch: 1, version: 3 });
  restored.receive({ t: "opened", doc: "doc", epoch: 1, version: 3, saved: 3 });
  expect(restored.sendable()).toEqual(sent);
  again.close();
});

test("a session with nothing of the person's in it is forgotten", async () => {
  const store = await Store.open();
  const session = openSession("two");
  await store.keep(session.toStored(), true);
  await store.keep(session.toStored(), session.isWorthKeeping);
  expect((await store.sessions("doc")).filter(({ client }) => client === "two")).toEqual([]);
  store.close();
});

test("hiding the tab writes at once what is not written", async () => {
  const store = await Store.open();
  const session = openSession("three");
  const keeper = new Keeper(store, session, false);
  session.localChange([["text", "b0", ["a"]]]);
  keeper.changed();
  keeper.flush();
  const kept = (await store.sessions("doc")).filter(({ client }) => client === "three");
  expect(kept.map(({ pendingEdits }) => pendingEdits)).toEqual([1]);
  store.close();
});

test("the home page can tell which documents have edits that were not sent", async () => {
  expect(await documentsWithKeptEdits()).toEqual(new Set(["doc"]));
});

test("without a store, closing the tab would lose edits, and the keeper says so", () => {
  expect(new Keeper(null, openSession("four"), false).hasFailed).toBe(true);
});
