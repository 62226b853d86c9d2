import { expect, test } from "vitest";
import type { Item } from "../../src/client/messages";
import { CellObject, thingOf, type WireThing } from "../../src/place/wire";
import { changes, FakeHost, result, snapshot } from "../client/host";
import { cellToWire } from "./cell-to-wire";

const NOTE: WireThing = [
  ...(["n", "sticky", 5, 6, 0, 0, 640, 640, 0, 0, "Milk", ""] as const),
  ...([false, [], [], [], [], [], 0, 0] as const),
];

const EMPTY = {
  ...{ path: "r", role: "leaf", role_version: 1, ticks: 0, things: [], grabs: [], active: [] },
  ...{ owes: [], received: [], went: [], gone: [], joints: [], busy: [], outcomes: [], over: [] },
  given: [],
};

function item(position: number, name: string, args: unknown[]): Item {
  return [position, "me#1/2", name, [[args, 1000, true, "user:ann"]]];
}

function open(): { host: FakeHost; cell: CellObject } {
  const host = new FakeHost();
  const cell = new CellObject(host, "place/p/r", "Cell");
  cell.ask();
  host.sent = [];
  cell.hear(snapshot(EMPTY));
  return { host, cell };
}

test("a cell does what it is told, and a snapshot of it is the same", () => {
  const { cell } = open();
  expect(cellToWire(cell.state)).toEqual(EMPTY);
  cell.hear(changes(2, [item(2, "put", [[NOTE], ""])]));
  expect([...cell.state.things.values()]).toEqual([thingOf(NOTE)]);
});

test("what somebody chooses counts in the name that the node tells", () => {
  const { cell } = open();
  const vote: WireThing = ["v", "vote", ...NOTE.slice(2)] as unknown as WireThing;
  cell.hear(changes(2, [item(2, "put", [[vote], ""])]));
  cell.hear(changes(3, [item(3, "operate", ["v", "choose", [1], "", null])]));
  expect(cell.state.things.get("v")?.votes).toEqual([["user:ann", 1]]);
});

test("a cell that cannot do what was done asks for its state anew", () => {
  const { host, cell } = open();
  cell.hear(changes(2, [item(2, "change", [[["gone", [["x", 1]], [], ""]], ""])]));
  expect(host.reopened).toEqual(["place/p/r"]);
  cell.ask();
  expect(host.sent).toEqual([{ t: "open", name: "place/p/r", type: "Cell" }]);
});

test("who may what is no news for a cell's twin; what it does not know it asks for", () => {
  const { host, cell } = open();
  const before = cell.state;
  cell.hear(changes(2, [[2, "n#1/1", "follow", []]]));
  expect(cell.state).toBe(before);
  expect(host.reopened).toEqual([]);
  cell.hear(changes(3, [item(3, "shake", [1])]));
  expect(cell.state).toBe(before);
  expect(host.reopened).toEqual(["place/p/r"]);
});

test("calls have the form that the node reads", async () => {
  const { host, cell } = open();
  const put = cell.put([thingOf(NOTE)]);
  cell.operate("s", "toggle", [], "", { lamp: "r1" }).catch(() => undefined);
  expect(host.calls()).toEqual([
    [1, 0, ["put", [[NOTE], ""]]],
    [2, 0, ["operate", ["s", "toggle", [], "", [0, [["lamp", "r1"]]]]]],
  ]);
  cell.hear(result(1, null));
  await expect(put).resolves.toBeNull();
});
