/** What a screen shows of a place, each thing once; as groupcore/shared/places/shown.py. */

import type { CellState } from "./state";
import { edited, type Thing } from "./thing";

export type Cells = ReadonlyMap<string, CellState>;

/** Every thing that is shown, with the cell that has it or owes it. */
export function seen(cells: Cells): [path: string, thing: Thing][] {
  const found = known(cells);
  const latest = new Map<string, number>();
  const note = (id: string, hops: number) => {
    latest.set(id, Math.max(hops, latest.get(id) ?? 0));
  };
  for (const cell of cells.values()) for (const [id, hops] of cell.gone) note(id, hops + 1);
  for (const [, thing] of found) note(thing.id, thing.hops);
  return found.filter(([, thing]) => thing.hops === latest.get(thing.id));
}

function known(cells: Cells): [string, Thing][] {
  const found: [string, Thing][] = [];
  const done = new Set<string>();
  for (const cell of cells.values()) {
    for (const [joint, outcome] of cell.outcomes) if (outcome.done) done.add(joint);
  }
  for (const [path, cell] of cells) {
    const joints = [...cell.joints.values()].filter(({ id }) => done.has(id));
    const moved = new Map(joints.flatMap(({ edits }) => edits).map((edit) => [edit.id, edit]));
    for (const thing of cell.things.values()) {
      const edit = moved.get(thing.id);
      found.push([path, edit === undefined ? thing : edited(thing, edit)]);
    }
    for (const [target, parcels] of cell.owes) {
      const taken = cells.get(target)?.received.get(path) ?? 0;
      for (const { things } of parcels.filter(({ number }) => number > taken)) {
        found.push(...things.map((thing): [string, Thing] => [path, thing]));
      }
    }
  }
  return found;
}
