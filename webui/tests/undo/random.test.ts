/**
 * Random people on a simulated cluster take back what they did.
 *
 * `SEED=7 GAMES=1 TURNS=12 npx vitest run tests/undo/random.test.ts` plays one game again.
 */

import { test } from "vitest";
import { playAlone, playTogether, tried } from "./game";

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.GAMES ?? 6);
const turns = Number(process.env.TURNS ?? 25);
const seeds = Array.from({ length: count }, (_, at) => first + at);
const LIMIT_MS = 120_000;

test.each(seeds)(
  "one alone takes back all, and does it again, SEED=%i",
  (seed) => tried((most) => playAlone({ seed, turns: 2 * most }), seed, turns),
  LIMIT_MS,
);

test.each(seeds)(
  "who takes back all leaves what others wrote, SEED=%i",
  (seed) => {
    const people = 2 + (seed % 2);
    return tried((most) => playTogether({ seed, people, turns: most }), seed, turns);
  },
  LIMIT_MS,
);

test.each(seeds)(
  "also where the others take back, and take blocks out, SEED=%i",
  (seed) => {
    const game = { seed, people: 3, takes: 0.2, removes: true };
    return tried((most) => playTogether({ ...game, turns: most }), seed, turns);
  },
  LIMIT_MS,
);
