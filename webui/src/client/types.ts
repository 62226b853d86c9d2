/** Library types whose state is shown whole or by keys, and a program's own classes. */

import { CallError } from "./errors";
import type { Item } from "./messages";
import { type Change, Confirmed, changeOf } from "./object";

/** An object of a class of one's own: `state` has its public fields, `call` its operations. */
export class SharedObject<S = Record<string, unknown>> extends Confirmed {
  static readonly type: string = "";
  state: S = {} as S;

  protected override show(state: unknown): void {
    this.state = state as S;
  }

  override call(operation: string, ...args: unknown[]): Promise<unknown> {
    return super.call(operation, ...args);
  }
}

/** An integer that all count on; no increment is ever lost, and each caller gets its own sum. */
export class Counter extends Confirmed {
  static readonly type = "Counter";
  value = 0;

  protected override show(state: unknown): void {
    this.value = (state as { value: number }).value;
  }

  /** Adds `by`, which may be negative; gives the sum. */
  add(by = 1): Promise<number> {
    return this.call("add", by) as Promise<number>;
  }

  /** Sets the counter; gives what it was. */
  reset(to = 0): Promise<number> {
    return this.call("reset", to) as Promise<number>;
  }
}

/** One value, null before the first write, and who wrote it. */
export class Register<T = unknown> extends Confirmed {
  static readonly type = "Register";
  value: T | null = null;
  writer: string | null = null;

  protected override show(state: unknown): void {
    const shown = state as { value: T | null; writer: string | null };
    this.value = shown.value;
    this.writer = shown.writer;
  }

  /** Writes; gives the value before. */
  set(value: T | null): Promise<T | null> {
    return this.call("set", value) as Promise<T | null>;
  }

  /** Writes `now` if the value is `before`; says whether it was. */
  compareAndSet(before: T | null, now: T | null): Promise<boolean> {
    return this.call("compare_and_set", before, now) as Promise<boolean>;
  }
}

/** A map: reads are local and at once, writes have one order. */
export class SharedMap<K extends string | number = string, V = unknown> extends Confirmed {
  static readonly type = "Map";
  private readonly entriesByKey = new Map<K, V>();

  protected override show(state: unknown): void {
    this.entriesByKey.clear();
    for (const [key, value] of state as [K, V][]) this.entriesByKey.set(key, value);
  }

  protected override done(item: Item, mine: boolean): Change {
    for (const detail of item[3]) {
      if (!Array.isArray(detail)) continue;
      const [key, , now] = detail as [K, V | null, V | null];
      if (now === null) this.entriesByKey.delete(key);
      else this.entriesByKey.set(key, now);
    }
    return changeOf(item, mine);
  }

  get(key: K): V | undefined {
    return this.entriesByKey.get(key);
  }

  has(key: K): boolean {
    return this.entriesByKey.has(key);
  }

  get size(): number {
    return this.entriesByKey.size;
  }

  /** Keys and values, in the order in which the keys were added. */
  entries(): [K, V][] {
    return [...this.entriesByKey];
  }

  /** Gives the key this value; gives the one before. */
  set(key: K, value: V): Promise<V | null> {
    return this.call("set", key, value) as Promise<V | null>;
  }

  /** Takes the key out; gives its value. Refused as `key` when it is not there at that place. */
  delete(key: K): Promise<V> {
    return this.call("delete", key) as Promise<V>;
  }

  /** If the key's value is `before` make it `now`, and say so; null stands for no value. */
  compareAndSet(key: K, before: V | null, now: V | null): Promise<boolean> {
    return this.call("compare_and_set", key, before, now) as Promise<boolean>;
  }

  /** Takes all keys out; says how many there were. */
  clear(): Promise<number> {
    return this.call("clear") as Promise<number>;
  }
}

/** A place in a lock's queue; `token` grows from ticket to ticket. */
export interface Ticket {
  readonly token: number;
  readonly process: string;
}

/** One holder at a time, in the order of the requests; freed when the holder's session ends. */
export class Lock extends Confirmed {
  static readonly type = "Lock";
  queue: readonly Ticket[] = [];

  protected override show(state: unknown): void {
    this.queue = (state as { queue: Ticket[] }).queue;
  }

  get holder(): string | null {
    return this.queue[0]?.process ?? null;
  }

  get isMine(): boolean {
    return this.holder !== null && this.host.isSelf(this.holder);
  }

  /** Takes a place in the queue; the first in it has the lock. */
  request(): Promise<Ticket> {
    return this.call("request") as Promise<Ticket>;
  }

  /** Takes the lock if it is free; else refused as `held`. */
  tryAcquire(): Promise<Ticket> {
    return this.call("try_acquire") as Promise<Ticket>;
  }

  release(token: number): Promise<void> {
    return this.call("release", token) as Promise<void>;
  }

  /** Waits until it is one's turn; refused as `not_held` when the session was lost meanwhile. */
  async acquire(): Promise<Ticket> {
    const changes = this.changes();
    try {
      const ticket = await this.request();
      while (this.queue[0]?.token !== ticket.token) {
        if (!this.queue.some((one) => one.token === ticket.token)) {
          throw new CallError("not_held", `ticket ${ticket.token} was taken back`);
        }
        if ((await changes.next()).done) throw new CallError("closed", "the lock is closed");
      }
      return ticket;
    } finally {
      changes.close();
    }
  }
}

export interface Grant {
  readonly token: number;
  readonly process: string;
  readonly until_s: number;
}

/** A lock that ends by itself, by the order's time. */
export class Lease extends Confirmed {
  static readonly type = "Lease";
  grant: Grant | null = null;
  private ahead_s = 0;

  protected override show(state: unknown): void {
    const shown = state as { grant: Grant | null; time_s: number };
    this.grant = shown.grant;
    this.ahead_s = shown.time_s - Date.now() / 1_000;
  }

  /** Who has it now, by an estimate of the order's time. */
  get holder(): string | null {
    const grant = this.grant;
    if (grant === null || Date.now() / 1_000 + this.ahead_s >= grant.until_s) return null;
    return grant.process;
  }

  /** Takes it for so long, if it is free or has ended; else refused as `held`. */
  take(duration_s: number): Promise<Grant> {
    return this.call("take", duration_s) as Promise<Grant>;
  }

  renew(token: number, duration_s: number): Promise<Grant> {
    return this.call("renew", token, duration_s) as Promise<Grant>;
  }

  release(token: number): Promise<void> {
    return this.call("release", token) as Promise<void>;
  }
}
