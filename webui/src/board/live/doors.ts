/** What a board needs of its place: cells that open and close, and an outline of all of them. */

import type { Box } from "../../place/squares";
import type { CellState } from "../../place/state";
import type { Edit, Thing } from "../../place/thing";

/** What an operation of a thing is told beside it. */
export interface How {
  /** Tells who asks from others of the same principal: guests, and those who came by one link. */
  readonly by: string;
  /** The cells of the lamps of a switch, as far as they are known. */
  readonly lamps: Readonly<Record<string, string>>;
}

/** A cell that is open. What is asked of it fails with an error that has a `code`. */
export interface CellDoor {
  readonly state: CellState;
  /** Whether the state has come. */
  readonly isLoaded: boolean;
  readonly unanswered: number;
  readonly unsaved: number;
  /** The number of the last call. */
  readonly lastCall: number;
  /** How a call of a page before ends; null: it is none that is waited for. */
  outcome(n: number): Promise<unknown> | null;
  put(things: readonly Thing[]): Promise<unknown>;
  change(edits: readonly Edit[]): Promise<unknown>;
  delete(things: readonly string[], version: number): Promise<unknown>;
  grab(things: readonly string[]): Promise<unknown>;
  release(things: readonly string[]): Promise<unknown>;
  /** Done when it is known to be on disk, where nodes keep what is done. */
  prepare(joint: string, cells: string[], edits: readonly Edit[]): Promise<unknown>;
  decide(joint: string, done: boolean): Promise<unknown>;
  operate(thing: string, action: string, given: readonly number[], how: How): Promise<unknown>;
  close(): void;
}

export interface Far {
  readonly count: number;
  readonly box: Box;
  readonly colours: readonly string[];
}

export interface Doors {
  /** The roles of the cells, as far as they are known: of a large place those around what is seen. */
  readonly tree: ReadonlyMap<string, string>;
  /** What cells look like from afar. */
  readonly far: ReadonlyMap<string, Far>;
  /** What this session is called as who holds a thing. */
  readonly who: string;
  readonly isOnline: boolean;
  /** The order's time now, as far as it is known here: timers are due by it. */
  readonly orderTime_ms: number;
  /** The session has ended for good: what is asked has no end any more. */
  readonly isStopped: boolean;
  /** Most cells that may be open at a time. */
  readonly most: number;
  /** What is seen from now on: around it the tree is to be known. */
  look(sight: Box): void;
  /** Is told of each change of a cell, and of the tree. */
  onChange: (() => void) | null;
  open(path: string): CellDoor;
  after(delay_ms: number, act: () => void): () => void;
}

export function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}
