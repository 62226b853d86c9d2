/** Joint moves of things of several cells; as groupcore/shared/places/joining.py. */

import { Handover, type Verdicts } from "./handover";
import { EDITS_MAX, PENDING_MAX, WENT_MAX } from "./limits";
import { PlaceRefusal } from "./refusal";
import { isPath } from "./squares";
import type { CellState, Context, Joint, Outcome, Verdict } from "./state";
import { checkEdits, type Edit, edited, type Thing } from "./thing";

const CELLS_MAX = 16;
const ID_MAX = 200;

/** The parts of a hand-over that know of joint moves. */
export const VERDICTS: Verdicts = { verdictsFor, takeVerdict, onTold };

function handover(cell: CellState, context: Context): Handover {
  return new Handover(cell, context, VERDICTS);
}

export function requireLeaf(cell: CellState): void {
  if (cell.role !== "leaf") throw new PlaceRefusal("not_here");
}

/** Who is not in the group does not depart from it: what it holds would be held for ever. */
export function requireMember(context: Context): void {
  if (!context.isMember) throw new PlaceRefusal("not_member");
}

/** The thing, if who calls may change it. */
export function free(cell: CellState, context: Context, id: string, by: string): Thing {
  const found = cell.things.get(id);
  if (found === undefined) throw new PlaceRefusal("no_such_thing");
  if (cell.busy.has(id)) throw new PlaceRefusal("thing_busy");
  const holder = cell.grabs.get(id);
  if (holder !== undefined && !(holder.process === context.process && holder.by === by)) {
    throw new PlaceRefusal("thing_held", holder.by || holder.process);
  }
  return found;
}

export function prepare(
  cell: CellState,
  context: Context,
  joint: string,
  cells: readonly string[],
  edits: readonly Edit[],
  by: string,
): void {
  checkEdits(edits, EDITS_MAX);
  const isOdd = cells.length < 2 || cells.length > CELLS_MAX || new Set(cells).size < cells.length;
  if (isOdd || !cells.includes(cell.path) || !cells.every(isPath)) {
    throw new PlaceRefusal("bad_path");
  }
  const letters = [...joint].length;
  if (letters === 0 || letters > ID_MAX || edits.length === 0) throw new PlaceRefusal("bad_thing");
  requireLeaf(cell);
  requireMember(context);
  const isKnown = cell.joints.has(joint) || cell.outcomes.has(joint) || cell.over.includes(joint);
  if (isKnown || cell.joints.size >= PENDING_MAX) throw new PlaceRefusal("thing_busy");
  for (const edit of edits) edited(free(cell, context, edit.id, by), edit);
  cell.joints.set(joint, { id: joint, cells, edits, process: context.process });
  for (const { id } of edits) cell.busy.set(id, joint);
}

export function decide(cell: CellState, context: Context, joint: string, done: boolean): boolean {
  const known = cell.outcomes.get(joint);
  if (known !== undefined) return known.done;
  const found = cell.joints.get(joint);
  if (found === undefined) return false;
  if (found.cells[0] !== cell.path) throw new PlaceRefusal("bad_path");
  decided(cell, context, found, done);
  return done;
}

function decided(cell: CellState, context: Context, joint: Joint, done: boolean): void {
  cell.outcomes.set(joint.id, { done, cells: joint.cells, told: [], things: [], passed: [] });
  conclude(cell, context, joint, done);
  for (const other of joint.cells.slice(1)) {
    handover(cell, context).owe(other, { verdicts: [verdictOn(joint.id, { done })] });
  }
}

function verdictOn(joint: string, what: Partial<Verdict>): Verdict {
  return { joint, done: false, over: false, asked: "", things: [], ...what };
}

function withThings(known: Outcome, things: readonly string[]): Outcome {
  return { ...known, things: [...new Set([...known.things, ...things])] };
}

function conclude(cell: CellState, context: Context, joint: Joint, done: boolean): void {
  cell.joints.delete(joint.id);
  const known = cell.outcomes.get(joint.id);
  if (known !== undefined) {
    const ids = joint.edits.map(({ id }) => id);
    cell.outcomes.set(joint.id, withThings(known, ids));
  }
  const hands = handover(cell, context);
  for (const edit of joint.edits) {
    cell.busy.delete(edit.id);
    const before = cell.things.get(edit.id);
    if (before === undefined) throw new PlaceRefusal("no_such_thing");
    const thing = done ? edited(before, edit) : before;
    if (!hands.isHere(thing)) hands.takeOut(edit.id);
    hands.hold([thing], edit.to);
  }
}

function takeVerdict(cell: CellState, context: Context, source: string, verdict: Verdict): void {
  const { joint } = verdict;
  if (verdict.asked !== "") {
    if (!cell.joints.has(joint) && !cell.outcomes.has(joint)) {
      handover(cell, context).owe(source, { verdicts: [verdictOn(joint, { over: true })] });
    }
    return;
  }
  const found = cell.joints.get(joint);
  if (verdict.over) {
    forget(cell, context, joint);
  } else {
    const fresh = { done: verdict.done, cells: [], told: [], things: [], passed: [] };
    const known = cell.outcomes.get(joint) ?? fresh;
    cell.outcomes.set(joint, withThings(known, verdict.things));
  }
  if (found !== undefined) conclude(cell, context, found, verdict.done);
}

function verdictsFor(cell: CellState, things: readonly Thing[], to: string): Verdict[] {
  const verdicts: Verdict[] = [];
  for (const [joint, known] of [...cell.outcomes]) {
    const some = things.map(({ id }) => id).filter((id) => known.things.includes(id));
    if (some.length > 0 && known.done) {
      verdicts.push(verdictOn(joint, { done: true, things: some }));
      cell.outcomes.set(joint, { ...known, passed: [...new Set([...known.passed, to])] });
    }
  }
  return verdicts;
}

function forget(cell: CellState, context: Context, joint: string): void {
  const known = cell.outcomes.get(joint);
  cell.outcomes.delete(joint);
  cell.over = [...cell.over, joint].slice(-WENT_MAX);
  if (known === undefined) return;
  const others = known.cells[0] === cell.path ? known.cells.slice(1) : [];
  for (const other of new Set([...others, ...known.passed])) {
    handover(cell, context).owe(other, { verdicts: [verdictOn(joint, { over: true })] });
  }
}

function onTold(cell: CellState, context: Context, to: string, verdict: Verdict): void {
  const known = cell.outcomes.get(verdict.joint);
  const isOld = verdict.over || verdict.asked !== "" || verdict.things.length > 0;
  if (known === undefined || isOld || known.cells[0] !== cell.path || known.told.includes(to))
    return;
  const told = [...known.told, to];
  if (told.length < known.cells.length - 1) cell.outcomes.set(verdict.joint, { ...known, told });
  else forget(cell, context, verdict.joint);
}

/** Who began a move is gone: it is not done, or the cell that decides is asked. */
export function departed(cell: CellState, context: Context): void {
  for (const joint of [...cell.joints.values()]) {
    if (joint.process !== context.process) continue;
    const first = joint.cells[0] ?? "";
    if (first === cell.path) decided(cell, context, joint, false);
    else {
      const asked = verdictOn(joint.id, { asked: cell.path });
      handover(cell, context).owe(first, { verdicts: [asked] });
    }
  }
}
