/** One long history of a document: `make history`. */

import { test } from "vitest";
import { playRounds } from "./rounds";

const operations = Number(process.env.HISTORY ?? 0);
const PEOPLE = 10;
const EACH = 10;
const A_ROUND = PEOPLE * EACH;
const PARTS = 20;
const LIMIT_MS = 24 * 3_600_000;

test.skipIf(operations === 0)(
  "what ten people write in one long history is the same for all at every cut",
  async () => {
    const turns = Math.ceil(operations / A_ROUND);
    const part = Math.max(1, Math.floor(turns / PARTS));
    const onRound = (round: number): void => {
      if (round % part !== 0 && round !== turns) return;
      const memory = Math.round(process.memoryUsage().rss / 1e6);
      process.stdout.write(`${round * A_ROUND} operations, ${memory} MB in the pages\n`);
    };
    const seed = Number(process.env.SEED ?? 1);
    const game = {
      pages: PEOPLE,
      each: EACH,
      blocksMax: 40,
      delay_s: 0.004,
      alone: true,
      loses: 0.01,
    };
    await playRounds({ seed, turns, onRound, ...game });
  },
  LIMIT_MS,
);
