import "fake-indexeddb/auto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { markRead, readUpTo } from "../../src/board/live/read-marks";
import { cleanRemark, type Line } from "../../src/board/live/talk";
import { documentsWithKeptEdits } from "../../src/kept-list";
import { keptDocuments } from "../../src/offline/kept-documents";
import { REMARK_MAX } from "../../src/place/talk";
import { Store } from "../../src/store";
import { boardWords } from "../../src/words/board";
import { PlaceNode, type Tab, tab, until } from "./node";

let node: PlaceNode;
let store: Store;
beforeEach(async () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  node = new PlaceNode();
  store = await Store.open();
});
afterEach(async () => {
  for (const { client, doc } of await store.kept("p1", "guest")) await store.forget(client, doc);
  store.close();
  vi.unstubAllGlobals();
});

const ann = { name: "Ann", voter: "browser-ann" };
const bob = { name: "Bob", voter: "browser-bob" };
const lines = ({ controller }: Tab): readonly Line[] => controller.talk.lines;
const said = (one: Tab) => lines(one).map(({ by, text, state }) => [by, text, state]);
const loaded = (one: Tab) => until(() => expect(one.controller.talk.isLoaded).toBe(true));

test("what one says is read by all, and by who comes late", async () => {
  const [one, other] = [await tab(node, store, ann), await tab(node, null, bob)];
  expect(one.controller.talk.say("  Hello\r\nall \0 ")).toBe(true);
  expect(one.controller.talk.say(" \n ")).toBe(false);
  await until(() => expect(said(other)).toEqual([["Ann", "Hello\nall", "said"]]));
  await until(() => expect(said(one)).toEqual(said(other)));
  expect(lines(one)[0]?.isOwn).toBe(true);
  expect(lines(other)[0]?.isOwn).toBe(false);
  const late = await tab(node, null, { name: "Cyd", voter: "browser-cyd" });
  await until(() => expect(said(late)).toEqual(said(other)));
});

test("without a connection it is shown as waiting, and sent once by the next page", async () => {
  const one = await tab(node, store, ann);
  await loaded(one);
  node.cut();
  one.controller.talk.say("Later");
  expect(said(one)).toEqual([["Ann", "Later", "waiting"]]);
  await until(() => expect(one.shown().save).toMatchObject({ kind: "offline", places: 1 }));
  await until(() => expect(one.controller.state.isKept).toBe(true));
  expect(await documentsWithKeptEdits("guest")).toEqual(new Set(["p1"]));
  expect(await keptDocuments("guest")).toMatchObject([{ id: "p1", places: 1 }]);
  one.crash();
  node.isUp = true;
  const again = await tab(node, store, ann);
  expect(said(again)).toEqual([["Ann", "Later", "waiting"]]);
  await until(() => expect(said(again)).toEqual([["Ann", "Later", "said"]]));
  await until(() => expect(again.controller.state.save.kind).toBe("saved"));
  expect(node.remarks).toHaveLength(1);
});

test("what had no answer is not said twice", async () => {
  const one = await tab(node, store, ann);
  await loaded(one);
  node.swallowed = "say";
  one.controller.talk.say("Once");
  await until(() => expect(node.remarks).toHaveLength(1));
  await until(() => expect(one.controller.state.isKept).toBe(true));
  node.cut();
  one.crash();
  node.swallowed = "";
  node.isUp = true;
  const again = await tab(node, store, ann);
  await until(() => expect(again.controller.talk.waiting).toBe(0));
  await until(() => expect(said(again)).toEqual([["Ann", "Once", "said"]]));
  expect(node.remarks).toHaveLength(1);
});

test("what is refused stays until it is sent again or dropped", async () => {
  const one = await tab(node, store, ann);
  await loaded(one);
  node.refusedRemark = "Hmm";
  one.controller.talk.say("Hmm");
  await until(() => expect(said(one)).toEqual([["Ann", "Hmm", "refused"]]));
  const [line] = lines(one);
  node.refusedRemark = "";
  if (line !== undefined) one.controller.talk.settle(line, true);
  await until(() => expect(said(one)).toEqual([["Ann", "Hmm", "said"]]));
  node.refusedRemark = "No";
  one.controller.talk.say("No");
  await until(() => expect(lines(one)).toHaveLength(2));
  await until(() => expect(lines(one)[1]?.state).toBe("refused"));
  const [, other] = lines(one);
  if (other !== undefined) one.controller.talk.settle(other, false);
  expect(said(one)).toEqual([["Ann", "Hmm", "said"]]);
});

test("one's own goes by the order, that of others by who owns the place", async () => {
  const removed: string[] = [];
  const removeRemark = async (id: string) => void removed.push(id);
  const one = await tab(node, store, { ...ann, removeRemark });
  node.remarks.push(["ff", "guest/browser-bob", "Bob", 1, "Mine"]);
  one.controller.talk.say("Oops");
  await until(() => expect(lines(one)).toHaveLength(2));
  await until(() => expect(lines(one).every(({ state }) => state === "said")).toBe(true));
  for (const line of lines(one)) await one.controller.talk.takeBack(line);
  expect(removed).toEqual(["ff"]);
  await until(() => expect(said(one)).toEqual([["Bob", "Mine", "said"]]));
});

test("others' remarks are counted until they are read, and told to who does not read along", async () => {
  const [one, other] = [await tab(node, store, ann), await tab(node, null, bob)];
  await loaded(one);
  other.controller.talk.say("Hello");
  await until(() => expect(one.shown().unread).toBe(1));
  await until(() => expect(one.shown().said).toContain(boardWords.saidInTalk("Bob")));
  expect(other.controller.talk.unread).toBe(0);
  one.controller.talk.readAll();
  expect(one.controller.talk.unread).toBe(0);
  const again = await tab(node, null, ann);
  await loaded(again);
  expect(again.controller.talk.unread).toBe(0);
});

test("accounts are called as they are now, those that are gone are not", async () => {
  node.remarks.push(["1", "user:x", "", 1, "a"], ["2", "user:y", "", 2, "b"]);
  node.remarks.push(["3", "link:z/v", "", 3, "c"]);
  const names = vi.fn(async () => new Map([["user:x", "Xenia"]]).set("user:y", null as never));
  const one = await tab(node, store, { ...ann, principal: "user:me", isShared: false, names });
  await until(() => expect(lines(one).map(({ by }) => by)).toEqual(["Xenia", null, ""]));
  expect(names).toHaveBeenCalledOnce();
});

test("the last places are remembered as read, whatever stands in the browser", () => {
  localStorage.setItem("groupcore.talk", '[["a",3],["b"],7]');
  expect([readUpTo("a"), readUpTo("b")]).toEqual([3, 0]);
  markRead("a", 9);
  for (let place = 0; place < 250; place++) markRead(`p${place}`, place);
  expect([readUpTo("a"), readUpTo("p249"), readUpTo("p49")]).toEqual([0, 249, 0]);
  localStorage.setItem("groupcore.talk", "{");
  expect(readUpTo("p249")).toBe(0);
});

test("a remark is as long as nodes take it, by letters", () => {
  expect([...cleanRemark("😀".repeat(REMARK_MAX + 5))]).toHaveLength(REMARK_MAX);
  expect(cleanRemark("a\ud800b\0c\r")).toBe("abc");
});
