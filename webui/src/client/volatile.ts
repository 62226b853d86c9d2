/** What has no state: presences; topics are `topic.ts`. */

import { CallError } from "./errors";
import type { ObjectMessage, People } from "./messages";
import type { Host } from "./object";
import { type Stream, Streams } from "./stream";

/** What an object without a state has of a session. */
export abstract class Stateless {
  readonly ready: Promise<void>;
  readonly unanswered: number = 0;
  readonly unsaved: number = 0;
  inFlight = 0;
  readonly owedSince_ms: number | null = null;
  protected isOpen = false;
  private settleReady: (error: Error | null) => void = () => undefined;

  constructor(
    protected readonly host: Host,
    readonly name: string,
    protected readonly typeName: string,
  ) {
    this.ready = new Promise<void>((resolve, reject) => {
      this.settleReady = (error) => (error === null ? resolve() : reject(error));
    });
    this.ready.catch(() => undefined);
  }

  close(): void {
    this.host.send({ t: "close", name: this.name });
    this.host.forget(this.name);
    this.end(new CallError("closed", `${this.name} is closed; open it again`));
  }

  sendWaiting(): void {
    return;
  }

  ask(): void {
    this.host.send({ t: "open", name: this.name, type: this.typeName });
  }

  disconnected(): void {
    this.isOpen = false;
  }

  hear(message: ObjectMessage): void {
    if (message.t === "opened") {
      this.isOpen = true;
      this.settleReady(null);
    } else if (message.t === "error" && message.n === undefined) {
      if (message.temporary) {
        this.host.reopen(this.name);
      } else {
        this.host.forget(this.name);
        this.end(new CallError(message.code, message.message));
      }
    }
  }

  end(error: Error): void {
    this.settleReady(error);
  }
}

/** `who` shows this now; null: it is here no more, or shows nothing. */
export interface PresenceChange<T> {
  readonly who: string;
  readonly value: T | null;
}

/** What each session shows now: seen by all that have it open, gone with the session. */
export class Presence<T = unknown> extends Stateless {
  static readonly type = "Presence";
  /** What the others show. */
  readonly others = new Map<string, T>();
  private mine: T | null = null;
  private readonly streams = new Streams<PresenceChange<T>>();

  /** Lets the others see this value, soon; null: nothing of this session any more. */
  set(value: T | null): void {
    this.mine = value;
    if (this.isOpen) this.host.send({ t: "present", name: this.name, value });
  }

  changes(): Stream<PresenceChange<T>> {
    return this.streams.open();
  }

  override hear(message: ObjectMessage): void {
    super.hear(message);
    if (message.t === "opened" && this.mine !== null) this.set(this.mine);
    else if (message.t === "people") this.onPeople(message);
    else if (message.t === "presence") this.onShown(message.who, message.value as T | null);
  }

  private onPeople(message: People): void {
    const shown = new Map(message.others as [string, T][]);
    for (const who of [...this.others.keys()]) if (!shown.has(who)) this.onShown(who, null);
    for (const [who, value] of shown) this.onShown(who, value);
  }

  private onShown(who: string, value: T | null): void {
    if (this.host.isSelf(who)) return;
    if (value === null) this.others.delete(who);
    else this.others.set(who, value);
    this.streams.push({ who, value });
  }

  override end(error: Error): void {
    super.end(error);
    this.streams.end(null);
  }
}
