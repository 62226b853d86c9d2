/**
 * A session: one connection, and the objects that are open over it.
 *
 * When the connection breaks it is tried again, at the next node of the list; objects are asked for
 * with what is here of them, and calls that were not answered are sent again. A node that leaves a
 * call unanswered for long is left for the next one.
 */

import { type ConnectionTools, Link, type Stopped } from "../shared/link";
import { absolute, browserTools, newClient } from "./browser";
import { CallError } from "./errors";
import {
  decodeFrame,
  encodeFrame,
  type In,
  type Inspected,
  type ObjectMessage,
  type Out,
  type Refusal,
  type Welcome,
} from "./messages";
import type { Host } from "./object";

const REOPEN_MS = 300;
/** Longest pause that a node may ask for, and after how long without a word it is over. */
const PAUSE_MAX_MS = 2_000;
const PAUSE_TOLD_MS = 5_000;
const PATIENCE_MS = 8_000;
const LOOK_MS = PATIENCE_MS / 4;
/** Codes of `Session.stopped`, by close codes; others are `stopped`. */
const STOP_CODES: Readonly<Record<number, string>> = {
  1008: "refused",
  1009: "too_much",
  4401: "signed_out",
  4403: "signed_out",
  4409: "replaced",
  4426: "outdated",
};
const STOPS: Readonly<Record<number, string>> = {
  1008: "The server refused what this page sent. Reload the page.",
  1009: "This page sent more than the server takes. Reload the page.",
  4401: "You are not signed in.",
  4403: "You are not signed in any more.",
  4409: "This page's session is used elsewhere. Reload the page.",
  4426: "This page is older than the server. Reload the page.",
};

/** `connecting`: edits wait and are kept; `stopped`: for good, and `Session.stopped` says why. */
export type State = "connecting" | "connected" | "stopped";

/** What a session does with its objects. */
export interface Openable {
  readonly ready: Promise<void>;
  readonly unanswered: number;
  readonly unsaved: number;
  /** Since when the node has owed an answer over this connection; null: it owes none. */
  readonly owedSince_ms: number | null;
  readonly inFlight: number;
  /** The number of the last call, and a call to go on behind one. */
  readonly lastCall?: number;
  countFrom?(number: number): void;
  sendWaiting(): void;
  ask(): void;
  disconnected(): void;
  hear(message: ObjectMessage): void;
  end(error: Error): void;
}

/** A type that can be opened: a class of this package, or one derived from it. */
export interface Kind<T extends Openable> {
  readonly type: string;
  new (host: Host, name: string, type: string): T;
}

/** What has to be kept of a session so that its calls are known in another page's life. */
export interface StoredSession {
  readonly client: string;
  /** Who the client was for objects. */
  readonly selves: readonly string[];
  /** The last calls of objects that are closed. */
  readonly numbers: readonly (readonly [string, number])[];
}

export interface Options extends Partial<ConnectionTools> {
  /** The session of a page's life before, which has ended. */
  readonly stored?: StoredSession;
  /**
   * What to show the node at this socket's address, for servers that ask for a ticket; asked for
   * anew at each connection. Null: the person has to sign in, and the session stops as `signed_out`;
   * a failure: the next node is tried.
   */
  readonly ticket?: (url: string) => Promise<string | null>;
  /** Keeps what is needed to make the same calls again: none goes out before it is kept. */
  readonly kept?: () => Promise<void>;
  /** Called whenever the state has changed, or the condition of the node. */
  readonly onState?: (state: State) => void;
}

interface Held {
  readonly object: Openable;
  readonly type: string;
}

export class Session implements Host {
  /** Why it has stopped for good. */
  stopped: CallError | null = null;
  state: State = "connecting";
  saves = false;
  /** What the node says of itself: `serving`, or what it cannot do (docs/protocol-objects.md). */
  condition = "serving";
  /** Most objects that may be open at a time, once connected. */
  objectsMax = 64;
  /** What this session calls itself; it is secret. */
  readonly client: string;
  private readonly objects = new Map<string, Held>();
  /** The last call of each object that was closed: a number is given once in a session. */
  private readonly numbers = new Map<string, number>();
  private readonly reopening = new Set<string>();
  private readonly selves = new Set<string>();
  private readonly link: Link<Out, In, Welcome>;
  private readonly tools: ConnectionTools;
  private refuse: (error: CallError) => void = () => undefined;
  /** Never answered: fails once the session has stopped. */
  private readonly stopping: Promise<never>;
  private self = "";
  private callsMax = 0;
  /** Least time between two rounds of calls, as the node has told; and a round that is under way. */
  private pause_ms = 0;
  isPausing = false;
  private told: (() => void) | null = null;
  private round: (() => void) | null = null;
  private looks = 0;
  private readonly looking = new Map<
    number,
    [(found: Inspected) => void, (error: CallError) => void]
  >();
  /** Is told of all messages as they come and go, for who wants to look. */
  tap: ((way: "in" | "out", message: In | Out) => void) | null = null;

  constructor(
    urls: readonly string[],
    private readonly options: Options = {},
  ) {
    this.tools = { ...browserTools, ...options };
    this.stopping = new Promise((_, reject) => {
      this.refuse = reject;
    });
    this.stopping.catch(() => undefined);
    const client = options.stored?.client ?? newClient();
    this.client = client;
    for (const who of options.stored?.selves ?? []) this.selves.add(who);
    for (const [name, number] of options.stored?.numbers ?? []) this.numbers.set(name, number);
    const speech = {
      greeting: (ticket: string): Out =>
        ticket === "" ? { t: "hello", v: 1, client } : { t: "hello", v: 1, client, ticket },
      ...(options.ticket === undefined ? {} : { pass: options.ticket }),
      pong: { t: "pong" } as const,
      kept: (messages: readonly Out[]) =>
        messages.some(({ t }) => t === "call") ? options.kept?.() : undefined,
      encode: encodeFrame,
      decode: decodeFrame,
      stops: STOPS,
    };
    const owner = {
      connected: (welcome: Welcome) => this.connected(welcome),
      disconnected: () => this.disconnected(),
      received: (message: In) => this.received(message),
      stopped: ({ code, message }: Stopped) => this.end(STOP_CODES[code] ?? "stopped", message),
    };
    this.link = new Link<Out, In, Welcome>(urls, speech, owner, this.tools);
    this.link.start();
    this.watch();
  }

  /** Who this session is for objects now; another one at another node. */
  get who(): string {
    return this.self;
  }

  /** What has to be kept of it, beside its objects. */
  get stored(): StoredSession {
    const numbers = new Map(this.numbers);
    for (const [name, { object }] of this.objects) {
      if (object.lastCall !== undefined) numbers.set(name, object.lastCall);
    }
    return { client: this.client, selves: [...this.selves], numbers: [...numbers] };
  }

  /** Calls and edits that have no answer yet. */
  get unanswered(): number {
    let count = 0;
    for (const { object } of this.objects.values()) count += object.unanswered;
    return count;
  }

  /** Calls and edits that would be lost if all nodes lost their power now. */
  get unsaved(): number {
    let count = 0;
    for (const { object } of this.objects.values()) count += object.unsaved;
    return count;
  }

  /** Opens the object of this name, made if it is new. `type`: the type's name at the server. */
  async open<T extends Openable>(kind: Kind<T>, name: string, type = kind.type): Promise<T> {
    const object = this.attach(kind, name, type);
    await Promise.race([object.ready, this.stopping]);
    return object;
  }

  /** The object of this name as `open` gives it, but at once; `prepare` is given a new one. */
  attach<T extends Openable>(
    kind: Kind<T>,
    name: string,
    type = kind.type,
    prepare: (object: T) => void = () => undefined,
  ): T {
    if (this.stopped !== null) throw this.stopped;
    const held = this.objects.get(name);
    if (held !== undefined) {
      if (!(held.object instanceof kind) || held.type !== type) {
        throw new CallError("declaration", `${name} is open as ${held.type}; take another name`);
      }
      return held.object;
    }
    const object = new kind(this, name, type);
    object.countFrom?.(this.numbers.get(name) ?? 0);
    prepare(object);
    this.objects.set(name, { object, type });
    if (this.link.isConnected) object.ask();
    return object;
  }

  /** What is behind the objects that are open; `busy` when it is asked for too often. */
  inspect(): Promise<Inspected> {
    if (!this.link.isConnected) {
      return Promise.reject(new CallError("not_open", "there is no connection now"));
    }
    this.looks += 1;
    const n = this.looks;
    this.send({ t: "inspect", n });
    return new Promise((resolve, reject) => this.looking.set(n, [resolve, reject]));
  }

  /** The nodes that are tried from the next time on; the connection that there is goes on. */
  set urls(urls: readonly string[]) {
    this.link.urls = urls.map(absolute);
  }

  /** Tries at once, for example because the machine is online again. */
  retryNow(): void {
    if (this.link.isWaiting) this.link.retryNow();
  }

  /** Leaves the connection for a new one, which shows at once whether the node can be reached. */
  reconnect(): void {
    this.link.retryNow();
  }

  close(): void {
    this.link.stop();
    this.end("closed", "the session is closed; connect again");
  }

  // --- for the objects ---

  get hasRoom(): boolean {
    let inFlight = 0;
    for (const { object } of this.objects.values()) inFlight += object.inFlight;
    return inFlight < this.callsMax;
  }

  proceed(): void {
    this.link.afterFrame(this.sendWaiting);
  }

  private readonly sendWaiting = (): void => {
    for (const { object } of this.objects.values()) object.sendWaiting();
  };

  /** Calls back once, when all that has come in one frame is heard; at once between frames. */
  afterFrame(callback: () => void): void {
    this.link.afterFrame(callback);
  }

  isSelf(who: string): boolean {
    return this.selves.has(who);
  }

  send(message: Out): void {
    this.tap?.("out", message);
    this.link.send(message);
    // What else is called in this turn goes out; then nothing for the time that the node wants.
    if (message.t !== "call" || this.pause_ms <= 0) return;
    this.round ??= this.tools.after(0, () => {
      this.isPausing = true;
      this.round = this.tools.after(this.pause_ms, this.goOn);
    });
  }

  private readonly goOn = (): void => {
    this.round?.();
    this.round = null;
    this.isPausing = false;
    this.sendWaiting();
  };

  /** A node that does not keep up asks for a pause; it has to say so again and again. */
  private slow(pause_ms: number): void {
    this.pause_ms = Math.min(PAUSE_MAX_MS, pause_ms);
    this.told?.();
    this.told = pause_ms > 0 ? this.tools.after(PAUSE_TOLD_MS, () => this.slow(0)) : null;
    if (pause_ms <= 0) this.goOn();
  }

  /** Sends now what else goes out at the end of the turn: the page is being left. */
  flush(): void {
    this.link.flush();
  }

  reopen(name: string): void {
    if (this.reopening.has(name)) return;
    this.reopening.add(name);
    this.tools.after(REOPEN_MS, () => {
      this.reopening.delete(name);
      if (this.link.isConnected) this.objects.get(name)?.object.ask();
    });
  }

  forget(name: string): void {
    const number = this.objects.get(name)?.object.lastCall ?? 0;
    if (number > 0) this.numbers.set(name, number);
    this.objects.delete(name);
  }

  // --- from the connection ---

  private connected(welcome: Welcome): void {
    this.self = welcome.who;
    this.selves.add(welcome.who);
    this.callsMax = welcome.limits.calls;
    this.objectsMax = welcome.limits.objects;
    this.saves = welcome.saves === true;
    this.condition = "serving";
    this.slow(0);
    this.become("connected");
    for (const { object } of this.objects.values()) object.ask();
  }

  private disconnected(): void {
    this.become("connecting");
    const gone = new CallError("outcome_unknown", "the connection broke meanwhile");
    for (const [, reject] of this.looking.values()) reject(gone);
    this.looking.clear();
    for (const { object } of this.objects.values()) object.disconnected();
  }

  private received(message: In): void {
    this.tap?.("in", message);
    if (message.t === "error" && message.code === "behind") {
      this.link.elsewhere();
    } else if (message.t === "inspected" || (message.t === "error" && message.name === undefined)) {
      this.inspected(message);
    } else if (message.t === "slow") {
      this.slow(message.pause_ms);
    } else if (message.t === "condition") {
      this.condition = message.condition;
      this.options.onState?.(this.state);
    } else if ("name" in message && message.name !== undefined) {
      this.objects.get(message.name)?.object.hear(message as ObjectMessage);
    }
  }

  private inspected(message: Inspected | Refusal): void {
    const [resolve, reject] = this.looking.get(message.n ?? 0) ?? [];
    this.looking.delete(message.n ?? 0);
    if (message.t === "inspected") resolve?.(message);
    else reject?.(new CallError(message.code, message.message));
  }

  private watch(wasLate = false): void {
    const due_ms = Date.now() + LOOK_MS;
    this.tools.after(LOOK_MS, () => {
      if (this.stopped !== null) return;
      // A page that was held up itself hears first what has come meanwhile.
      const isLate = !wasLate && Date.now() > due_ms + LOOK_MS;
      if (!isLate && this.link.isConnected && this.isKeptWaiting()) this.link.elsewhere();
      this.watch(isLate);
    });
  }

  private isKeptWaiting(): boolean {
    const longAgo_ms = Date.now() - PATIENCE_MS;
    for (const { object } of this.objects.values()) {
      const since_ms = object.owedSince_ms;
      if (since_ms !== null && since_ms < longAgo_ms) return true;
    }
    return false;
  }

  private end(code: string, message: string): void {
    this.stopped = new CallError(code, message);
    this.refuse(this.stopped);
    if (code !== "signed_out") this.endAll(this.stopped);
    this.become("stopped");
  }

  /** Who has to sign in again goes on with what objects hold: only then they do not end. */
  private endAll(error: CallError): void {
    for (const { object } of this.objects.values()) object.end(error);
    this.objects.clear();
  }

  private become(state: State): void {
    if (this.state === state) return;
    this.state = state;
    this.options.onState?.(state);
  }
}

/** Connects to the first node of these that answers; `urls` may be relative to the page. */
export function connect(urls: string | readonly string[], options: Options = {}): Session {
  const list = typeof urls === "string" ? [urls] : urls;
  return new Session(list.map(absolute), options);
}
