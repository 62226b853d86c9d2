/**
 * What all objects have in common: calls that are answered once, and what has changed.
 *
 * Rules.
 *   O1  Calls of one object have numbers without gaps, and are sent in their order; what is not
 *       answered is sent again behind a reconnect, unchanged.
 *   O2  A change at or below the object's version is passed over: nothing is seen twice.
 */

import { CallError } from "./errors";
import type {
  About,
  Call,
  Changes,
  Item,
  ObjectMessage,
  Opened,
  Out,
  Snapshot,
  Verdict,
} from "./messages";
import { type Stream, Streams } from "./stream";

/** What an object needs of its session. */
export interface Host {
  /** Whether the node takes one more call now. */
  readonly hasRoom: boolean;
  /** The node has asked for a pause between calls, which is not over. */
  readonly isPausing?: boolean;
  /** Whether nodes keep a log, and say what is in it. */
  readonly saves: boolean;
  /** A call has its answer: others may be sent. */
  proceed(): void;
  /** Whether this is, or was, this session. */
  isSelf(who: string): boolean;
  send(message: Out): void;
  /** Asks for the object again, soon. */
  reopen(name: string): void;
  /** The object is closed. */
  forget(name: string): void;
}

/** One operation that was done; `replaced`: the state was taken anew, look at all of it. */
export interface Change {
  readonly version: number;
  readonly who: string;
  readonly operation: string;
  readonly details: readonly unknown[];
  /** Whether it was this session's own. */
  readonly mine: boolean;
  readonly replaced: boolean;
}

/** What is kept of an object: its version, and its calls that were not answered. */
export interface StoredObject {
  readonly birth: string | null;
  readonly version: number;
  readonly last: number;
  readonly saved: number;
  readonly waiting: readonly (readonly [number, readonly Call[]])[];
}

interface Waiting {
  readonly calls: readonly Call[];
  readonly resolve: (results: readonly unknown[]) => void;
  readonly reject: (error: Error) => void;
  /** When it was sent over the present connection; null: it was not. */
  sent_ms: number | null;
}

export abstract class Shared<C extends Change = Change> {
  readonly ready: Promise<void>;
  protected readonly streams = new Streams<C>();
  protected birth: string | undefined;
  protected version = 0;
  /** Whether the last snapshot was of the birth before. */
  protected isContinued = false;
  /** The highest number of this client's calls that the last snapshot's state knew. */
  protected knownCall = 0;
  /** Calls that were sent over the present connection and are not answered. */
  inFlight = 0;
  /** When the node was asked for the object, or has answered a call, last. */
  private heard_ms = 0;
  private isOpen = false;
  private ended: Error | null = null;
  private lastNumber = 0;
  /** The last call that was not lost, with those before it, by all who had the object. */
  private lastKept = 0;
  private savedNumber = 0;
  /** Calls that were not done: of them there is nothing to be saved. */
  private readonly notDone = new Set<number>();
  private readonly waiting = new Map<number, Waiting>();
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

  /** What happens from now on, for `for await`. */
  changes(): Stream<C> {
    return this.streams.open();
  }

  /** Closes it in this session; what is under way may still be done. */
  close(): void {
    this.host.send({ t: "close", name: this.name });
    this.host.forget(this.name);
    this.end(new CallError("closed", `${this.name} is closed; open it again`));
  }

  /** Whether calls go out at once. */
  get isReady(): boolean {
    return this.isOpen;
  }

  /** What has to be kept of it to go on in another page's life. */
  get stored(): StoredObject {
    const { birth, version, lastNumber: last, savedNumber: saved } = this;
    const waiting = [...this.waiting].map(([n, one]) => [n, one.calls] as const);
    return { birth: birth ?? null, version, last, saved, waiting };
  }

  /** Goes on from what was kept, before it is asked for; answers are told to `answered`. */
  restore(stored: StoredObject): void {
    this.birth = stored.birth ?? undefined;
    this.version = stored.version;
    this.lastNumber = this.lastKept = stored.last;
    this.savedNumber = stored.saved;
    const nobody = (): void => undefined;
    for (const [n, calls] of stored.waiting) {
      this.waiting.set(n, { calls, resolve: nobody, reject: nobody, sent_ms: null });
    }
  }

  /** Takes a call back that no node has done, and that none will: its order has ended. */
  protected abandon(n: number): void {
    const one = this.waiting.get(n);
    if (one === undefined) return;
    this.waiting.delete(n);
    if (one.sent_ms !== null) this.inFlight -= 1;
    one.reject(new CallError("abandoned", "the order that it was sent to has ended"));
  }

  /** The number of the last call. */
  get lastCall(): number {
    return this.lastNumber;
  }

  /** Calls up to this number were made, and answered, before the object was opened again. */
  countFrom(number: number): void {
    this.lastNumber = this.lastKept = number;
    this.savedNumber = number;
  }

  /** Calls that have no answer yet. */
  get unanswered(): number {
    return this.waiting.size;
  }

  /** Calls that would be lost if all nodes lost their power; where they keep no log, `unanswered`. */
  get unsaved(): number {
    return this.host.saves ? Math.max(0, this.lastKept - this.savedNumber) : this.waiting.size;
  }

  /**
   * Since when the node has owed an answer: the oldest call of this connection that has none was
   * sent then, or another one was answered. Of an object that is asked for with calls behind it:
   * since it was asked for.
   */
  get owedSince_ms(): number | null {
    const [first] = this.waiting.values();
    if (first === undefined) return null;
    if (!this.isOpen) return this.heard_ms;
    return first.sent_ms === null ? null : Math.max(first.sent_ms, this.heard_ms);
  }

  /** Shows the state of a snapshot. */
  protected abstract show(state: unknown): void;
  /** Does what an operation of somebody did; gives what is told of it. */
  protected abstract done(item: Item, mine: boolean): C | null;
  /** The version of the own edits' base, for texts. */
  protected get base(): number | undefined {
    return undefined;
  }
  /** What else the node is told when it is asked for the object. */
  protected get about(): About {
    return this.base === undefined ? {} : { base: this.base };
  }

  /** One operation; its result comes from its place in the order. */
  protected call(operation: string, ...args: unknown[]): Promise<unknown> {
    return this.submit([[operation, args]]).then((results) => results[0]);
  }

  /** Operations as one, all or none. */
  protected submit(calls: readonly Call[]): Promise<readonly unknown[]> {
    if (this.ended !== null) return Promise.reject(this.ended);
    this.lastNumber += 1;
    const number = this.lastNumber;
    this.lastKept = number;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { calls, resolve, reject, sent_ms: null });
      this.sendWaiting();
    });
  }

  /** The number that the next call will have. */
  protected get nextNumber(): number {
    return this.lastNumber + 1;
  }

  /** O1: in their order, and no more at once than the node takes. */
  sendWaiting(): void {
    if (!this.isOpen || this.inFlight === this.waiting.size) return;
    const [first] = this.waiting.keys();
    for (const [n, one] of this.waiting) {
      if (one.sent_ms !== null) continue;
      if (!this.host.hasRoom || this.host.isPausing) return;
      one.sent_ms = Date.now();
      this.inFlight += 1;
      const answered = (first ?? n) - 1;
      this.host.send({ t: "call", name: this.name, n, answered, calls: one.calls });
    }
  }

  // --- from the session ---

  /** Asks for the object, with what is here of it. */
  ask(): void {
    this.isOpen = false;
    this.inFlight = 0;
    this.heard_ms = Date.now();
    for (const one of this.waiting.values()) one.sent_ms = null;
    const { birth } = this;
    const known = birth === undefined ? {} : { birth, version: this.version };
    this.host.send({ t: "open", name: this.name, type: this.typeName, ...known, ...this.about });
  }

  /** The connection is lost. */
  disconnected(): void {
    this.isOpen = false;
    this.inFlight = 0;
  }

  hear(message: ObjectMessage): void {
    switch (message.t) {
      case "snapshot":
        this.onSnapshot(message);
        break;
      case "opened":
        this.onOpened(message);
        break;
      case "changes":
        this.onChanges(message);
        break;
      case "saved":
        this.saved(message.n);
        break;
      case "result":
        this.answer(message.n, message.results, (one) => one.resolve(message.results));
        break;
      case "error":
        this.onError(message.code, message.message, message.temporary, message.n);
        break;
      default:
    }
  }

  private onSnapshot(message: Snapshot): void {
    this.isContinued = this.birth === message.birth;
    this.birth = message.birth;
    this.version = message.version;
    this.knownCall = message.last;
    this.settle(message.done);
    this.show(message.state);
    if (!this.isContinued) this.lastKept = Math.max(message.last, ...this.waiting.keys());
    this.nowOpen();
    this.streams.push(this.replaced());
  }

  /** The change that says that the state was taken anew. */
  protected replaced(): C {
    const { version } = this;
    const nothing = { version, who: "", operation: "", details: [], mine: false, replaced: true };
    return nothing as Change as C;
  }

  protected onOpened(message: Opened): void {
    this.version = Math.max(this.version, message.version);
    this.settle(message.done);
    this.nowOpen();
  }

  private nowOpen(): void {
    this.isOpen = true;
    this.settleReady(null);
    this.sendWaiting();
  }

  private onChanges(message: Changes): void {
    if (message.version <= this.version) return; // O2
    if (message.state !== undefined) this.show(message.state);
    const told: C[] = [];
    for (const item of message.items) {
      if (item[0] <= this.version) continue; // O2
      const change = this.done(item, this.host.isSelf(item[1]));
      if (change !== null) told.push(change);
    }
    this.version = message.version;
    for (const change of told) this.streams.push(change);
  }

  /** What the node knows of calls whose answers were lost. */
  protected settle(done: readonly Verdict[]): void {
    for (const [n, results, code] of done) {
      if (code === "") this.answer(n, results, (one) => one.resolve(results));
      else this.onError(code, "the call had this end", false, n);
    }
  }

  private answer(
    n: number,
    results: readonly unknown[] | null,
    tell: (one: Waiting) => void,
    code = "",
  ): void {
    const one = this.waiting.get(n);
    if (one === undefined) return;
    this.waiting.delete(n);
    if (one.sent_ms !== null) this.inFlight -= 1;
    this.heard_ms = Date.now();
    this.answered(n, results, code);
    tell(one);
    this.host.proceed();
  }

  /** A call has its answer, null and a code when it was refused; before who made it is told. */
  protected answered(_n: number, _results: readonly unknown[] | null, _code: string): void {
    return;
  }

  private onError(code: string, message: string, isTemporary: boolean, n?: number): void {
    if (isTemporary) {
      this.isOpen = false;
      this.host.reopen(this.name);
    } else if (n === undefined) {
      this.end(new CallError(code, message));
      this.host.forget(this.name);
    } else {
      this.notDone.add(n);
      this.saved(0);
      this.answer(n, null, (one) => one.reject(new CallError(code, message)), code);
    }
  }

  private saved(upTo: number): void {
    this.savedNumber = Math.max(this.savedNumber, upTo);
    while (this.notDone.delete(this.savedNumber + 1)) this.savedNumber += 1;
  }

  /** Nothing more comes: whoever waits is told why. */
  end(error: Error): void {
    if (this.ended !== null) return;
    this.ended = error;
    this.isOpen = false;
    for (const one of this.waiting.values()) one.reject(error);
    this.waiting.clear();
    this.inFlight = 0;
    this.settleReady(error);
    this.streams.end(error instanceof CallError && error.code === "closed" ? null : error);
  }
}

/** What an item says, with its details as they are. */
export function changeOf(item: Item, mine: boolean): Change {
  const [version, who, operation, details] = item;
  return { version, who, operation, details, mine, replaced: false };
}

/** Objects whose operations are seen when they are done, not before. */
export abstract class Confirmed extends Shared {
  /** Several operations as one: `await map.transaction((both) => { both.set(…); both.set(…); })`. */
  transaction(fill: (recorder: this) => void): Promise<readonly unknown[]> {
    const calls: Call[] = [];
    let settle: (results: Promise<readonly unknown[]>) => void = () => undefined;
    const results = new Promise<readonly unknown[]>((resolve) => {
      settle = resolve;
    });
    const recorder = Object.create(this) as this;
    recorder.call = (operation, ...args) => {
      const place = calls.push([operation, args]) - 1;
      const result = results.then((all) => all[place]);
      result.catch(() => undefined); // who does not look at it is told by the whole
      return result;
    };
    fill(recorder);
    settle(calls.length === 0 ? Promise.resolve([]) : this.submit(calls));
    return results;
  }

  protected override done(item: Item, mine: boolean): Change | null {
    return changeOf(item, mine);
  }
}
