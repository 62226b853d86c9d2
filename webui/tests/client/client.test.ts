import { expect, test } from "vitest";
import {
  Counter,
  Lock,
  RichText,
  SharedList,
  SharedMap,
  SharedObject,
  Text,
} from "../../src/client";
import { changes, edited, FakeHost, result, snapshot } from "./host";

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

test("a call waits until the object is open and has its own result", async () => {
  const host = new FakeHost();
  const counter = new Counter(host, "it", "Counter");
  const [one, two] = [counter.add(1), counter.add(2)];
  expect(host.calls()).toEqual([]);
  counter.hear(snapshot({ value: 0 }));
  expect(host.calls()).toEqual([
    [1, 0, ["add", [1]]],
    [2, 0, ["add", [2]]],
  ]);
  counter.hear(changes(2, [[2, "me#1", "add", []]], { value: 1 }));
  counter.hear(result(1, 1));
  counter.hear(result(2, 3));
  expect([await one, await two, counter.value]).toEqual([1, 3, 1]);
});

test("what was not answered is sent again, in its order, unless the node knows its end", async () => {
  const host = new FakeHost();
  const counter = new Counter(host, "it", "Counter");
  counter.hear(snapshot({ value: 0 }));
  const calls = [counter.add(1), counter.add(2), counter.add(3)];
  counter.hear(result(1, 1));
  host.calls();
  counter.disconnected();
  const late = counter.add(4);
  expect(host.calls()).toEqual([]);
  counter.ask();
  expect(host.sent).toEqual([{ t: "open", name: "it", type: "Counter", birth: "b", version: 1 }]);
  counter.hear({ t: "opened", name: "it", version: 5, done: [[2, [3], ""]] });
  expect(host.calls()).toEqual([
    [3, 2, ["add", [3]]],
    [4, 2, ["add", [4]]],
  ]);
  expect([await calls[0], await calls[1]]).toEqual([1, 3]);
  counter.hear({ t: "error", name: "it", n: 3, code: "field", message: "no", temporary: false });
  await expect(calls[2]).rejects.toMatchObject({ code: "field", message: "no" });
  counter.hear(result(4, 7));
  expect(await late).toBe(7);
});

test("a temporary refusal asks for the object again, and nothing is sent meanwhile", () => {
  const host = new FakeHost();
  const counter = new Counter(host, "it", "Counter");
  counter.hear(snapshot({ value: 0 }));
  counter.add(1).catch(() => undefined);
  host.calls();
  counter.hear({ t: "error", name: "it", n: 1, code: "closed", message: "", temporary: true });
  counter.add(2).catch(() => undefined);
  expect([host.reopened, host.calls()]).toEqual([["it"], []]);
  counter.ask();
  counter.hear(snapshot({ value: 0 }, 2));
  expect(host.calls().map((call) => (call as unknown[])[0])).toEqual([1, 2]);
});

test("no more is sent than the node has room for", () => {
  const host = new FakeHost();
  const counter = new Counter(host, "it", "Counter");
  counter.hear(snapshot({ value: 0 }));
  host.hasRoom = false;
  counter.add(1).catch(() => undefined);
  expect(host.calls()).toEqual([]);
  host.hasRoom = true;
  counter.sendWaiting();
  expect(host.calls()).toEqual([[1, 0, ["add", [1]]]]);
});

test("what is saved is counted where nodes keep a log, else what is answered", () => {
  const host = new FakeHost();
  const counter = new Counter(host, "it", "Counter");
  counter.hear(snapshot({ value: 0 }));
  for (const by of [1, 2]) counter.add(by).catch(() => undefined);
  counter.hear(result(1, 1));
  expect(counter.unsaved).toBe(1);
  host.saves = true;
  expect(counter.unsaved).toBe(2);
  counter.hear({ t: "saved", name: "it", n: 1 });
  expect(counter.unsaved).toBe(1);
});

test("a transaction is one message, and gives each its result", async () => {
  const host = new FakeHost();
  const map = new SharedMap<string, number>(host, "it", "Map");
  map.hear(snapshot([]));
  let before: Promise<number | null> | undefined;
  const all = map.transaction((both) => {
    before = both.set("x", 1);
    both.set("y", 2);
  });
  expect(host.calls()).toEqual([[1, 0, ["set", ["x", 1]], ["set", ["y", 2]]]]);
  map.hear(result(1, 7, null));
  expect([await all, await before]).toEqual([[7, null], 7]);
});

test("changes are told with who made them, and end with the object", async () => {
  const counter = new Counter(new FakeHost(), "it", "Counter");
  counter.hear(snapshot({ value: 0 }));
  const stream = counter.changes();
  counter.hear(changes(2, [[2, "you", "add", []]], { value: 1 }));
  counter.hear(snapshot({ value: 9 }, 3));
  counter.close();
  const told: unknown[] = [];
  for await (const change of stream) told.push([change.operation, change.mine, change.replaced]);
  expect(told).toEqual([
    ["add", false, false],
    ["", false, true],
  ]);
  await expect(counter.add(1)).rejects.toMatchObject({ code: "closed" });
});

test("own classes show their state and take any operation", async () => {
  const host = new FakeHost();
  const game = new SharedObject<{ scores: number[] }>(host, "it", "Game");
  game.hear(snapshot({ scores: [1] }));
  const called = game.call("score", "ann");
  game.hear(result(1, { points: 1 }));
  expect([game.state.scores, await called]).toEqual([[1], { points: 1 }]);
});

test("typing is seen at once, and carried over what others typed", () => {
  const host = new FakeHost();
  const text = new Text(host, "it", "Text");
  text.hear(snapshot({ text: "hello", version: 3, recent: null }));
  text.append("!");
  text.insert(0, "> ");
  expect(host.calls()).toEqual([[1, 0, ["edit", [3, [5, "!"]]]]]);
  text.hear(edited(2, "you", 4, [5, " all"]));
  expect(text.value).toBe("> hello all!");
  text.hear(edited(3, "me", 5, [9, "!"]));
  expect(host.calls()).toEqual([[2, 0, ["edit", [5, ["> "]]]]]);
  text.hear(result(1, 5));
  text.hear(edited(4, "me", 6, ["> "]));
  text.hear(result(2, 6));
  expect([text.value, text.unconfirmed]).toEqual(["> hello all!", false]);
});

test("what extends one's own words says so, and stands left of what others put there", () => {
  const host = new FakeHost();
  const text = new Text(host, "it", "Text");
  text.hear(snapshot({ text: "x", version: 0, recent: null }));
  text.append("[");
  expect(host.calls()).toEqual([[1, 0, ["edit", [0, [1, "["]]]]]);
  text.insert(2, "A");
  text.insert(0, "> "); // elsewhere: it goes for itself
  text.hear(edited(2, "me", 1, [1, "["]));
  expect(host.calls()).toEqual([[2, 0, ["edit", [1, [2, "A"], true]]]]);
  text.hear(edited(3, "you", 2, [2, "[C]"]));
  expect(text.value).toBe("> x[A[C]");
  text.hear(edited(4, "me", 3, [2, "A"]));
  expect(host.calls()).toEqual([[3, 0, ["edit", [3, ["> "]]]]]);
});

test("places are those of JavaScript, also with characters of two units", async () => {
  const host = new FakeHost();
  const text = new Text(host, "it", "Text");
  text.hear(snapshot({ text: "a😀b", version: 0, recent: null }));
  text.replace(3, 1, "c");
  expect(host.calls()).toEqual([[1, 0, ["edit", [0, [2, "c", -1]]]]]);
  text.set("a😁c");
  expect(text.value).toBe("a😁c");
  const stream = text.changes();
  text.hear(edited(2, "you", 1, ["😀"]));
  const { value } = await stream.next();
  expect([value.move(0), value.move(1), text.value]).toEqual([2, 3, "😀a😁c"]);
  expect(() => text.insert(99, "x")).toThrow(RangeError);
});

test("behind a reconnect own edits are known by their verdict and carried over the rest", () => {
  const host = new FakeHost();
  const text = new Text(host, "it", "Text");
  text.hear(snapshot({ text: "ab", version: 0, recent: null }));
  text.insert(1, "X");
  text.append("Y");
  text.disconnected();
  host.calls();
  text.ask();
  expect(host.sent[0]).toMatchObject({ t: "open", base: 0 });
  const recent = [["<"], [2, "X"], [4, ">"]];
  text.hear(snapshot({ text: "<aXb>", version: 3, recent }, 9, [[1, [2], ""]]));
  expect(text.value).toBe("<aXb>Y");
  expect(host.calls().at(-1)).toEqual([2, 1, ["edit", [3, [5, "Y"]]]]);
});

test("edits that are too far behind are kept and said to be lost", () => {
  const host = new FakeHost();
  const text = new Text(host, "it", "Text");
  text.hear(snapshot({ text: "ab", version: 0, recent: null }));
  text.insert(1, "X");
  text.disconnected();
  text.ask();
  text.hear(snapshot({ text: "other", version: 5_000, recent: null }, 9));
  expect([text.value, text.error?.code]).toEqual(["aXb", "base_too_old"]);
});

test("a snapshot that nobody asked for makes a text ask with its own edits' place", () => {
  const host = new FakeHost();
  const text = new Text(host, "it", "Text");
  text.hear(snapshot({ text: "ab", version: 0, recent: null }));
  text.insert(1, "X");
  text.hear(snapshot({ text: "abc", version: 1, recent: null }, 4));
  expect([host.reopened, text.value]).toEqual([["it"], "aXb"]);
  text.ask();
  text.hear(snapshot({ text: "abc", version: 1, recent: [[2, "c"]] }, 4));
  expect([text.value, text.error]).toEqual(["aXbc", null]);
});

test("a list shows own operations at once, on top of what others do", async () => {
  const host = new FakeHost();
  const list = new SharedList<string>(host, "it", "List");
  list.hear(snapshot([["1", "a"]]));
  const id = list.append("b");
  const set = list.set("~1", "B");
  list.move("1", "~1");
  expect(list.values()).toEqual(["B", "a"]);
  expect(host.calls()).toEqual([[1, 0, ["append", ["b"]]]]); // the rest names what has no id yet
  list.hear(changes(2, [[2, "you", "insert", [["insert", "2", null, "z"]]]]));
  expect(list.values()).toEqual(["z", "B", "a"]);
  list.hear(changes(3, [[3, "me", "append", [["insert", "3", "1", "b"]]]]));
  expect(list.values()).toEqual(["z", "B", "a"]);
  list.hear(result(1, "3"));
  expect(await id).toBe("3");
  expect(host.calls()).toEqual([
    [2, 1, ["set", ["3", "B"]]],
    [3, 1, ["move", ["1", "3"]]],
  ]);
  list.hear(changes(4, [[4, "me", "set", [["set", "3", "B"]]]]));
  list.hear(result(2, "b"));
  expect([await set, list.get("~1"), list.unconfirmed]).toEqual(["b", "B", true]);
});

test("what names an item that was refused is refused, too", async () => {
  const list = new SharedList<string>(new FakeHost(), "it", "List");
  list.hear(snapshot([]));
  const inserted = list.insert("a", "gone");
  const deleted = list.delete("~1");
  list.hear({ t: "error", name: "it", n: 1, code: "no_such_item", message: "", temporary: false });
  await expect(inserted).rejects.toMatchObject({ code: "no_such_item" });
  await expect(deleted).rejects.toMatchObject({ code: "no_such_item" });
  expect(list.values()).toEqual([]);
});

test("who acquires a lock waits for its turn", async () => {
  const lock = new Lock(new FakeHost(), "it", "Lock");
  const [theirs, mine] = [
    { token: 1, process: "you" },
    { token: 2, process: "me" },
  ];
  lock.hear(snapshot({ queue: [theirs] }));
  const acquired = lock.acquire();
  lock.hear(changes(2, [[2, "me", "request", []]], { queue: [theirs, mine] }));
  lock.hear(result(1, mine));
  await settled();
  expect(lock.isMine).toBe(false);
  lock.hear(changes(3, [[3, "you", "release", []]], { queue: [mine] }));
  expect([await acquired, lock.isMine]).toEqual([mine, true]);
});

test("marks are seen at once, and carried over what others type", () => {
  const host = new FakeHost();
  const text = new RichText(host, "it", "RichText");
  text.hear(snapshot({ content: ["one two"], version: 0, recent: null }));
  text.format(0, 3, { bold: true });
  text.insert(3, "!");
  expect([text.content, host.calls()]).toEqual([
    [["one!", { bold: true }], " two"],
    [[1, 0, ["edit", [0, [[3, { bold: true }]]]]]],
  ]);
  text.hear(changes(2, [[2, "other", "edit", [[1, [1, "x"]]]]]));
  expect(text.content).toEqual([["oxne!", { bold: true }], " two"]);
  text.hear(changes(3, [[3, "me#1", "edit", [[2, [[4, { bold: true }]]]]]]));
  expect(host.calls()).toEqual([[2, 0, ["edit", [2, [4, ["!", { bold: true }]]]]]]);
  text.delete(0, 2);
  text.embed(0, "p1", { alt: "a fox" });
  expect(String(text)).toBe("\ufffcne! two");
  expect(() => text.delete(8, 1)).toThrow(RangeError);
});
