import { expect, test } from "vitest";
import type { ShownChange } from "../../src/document/types";
import { Changes } from "../../src/here/changes";

const VALUE = { title: "", blocks: [] };

function listening(): {
  others: (...changes: ShownChange[]) => void;
  pass: () => void;
  said: string[];
} {
  let timers: (() => void)[] = [];
  const said: string[] = [];
  const changes = new Changes(
    (_delay_ms, act) => timers.push(act),
    () => said.push(changes.said),
  );
  const pass = (): void => {
    const due = timers;
    timers = [];
    for (const act of due) act();
  };
  const others = (...done: ShownChange[]): void =>
    changes.heard({ changes: done, before: VALUE, after: VALUE });
  return { others, pass, said };
}

test("what others change is one sentence, however much it is, and then it is quiet for a while", () => {
  const { others, pass, said } = listening();
  for (let n = 0; n < 100; n += 1) others(["edit", `b${n % 3}`, ["x"]]);
  others(["remove", ["b7", "b8"]], ["move", ["b8"], ""]);
  expect(said).toEqual([]);
  pass();
  expect(said).toEqual(["Others changed 5 blocks."]);
  others(["edit", "b1", ["y"]]);
  pass();
  expect(said.at(-1)).toBe("");
  pass();
  expect(said.at(-1)).toBe("Others changed 1 block.");
});

test("what is only loaded here, and a title, is nobody's change of a block", () => {
  const { others, pass, said } = listening();
  others(["show", { id: "b", attributes: {}, content: [], length: 0 }], ["rename", "Title"]);
  pass();
  expect(said).toEqual([]);
});
