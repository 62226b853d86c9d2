/** The deliveries around a violation: what each node delivered there, and what it did not. */

import { type Fields, textOf } from "../api";
import { each, numberOf } from "./reading";

/** A row of the trace: one position of the group, or a run of them. */
export interface Delivered {
  readonly at_s: number;
  /** Which of its node's deliveries. */
  readonly dno: number;
  readonly first: number;
  readonly last: number;
  /** messages, join, leave or gone. */
  readonly what: string;
  readonly message: string;
  /** "": out of the node's own archive. */
  readonly sequencer: string;
  readonly isMarked: boolean;
}

export interface AtNode {
  readonly node: string;
  /** In the order in which the node delivered them. */
  readonly rows: readonly Delivered[];
}

export interface Around {
  readonly gid: number;
  readonly group: string;
  /** The position that it is about. */
  readonly position: number;
  readonly first: number;
  readonly last: number;
  readonly nodes: readonly AtNode[];
  readonly moreNodes: number;
}

function deliveredOf(one: Fields): Delivered {
  return {
    at_s: numberOf(one.at_s),
    dno: numberOf(one.dno),
    first: numberOf(one.first),
    last: numberOf(one.last),
    what: textOf(one.what),
    message: textOf(one.message),
    sequencer: textOf(one.sequencer),
    isMarked: one.marked === true,
  };
}

/** Of a node that says nothing of it: none. */
export function aroundOf(value: unknown): Around[] {
  if (value === undefined) return [];
  return each(value, (one) => ({
    gid: numberOf(one.gid),
    group: textOf(one.group),
    position: numberOf(one.seq),
    first: numberOf(one.first),
    last: numberOf(one.last),
    nodes: each(one.nodes, ({ node, rows }) => ({
      node: textOf(node),
      rows: each(rows, deliveredOf),
    })),
    moreNodes: numberOf(one.more_nodes),
  }));
}

export type Span = readonly [first: number, last: number];

/**
 * The positions that a node has not delivered between the first and the last one that it has here.
 * What is before and behind these it need not have been given: it joins, and leaves.
 */
export function missingOf(rows: readonly Delivered[]): Span[] {
  const missing: Span[] = [];
  let reached: number | null = null;
  for (const { first, last } of rows.toSorted((one, other) => one.first - other.first)) {
    if (reached !== null && first > reached + 1) missing.push([reached + 1, first - 1]);
    reached = Math.max(reached ?? last, last);
  }
  return missing;
}

/** Whether a row comes behind one of a higher position, at the same node. */
export function isBack(rows: readonly Delivered[], at: number): boolean {
  const row = rows[at];
  return row !== undefined && rows.slice(0, at).some(({ last }) => last >= row.first);
}
