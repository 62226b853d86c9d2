import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Outline } from "../../src/client/outline";
import { changes, FakeHost, result, snapshot } from "./host";

interface Verbs {
  state: unknown;
  cases: { verb: string; arguments: unknown[]; call: [string, unknown[]] }[];
}

const path = new URL("../../../docs/vectors/objects.json", import.meta.url);
const [verbs] = (JSON.parse(readFileSync(path, "utf-8")) as { outline: [Verbs] }).outline;

function opened(): [Outline, FakeHost] {
  const host = new FakeHost();
  const outline = new Outline(host, "it", "Outline");
  outline.hear(snapshot(verbs.state));
  return [outline, host];
}

test.each(verbs.cases)("$verb sends what it sends from Python: $call", (one) => {
  const [outline, host] = opened();
  const verb = outline[one.verb as "rename"] as (...args: unknown[]) => Promise<unknown>;
  void verb.apply(outline, one.arguments);
  expect(host.calls()).toEqual([[1, 0, one.call]]);
});

test("a verb gives what the node answers, and is seen when it is done", async () => {
  const [outline, host] = opened();
  const inserted = outline.insert("new", "B");
  expect(host.calls()).toHaveLength(1);
  expect(outline.blocks().map(({ id }) => id)).toEqual(["A", "B", "C"]);
  const item = [["insert", "n7", "B", {}, "new"]];
  outline.hear(changes(2, [[2, "me", "create", [[6, item]]]]));
  outline.hear(result(1, "n7"));
  expect(await inserted).toBe("n7");
  expect(outline.blocks().map(({ id }) => id)).toEqual(["A", "B", "n7", "C"]);
  expect(outline.edits).toBe(6);
  expect(outline.length).toBe(4);
  expect(outline.has("n7")).toBe(true);
  expect(outline.block("n7").text).toBe("new");
});

test("several verbs are one transaction", () => {
  const [outline, host] = opened();
  void outline.transaction((both) => {
    void both.rename("Both");
    void both.set("A", { level: 1 });
  });
  const title = ["submit", [5, [["title", "Both"]]]];
  expect(host.calls()).toEqual([[1, 0, title, ["submit", [5, [["set", "A", { level: 1 }]]]]]]);
});

test("what names no block, or no place in it, is refused at once", () => {
  const [outline, host] = opened();
  const wrong = [
    () => outline.write("z", 0, 0, "x"),
    () => outline.write("B", 2, 2, "x"),
    () => outline.write("B", -1, 1, "x"),
    () => outline.split("B", 9, "n"),
    () => outline.delete("z"),
    () => outline.move("z", null),
    () => outline.join("A", "z"),
    () => outline.join("z", "A"),
  ];
  for (const one of wrong) expect(one).toThrow(RangeError);
  expect(host.calls()).toEqual([]);
});

test("a state that is taken anew replaces all of it", () => {
  const [outline] = opened();
  outline.hear(snapshot({ title: "Other", version: 9, blocks: [["z", {}, "only"]] }, 4));
  expect(outline.blocks()).toEqual([{ id: "z", attributes: {}, text: "only" }]);
  expect([outline.title, outline.edits]).toEqual(["Other", 9]);
});
