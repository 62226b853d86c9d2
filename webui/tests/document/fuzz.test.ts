import { test } from "vitest";
import { play } from "./fuzz";

const first = Number(process.env.SEED ?? 1);
const count = Number(process.env.GAMES ?? 3);
const turns = Number(process.env.TURNS ?? 40);
const seeds = Array.from({ length: count }, (_, at) => first + at);
const LIMIT_MS = 60_000;

test.each(seeds)(
  "one who writes sees what will be, seed %i",
  async (seed) => {
    await play({ seed, pages: 1, turns });
  },
  LIMIT_MS,
);

test.each(seeds)(
  "of what three write nothing is lost or there twice, seed %i",
  async (seed) => {
    await play({ seed, pages: 3, turns });
  },
  LIMIT_MS,
);

test.each(seeds)(
  "nor where connections are cut and tabs closed, seed %i",
  async (seed) => {
    await play({
      seed,
      pages: 3,
      turns,
      loses: Number(process.env.LOSES ?? 0.05),
      reloads: Number(process.env.RELOADS ?? 0.02),
    });
  },
  LIMIT_MS,
);

test.each(seeds)(
  "nor where people are offline for seconds and may not write for a while, seed %i",
  async (seed) => {
    await play({ seed, pages: 3, turns, offline: 0.03, entitles: 0.04, loses: 0.02 });
  },
  LIMIT_MS,
);

const CUTS = { pages: 3, fails: 0.05, loses: 0.02, reloads: 0.01, offline: 0.01 };

test(
  "two joined tables have rows of one name, of which one is taken out, seed 70001",
  () => play({ seed: 70_001, turns: 60, delay_s: 0.12, ...CUTS }),
  LIMIT_MS,
);

test(
  "a block is joined by others while one joins it to where its end was split off, seed 70020",
  () => play({ seed: 70_020, turns: 60, delay_s: 0.12, pages: 3 }),
  LIMIT_MS,
);

test(
  "a block that goes out of sight while it is asked for anew holds up no other, seed 4280",
  () => play({ seed: 4_280, turns: 60, pages: 3, offline: 0.03, entitles: 0.04, loses: 0.02 }),
  LIMIT_MS,
);

test.each(seeds)(
  "and what is said to be saved outlives a power cut of all nodes, seed %i",
  async (seed) => {
    await play({ seed, turns, ...CUTS });
  },
  LIMIT_MS,
);
