/** A bug that is put into the page has to be found within few rounds. */

import { expect, test, vi } from "vitest";
import type * as Texts from "../../src/shared/rich";
import { playMany } from "./rounds";

const LONG = 4;

vi.mock("../../src/shared/rich", async (importOriginal) => {
  const real = await importOriginal<typeof Texts>();
  const applyRich: typeof real.applyRich = (delta, content) =>
    real.applyRich(delta.length < LONG ? delta : delta.slice(0, -1), content);
  return { ...real, applyRich };
});

test("a page that does not take an edit of four items to its end is found within ten rounds", async () => {
  const game = { pages: 3, turns: 10, each: 10, blocksMax: 8, delay_s: 0.02, settling_s: 2 };
  const failed = await playMany([{ seed: 1, ...game }], 1);
  expect(failed.get(1)?.message).toMatch(/seed 1/);
}, 120_000);
