/** One node's settings and drops, what is done to nodes, and the sessions of all. */

import { ask, type Fields, send, textOf } from "../api";
import { each, entriesOf, numberOf, numberOrNull } from "./reading";

export interface NodeSetting {
  readonly flag: string;
  readonly value: string;
  /** It is a secret's: only that it is set is told. */
  readonly isMasked: boolean;
  readonly isDefault: boolean;
  readonly unit: string;
  readonly text: string;
}

export interface Details {
  readonly settings: readonly NodeSetting[];
  readonly drops: readonly (readonly [reason: string, count: number])[];
}

export async function details(node: string): Promise<Details> {
  const found = await ask(`/api/v1/admin/nodes/${encodeURIComponent(node)}`);
  return {
    settings: each(found.settings, (one: Fields) => ({
      flag: textOf(one.flag),
      value: textOf(one.value),
      isMasked: one.masked === true,
      isDefault: one.default === true,
      unit: textOf(one.unit),
      text: textOf(one.text),
    })),
    drops: entriesOf(found.drops).map(([reason, count]) => [reason, numberOf(count)]),
  };
}

export type Deed = "drain" | "revive" | "leave";

export async function actOn(node: string, deed: Deed): Promise<void> {
  await send("POST", `/admin/nodes/${encodeURIComponent(node)}/${deed}`);
}

/** Whether it has ended by now; else it goes on by itself. */
export async function rotateKey(): Promise<boolean> {
  return (await send("POST", "/admin/keys/rotate")).finished === true;
}

export interface SessionRow {
  readonly node: string;
  readonly session: string;
  readonly user: string;
  readonly name: string;
  readonly isVisitor: boolean;
  readonly isConnected: boolean;
  readonly began_s: number;
  readonly objects: number;
  readonly withheld: number;
  readonly buffered_bytes: number;
}

export interface Sessions {
  /** By node; null: it does not answer. */
  readonly counts: readonly (readonly [node: string, count: number | null])[];
  readonly count: number;
  readonly page: number;
  readonly pages: number;
  readonly sessions: readonly SessionRow[];
}

export async function sessions(search: string, page: number): Promise<Sessions> {
  const query = new URLSearchParams({ search, page: `${page}` });
  const found = await ask(`/api/v1/admin/sessions?${query}`);
  return {
    counts: entriesOf(found.counts).map(([node, count]) => [node, numberOrNull(count)]),
    count: numberOf(found.count),
    page: numberOf(found.page),
    pages: numberOf(found.pages),
    sessions: each(found.sessions, (one) => ({
      node: textOf(one.node),
      session: textOf(one.session),
      user: textOf(one.user),
      name: textOf(one.name),
      isVisitor: one.visitor === true,
      isConnected: one.connected === true,
      began_s: numberOf(one.began_s),
      objects: numberOf(one.objects),
      withheld: numberOf(one.withheld),
      buffered_bytes: numberOf(one.buffered_bytes),
    })),
  };
}

export async function endSession(session: string): Promise<void> {
  await send("POST", "/admin/sessions/end", { session });
}
