/**
 * What one has done, and taking it back: only that; as groupcore/shared/places/own_changes.py.
 *
 * A field gets the value from before where it still has one's own; what others did since stays.
 */

import { type Changes, type Edit, fieldOf, type Thing } from "../../place/thing";
import type { Act } from "./foreseen";

/** What is asked of the cells: new things, edits, and deletions with the version they are of. */
export interface Wish {
  readonly puts: readonly Thing[];
  readonly edits: readonly Edit[];
  /** −1: whichever version is there. */
  readonly deletions: readonly (readonly [id: string, version: number])[];
  /** What a thing is to do. */
  readonly act?: Act;
}

type Things = ReadonlyMap<string, Thing>;

export interface Step {
  readonly before: readonly Thing[];
  readonly after: readonly Thing[];
}

const STEPS_MAX = 200;
const FIELDS = [
  ...["x", "y", "z", "turn", "width", "height", "depth", "order"],
  ...["text", "group", "locked", "links"],
];

export const NOTHING: Wish = { puts: [], edits: [], deletions: [] };

export function isNothing({ puts, edits, deletions, act }: Wish): boolean {
  return puts.length + edits.length + deletions.length === 0 && act === undefined;
}

/** The fields in which two versions differ, with the values of the new one. */
export function difference(before: Thing, after: Thing): Changes {
  const names = [...FIELDS];
  for (const bag of ["style", "props"] as const) {
    const known = new Set([...before[bag], ...after[bag]].map(([name]) => name));
    for (const name of known) names.push(`${bag}.${name}`);
  }
  return names.flatMap((name) => {
    const value = fieldOf(after, name);
    return value === fieldOf(before, name) ? [] : [[name, value] as const];
  });
}

/** What makes things of `before` those of `after`, where nobody has changed them since. */
export function wishFor({ before, after }: Step, now: ReadonlyMap<string, Thing>): Wish {
  const [known, wanted] = [byId(before), byId(after)];
  const edits: Edit[] = [];
  const puts: Thing[] = [];
  for (const [id, thing] of wanted) {
    const was = known.get(id);
    if (was === undefined && !now.has(id)) puts.push({ ...thing, hops: thing.hops + 1 });
    if (was === undefined || !now.has(id)) continue;
    const changes = difference(was, thing);
    const expected = changes.map(([name]) => [name, fieldOf(was, name)] as const);
    if (changes.length > 0) edits.push({ id, changes, expected, to: "" });
  }
  return { puts, edits, deletions: deletions(known, wanted, now) };
}

/** What was put goes again if it is as one knows it; one's own changes may have come and gone. */
function deletions(known: Things, wanted: Things, now: Things): Wish["deletions"] {
  return [...known].flatMap(([id, was]) => {
    const found = now.get(id);
    const isOwn = found !== undefined && difference(was, found).length === 0;
    return !wanted.has(id) && isOwn ? [[id, found.version] as const] : [];
  });
}

function byId(things: readonly Thing[]): Map<string, Thing> {
  return new Map(things.map((thing) => [thing.id, thing]));
}

export class OwnChanges {
  private done: Step[] = [];
  private undone: Step[] = [];

  get mayUndo(): boolean {
    return this.done.length > 0;
  }

  get mayRedo(): boolean {
    return this.undone.length > 0;
  }

  note(step: Step): void {
    this.done = [...this.done.slice(1 - STEPS_MAX), step];
    this.undone = [];
  }

  /** A step that was not taken: it cannot be taken back. */
  forget(step: Step): void {
    this.done = this.done.filter((one) => one !== step);
    this.undone = this.undone.filter((one) => one !== step);
  }

  undo(): Step | null {
    const step = this.done.pop();
    if (step === undefined) return null;
    this.undone.push(step);
    return { before: step.after, after: step.before };
  }

  redo(): Step | null {
    const step = this.undone.pop();
    if (step === undefined) return null;
    this.done.push(step);
    return step;
  }
}
