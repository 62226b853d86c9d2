import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chance } from "../../src/place/behaviours";
import { applied, type Operation } from "../../src/place/cell";
import { interest } from "../../src/place/interest";
import { PlaceRefusal } from "../../src/place/refusal";
import { seen } from "../../src/place/shown";
import { type Box, pathAt } from "../../src/place/squares";
import { type CellState, newCell } from "../../src/place/state";

interface Step {
  cell: string;
  process: string;
  node: string;
  time_ms: number;
  member: boolean;
  position: number;
  operation: Operation;
  code: string;
  holder: string;
  result: unknown;
}

interface Vectors {
  games: { steps: Step[]; cells: Record<string, unknown>; screen: unknown[] }[];
  points: { x: number; y: number; depth: number; path: string }[];
  chance: { thing: string; position: number; rolls: number; bits: number }[];
  interest: {
    box: Box;
    dx: number;
    dy: number;
    tree: [string, string][];
    held: string[];
    needed: string[];
    far: string[];
  }[];
}

const path = new URL("../../../docs/vectors/places.json", import.meta.url);
const vectors = JSON.parse(readFileSync(path, "utf-8")) as Vectors;

/** The state with its tables as pairs, as the vectors have it. */
function dumped(cell: CellState): unknown {
  const plain = Object.entries(cell).map(([name, value]) => [
    name,
    value instanceof Map ? [...value] : value,
  ]);
  return Object.fromEntries(plain);
}

function play(steps: readonly Step[]): Map<string, CellState> {
  const cells = new Map<string, CellState>();
  for (const step of steps) {
    const { process, node, position, time_ms: timeMs, member: isMember } = step;
    const context = { process, node, principal: "", isMember, position, timeMs };
    const before = cells.get(step.cell) ?? newCell();
    const was = JSON.stringify(dumped(before));
    let told = { code: "", holder: "", result: null as unknown };
    try {
      const { cell, result } = applied(before, context, step.operation);
      told = { ...told, result };
      cells.set(step.cell, cell);
    } catch (error) {
      if (!(error instanceof PlaceRefusal)) throw error;
      told = { ...told, code: error.code, holder: error.holder };
      cells.set(step.cell, before);
    }
    expect({ ...told, step }).toEqual({ ...told, ...pick(step), step });
    expect(JSON.stringify(dumped(before))).toBe(was);
  }
  return cells;
}

function pick({ code, holder, result }: Step) {
  return { code, holder, result };
}

test("cells do what the vectors say, and show the same", () => {
  for (const game of vectors.games) {
    const cells = play(game.steps);
    const states = Object.fromEntries([...cells].map(([name, cell]) => [name, dumped(cell)]));
    expect(states).toEqual(game.cells);
    expect(seen(cells)).toEqual(game.screen);
  }
});

test("points lie in the squares of the vectors", () => {
  for (const { x, y, depth, path: expected } of vectors.points) {
    expect(pathAt(x, y, depth)).toBe(expected);
  }
});

test("dice fall as in the vectors", () => {
  for (const { thing, position, rolls, bits } of vectors.chance) {
    expect(chance(thing, position, rolls)).toBe(bits);
  }
});

test("views need the cells of the vectors", () => {
  for (const { box, dx, dy, tree, held, needed, far } of vectors.interest) {
    const found = interest({ box, dx, dy }, new Map(tree), new Set(held));
    expect(found).toEqual({ needed, far });
  }
});
