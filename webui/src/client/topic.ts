/** Topics: events for all that have them open. */

import { CallError } from "./errors";
import type { ObjectMessage } from "./messages";
import { type Stream, Streams } from "./stream";
import { Stateless } from "./volatile";

/** An event of a topic. */
export interface Published<T> {
  readonly value: T;
  readonly who: string;
  readonly version: number;
}

/** Events in one order for all that have the topic open. */
export class Topic<T = unknown> extends Stateless {
  static readonly type = "Topic";
  private lastNumber = 0;
  private version = 0;
  private readonly waiting = new Map<number, [() => void, (error: Error) => void]>();
  private readonly streams = new Streams<Published<T>>();

  /** Sends an event; done when it has its place. `outcome_unknown` when the connection breaks. */
  publish(value: T): Promise<void> {
    if (!this.isOpen) return Promise.reject(new CallError("not_open", "the topic is not open now"));
    if (!this.host.hasRoom) return Promise.reject(new CallError("busy", "too much is under way"));
    this.lastNumber += 1;
    this.inFlight += 1;
    const n = this.lastNumber;
    this.host.send({ t: "publish", name: this.name, n, value });
    return new Promise((resolve, reject) => this.waiting.set(n, [resolve, reject]));
  }

  /** What is published from now on. */
  events(): Stream<Published<T>> {
    return this.streams.open();
  }

  override hear(message: ObjectMessage): void {
    super.hear(message);
    if (message.t === "opened") {
      // Nothing comes twice behind it, and a topic that nobody had open meanwhile counts anew.
      this.version = 0;
    } else if (message.t === "event" && message.version > this.version) {
      const { value, who, version } = message;
      this.version = version;
      this.streams.push({ value: value as T, who, version });
    } else if (message.t === "result") {
      this.answer(message.n)?.[0]();
    } else if (message.t === "error" && message.n !== undefined) {
      this.answer(message.n)?.[1](new CallError(message.code, message.message));
    }
  }

  private answer(n: number): [() => void, (error: Error) => void] | undefined {
    const one = this.waiting.get(n);
    if (this.waiting.delete(n)) this.inFlight -= 1;
    return one;
  }

  override disconnected(): void {
    super.disconnected();
    const error = new CallError("outcome_unknown", "the connection broke meanwhile");
    for (const [, reject] of this.waiting.values()) reject(error);
    this.waiting.clear();
    this.inFlight = 0;
  }

  override end(error: Error): void {
    super.end(error);
    this.disconnected();
    this.streams.end(null);
  }
}
