import { expect, test, vi } from "vitest";
import { clusters } from "./cluster";
import { playMany, playRounds, type Rounds } from "./rounds";

/** So many rounds, half of them from each of two seeds; without a second one all from the first. */
const rounds = Number(process.env.ROUNDS ?? 200);
const first = Number(process.env.SEED ?? 1);
const second = Number(process.env.SECOND ?? "");
const PAGES = 3;
/** Rounds of one document; then another one is begun, as long as few blocks are open yet. */
const A_GAME = 5;
const AT_ONCE = Number(process.env.AT_ONCE ?? 200);
/** One game of so many has two nodes and a network between them. */
const CLUSTERED = 20;
/** In every second one nobody hears of the others before everybody has done all ten things. */
const APART = 2;
/** In one game of so many what pages tell on the way is judged, too, as in all games of `make typists`. */
const WATCHED = 11;
const LIMIT_MS = 3_600_000;
/**
 * Known to fail, for two causes: words that went after a text that others remove are lost, and what is
 * confirmed is wrong for a while. Both are rare, one game in some hundreds.
 */
const OPEN = [100203, 300095, 500107, 200046, 880814];
/** So many games of seeds that nobody has seen may fail, as long as any is open: each is named. */
const OPEN_SHARE = 0.01;
vi.setConfig({ testTimeout: LIMIT_MS });

function gameOf(seed: number): Rounds {
  const alone = seed % CLUSTERED !== 0;
  return {
    seed,
    pages: PAGES,
    turns: A_GAME,
    each: 10,
    blocksMax: 8,
    delay_s: alone ? 0.004 : 0.02,
    alone,
    pauses: seed % APART === 0 ? 0 : 0.3,
    loses: 0.02,
    reloads: 0.02,
    watched: seed % WATCHED === 0 ? PAGES : 0,
  };
}

test("three people who do ten things at once have the same document behind it, and nothing is lost", async () => {
  const began_s = process.cpuUsage();
  const count = Math.ceil(rounds / A_GAME);
  const half = second > 0 ? Math.floor(count / 2) : 0;
  const seeds = Array.from({ length: count }, (_, at) =>
    at < count - half ? first + at : second + at - (count - half),
  );
  const failed = await playMany(seeds.map(gameOf), AT_ONCE);
  const { user, system } = process.cpuUsage(began_s);
  const used = ((user + system) / 1e6).toFixed(1);
  const nodes = ((await clusters.ask(0, "spent")) as number).toFixed(1);
  process.stdout.write(
    `${count * A_GAME} rounds, ${used} s of CPU in the pages, ${nodes} in the nodes\n`,
  );
  expect(count).toBeGreaterThan(0);
  const fresh = new Set(seeds.slice(count - half));
  for (const [seed, error] of failed) {
    if (!fresh.has(seed)) throw error;
    process.stdout.write(`open: ${error.message}\n`);
  }
  expect(failed.size, [...failed.keys()].join(" ")).toBeLessThanOrEqual(half * OPEN_SHARE);
});

test.fails.each(OPEN)("open: a game of rounds goes wrong: seed %i", async (seed) => {
  await playRounds(gameOf(seed));
});

/**
 * What was typed behind a split, and went after a text that somebody else was removing: it landed in
 * no draft, or was followed to the wrong place.
 */
const LOST_BEFORE = [24, 133, 158, 210, 2023, 2050, 2053];
test.each(LOST_BEFORE)(
  "what goes after a text that is being removed is given back: seed %i",
  async (seed) => {
    await playRounds(gameOf(seed));
  },
);

/**
 * What went after a text that was refused twice round, and came back with it: it was taken for what had
 * come from that block with the same number, or the page did not know that it could come back.
 */
test.each([880115, 880240])(
  "what was refused with its text is followed to where it comes back: seed %i",
  async (seed) => {
    await playRounds({ ...gameOf(seed), settling_s: 2 });
  },
);
