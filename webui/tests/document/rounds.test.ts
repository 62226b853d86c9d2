import { expect, test, vi } from "vitest";
import { playMany } from "./rounds";

const rounds = Number(process.env.ROUNDS ?? 200);
const first = Number(process.env.SEED ?? 1);
/** Rounds of one document; then another one is begun, as long as few blocks are open yet. */
const A_GAME = 5;
const AT_ONCE = 40;
/** Of one game of so many, what pages tell on the way is judged, too, as in all games of `make typists`. */
const WATCHED = 10;
const LIMIT_MS = 3_600_000;
vi.setConfig({ testTimeout: LIMIT_MS });

test("three people who do ten things at once have the same document behind it, and nothing is lost", async () => {
  const began_s = process.cpuUsage();
  const games = Array.from({ length: Math.ceil(rounds / A_GAME) }, (_, at) => ({
    seed: first + at,
    pages: 3,
    turns: A_GAME,
    each: 10,
    blocksMax: 8,
    delay_s: 0.02,
    loses: 0.02,
    reloads: 0.02,
    isWatched: (first + at) % WATCHED === 0,
  }));
  await playMany(games, AT_ONCE);
  const { user, system } = process.cpuUsage(began_s);
  process.stdout.write(`${games.length * A_GAME} rounds, ${((user + system) / 1e6).toFixed(1)} s of CPU in the pages
`);
  expect(games.length).toBeGreaterThan(0);
});
