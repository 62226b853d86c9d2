/**
 * A list whose items have ids, seen by its writer at once.
 *
 * What is shown is the confirmed list with the own operations that have no answer yet done on it
 * anew, whenever it changes. Operations name items, so they mean the same ones wherever these are.
 * A new item has an id of its own here, which begins with "~", until the node has given it one.
 */

import { CallError } from "./errors";
import type { Item } from "./messages";
import { type Change, changeOf, Shared } from "./object";

type Operation = "insert" | "append" | "set" | "move" | "delete";

interface Entry<T> {
  readonly id: string;
  value: T;
}

interface Own {
  readonly operation: Operation;
  args: unknown[];
  /** The id that an inserted item has here. */
  readonly id: string;
  number: number;
  /** Whether the confirmed list has it already. */
  isShown: boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const GONE_MAX = 1_000;

export class SharedList<T = unknown> extends Shared {
  static readonly type = "List";
  private confirmed: Entry<T>[] = [];
  private gone = new Map<string, string | null>();
  private own: Own[] = [];
  private seen: Entry<T>[] | null = null;
  private count = 0;
  private readonly ids = new Map<string, string>();

  /** Ids and values in order, own operations included. */
  items(): [string, T][] {
    return this.view().map((entry) => [entry.id, entry.value]);
  }

  values(): T[] {
    return this.view().map((entry) => entry.value);
  }

  get length(): number {
    return this.view().length;
  }

  get(id: string): T | undefined {
    const known = this.known(id);
    return this.view().find((entry) => entry.id === known)?.value;
  }

  get unconfirmed(): boolean {
    return this.own.length > 0;
  }

  /** Puts an item at the end, at once; gives its id when it is confirmed. */
  append(value: T): Promise<string> {
    return this.change("append", [value]) as Promise<string>;
  }

  /** Puts an item behind `after` (null: at the start), at once; gives its id when confirmed. */
  insert(value: T, after: string | null = null): Promise<string> {
    return this.change("insert", [value, after]) as Promise<string>;
  }

  /** Gives the item this value; gives the one before. */
  set(id: string, value: T): Promise<T> {
    return this.change("set", [id, value]) as Promise<T>;
  }

  /** Puts the item behind `after` (null: at the start). */
  move(id: string, after: string | null = null): Promise<void> {
    return this.change("move", [id, after]) as Promise<void>;
  }

  /** Takes the item out; gives its value. */
  delete(id: string): Promise<T> {
    return this.change("delete", [id]) as Promise<T>;
  }

  private change(operation: Operation, args: unknown[]): Promise<unknown> {
    this.count += 1;
    const id = `~${this.count}`;
    return new Promise((resolve, reject) => {
      this.own.push({ operation, args, id, number: 0, isShown: false, resolve, reject });
      this.seen = null;
      this.sendNext();
    });
  }

  /** Sends what names only items that the node knows; the rest waits for their ids. */
  private sendNext(): void {
    for (const one of this.own) {
      if (one.number > 0) continue;
      const place = one.operation === "insert" ? 1 : 0;
      const names = one.operation === "append" ? [] : one.args.slice(place, place + 2);
      const named = one.operation === "set" ? names.slice(0, 1) : names;
      const known = named.map((id) => (typeof id === "string" ? this.known(id) : id));
      if (known.some((id) => typeof id === "string" && id.startsWith("~"))) return;
      one.args = one.args.map((arg, at) => {
        const index = at - place;
        return one.operation !== "append" && index >= 0 && index < known.length
          ? known[index]
          : arg;
      });
      one.number = this.nextNumber;
      this.call(one.operation, ...one.args).then(one.resolve, one.reject);
    }
  }

  private known(id: string): string {
    return this.ids.get(id) ?? id;
  }

  protected override answered(n: number, results: readonly unknown[] | null): void {
    const one = this.own.find((other) => other.number === n);
    if (results !== null && (one?.operation === "insert" || one?.operation === "append")) {
      this.ids.set(one.id, String(results[0]));
    }
    this.own = this.own.filter((other) => other !== one);
    if (results === null && one !== undefined) {
      this.ids.delete(one.id);
      this.refuseFollowing(one.id);
    }
    this.seen = null;
    this.sendNext();
  }

  /** An own operation has its place; what names its new item shows at that one. */
  private confirm(one: Own, item: Item): void {
    one.isShown = true;
    const [what, id] = (item[3][0] ?? []) as [string?, string?];
    if (what === "insert" && id !== undefined) this.ids.set(one.id, id);
  }

  /** What names an item that was refused is refused, too. */
  private refuseFollowing(id: string): void {
    const following = this.own.filter((one) => one.number === 0 && one.args.includes(id));
    this.own = this.own.filter((one) => !following.includes(one));
    for (const one of following) {
      one.reject(new CallError("no_such_item", "the item that this names was refused"));
    }
  }

  private view(): Entry<T>[] {
    if (this.seen !== null) return this.seen;
    const seen = this.confirmed.map((entry) => ({ ...entry }));
    const gone = new Map(this.gone);
    for (const one of this.own) if (!one.isShown) replay(one, seen, gone, (id) => this.known(id));
    this.seen = seen;
    return seen;
  }

  protected override show(state: unknown): void {
    this.confirmed = (state as [string, T][]).map(([id, value]) => ({ id, value }));
    this.gone.clear();
    for (const one of this.own) one.isShown = false;
    this.seen = null;
  }

  protected override done(item: Item, mine: boolean): Change {
    for (const detail of item[3]) {
      if (!Array.isArray(detail)) continue;
      const [what, id, third, value] = detail as [string, string, unknown, unknown];
      const after = third as string | null;
      if (what === "insert") put(this.confirmed, { id, value: value as T }, after);
      else if (what === "delete") remove(this.confirmed, id, this.gone);
      else if (what === "move") move(this.confirmed, id, after);
      else if (what === "set") assign(this.confirmed, id, third as T);
    }
    if (mine) {
      const first = this.own.find((one) => !one.isShown && one.operation === item[2]);
      if (first !== undefined) this.confirm(first, item);
    }
    if (this.gone.size > 2 * GONE_MAX) this.gone = new Map([...this.gone].slice(GONE_MAX));
    this.seen = null;
    return changeOf(item, mine);
  }
}

function indexOf<T>(entries: readonly Entry<T>[], id: string): number {
  return entries.findIndex((entry) => entry.id === id);
}

function put<T>(entries: Entry<T>[], entry: Entry<T>, after: string | null): void {
  entries.splice(after === null ? 0 : indexOf(entries, after) + 1, 0, entry);
}

function remove<T>(entries: Entry<T>[], id: string, gone: Map<string, string | null>): void {
  const at = indexOf(entries, id);
  if (at < 0) return;
  gone.set(id, entries[at - 1]?.id ?? null);
  entries.splice(at, 1);
}

function move<T>(entries: Entry<T>[], id: string, after: string | null): void {
  const at = indexOf(entries, id);
  if (at < 0 || id === after) return;
  const [entry] = entries.splice(at, 1);
  if (entry !== undefined) put(entries, entry, after);
}

function assign<T>(entries: Entry<T>[], id: string, value: T): void {
  const entry = entries[indexOf(entries, id)];
  if (entry !== undefined) entry.value = value;
}

/** Does an own operation on what others have done before it, as the node will. */
function replay<T>(
  one: Own,
  entries: Entry<T>[],
  gone: Map<string, string | null>,
  known: (id: string) => string,
): void {
  const place = (value: unknown): string | null => {
    let id = typeof value === "string" ? known(value) : null;
    while (id !== null && indexOf(entries, id) < 0 && gone.has(id)) id = gone.get(id) ?? null;
    return id;
  };
  const [first, second] = one.args;
  const name = typeof first === "string" ? known(first) : "";
  const entry = { id: known(one.id), value: first as T };
  if (one.operation === "append") entries.push(entry);
  else if (one.operation === "insert") put(entries, entry, place(second));
  else if (one.operation === "set") assign(entries, name, second as T);
  else if (one.operation === "delete") remove(entries, name, gone);
  else move(entries, name, place(second));
}
