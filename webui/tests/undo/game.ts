/** Games of people who write together and take back what they wrote. */

import { chanceOf } from "../document/fuzz";
import { Page, World } from "../document/world";
import { Books, Person } from "./person";

export interface Game {
  readonly seed: number;
  readonly people: number;
  readonly turns: number;
  /** How likely somebody takes back, or does again, in a turn. */
  readonly takes?: number;
  /** Whether the others take blocks out, too. */
  readonly removes?: boolean;
}

/** Plays a game; where it fails, says the fewest turns with which it does. */
export async function tried(
  play: (turns: number) => Promise<void>,
  seed: number,
  turns: number,
): Promise<void> {
  try {
    await play(turns);
  } catch (error) {
    for (let fewer = 1; fewer <= turns; fewer += 1) {
      const why = await play(fewer).then(
        () => null,
        (one: unknown) => one,
      );
      if (why !== null) throw new Error(`SEED=${seed} TURNS=${fewer}: ${why}`, { cause: error });
    }
    throw error;
  }
}

/** One person alone: all that was done is taken back, and is done again. */
export async function playAlone({ seed, turns, takes = 0.2 }: Omit<Game, "people">): Promise<void> {
  const world = new World(seed, { delay_s: 0.02 });
  const draw = chanceOf(seed);
  try {
    const person = new Person(new Page(world, "p0"), new Books(), draw);
    await world.elapse(0.3);
    const first = person.seen;
    const states = [first];
    for (let turn = 0; turn < turns; turn += 1) {
      if (draw() < takes) person.take(draw() < 0.6 ? "undo" : "redo");
      else person.act();
      if (draw() < 0.3) await world.elapse(0.03 * draw());
      person.check();
    }
    person.takeAll("redo");
    states.push(person.seen);
    for (let round = 0; round < 2; round += 1) {
      person.takeAll("undo");
      // Blocks that were joined a moment ago may stand there until that is answered.
      if (person.seen !== first) await world.rest(2);
      if (person.seen !== first) throw new Error(`at first\n${first}, taken back\n${person.seen}`);
      await world.elapse(0.2 * draw());
      person.takeAll("redo");
      if (person.seen !== states[1]) await world.rest(2);
      if (person.seen !== states[1])
        throw new Error(`at last\n${states[1]}, done again\n${person.seen}`);
      await world.elapse(0.2 * draw());
      person.check();
    }
  } finally {
    world.close();
  }
}

/** Several: then the first one takes back all, while the others write on. */
export async function playTogether({
  seed,
  people,
  turns,
  takes = 0,
  removes = false,
}: Game): Promise<void> {
  const draw = chanceOf(seed);
  const world = new World(seed, { delay_s: 0.01 + 0.1 * draw() });
  const books = new Books();
  try {
    const all = Array.from(
      { length: people },
      (_, at) => new Person(new Page(world, `p${at}`), books, draw, at === 0 || removes),
    );
    const [ann, ...others] = all as [Person, ...Person[]];
    await world.elapse(0.5);
    others[0]?.begin();
    await world.elapse(0.5);
    for (let turn = 0; turn < turns; turn += 1) {
      for (const person of all) {
        if (draw() < takes) person.take(draw() < 0.6 ? "undo" : "redo");
        else if (draw() < 0.5) person.act();
      }
      await world.elapse(0.03 * Math.floor(draw() * 4));
    }
    while (ann.take("undo")) {
      if (draw() < 0.3) for (const person of others) person.act();
      if (draw() < 0.3) await world.elapse(0.05 * draw());
    }
    // What has come meanwhile may have brought something back that is hers.
    await settled(world, all);
    checkLetters(ann, others, books);
  } finally {
    world.close();
  }
}

async function settled(world: World, all: readonly Person[]): Promise<void> {
  await world.rest(2);
  for (let left = 20; ; left -= 1) {
    const seen = new Set(all.map((person) => person.seen));
    const isWaiting = all.some(({ page }) => page.model.overlay.own.length > 0);
    if (seen.size === 1 && !isWaiting) return;
    if (left === 0) throw new Error(`they see\n${[...seen].join("\n")}`);
    await world.elapse(1);
  }
}

/** Of the letters that others wrote all are there; of hers only those that others brought. */
function checkLetters(ann: Person, others: readonly Person[], books: Books): void {
  const there = ann.letters;
  const drafts = new Set(
    [ann, ...others].flatMap(({ page }) => page.model.drafts.flatMap(({ text }) => [...text])),
  );
  for (const [letter, by] of books.brought) {
    const isOthers = others.some(({ name }) => by.has(name));
    const isTaken = others.some(({ name }) => books.taken.get(letter)?.has(name));
    const isLost = !there.has(letter) && !drafts.has(letter);
    // What was divided while somebody took it out is not out: others may have kept her letters so.
    const isKept = [...(books.places.get(letter) ?? [])].some((id) => books.removed.has(id));
    // An edit that went after its text may be taken out here, and told as that of somebody.
    const isTold = ann.told.has(letter);
    if (!isOthers && !isKept && !isTold && there.has(letter))
      throw new Error(`${letter} is hers, and there`);
    const isGone = isTaken || isOut(letter, ann, books);
    if (isOthers && !isGone && isLost) throw new Error(`${letter} is of ${[...by]}, and lost`);
  }
}

/** Whether it was in a block that another took out, or she did when she could not know it there. */
function isOut(letter: string, { name }: Person, books: Books): boolean {
  return [...books.whereabouts(letter)].some((id) =>
    books.removed.get(id)?.some(({ who, known }) => who !== name || !known.includes(letter)),
  );
}
