/**
 * The connection to one node after another, whatever is spoken over it.
 *
 * Idea. At most one socket at a time. After the greeting and `welcome` the owner is told that it is
 * connected; every message goes to the owner. A lost socket is tried again on the next node of the
 * list, after a random time up to a bound that grows (full jitter). Timers, sockets and chance are
 * given, so that tests run without any of them.
 *
 * Rules.
 *   C1  A socket that was given up is deaf: nothing of it reaches the owner. Into one that its node
 *       is closing nothing is said: what has no answer is said again over the next.
 *   C2  A silence of two heartbeats ends the socket.
 *   C3  Close codes that say stop are obeyed; nothing reconnects after them.
 *   C4  What has to be kept first goes out when it is kept, and all that is said later behind it.
 *   C5  When no node is ready, none is tried before the time that the last one has named.
 */

/** What the connection needs of a WebSocket. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason?: string }) => void) | null;
  /** As of a WebSocket. */
  readonly readyState?: number | undefined;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

export interface ConnectionTools {
  readonly openSocket: (url: string) => Socket;
  /** Calls back after a time; gives what cancels it. */
  readonly after: (delay_ms: number, callback: () => void) => () => void;
  /** A random number from 0 to 1. */
  readonly random: () => number;
}

/** Why the connection has stopped for good; `code` as in the protocol's page. */
export interface Stopped {
  readonly code: number;
  readonly message: string;
}

/** What is spoken: messages to the node and from it. */
export interface Speech<Out, In> {
  /** The first message; `pass`: what `pass` gave for this socket, "" without it. */
  readonly greeting: (pass: string) => Out;
  /**
   * What has to be shown to the node at this address, asked for anew before each socket. Null: there
   * is none, and there will be none, which stops as if closed with NO_PASS. A failure is the node's,
   * and the next one is tried.
   */
  readonly pass?: (url: string) => Promise<string | null>;
  readonly pong: Out;
  /** Keeps what these messages must not go out without; undefined: nothing. */
  readonly kept?: (messages: readonly Out[]) => Promise<void> | undefined;
  readonly encode: (messages: readonly Out[]) => Uint8Array<ArrayBuffer>;
  /** The messages of a frame; null when it is none. */
  readonly decode: (data: unknown) => readonly In[] | null;
  /** Close codes behind which nothing is tried again, and what to tell people. */
  readonly stops: Readonly<Record<number, string>>;
}

export interface LinkOwner<In, Welcome> {
  readonly connected: (welcome: Welcome) => void;
  readonly disconnected: () => void;
  readonly received: (message: In) => void;
  readonly stopped: (reason: Stopped) => void;
}

/** Most messages in one frame. */
export const FRAME_MESSAGES_MAX = 64;

/** The close code of a node that wants another pass; in `stops` it says what to do without one. */
export const NO_PASS = 4401;

/** `readyState` of a socket over which one speaks. */
const OPEN = 1;
const FIRST_DELAY_MS = 100;
const DELAY_MAX_MS = 5_000;
const HANDSHAKE_MS = 10_000;
const AT_ONCE = new Set([4001]);
/** The node is not ready; the reason says when to come again. */
const TRY_AGAIN = 1013;
const RETRY_MAX_MS = 60_000;

/** After how long a node says that it may be tried again; 0 where it says nothing. */
export function retryAfter(reason: string): number {
  return Math.min(RETRY_MAX_MS, Number(/retry_after_ms": ?(\d+)/.exec(reason)?.[1] ?? 0));
}

interface WelcomeMessage {
  readonly t: "welcome";
  readonly heartbeat_s: number;
}

export class Link<
  Out,
  In extends { readonly t: string },
  Welcome extends WelcomeMessage & { readonly t: string },
> {
  private socket: Socket | null = null;
  private queue: Out[] = [];
  /** They are being kept. */
  private held: Out[] = [];
  private isFlushing = false;
  private isWelcome = false;
  private isEnded = false;
  private attempts = 0;
  /** Nodes in a row that were not ready. */
  private unready = 0;
  /** The try that is under way, until it has a socket. */
  private asking: object | null = null;
  private next = 0;
  private heartbeat_ms = HANDSHAKE_MS;
  private cancelRetry: (() => void) | null = null;
  private cancelSilence: (() => void) | null = null;
  private isHearing = false;
  private readonly behind = new Set<() => void>();

  /** `urls`: addresses of the nodes, this page's own first. */
  constructor(
    public urls: readonly string[],
    private readonly speech: Speech<Out, In>,
    private readonly owner: LinkOwner<In, Welcome>,
    private readonly tools: ConnectionTools,
  ) {}

  start(): void {
    this.isEnded = false;
    this.connect();
  }

  /** Ends it for good. */
  stop(): void {
    this.isEnded = true;
    this.cancelRetry?.();
    this.cancelRetry = null;
    this.lose(1000, "");
  }

  /** Tries at once, for example because the machine is online again. */
  retryNow(): void {
    if (this.isEnded) return;
    this.cancelRetry?.();
    this.cancelRetry = null;
    this.lose(1000, "");
    this.connect();
  }

  /** Leaves this node for the next of the list. */
  elsewhere(): void {
    this.next += 1;
    this.retryNow();
  }

  get isConnected(): boolean {
    return this.isWelcome;
  }

  /** Whether nothing waits and no try is under way, so that a hint may hurry it. */
  get isWaiting(): boolean {
    return this.cancelRetry !== null;
  }

  /** Sends with everything else of this turn in one frame; passed over while disconnected. */
  send(message: Out): void {
    if (!this.isWelcome) return;
    this.queue.push(message);
    if (this.isFlushing) return;
    this.isFlushing = true;
    this.tools.after(0, () => this.keepAndFlush());
  }

  /** C4. */
  private keepAndFlush(): void {
    const batch = this.queue;
    const kept = this.speech.kept?.(batch);
    if (kept === undefined) {
      this.flush();
      return;
    }
    this.held = batch;
    this.queue = [];
    void kept.then(() => {
      if (this.held !== batch) return; // they went out with the page, or their socket is lost
      const later = this.queue;
      this.queue = [];
      this.flush();
      for (const message of later) this.send(message);
    });
  }

  /** Sends what this turn has gathered: of a page that is being left, the turn has no end. */
  flush(): void {
    this.isFlushing = false;
    const messages = [...this.held, ...this.queue];
    this.held = [];
    this.queue = [];
    if ((this.socket?.readyState ?? OPEN) > OPEN) return;
    for (let from = 0; from < messages.length; from += FRAME_MESSAGES_MAX) {
      this.socket?.send(this.speech.encode(messages.slice(from, from + FRAME_MESSAGES_MAX)));
    }
  }

  /** Calls back once, when all of the frame that is being heard has been; between frames at once. */
  afterFrame(callback: () => void): void {
    if (this.isHearing) this.behind.add(callback);
    else callback();
  }

  private connect(): void {
    const url = this.urls[this.next % Math.max(1, this.urls.length)];
    if (url === undefined || this.isEnded) return;
    const { pass } = this.speech;
    if (pass === undefined) this.open(url, "");
    else void this.openWithPass(url, pass);
  }

  /** A pass that comes too late, or for a try that was given up, is not used (C1). */
  private async openWithPass(
    url: string,
    ask: (url: string) => Promise<string | null>,
  ): Promise<void> {
    const asking = {};
    this.asking = asking;
    this.heartbeat_ms = HANDSHAKE_MS / 2;
    this.listen();
    let pass: string | null | undefined;
    try {
      pass = await ask(url);
    } catch {
      pass = undefined;
    }
    if (this.asking !== asking) return;
    this.asking = null;
    if (pass === undefined) {
      this.lose(null, "");
      this.later(false);
    } else if (pass === null) {
      this.closed(NO_PASS, true);
    } else {
      this.open(url, pass);
    }
  }

  private open(url: string, pass: string): void {
    const socket = this.tools.openSocket(url);
    this.socket = socket;
    this.heartbeat_ms = HANDSHAKE_MS / 2;
    this.listen();
    socket.onopen = () => socket.send(this.speech.encode([this.speech.greeting(pass)]));
    socket.onmessage = (event) => {
      if (socket === this.socket) this.hear(event.data);
    };
    socket.onclose = (event) => {
      if (socket === this.socket) this.closed(event.code, false, event.reason);
    };
  }

  private hear(data: unknown): void {
    const messages = this.speech.decode(data);
    if (messages === null) {
      this.lose(1008, "bad frame");
      this.later(false);
      return;
    }
    this.listen();
    this.isHearing = true;
    try {
      this.hearAll(messages);
    } finally {
      this.isHearing = false;
    }
    for (const callback of this.behind) {
      this.behind.delete(callback);
      callback();
    }
  }

  private hearAll(messages: readonly In[]): void {
    const { socket } = this;
    for (const message of messages) {
      if (socket !== this.socket) return;
      if (message.t === "ping") this.send(this.speech.pong);
      else if (message.t === "welcome") this.welcomed(message as unknown as Welcome);
      else this.owner.received(message);
    }
  }

  private welcomed(welcome: Welcome): void {
    this.isWelcome = true;
    this.attempts = this.unready = 0;
    this.heartbeat_ms = welcome.heartbeat_s * 1_000;
    this.listen();
    this.owner.connected(welcome);
  }

  /** Any frame counts as life; two heartbeats without one end the socket (C2). */
  private listen(): void {
    this.cancelSilence?.();
    this.cancelSilence = this.tools.after(2 * this.heartbeat_ms, () => {
      this.lose(4003, "silence");
      this.later(false);
    });
  }

  private closed(code: number, hasNoPass = false, reason = ""): void {
    this.lose(null, "");
    const stop = this.speech.stops[code];
    const isTriedAnew = code === NO_PASS && this.speech.pass !== undefined && !hasNoPass;
    if (stop !== undefined && !isTriedAnew) {
      this.isEnded = true;
      this.owner.stopped({ code, message: stop });
      return;
    }
    this.unready = code === TRY_AGAIN ? this.unready + 1 : 0;
    const least = this.unready >= this.urls.length ? retryAfter(reason) : 0; // C5
    this.later(AT_ONCE.has(code), least);
  }

  private later(isAtOnce: boolean, least_ms = 0): void {
    if (this.isEnded || this.cancelRetry !== null) return;
    this.next += 1;
    const bound = Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** this.attempts);
    this.attempts = Math.min(this.attempts + 1, 10);
    const delay = isAtOnce ? 0 : Math.max(least_ms, FIRST_DELAY_MS) + this.tools.random() * bound;
    this.cancelRetry = this.tools.after(delay, () => {
      this.cancelRetry = null;
      this.connect();
    });
  }

  /** Drops the socket, if there is one, and says so once (C1). */
  private lose(code: number | null, reason: string): void {
    const socket = this.socket;
    const wasWelcome = this.isWelcome;
    this.socket = null;
    this.asking = null;
    this.queue = [];
    this.held = [];
    this.isFlushing = false;
    this.isWelcome = false;
    this.cancelSilence?.();
    this.cancelSilence = null;
    if (socket !== null && code !== null) {
      // A page may only close with 1000 or 3000 to 4999.
      socket.close(code === 1008 ? 4400 : code, reason);
    }
    if (wasWelcome) this.owner.disconnected();
  }
}
