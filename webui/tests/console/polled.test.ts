import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Paged } from "../../src/console/paged.svelte";

vi.mock("../../src/account/hold-focus", () => ({ holdFocus: () => () => undefined }));

beforeEach(() => vi.stubGlobal("document", { hidden: true }));
afterEach(() => vi.unstubAllGlobals());

/** Pages that are answered when the test says so. */
function answered(): [Paged<string>, (page: number, by: "says" | "fails") => Promise<void>] {
  const waiting = new Map<number, [(said: string) => void, (error: Error) => void]>();
  const paged = new Paged<string>(
    (page) => new Promise((done, fail) => waiting.set(page, [done, fail])),
    1_000,
  );
  const answer = async (page: number, by: "says" | "fails"): Promise<void> => {
    const [done, fail] = waiting.get(page) ?? [];
    if (by === "says") done?.(`page ${page}`);
    else fail?.(new Error("gone"));
    await new Promise((turned) => setTimeout(turned));
  };
  return [paged, answer];
}

test("an answer that is overtaken by that of a newer question changes nothing", async () => {
  const [paged, answer] = answered();
  paged.turn(2);
  paged.turn(1);
  await answer(1, "says");
  expect(paged.polled.value).toBe("page 1");
  await answer(2, "says");
  expect(paged.polled.value).toBe("page 1");
});

test("neither does the failure of a former question", async () => {
  const [paged, answer] = answered();
  paged.turn(2);
  paged.turn(1);
  await answer(1, "says");
  await answer(2, "fails");
  expect([paged.polled.value, paged.polled.problem]).toEqual(["page 1", null]);
});

test("an answer to a former question is not shown while the newest is under way", async () => {
  const [paged, answer] = answered();
  paged.turn(2);
  paged.turn(1);
  await answer(2, "says");
  expect(paged.polled.value).toBeNull();
  await answer(1, "says");
  expect(paged.polled.value).toBe("page 1");
});
