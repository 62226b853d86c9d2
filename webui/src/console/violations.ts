/** What the last audit has found to be broken, out of the pipeline's store. */

import { ask, type Fields, fields, textOf } from "../api";
import { type Around, aroundOf } from "./around";
import { each, entriesOf, numberOf, numberOrNull } from "./reading";

/** A row of the trace that a rule speaks of; what is not known of it is "" or null. */
export interface Side {
  readonly group: string;
  readonly gid: number | null;
  readonly position: number | null;
  readonly message: string;
  readonly node: string;
  readonly process: string;
  readonly delivery: number | null;
  readonly segment: string;
}

export interface Violation {
  readonly id: string;
  readonly rule: string;
  readonly says: string;
  readonly what: Side;
  /** Against what; null: the rule speaks of one row. */
  readonly against: Side | null;
}

export interface ViolationPage {
  readonly count: number;
  readonly page: number;
  readonly pages: number;
  /** How many there are of each rule. */
  readonly rules: readonly (readonly [string, number])[];
  readonly violations: readonly Violation[];
}

function sideOf(one: Fields, suffix: string): Side {
  return {
    group: textOf(one[`group${suffix}`]),
    gid: numberOrNull(one[`gid${suffix}`]),
    position: numberOrNull(one[`seq${suffix}`]),
    message: textOf(one[`message${suffix}`]),
    node: textOf(one[`node${suffix}`]),
    process: textOf(one[`process${suffix}`]),
    delivery: numberOrNull(one[`dno${suffix}`]),
    segment: textOf(one[`segment${suffix}`]),
  };
}

function violationOf(one: Fields): Violation {
  const against = sideOf(one, "2");
  const isSaid = Object.values(against).some((value) => value !== null && value !== "");
  return {
    id: textOf(one.id),
    rule: textOf(one.rule),
    says: textOf(one.says),
    what: sideOf(one, ""),
    against: isSaid ? against : null,
  };
}

/** Null: the store of the audit is not here. `rule` "": all. */
export async function violationPage(
  rule: string,
  page: number,
): Promise<{ readonly found: ViolationPage | null }> {
  const query = new URLSearchParams({ rule, page: `${page}` });
  const found = await ask(`/api/v1/admin/order/violations?${query}`);
  if (found.audited !== true) return { found: null };
  return {
    found: {
      count: numberOf(found.count),
      page: numberOf(found.page),
      pages: numberOf(found.pages),
      rules: entriesOf(found.rules).map(([name, count]) => [name, numberOf(count)] as const),
      violations: each(found.violations, violationOf),
    },
  };
}

export interface OneViolation extends Violation {
  /** Of the row itself, and of the one that it is held against; none where the trace has none. */
  readonly around: readonly Around[];
}

export async function oneViolation(id: string): Promise<OneViolation> {
  const found = fields(await ask(`/api/v1/admin/order/violations/${encodeURIComponent(id)}`));
  return { ...violationOf(found), around: aroundOf(found.around) };
}
