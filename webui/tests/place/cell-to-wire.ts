import type { CellState } from "../../src/place/state";
import { editToWire, thingToWire } from "../../src/place/wire";

/** A cell as the node's snapshot has it, tables as pairs in their order. */
export function cellToWire(cell: CellState): unknown {
  const { roleVersion, things, grabs, owes, joints, outcomes, ...rest } = cell;
  const plain = Object.entries(rest).map(([name, value]) => [
    name,
    value instanceof Map ? [...value] : value,
  ]);
  return {
    ...Object.fromEntries(plain),
    role_version: roleVersion,
    things: [...things].map(([id, thing]) => [id, thingToWire(thing)]),
    grabs: [...grabs].map(([id, { process, by }]) => [id, [process, by]]),
    owes: [...owes].map(([to, parcels]) => [
      to,
      parcels.map(({ number, things: some, signals, verdicts, by }) => [
        number,
        some.map(thingToWire),
        signals.map(({ lamp, on }) => [lamp, on]),
        verdicts.map((one) => [one.joint, one.done, one.over, one.asked, one.things]),
        by,
      ]),
    ]),
    joints: [...joints].map(([id, one]) => [
      id,
      [one.id, one.cells, one.edits.map(editToWire), one.process],
    ]),
    outcomes: [...outcomes].map(([id, one]) => [
      id,
      [one.done, one.cells, one.told, one.things, one.passed],
    ]),
  };
}
