import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Doing } from "../src/files/doing.svelte";

/** Answers of the node, by the path of the request; each waits until it is let go. */
let asked: { path: string; answer: () => void }[];

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", (path: string) => {
    return new Promise((resolve) => {
      asked.push({ path, answer: () => resolve(new Response("{}", { status: 200 })) });
    });
  });
});
afterEach(() => vi.unstubAllGlobals());

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("what is undone before its answer is here is undone once that is", async () => {
  const doing = new Doing();
  const thrown = doing.throwAway(["one", "two"]);
  expect(doing.mayUndo).toBe(true);
  const undone = doing.undo();
  await settled();
  expect(asked.map(({ path }) => path)).toEqual(["/api/v1/files/trash"]);
  asked[0]?.answer();
  await thrown;
  await settled();
  expect(asked.map(({ path }) => path)).toEqual(["/api/v1/files/trash", "/api/v1/files/restore"]);
  asked[1]?.answer();
  await undone;
  await settled();
  expect(doing.mayUndo).toBe(false);
});

test("undoing takes back the deed that is under way, and not the one before", async () => {
  const doing = new Doing();
  const thrown = doing.throwAway(["one"]);
  asked[0]?.answer();
  await thrown;
  const moved = doing.move([], { workspace: "home", folder: "" }, "Home");
  const undone = doing.undo();
  await settled();
  asked[1]?.answer();
  await moved;
  await undone;
  expect(asked.map(({ path }) => path)).toEqual(["/api/v1/files/trash", "/api/v1/files/move"]);
});
