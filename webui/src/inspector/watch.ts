/** Looks at a session once a second, and at all that comes and goes: what the inspector shows. */

import type { Session } from "../client";
import type { In, Inspected, InspectedObject, Out } from "../client/messages";

const LOOK_MS = 1_000;
const LOG_MAX = 200;
const TIMES_MAX = 200;
/** For so long it is seen that a group has another sequencer. */
const MOVED_MS = 8_000;

export interface Entry {
  readonly number: number;
  readonly time_ms: number;
  readonly way: "in" | "out" | "moved";
  readonly kind: string;
  readonly name: string;
  readonly detail: unknown;
}

export interface Row extends InspectedObject {
  /** Own calls until their answers, in milliseconds; null: there were none. */
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly hasMoved: boolean;
}

export interface Seen {
  readonly at: Inspected["at"];
  readonly session: Inspected["session"];
  readonly rows: readonly Row[];
  /** From asking to the answer. */
  readonly roundTrip_ms: number;
}

export interface WatchTools {
  readonly now_ms: () => number;
  readonly after: (delay_ms: number, act: () => void) => () => void;
  readonly changed: () => void;
}

export class Watch {
  seen: Seen | null = null;
  /** The last messages, the newest one last. */
  log: readonly Entry[] = [];
  isPaused = false;
  private waiting: Entry[] = [];
  private count = 0;
  private readonly sent_ms = new Map<string, number>();
  private readonly times = new Map<string, number[]>();
  private readonly owners = new Map<string, string>();
  private readonly moved_ms = new Map<string, number>();
  private cancel: () => void = () => undefined;
  private isOver = false;

  constructor(
    private readonly session: Pick<Session, "inspect" | "tap">,
    private readonly tools: WatchTools,
  ) {
    session.tap = (way, message) => this.note(way, message);
    void this.look();
  }

  stop(): void {
    this.isOver = true;
    this.session.tap = null;
    this.cancel();
  }

  /** What is shown, for a report. */
  get report(): string {
    return JSON.stringify({ ...this.seen, log: this.log }, null, 2);
  }

  private async look(): Promise<void> {
    const asked_ms = this.tools.now_ms();
    try {
      const found = await this.session.inspect();
      if (this.isOver) return;
      this.take(found, this.tools.now_ms() - asked_ms);
    } catch {
      // No connection, or asked too often: the next look may tell more.
    }
    if (this.isOver) return;
    this.tools.changed();
    this.cancel = this.tools.after(LOOK_MS, () => void this.look());
  }

  private take({ at, session, objects }: Inspected, roundTrip_ms: number): void {
    for (const object of objects) this.watchOwner(object);
    const rows = objects.map((object) => this.row(object));
    this.seen = { at, session, rows, roundTrip_ms };
  }

  private watchOwner({ name, sequencer, epoch }: InspectedObject): void {
    if (sequencer === undefined) return;
    const now = `${sequencer} ${epoch}`;
    const before = this.owners.get(name);
    this.owners.set(name, now);
    if (before === undefined || before === now) return;
    this.moved_ms.set(name, this.tools.now_ms());
    const [from] = before.split(" ");
    this.add("moved", "moved", name, { from, to: sequencer, epoch });
  }

  private row(object: InspectedObject): Row {
    const times = [...(this.times.get(object.name) ?? [])].sort((one, other) => one - other);
    const moved_ms = this.moved_ms.get(object.name) ?? Number.NEGATIVE_INFINITY;
    const hasMoved = this.tools.now_ms() < moved_ms + MOVED_MS;
    return { ...object, p50_ms: at(times, 0.5), p99_ms: at(times, 0.99), hasMoved };
  }

  private note(way: "in" | "out", message: In | Out): void {
    if (message.t === "inspect" || message.t === "inspected") return;
    const name = "name" in message && message.name !== undefined ? message.name : "";
    if (message.t === "call") {
      this.sent_ms.set(`${name} ${message.n}`, this.tools.now_ms());
    } else if (message.t === "result") {
      this.time(name, `${name} ${message.n}`);
    }
    this.add(way, message.t, name, message);
  }

  private time(name: string, call: string): void {
    const sent_ms = this.sent_ms.get(call);
    if (sent_ms === undefined) return;
    this.sent_ms.delete(call);
    const times = this.times.get(name) ?? [];
    times.push(this.tools.now_ms() - sent_ms);
    this.times.set(name, times.slice(-TIMES_MAX));
  }

  /** Told to the page with the next look: it is not to be drawn for each message. */
  private add(way: Entry["way"], kind: string, name: string, detail: unknown): void {
    this.count += 1;
    const time_ms = this.tools.now_ms();
    this.waiting.push({ number: this.count, time_ms, way, kind, name, detail });
    this.waiting = this.waiting.slice(-LOG_MAX);
    if (!this.isPaused) this.log = [...this.log, ...this.waiting.splice(0)].slice(-LOG_MAX);
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
    if (!isPaused) this.log = [...this.log, ...this.waiting.splice(0)].slice(-LOG_MAX);
    this.tools.changed();
  }
}

/** The value below which this share of them lies; null of none. */
function at(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

/** Rows by a column, with what is not known at the end. */
export function sorted(rows: readonly Row[], by: keyof Row, isDown: boolean): readonly Row[] {
  const order = (one: Row, other: Row): number => {
    const [a, b] = [one[by] ?? null, other[by] ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const sign = isDown ? -1 : 1;
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  return [...rows].sort(order);
}
