import { afterEach, expect, test, vi } from "vitest";
import { ask, isOld } from "../src/api";

afterEach(() => vi.unstubAllGlobals());

function answering(headers: Record<string, string>): void {
  vi.stubGlobal("fetch", async () => new Response('{"documents": []}', { headers }));
}

test("what a node says that is cut off is known to be old", async () => {
  answering({ "Groupcore-Stale": "true" });
  const found = await ask("/api/v1/files");
  expect(isOld(found)).toBe(true);
  answering({});
  const again = await ask("/api/v1/files");
  expect([isOld(again), isOld(found)], "each answer is as old as it is").toEqual([false, true]);
});
