/**
 * Games of tokens in which several disturbances come at once: people are offline while others split,
 * join, move and remove what they write in, connections are deaf before they break, tabs are closed,
 * roles are taken, and the power of all nodes fails.
 *
 * At the end each token stands once, untorn, on all pages and at the nodes. It may be a draft only if
 * somebody has removed its text, its writer lost the right to write, or the power failed. It stands twice only if a power cut has taken the
 * cut by which its writer moved it: that was answered, and not said to be saved.
 */

import type { SaveState } from "../../src/document/types";
import { plainText } from "../../src/shared/rich";
import { chanceOf } from "./fuzz";
import { Tokens } from "./tokens";
import { Page, World } from "./world";
import { Writer } from "./writer";

/** `offline` to `fails` are chances a turn. */
export interface Disturbed {
  readonly seed: number;
  readonly pages: number;
  readonly turns: number;
  readonly delay_s: number;
  readonly offline: number;
  readonly reloads: number;
  readonly entitles: number;
  readonly fails: number;
  /** Whether people take out whole blocks. */
  readonly removes: boolean;
  /** Pages are at the one node that keeps the document, or at two; or each is a node, which dies with its connection. */
  readonly nodes: "one" | "two" | "each";
}

/** Of so many games one each is with closed tabs, roles, power cuts; most cost no network. */
const KINDS = 20;
const OF_TWO = 3;
const OF_RELOADS = 7;
const OF_ROLES = 11;
const OF_POWER = 13;
const OF_KILLS = 17;

/** A game of each kind in turn. */
export function disturbedOf(seed: number): Disturbed {
  const kind = seed % KINDS;
  const isEach = kind === OF_ROLES || kind === OF_POWER || kind === OF_KILLS;
  const isTwo = kind === OF_TWO;
  return {
    seed,
    pages: kind % 4 === 1 ? 4 : 3,
    turns: 12,
    delay_s: isEach || isTwo ? 0.02 : 0.004,
    offline: 0.07,
    reloads: kind % OF_RELOADS === 0 && !isEach ? 0.04 : 0,
    entitles: kind === OF_ROLES ? 0.05 : 0,
    fails: kind === OF_POWER ? 0.04 : 0,
    removes: kind % 2 === 0,
    nodes: isEach ? "each" : isTwo ? "two" : "one",
  };
}

const SLOW_S = 0.3;

/** The same with nodes that have much else to do: people type and cut before a block that was split off is here. */
export function slowOf(seed: number): Disturbed {
  const game = disturbedOf(seed);
  return { ...game, delay_s: SLOW_S, nodes: game.nodes === "one" ? "two" : game.nodes };
}

const SETTLING_S = 20;
const LONG_S = 40;
const DEAF_S = 0.31;

/** Plays a game; throws what is wrong, with the journal of what people did. */
export async function playDisturbed(game: Disturbed): Promise<void> {
  const { seed, nodes, delay_s, entitles, fails } = game;
  const disks = fails > 0;
  const lists = entitles > 0 ? game.pages : 0;
  const where = { hosts: nodes !== "each", alone: nodes === "one" };
  const world = new World(seed, { delay_s, disks, lists, objects: 64, ...where });
  const draw = chanceOf(seed);
  const tokens = new Tokens();
  const journal: string[] = [];
  const names = Array.from({ length: game.pages }, (_, at) => `p${at}`);
  try {
    const writers = names.map(
      (name) => new Writer(new Page(world, name), tokens, draw, game.removes, journal),
    );
    world.onFailure = () => {
      for (const writer of writers) writer.fail();
    };
    await world.elapse(0.3);
    for (const writer of writers) writer.act();
    await world.elapse(1);
    for (let turn = 0; turn < game.turns; turn += 1) {
      for (const writer of writers) {
        if (draw() < 0.6) writer.act();
        befall(writer, game, tokens, draw, journal);
      }
      if (draw() < fails) world.tell("doom", "");
      await world.elapse(draw() < 0.2 ? 1 : 0.02 * Math.floor(draw() * 6));
      for (const { page } of writers) look(page, tokens);
    }
    for (const writer of writers) writer.end();
    await settled(world, writers, tokens, game);
  } catch (error) {
    const again = `SEED=${seed} GAMES=1 make disturbed`;
    const what = `seed ${seed}: ${(error as Error).message}\n${journal.join("\n")}\nto see it again: ${again}`;
    throw new Error(what, { cause: error });
  } finally {
    world.close();
  }
}

function befall(
  writer: Writer,
  game: Disturbed,
  tokens: Tokens,
  draw: () => number,
  journal: string[],
): void {
  const { page } = writer;
  const { world, name } = page;
  const note = (what: string): void => {
    journal.push(`${(world.now_ms / 1_000).toFixed(2)} ${name} ${what}`);
  };
  if (draw() < game.offline) {
    const offline_s = draw() < 0.5 ? draw() * 3 : draw() * LONG_S;
    const deaf_s = draw() < 0.5 ? 0 : 0.01 + draw() * (DEAF_S - 0.01);
    note(`is offline for ${offline_s.toFixed(1)} s, deaf ${deaf_s.toFixed(2)} s before`);
    page.fade(deaf_s, offline_s);
  }
  if (draw() < game.entitles) {
    const may = draw() < 0.6;
    note(may ? "may write" : "may not write");
    world.tell("entitle", name, may);
    if (!may) writer.mayNot();
  }
  if (draw() >= game.reloads) return;
  note("is opened again");
  tokens.leave(name);
  page.reload();
  writer.watch();
}

/** Whether a page says that all is saved while it holds what is not. */
export function isFalse(save: SaveState, stored: unknown): boolean {
  if (save.kind !== "saved" || stored === null) return false;
  const { own, textless } = stored as { own: unknown[]; textless: unknown[] };
  return own.length + textless.length > 0;
}

function look(page: Page, tokens: Tokens): void {
  const { model, session, name } = page;
  tokens.look(model.value, name);
  tokens.drafted(model.drafts);
  const { save } = model;
  if (session.saves && save.kind === "saved") tokens.isSaved(name);
  if (isFalse(save, model.stored())) tokens.seen.push(`false: ${name} says saved, and holds edits`);
}

/** Lets time go on until all pages show what the nodes have, and judges that. */
async function settled(
  world: World,
  writers: readonly Writer[],
  tokens: Tokens,
  game: Disturbed,
): Promise<void> {
  await world.elapse(DEAF_S); // then nobody is deaf, and it is known how long they are offline
  const until_ms = Math.max(...writers.map(({ page }) => page.offlineUntil_ms));
  await world.elapse(Math.max(0, until_ms - world.now_ms) / 1_000 + 1);
  await world.rest(2);
  for (let left = SETTLING_S; ; left -= 1) {
    const apart = await apartOf(world, writers);
    if (apart === null) break;
    if (left === 0) throw new Error(apart);
    await world.elapse(1);
  }
  for (const { page } of writers) look(page, tokens);
  const truth = await world.look();
  const reasons = new Set<string>();
  if (game.entitles > 0) reasons.add("forbidden");
  if (game.fails > 0) reasons.add("power_lost");
  const wrong = tokens.wrong({
    texts: truth.blocks.map(([, , content]) => plainText(content)),
    drafts: writers.map(({ page }) => page.model.drafts),
    reasons,
  });
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
}

/** What is not delivered yet, or otherwise at a page than at the nodes; null: nothing. */
async function apartOf(world: World, writers: readonly Writer[]): Promise<string | null> {
  const truth = await world.look();
  if (truth.owed.length > 0) return `apart: not handed over: ${truth.owed}`;
  const wanted = JSON.stringify(truth.blocks.map(([id, , content]) => [id, plainText(content)]));
  for (const { page } of writers) {
    const { value, overlay, save } = page.model;
    const { own } = overlay;
    if (own.length > 0) return `apart: ${page.name} waits for ${JSON.stringify(own)}`;
    if (save.kind !== "saved") return `apart: ${page.name} is not saved, but ${save.kind}`;
    const seen = value.blocks.map(({ id, content }) => [id, plainText(content ?? [])]);
    const is = JSON.stringify(seen);
    if (is !== wanted) return `apart: ${page.name} sees\n${is}, the nodes have\n${wanted}`;
  }
  return null;
}
