/** What an audit has found, as the pipeline has certified it. */

import { ask, type Fields, fields, textOf } from "../api";
import { entriesOf, numberOf, textsOf } from "./reading";

export interface Rule {
  readonly name: string;
  readonly says: string;
  readonly violations: number;
  readonly notAuditable: number;
}

export interface Certificate {
  readonly result: string;
  readonly made: string;
  readonly isSigned: boolean;
  readonly key: string;
  readonly deliveries: number;
  readonly held: number;
  readonly rules: readonly Rule[];
  /** Of the deliveries, by the nodes' clocks; empty: not known. */
  readonly since: string;
  readonly until: string;
  readonly nodes: readonly {
    readonly node: string;
    readonly deliveries: number;
    readonly first: number;
    readonly last: number;
    readonly since: string;
    readonly until: string;
  }[];
  readonly gaps: readonly string[];
  readonly sampled: readonly string[];
}

/** Null: the pipeline has left none. */
export async function lastAudit(): Promise<{ readonly audit: Certificate | null }> {
  const { audit } = await ask("/api/v1/admin/order");
  return { audit: audit === null ? null : certificateOf(fields(audit)) };
}

function certificateOf(audit: Fields): Certificate {
  const said = fields(audit.certificate);
  return {
    result: textOf(said.result),
    made: textOf(said.made),
    isSigned: audit.signed === true,
    key: textOf(audit.key),
    deliveries: numberOf(said.deliveries),
    held: numberOf(said.held),
    rules: entriesOf(said.rules).map(([name, value]) => {
      const rule = fields(value);
      return {
        name,
        says: textOf(rule.says),
        violations: numberOf(rule.violations),
        notAuditable: numberOf(rule.not_auditable),
      };
    }),
    since: textOf(said.since),
    until: textOf(said.until),
    nodes: entriesOf(said.nodes).map(([node, value]) => {
      const one = fields(value);
      return {
        node,
        deliveries: numberOf(one.deliveries),
        first: numberOf(one.first),
        last: numberOf(one.last),
        since: textOf(one.since),
        until: textOf(one.until),
      };
    }),
    gaps: entriesOf(said.logs_with_gaps).map(([node]) => node),
    sampled: textsOf(said.sampled),
  };
}
