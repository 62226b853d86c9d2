/** A place in the page alone, made of the same cells: for tests, and for who tries a board out. */

import { applied, type Operation } from "../../place/cell";
import { type CellState, type Context, newCell, type Role } from "../../place/state";
import type { Edit, Thing } from "../../place/thing";
import type { CellDoor, Doors, Far, How } from "./doors";

/** The place, which several sessions may have open. */
export class LocalPlace {
  readonly tree = new Map<string, Role>([["r", "leaf"]]);
  readonly far = new Map<string, Far>();
  readonly cells = new Map<string, CellState>();
  readonly sessions: LocalDoors[] = [];
  private position = 0;
  private version = 1;

  session(who: string): LocalDoors {
    const doors = new LocalDoors(this, who);
    this.sessions.push(doors);
    return doors;
  }

  at(path: string): CellState {
    let cell = this.cells.get(path);
    if (cell === undefined) {
      const context = this.context("nodes");
      const become: Operation = ["become", path, this.version, this.tree.get(path) ?? "out"];
      cell = applied(newCell(), context, become).cell;
      this.cells.set(path, cell);
    }
    return cell;
  }

  /** The order's time: a millisecond for each operation. */
  get time_ms(): number {
    return this.position;
  }

  private context(process: string): Context {
    this.position += 1;
    const at = { position: this.position, timeMs: this.position };
    return { process, node: process, principal: "", isMember: true, ...at };
  }

  run(path: string, who: string, operation: Operation): unknown {
    const { cell, result } = applied(this.at(path), this.context(who), operation);
    this.cells.set(path, cell);
    this.carry();
    for (const one of this.sessions) one.onChange?.();
    return result;
  }

  /** Quarters a cell. */
  divide(path: string): void {
    this.version += 1;
    this.tree.set(path, "inner");
    for (const digit of "0123") this.tree.set(path + digit, "leaf");
    this.at(path);
    for (const digit of "0123") this.at(path + digit);
    this.run(path, "nodes", ["become", path, this.version, "inner"]);
  }

  /** Parcels go at once. */
  private carry(): void {
    for (const [path, cell] of [...this.cells]) {
      for (const [target, parcels] of cell.owes) {
        for (const parcel of parcels) {
          const taken = applied(this.at(target), this.context("nodes"), ["accept", path, parcel]);
          this.cells.set(target, taken.cell);
          const told = applied(this.at(path), this.context("nodes"), [
            "handed",
            target,
            parcel.number,
          ]);
          this.cells.set(path, told.cell);
        }
        if (parcels.length > 0) {
          this.carry();
          return;
        }
      }
    }
  }
}

export class LocalDoors implements Doors {
  onChange: (() => void) | null = null;
  readonly isOnline = true;
  readonly isStopped = false;
  readonly most = 60;
  /** The cells that are open. */
  readonly held = new Set<string>();

  constructor(
    private readonly place: LocalPlace,
    readonly who: string,
  ) {}

  get tree(): ReadonlyMap<string, string> {
    return this.place.tree;
  }

  get far(): ReadonlyMap<string, Far> {
    return this.place.far;
  }

  get orderTime_ms(): number {
    return this.place.time_ms;
  }

  /** All is known here. */
  look(): void {}

  open(path: string): CellDoor {
    this.held.add(path);
    return new LocalDoor(this.place, path, this.who, () => this.held.delete(path));
  }

  after(_delay_ms: number, act: () => void): () => void {
    queueMicrotask(act);
    return () => undefined;
  }
}

class LocalDoor implements CellDoor {
  readonly isLoaded = true;
  readonly unanswered = 0;
  readonly unsaved = 0;
  readonly lastCall = 0;

  constructor(
    private readonly place: LocalPlace,
    private readonly path: string,
    private readonly who: string,
    readonly close: () => void,
  ) {}

  get state(): CellState {
    return this.place.at(this.path);
  }

  private async run(operation: Operation): Promise<unknown> {
    return this.place.run(this.path, this.who, operation);
  }

  outcome(): null {
    return null;
  }

  put(things: readonly Thing[]): Promise<unknown> {
    return this.run(["put", [...things], ""]);
  }

  change(edits: readonly Edit[]): Promise<unknown> {
    return this.run(["change", [...edits], ""]);
  }

  delete(things: readonly string[], version: number): Promise<unknown> {
    return this.run(["delete", [...things], "", version]);
  }

  grab(things: readonly string[]): Promise<unknown> {
    return this.run(["grab", [...things], ""]);
  }

  release(things: readonly string[]): Promise<unknown> {
    return this.run(["release", [...things], ""]);
  }

  prepare(joint: string, cells: string[], edits: readonly Edit[]): Promise<unknown> {
    return this.run(["prepare", joint, cells, [...edits], ""]);
  }

  decide(joint: string, done: boolean): Promise<unknown> {
    return this.run(["decide", joint, done]);
  }

  operate(
    thing: string,
    action: string,
    given: readonly number[],
    { by, lamps }: How,
  ): Promise<unknown> {
    return this.run(["operate", thing, action, [...given], by, lamps]);
  }
}
