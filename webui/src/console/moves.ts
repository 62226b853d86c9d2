/** Moves of groups between sequencers, and the plans that ask for them. */

import { ask, type Fields, fields, send, textOf } from "../api";
import { each, numberOf, numberOrNull, textsOf } from "./reading";

export interface MovedGroup {
  readonly group: number;
  readonly name: string;
  /** The last number that the source gave; null before the order says it. */
  readonly last: number | null;
}

export interface Migration {
  readonly key: string;
  /** 0 for a failover. */
  readonly move: number;
  readonly source: string;
  readonly target: string;
  readonly reason: string;
  readonly phase: string;
  readonly count: number;
  readonly groups: readonly MovedGroup[];
  readonly began_s: number;
  /** How long behind the beginning each phase was reached, in ms; null: it was not. */
  readonly stopped_ms: number | null;
  readonly ended_ms: number | null;
  readonly resumed_ms: number | null;
  readonly pause_ms: number | null;
  readonly held: number;
  readonly canCancel: boolean;
}

export interface Migrations {
  readonly migrations: readonly Migration[];
  readonly nodes: readonly string[];
  readonly silent: readonly string[];
}

function phasesOf({ stopped, ended, resumed }: Fields) {
  return {
    stopped_ms: numberOrNull(stopped),
    ended_ms: numberOrNull(ended),
    resumed_ms: numberOrNull(resumed),
  };
}

export async function migrations(): Promise<Migrations> {
  const found = await ask("/api/v1/admin/migrations");
  return {
    migrations: each(found.migrations, (one) => ({
      ...phasesOf(fields(one.after_ms)),
      key: `${numberOf(one.move)} ${textOf(one.source)} ${textOf(one.target)} ${numberOf(one.began_s)}`,
      move: numberOf(one.move),
      source: textOf(one.source),
      target: textOf(one.target),
      reason: textOf(one.reason),
      phase: textOf(one.phase),
      count: numberOf(one.count),
      groups: each(one.groups, ({ group, name, last }) => ({
        group: numberOf(group),
        name: textOf(name),
        last: numberOrNull(last),
      })),
      began_s: numberOf(one.began_s),
      pause_ms: numberOrNull(one.pause_ms),
      held: numberOf(one.held),
      canCancel: one.can_cancel === true,
    })),
    nodes: textsOf(found.nodes),
    silent: textsOf(found.silent),
  };
}

export async function cancelMove(move: number): Promise<void> {
  await send("POST", `/admin/migrations/${move}/cancel`);
}

// --- plans ----------------------------------------------------------------------------------------

/** A node before and behind a plan. */
export interface Balance {
  readonly node: string;
  readonly load_us: readonly [number, number];
  readonly groups: readonly [number, number];
}

export interface PlannedMove {
  readonly group: number;
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** As its maker says; empty where it does not. */
  readonly why: string;
}

/** What a plan would do, and what is wrong with it. */
export interface DryRun {
  readonly isFit: boolean;
  readonly moves: readonly PlannedMove[];
  readonly stays: number;
  readonly refused: readonly {
    readonly item: string;
    readonly problem: string;
    readonly remedy: string;
  }[];
  readonly nodes: readonly Balance[];
  readonly imbalance: readonly [number, number];
}

/** Before and after; null where it is not said. `latency_us`: until a message is back at its sender. */
export interface Expected {
  readonly imbalance: readonly [number, number] | null;
  readonly latency_us: readonly [number, number] | null;
}

/** What the pipeline has measured behind a plan's end. */
export interface Outcome {
  readonly windows: number;
  readonly imbalance: number;
  readonly latency_us: number | null;
}

export interface Plan {
  readonly id: string;
  readonly state: string;
  readonly began_s: number;
  readonly ended_s: number | null;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** As it was, and as it was to be. */
  readonly imbalance: readonly [number, number] | null;
  readonly expects: Expected;
  /** The imbalance a minute behind its end. */
  readonly brought: number | null;
  readonly measured: Outcome | null;
  readonly problem: string;
}

export interface Step {
  readonly group: number;
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly state: string;
  readonly why: string;
}

export interface Plans {
  readonly plans: readonly Plan[];
  readonly silent: readonly string[];
  readonly nodes: readonly Balance[];
  readonly imbalance: number;
  readonly proposed: {
    readonly text: string;
    readonly made_s: number;
    /** 0: the pipeline has found nothing that is worth a move. */
    readonly groups: number;
    readonly expects: Expected;
    /** In sentences, what it says that no placement can do. */
    readonly infeasible: readonly string[];
    /** The nodes that it is for, where these are others than there were. */
    readonly supposes: readonly string[];
  } | null;
}

function pairOf(value: unknown): readonly [number, number] {
  const [one, other] = Array.isArray(value) ? value.map(numberOf) : [];
  return [one ?? 0, other ?? 0];
}

function expectedOf(value: unknown): Expected {
  const { imbalance, latency_us } = fields(value);
  return {
    imbalance: Array.isArray(imbalance) ? pairOf(imbalance) : null,
    latency_us: Array.isArray(latency_us) ? pairOf(latency_us) : null,
  };
}

function outcomeOf(value: unknown): Outcome | null {
  if (value === null || value === undefined) return null;
  const { windows, imbalance, latency_us } = fields(value);
  return {
    windows: numberOf(windows),
    imbalance: numberOf(imbalance),
    latency_us: numberOrNull(latency_us),
  };
}

function balanceOf(one: Fields): Balance {
  return { node: textOf(one.node), load_us: pairOf(one.load_us), groups: pairOf(one.groups) };
}

function planOf(one: Fields): Plan {
  return {
    id: textOf(one.id),
    state: textOf(one.state),
    began_s: numberOf(one.began_s),
    ended_s: numberOrNull(one.ended_s),
    total: numberOf(one.total),
    done: numberOf(one.done),
    failed: numberOf(one.failed),
    imbalance: Array.isArray(one.imbalance) ? pairOf(one.imbalance) : null,
    expects: expectedOf(one.expects),
    brought: numberOrNull(one.brought),
    measured: outcomeOf(one.measured),
    problem: textOf(one.problem),
  };
}

export async function plans(): Promise<Plans> {
  const found = await ask("/api/v1/admin/plans");
  const proposed = fields(found.proposed);
  return {
    plans: each(found.plans, planOf),
    silent: textsOf(found.silent),
    nodes: each(found.nodes, balanceOf),
    imbalance: numberOf(found.imbalance),
    proposed:
      found.proposed === null
        ? null
        : {
            text: JSON.stringify(proposed.plan),
            made_s: numberOf(proposed.made_s),
            groups: numberOf(proposed.groups),
            expects: expectedOf(proposed.expects),
            infeasible: textsOf(proposed.infeasible),
            supposes: textsOf(proposed.supposes),
          },
  };
}

function sendPlan(path: string, text: string): Promise<Fields> {
  return ask(`/api/v1/admin${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: text,
  });
}

export async function dryRun(text: string): Promise<DryRun> {
  const found = await sendPlan("/plans?dry_run=true", text);
  return {
    isFit: found.fit === true,
    moves: each(found.moves, (one) => ({
      group: numberOf(one.group),
      name: textOf(one.name),
      from: textOf(one.from),
      to: textOf(one.to),
      why: textOf(one.why),
    })),
    stays: Array.isArray(found.stays) ? found.stays.length : 0,
    refused: each(found.refused, (one) => ({
      item: textOf(one.item),
      problem: textOf(one.problem),
      remedy: textOf(one.remedy),
    })),
    nodes: each(found.nodes, balanceOf),
    imbalance: pairOf(found.imbalance),
  };
}

/** Has a plan carried out; its id. */
export async function approve(text: string): Promise<string> {
  return textOf((await sendPlan("/plans", text)).id);
}

export async function onePlan(id: string): Promise<Plan & { readonly steps: readonly Step[] }> {
  const found = await ask(`/api/v1/admin/plans/${encodeURIComponent(id)}`);
  return {
    ...planOf(found),
    steps: each(found.steps, (one) => ({
      group: numberOf(one.group),
      name: textOf(one.name),
      from: textOf(one.from),
      to: textOf(one.to),
      state: textOf(one.state),
      why: textOf(one.why),
    })),
  };
}

export async function cancelPlan(id: string): Promise<void> {
  await send("POST", `/admin/plans/${encodeURIComponent(id)}/cancel`);
}
