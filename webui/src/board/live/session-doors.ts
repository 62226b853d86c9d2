/** The doors of a place over a session with a node. */

import { CallError } from "../../client/errors";
import type { Session } from "../../client/session";
import type { CellState } from "../../place/state";
import type { Edit, Thing } from "../../place/thing";
import { CellObject, PlaceObject } from "../../place/wire";
import type { CellDoor, Doors, Far } from "./doors";

/** Objects that are no cells: the outline, who is here, and some to spare. */
const OTHERS = 4;
/** So long a joint move waits for its parts to be saved. */
const SAVED_MS = 3_000;
const LOOK_MS = 20;
const WHOLE: ReadonlyMap<string, string> = new Map([["r", "leaf"]]);

export class SessionDoors implements Doors {
  onChange: (() => void) | null = null;
  /** A cell, or the place, cannot be had any more. */
  onEnd: ((error: unknown) => void) | null = null;
  readonly outline: PlaceObject;
  isLoaded = false;

  constructor(
    private readonly session: Session,
    private readonly id: string,
    readonly after: (delay_ms: number, act: () => void) => () => void,
  ) {
    this.outline = session.attach(PlaceObject, `place/${id}`);
    void this.listen();
  }

  private async listen(): Promise<void> {
    try {
      const changes = this.outline.changes();
      await this.outline.ready;
      this.isLoaded = true;
      this.onChange?.();
      for await (const _ of changes) this.onChange?.();
    } catch (error) {
      this.onEnd?.(error);
    }
  }

  get tree(): ReadonlyMap<string, string> {
    return this.outline.tree.size > 0 ? this.outline.tree : WHOLE;
  }

  get far(): ReadonlyMap<string, Far> {
    return this.outline.far;
  }

  get who(): string {
    return this.session.who;
  }

  get isOnline(): boolean {
    return this.session.state === "connected";
  }

  get most(): number {
    return this.session.objectsMax - OTHERS;
  }

  open(path: string): CellDoor {
    const cell = this.session.attach(CellObject, `place/${this.id}/${path}`);
    return new SessionDoor(cell, () => this.onChange?.(), this.after);
  }
}

class SessionDoor implements CellDoor {
  isLoaded = false;

  constructor(
    private readonly cell: CellObject,
    private readonly changed: () => void,
    private readonly after: Doors["after"],
  ) {
    void this.listen();
  }

  private async listen(): Promise<void> {
    try {
      const changes = this.cell.changes();
      await this.cell.ready;
      this.isLoaded = true;
      this.changed();
      for await (const _ of changes) this.changed();
    } catch (error) {
      // Too much came at once: the state is here, only its news were not told.
      if (error instanceof CallError && error.code === "too_slow") await this.listen();
    }
  }

  get state(): CellState {
    return this.cell.state;
  }

  get unanswered(): number {
    return this.cell.unanswered;
  }

  get unsaved(): number {
    return this.cell.unsaved;
  }

  put(things: readonly Thing[]): Promise<unknown> {
    return this.cell.put(things);
  }

  change(edits: readonly Edit[]): Promise<unknown> {
    return this.cell.change(edits);
  }

  delete(things: readonly string[], version: number): Promise<unknown> {
    return this.cell.delete(things, "", version);
  }

  grab(things: readonly string[]): Promise<unknown> {
    return this.cell.grab(things);
  }

  release(things: readonly string[]): Promise<unknown> {
    return this.cell.release(things);
  }

  async prepare(joint: string, cells: string[], edits: readonly Edit[]): Promise<unknown> {
    const result = await this.cell.prepare(joint, cells, edits);
    await this.saved();
    return result;
  }

  /** A power cut could leave half of a joint move that was decided before all parts were on disk. */
  private async saved(): Promise<void> {
    for (let waited_ms = 0; waited_ms < SAVED_MS && this.cell.unsaved > 0; waited_ms += LOOK_MS) {
      await new Promise<void>((resolve) => this.after(LOOK_MS, resolve));
    }
  }

  decide(joint: string, done: boolean): Promise<unknown> {
    return this.cell.decide(joint, done);
  }

  operate(thing: string, action: string, given: readonly number[]): Promise<unknown> {
    return this.cell.operate(thing, action, given);
  }

  close(): void {
    this.cell.close();
  }
}
