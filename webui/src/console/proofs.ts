/** What an audit has found, as the pipeline has certified it. */

import { ask, type Fields, fields, textOf } from "../api";
import { each, entriesOf, numberOf, numberOrNull, textsOf } from "./reading";

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
    /** Of its deliveries: rows of other logs that they rest on are lost. */
    readonly unproved: number;
    /** Deliveries that are not in its log, and the share that is proved, 0 to 1; null: not known. */
    readonly missing: number | null;
    readonly share: number | null;
  }[];
  /** Nodes of whose logs ranges of rows are lost. */
  readonly gaps: readonly string[];
  /** Segments in which damage could be overlooked. */
  readonly unchecked: number;
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
        unproved: numberOf(one.unproved),
        missing: numberOrNull(one.missing),
        share: numberOrNull(one.share_proved),
      };
    }),
    gaps: nodesWithGaps(said),
    unchecked: numberOf(said.segments_without_checksum),
    sampled: textsOf(said.sampled),
  };
}

/** Certificates of before ranges of rows were told named the nodes alone. */
function nodesWithGaps(said: Fields): string[] {
  if (!Array.isArray(said.lost)) return entriesOf(said.logs_with_gaps).map(([node]) => node);
  return [...new Set(each(said.lost, (one) => textOf(one.node)))].sort();
}
