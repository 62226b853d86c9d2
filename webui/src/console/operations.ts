/** Long work that nodes do for who runs the cluster, and the backups of this node. */

import { ask, type Fields, fields, send, textOf } from "../api";
import { each, entriesOf, numberOf, numberOrNull, textsOf } from "./reading";

export interface Operation {
  readonly id: string;
  readonly node: string;
  readonly what: string;
  readonly about: string;
  readonly state: string;
  readonly began_s: number;
  readonly done: number;
  /** 0: not known. */
  readonly total: number;
  readonly unit: string;
  readonly result: Fields;
  readonly problem: string;
}

export interface Backup {
  readonly file: string;
  readonly bytes: number;
  readonly made_s: number;
}

export interface Operations {
  readonly operations: readonly Operation[];
  readonly silent: readonly string[];
  /** The nodes that write a trace. */
  readonly tracing: readonly string[];
  /** Who was asked. */
  readonly node: string;
  /** Null: this node has no folder for them. */
  readonly backups: readonly Backup[] | null;
  /** When any node took its last whole one; null: none that answers did. */
  readonly lastBackup_s: number | null;
}

/** What a node has removed of its trace, or would. */
export interface Pruned {
  readonly node: string;
  /** Null: it does not answer. */
  readonly went: {
    readonly hasTrace: boolean;
    readonly segments: number;
    readonly bytes: number;
  } | null;
}

function operationOf(one: Fields): Operation {
  return {
    id: textOf(one.id),
    node: textOf(one.node),
    what: textOf(one.what),
    about: textOf(one.about),
    state: textOf(one.state),
    began_s: numberOf(one.began_s),
    done: numberOf(one.done),
    total: numberOf(one.total),
    unit: textOf(one.unit),
    result: fields(one.result),
    problem: textOf(one.problem),
  };
}

export async function operations(): Promise<Operations> {
  const found = await ask("/api/v1/admin/operations");
  return {
    operations: each(found.operations, operationOf),
    silent: textsOf(found.silent),
    tracing: textsOf(found.tracing),
    node: textOf(found.node),
    lastBackup_s: numberOrNull(found.last_backup_s),
    backups:
      found.backups === null
        ? null
        : each(found.backups, ({ file, bytes, made_s }) => ({
            file: textOf(file),
            bytes: numberOf(bytes),
            made_s: numberOf(made_s),
          })),
  };
}

export async function begin(
  what: "backup" | "verify" | "restore" | "prune",
  more: Readonly<Record<string, string | number | boolean>> = {},
): Promise<Operation> {
  return operationOf(await send("POST", "/admin/operations", { what, ...more }, true));
}

export async function cancelOperation(id: string): Promise<void> {
  await send("POST", `/admin/operations/${encodeURIComponent(id)}/cancel`);
}

export function prunedOf(result: Fields): readonly Pruned[] {
  return entriesOf(result.nodes).map(([node, value]) => {
    const one = value === null ? null : fields(value);
    const went = one && {
      hasTrace: one.trace === true,
      segments: numberOf(one.segments),
      bytes: numberOf(one.bytes),
    };
    return { node, went };
  });
}

export function countOf(result: Fields, name: string): number {
  return numberOrNull(result[name]) ?? 0;
}
