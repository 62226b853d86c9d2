/**
 * Rounds: people write at once, then everything is delivered, and all have to have the same.
 *
 * Many games are played side by side, as the simulated clusters answer all of them in one message. The
 * books are closed behind each round: what is not there then must not come back.
 */

import { befall, chanceOf, type Game, settle, Typist } from "./fuzz";
import { Ledger } from "./ledger";
import { Page, World } from "./world";

/** `turns`: so many rounds, in each of which everybody does `each` things. */
export interface Rounds extends Game {
  readonly each: number;
  readonly blocksMax: number;
  readonly delay_s: number;
  /** The chance that time goes on behind a turn in which each has done one thing. */
  readonly pauses?: number;
  /** Whether one node keeps the document, whose own order costs next to nothing; else two do. */
  readonly alone?: boolean;
  /** Of so many pages what they tell on the way is judged as well as what they have behind a round. */
  readonly watched?: number;
  /** So long it may take, behind a round, until all is as it must be. */
  readonly settling_s?: number;
  /** Called behind each round. */
  readonly onRound?: (round: number) => void;
}

/** Plays a game of rounds; throws where something is wrong. */
export async function playRounds(game: Rounds): Promise<void> {
  const { delay_s, blocksMax, alone = false, watched = 0 } = game;
  const world = new World(game.seed, { delay_s, objects: 512, hosts: true, alone });
  const draw = chanceOf(game.seed);
  const ledger = new Ledger();
  try {
    const typists = Array.from(
      { length: game.pages },
      (_, at) => new Typist(new Page(world, `p${at}`), ledger, draw, blocksMax, at < watched),
    );
    await world.elapse(0.3);
    for (let round = 1; round <= game.turns; round += 1) {
      // Where letters of former rounds are, before somebody takes that out and others move them.
      for (const { page } of typists) ledger.look(page);
      for (let done = 0; done < game.each; done += 1) {
        for (const typist of typists) typist.act();
        if (draw() < (game.pauses ?? 0.3)) await world.elapse(draw() * delay_s);
      }
      for (const typist of typists) befall(typist, game, ledger, draw);
      ledger.close(await settle(world, typists, ledger, null, game.settling_s));
      await world.trim();
      game.onRound?.(round);
    }
  } catch (error) {
    const again = `make rounds ROUNDS=${game.turns} SEED=${game.seed} SECOND=`;
    const what = `seed ${game.seed}: ${(error as Error).message}\nto see it again: ${again}`;
    throw new Error(what, { cause: error });
  } finally {
    world.close();
  }
}

/** Plays games from these seeds, so many at a time; what was wrong, by seed. */
export async function playMany(
  games: readonly Rounds[],
  atOnce: number,
): Promise<ReadonlyMap<number, Error>> {
  const left = [...games];
  const failed = new Map<number, Error>();
  const play = async (): Promise<void> => {
    for (let game = left.shift(); game !== undefined; game = left.shift()) {
      const { seed } = game;
      await playRounds(game).catch((error: Error) => failed.set(seed, error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, play));
  return failed;
}
