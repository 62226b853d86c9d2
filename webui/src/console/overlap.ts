/** Which groups hang together, and what a move or a split of them costs. */

import { ask, fields, textOf } from "../api";
import { type GroupRow, rowOf } from "./groups";
import { each, numberOf, numberOrNull, textsOf } from "./reading";

export interface Home {
  readonly node: string;
  readonly groups: number;
}

export interface Component {
  /** By any of its groups it is asked for. */
  readonly component: number;
  readonly groups: number;
  /** How many of them S2 binds to another. */
  readonly bound: number;
  readonly processes: number;
  readonly homes: readonly Home[];
  readonly load_us: number;
  readonly names: readonly string[];
}

export interface Face {
  readonly node: string;
  readonly process: number;
  readonly name: string;
}

export interface HeldComponent {
  readonly component: number;
  readonly name: string;
  readonly groups: number;
  readonly heldBy: readonly {
    readonly process: string;
    readonly parts: number;
    readonly largest: number;
  }[];
}

export interface OverlapPage {
  readonly groups: number;
  readonly alone: number;
  readonly count: number;
  readonly page: number;
  readonly pages: number;
  readonly components: readonly Component[];
  readonly nodes: readonly string[];
  readonly leftOut: number;
  /** `isDeclared`: who has joined so many strict groups as an observer. */
  readonly observers: readonly (Face & { readonly groups: number; readonly isDeclared: boolean })[];
  readonly halls: readonly {
    readonly group: number;
    readonly name: string;
    readonly processes: number;
  }[];
  /** Null: the pipeline has left nothing. */
  readonly pipeline: {
    readonly made_s: number;
    readonly components: number;
    readonly largest: readonly HeldComponent[];
  } | null;
}

export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly common: number;
  readonly isBound: boolean;
  readonly turns: number;
}

export interface Cost {
  readonly group: number;
  readonly name: string;
  readonly from: string;
  readonly unit: readonly string[];
  readonly count: number;
  readonly processes: number;
  readonly load_us: number;
  readonly messages: number;
  readonly bytes: number;
  readonly history_bytes: number;
  /** Null: nothing has moved yet. */
  readonly pause_ms: number | null;
  readonly targets: readonly {
    readonly node: string;
    readonly load_us: readonly [number, number];
    readonly imbalance: readonly [number, number];
  }[];
  readonly ties: readonly { readonly name: string; readonly turns: number }[];
  /** Null: nothing is bound. Its `who` null: there are too many groups to say. */
  readonly split: {
    readonly count: number;
    readonly who: readonly (Face & { readonly parts: number; readonly largest: number })[] | null;
  } | null;
}

export interface OneComponent extends Component {
  readonly page: number;
  readonly pages: number;
  readonly rows: readonly GroupRow[];
  readonly drawn: readonly GroupRow[];
  readonly edges: readonly Edge[];
  readonly cost: Cost;
}

function componentOf(value: unknown): Component {
  const one = fields(value);
  return {
    component: numberOf(one.component),
    groups: numberOf(one.groups),
    bound: numberOf(one.bound),
    processes: numberOf(one.processes),
    homes: each(one.homes, ({ node, groups }) => ({
      node: textOf(node),
      groups: numberOf(groups),
    })),
    load_us: numberOf(one.load_us),
    names: textsOf(one.names),
  };
}

function faceOf(value: unknown): Face {
  const one = fields(value);
  return { node: textOf(one.node), process: numberOf(one.process), name: textOf(one.name) };
}

function pairOf(value: unknown): readonly [number, number] {
  const [one, other] = Array.isArray(value) ? value : [];
  return [numberOf(one), numberOf(other)];
}

export async function overlapPage(page: number): Promise<OverlapPage> {
  const found = await ask(`/api/v1/admin/overlap?page=${page}`);
  const pipeline = found.pipeline === null ? null : fields(found.pipeline);
  return {
    groups: numberOf(found.groups),
    alone: numberOf(found.alone),
    count: numberOf(found.count),
    page: numberOf(found.page),
    pages: numberOf(found.pages),
    components: each(found.components, componentOf),
    nodes: textsOf(found.nodes),
    leftOut: numberOf(found.left_out),
    observers: each(found.observers, (one) => ({
      ...faceOf(one),
      groups: numberOf(one.groups),
      isDeclared: one.declared === true,
    })),
    halls: each(found.halls, ({ group, name, processes }) => ({
      group: numberOf(group),
      name: textOf(name),
      processes: numberOf(processes),
    })),
    pipeline: pipeline && {
      made_s: numberOf(pipeline.made_s),
      components: numberOf(pipeline.components),
      largest: each(pipeline.largest, (one) => ({
        component: numberOf(one.component),
        name: textOf(one.name),
        groups: numberOf(one.groups),
        heldBy: each(one.held_by, ({ process, parts, largest }) => ({
          process: textOf(process),
          parts: numberOf(parts),
          largest: numberOf(largest),
        })),
      })),
    },
  };
}

export async function oneComponent(group: string, page: number): Promise<OneComponent> {
  const found = await ask(`/api/v1/admin/overlap/${encodeURIComponent(group)}?page=${page}`);
  return {
    ...componentOf(found),
    page: numberOf(found.page),
    pages: numberOf(found.pages),
    rows: each(found.rows, rowOf),
    drawn: each(found.drawn, rowOf),
    edges: each(found.edges, (one) => ({
      from: numberOf(one.from),
      to: numberOf(one.to),
      common: numberOf(one.common),
      isBound: one.bound === true,
      turns: numberOf(one.turns),
    })),
    cost: costOf(found.cost),
  };
}

function costOf(value: unknown): Cost {
  const cost = fields(value);
  const split = cost.split === null ? null : fields(cost.split);
  return {
    group: numberOf(cost.group),
    name: textOf(cost.name),
    from: textOf(cost.from),
    unit: textsOf(cost.unit),
    count: numberOf(cost.count),
    processes: numberOf(cost.processes),
    load_us: numberOf(cost.load_us),
    messages: numberOf(cost.messages),
    bytes: numberOf(cost.size_bytes),
    history_bytes: numberOf(cost.history_bytes),
    pause_ms: numberOrNull(cost.pause_ms),
    targets: each(cost.targets, ({ node, load_us, imbalance }) => ({
      node: textOf(node),
      load_us: pairOf(load_us),
      imbalance: pairOf(imbalance),
    })),
    ties: each(cost.ties, ({ name, turns }) => ({ name: textOf(name), turns: numberOf(turns) })),
    split: split && {
      count: numberOf(split.count),
      who:
        split.who === null
          ? null
          : each(split.who, (one) => ({
              ...faceOf(one),
              parts: numberOf(one.parts),
              largest: numberOf(one.largest),
            })),
    },
  };
}
