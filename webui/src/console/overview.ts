/** How the cluster stands, and what each node did in the last minutes. */

import { ask, type Fields, fields, textOf } from "../api";
import { each, entriesOf, numberOf, textsOf } from "./reading";

export interface Standing {
  readonly version: string;
  readonly state: string;
  readonly began_s: number;
  readonly sessions: number;
  readonly behind: number;
  readonly groups: number;
  readonly held: number;
  readonly documents: number;
  readonly messages: number;
  readonly wait_ms: number;
  readonly cpu: number;
  readonly keyEpoch: number;
  /** More than one while the key changes, or where the former ones are still accepted. */
  readonly keysAccepted: readonly number[];
  readonly keysChanging: boolean;
}

export interface ClusterNode {
  readonly name: string;
  readonly url: string;
  readonly isDraining: boolean;
  readonly load_us: number;
  /** Null: it does not answer. */
  readonly standing: Standing | null;
}

export interface Alert {
  readonly level: string;
  readonly code: string;
  readonly about: Fields;
}

export interface SeenView {
  readonly id: string;
  readonly at_s: number;
  readonly members: readonly string[];
  readonly isPrimary: boolean;
}

export interface Overview {
  readonly cluster: string;
  readonly asked: string;
  readonly health: string;
  readonly alerts: readonly Alert[];
  readonly nodes: readonly ClusterNode[];
  readonly groups: number;
  readonly moving: number;
  readonly coordinator: string;
}

export interface ViewPage {
  readonly count: number;
  readonly page: number;
  readonly pages: number;
  readonly views: readonly SeenView[];
}

function standingOf(value: unknown): Standing | null {
  if (value === null || value === undefined) return null;
  const one = fields(value);
  const keys = fields(one.keys);
  return {
    version: textOf(one.version),
    state: textOf(one.state),
    began_s: numberOf(one.began_s),
    sessions: numberOf(one.sessions),
    behind: numberOf(one.behind),
    groups: numberOf(one.groups_sequenced),
    held: numberOf(one.groups_held),
    documents: numberOf(one.documents_held),
    messages: numberOf(one.messages),
    wait_ms: numberOf(one.wait_ms),
    cpu: numberOf(one.cpu),
    keyEpoch: numberOf(keys.epoch),
    keysAccepted: Array.isArray(keys.accepted) ? keys.accepted.map(numberOf) : [],
    keysChanging: keys.changing === true,
  };
}

export async function overview(): Promise<Overview> {
  const found = await ask("/api/v1/admin/overview");
  return {
    cluster: textOf(found.cluster),
    asked: textOf(found.asked),
    health: textOf(found.health),
    alerts: each(found.alerts, ({ level, code, about }) => ({
      level: textOf(level),
      code: textOf(code),
      about: fields(about),
    })),
    nodes: each(found.nodes, (one) => ({
      name: textOf(one.node),
      url: textOf(one.url),
      isDraining: one.draining === true,
      load_us: numberOf(one.load_us),
      standing: standingOf(one.standing),
    })),
    groups: numberOf(found.groups),
    moving: numberOf(found.moving),
    coordinator: textOf(found.coordinator),
  };
}

/** The newest first: what the nodes remember, and what the trace has of before. */
export async function viewPage(page: number): Promise<ViewPage> {
  const found = await ask(`/api/v1/admin/views?page=${page}`);
  return {
    count: numberOf(found.count),
    page: numberOf(found.page),
    pages: numberOf(found.pages),
    views: each(found.views, (one) => ({
      id: textOf(one.id),
      at_s: numberOf(one.at_s),
      members: textsOf(one.members),
      isPrimary: one.primary === true,
    })),
  };
}

/** One second of a node, which ended at `at_ms`. */
export interface Sample {
  readonly at_ms: number;
  readonly messages: number;
  readonly wait_ms: number;
  readonly cpu: number;
}

/** What is kept of samples: ten minutes. */
const SPAN_MS = 600_000;

function samplesOf(value: unknown): Sample[] {
  const rows = Array.isArray(value) ? value : [];
  return rows.map((row) => {
    const [at_ms, messages, , wait_ms, cpu] = Array.isArray(row) ? row.map(numberOf) : [];
    return {
      at_ms: at_ms ?? 0,
      messages: messages ?? 0,
      wait_ms: wait_ms ?? 0,
      cpu: cpu ?? 0,
    };
  });
}

/** The samples of all nodes, asked for again and again: each time only what is new. */
export class Load {
  private readonly kept = new Map<string, readonly Sample[]>();
  private since = 0;

  async more(): Promise<ReadonlyMap<string, readonly Sample[]>> {
    const { nodes } = await ask(`/api/v1/admin/load?since=${this.since}`);
    const told = entriesOf(nodes).map(([name, rows]) => [name, samplesOf(rows)] as const);
    const newest = told.flatMap(([, rows]) => rows.map(({ at_ms }) => at_ms));
    // Clocks of nodes differ a little: what is asked for twice is taken once.
    const now_ms = Math.max(this.since, ...newest);
    this.since = Math.max(0, now_ms - 5_000);
    for (const [name, rows] of told) {
      const before = this.kept.get(name) ?? [];
      const last_ms = before.at(-1)?.at_ms ?? 0;
      const all = [...before, ...rows.filter(({ at_ms }) => at_ms > last_ms)];
      this.kept.set(
        name,
        all.filter(({ at_ms }) => at_ms > now_ms - SPAN_MS),
      );
    }
    const here = new Set(told.map(([name]) => name));
    for (const name of this.kept.keys()) if (!here.has(name)) this.kept.delete(name);
    return new Map(this.kept);
  }
}
