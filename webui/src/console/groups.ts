/** The groups of the cluster, page by page, and one of them closely. */

import { ask, fields, send, textOf } from "../api";
import { each, numberOf, numberOrNull, textsOf } from "./reading";

export const SORTS = ["messages", "name", "sequencer", "head", "members", "epoch"] as const;
export type Sort = (typeof SORTS)[number];

export interface GroupRow {
  readonly group: number;
  readonly name: string;
  /** Of the document that it is a part of, where one may read that; else empty. */
  readonly title: string;
  readonly sequencer: string;
  readonly epoch: number;
  readonly order: string;
  readonly head: number;
  readonly members: number;
  readonly messages: number;
  readonly bytes: number;
  /** In µs of processor time a second. */
  readonly load_us: number;
  readonly movingTo: string;
  readonly history_bytes: number;
  readonly latency_ms: number | null;
  readonly behind: number;
}

export interface GroupPage {
  /** Of those that were looked for. */
  readonly count: number;
  readonly all: number;
  readonly page: number;
  readonly pages: number;
  readonly groups: readonly GroupRow[];
}

export function rowOf(value: unknown): GroupRow {
  const one = fields(value);
  return {
    group: numberOf(one.group),
    name: textOf(one.name),
    title: textOf(one.title),
    sequencer: textOf(one.sequencer),
    epoch: numberOf(one.epoch),
    order: textOf(one.order),
    head: numberOf(one.head),
    members: numberOf(one.members),
    messages: numberOf(one.messages),
    bytes: numberOf(one.size_bytes),
    load_us: numberOf(one.load_us),
    movingTo: textOf(one.moving_to),
    history_bytes: numberOf(one.history_bytes),
    latency_ms: numberOrNull(one.latency_ms),
    behind: numberOf(one.behind),
  };
}

export async function groupPage(
  search: string,
  sequencer: string,
  sort: Sort,
  page: number,
): Promise<GroupPage> {
  const query = new URLSearchParams({ search, sequencer, sort, page: `${page}` });
  const found = await ask(`/api/v1/admin/groups?${query}`);
  return {
    count: numberOf(found.count),
    all: numberOf(found.all),
    page: numberOf(found.page),
    pages: numberOf(found.pages),
    groups: each(found.groups, rowOf),
  };
}

export interface GroupAtNode {
  readonly node: string;
  readonly isSilent: boolean;
  /** Null: the node does not deliver the group. */
  readonly position: number | null;
  readonly behind: number;
  readonly history_bytes: number;
  readonly latency_ms: number | null;
}

export interface Member {
  readonly node: string;
  readonly process: number;
  readonly session: string;
  readonly name: string;
  readonly since: number;
  readonly isBehind: boolean;
  /** Whether they bind the group to no other. */
  readonly observes: boolean;
}

export interface OneGroup extends GroupRow {
  readonly nodes: readonly GroupAtNode[];
  readonly people: readonly Member[];
  /** The groups that S2 binds to it. */
  readonly together: readonly string[];
}

export async function oneGroup(id: string): Promise<OneGroup> {
  const found = await ask(`/api/v1/admin/groups/${encodeURIComponent(id)}`);
  const row = rowOf(found);
  return {
    ...row,
    nodes: each(found.nodes, (one) => {
      const position = numberOrNull(one.position);
      return {
        node: textOf(one.node),
        isSilent: one.silent === true,
        position,
        behind: position === null ? 0 : Math.max(0, row.head - position),
        history_bytes: numberOf(one.history_bytes),
        latency_ms: numberOrNull(one.latency_ms),
      };
    }),
    people: each(found.people, (one) => ({
      node: textOf(one.node),
      process: numberOf(one.process),
      session: textOf(one.session),
      name: textOf(one.name),
      since: numberOf(one.since),
      isBehind: one.behind === true,
      observes: one.observes === true,
    })),
    together: textsOf(found.together),
  };
}

/** Has a group sequenced elsewhere, with those that S2 binds to it; the id of the plan. */
export async function moveGroup(group: string, to: string): Promise<string> {
  return textOf((await send("POST", "/admin/migrations", { group, to })).id);
}
