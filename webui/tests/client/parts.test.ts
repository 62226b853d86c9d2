import { expect, test } from "vitest";
import { SharedParts } from "../../src/client/parts";
import { changes, FakeHost, result, snapshot } from "./host";

const HERE = [0, 0, 9, 9] as const;
const THERE = [5, 5, 14, 14] as const;

function asked(): [SharedParts<string>, FakeHost] {
  const host = new FakeHost();
  const object = new SharedParts<string>(host, "it", "Field");
  object.look(HERE);
  object.ask();
  return [object, host];
}

test("a sight from before it is asked for goes along, a later one is told", () => {
  const [object, host] = asked();
  expect(host.sent).toEqual([{ t: "open", name: "it", type: "Field", sight: HERE }]);
  object.look(THERE);
  expect(host.sent.at(-1)).toEqual({ t: "look", name: "it", sight: THERE });
  object.ask();
  expect(host.sent.at(-1)).toMatchObject({ t: "open", sight: THERE });
});

test("parts come, change, are empty, and are left", () => {
  const [object] = asked();
  object.hear(
    snapshot(
      {
        parts: [
          ["a", "A"],
          ["b", null],
        ],
      },
      4,
    ),
  );
  expect([...object.parts]).toEqual([["a", "A"]]);
  object.hear(
    changes(6, [
      [
        6,
        "you",
        "put",
        [
          ["b", "B"],
          ["a", null],
        ],
      ],
    ]),
  );
  expect([...object.parts]).toEqual([["b", "B"]]);
  object.hear(snapshot({ parts: [["c", "C"]], left: ["b", "z"] }, 6));
  expect([...object.parts]).toEqual([["c", "C"]]);
});

test("what is seen is told anew behind a reconnect, and nothing of before stays", () => {
  const [object] = asked();
  object.hear(snapshot({ parts: [["a", "A"]] }, 4));
  object.ask();
  object.hear(snapshot({ parts: [["b", "B"]] }, 7));
  expect([...object.parts]).toEqual([["b", "B"]]);
  object.hear(changes(7, [[7, "you", "put", [["a", "late"]]]]));
  expect([...object.parts]).toEqual([["b", "B"]]);
});

test("a call is answered, and changes are told", async () => {
  const [object, host] = asked();
  object.hear(snapshot({ parts: [] }, 1));
  const stream = object.changes();
  const called = object.call("put", "a", "A");
  expect(host.calls()).toEqual([[1, 0, ["put", ["a", "A"]]]]);
  object.hear(changes(2, [[2, "me", "put", [["a", "A"]]]]));
  object.hear(result(1, "done"));
  expect(await called).toBe("done");
  const { value } = await stream[Symbol.asyncIterator]().next();
  expect(value).toMatchObject({ operation: "put", mine: true, version: 2 });
});
