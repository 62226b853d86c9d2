/** Follows what happens to the files, over a WebSocket of the node that served the page. */

import { type Fields, fields } from "../api";

const FIRST_MS = 500;
const MOST_MS = 30_000;
/** After so long without a word the node is taken to be gone. */
const SILENCE_MS = 40_000;
/** With these codes the node says that one has to sign in. */
const SIGNED_OUT: ReadonlySet<number> = new Set([4401, 4403]);

export interface FeedParts {
  /** A ticket for the node, "" where nobody signs in, null for who has to sign in. */
  readonly ticket: () => Promise<string | null>;
  readonly open: (url: string) => WebSocket;
  readonly url: string;
  /** From now on everything is told; what was before is to be asked for. */
  readonly begun: () => void;
  readonly told: (message: Fields) => void;
  readonly lost: () => void;
  readonly signedOut: () => void;
}

export class Feed {
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private wait_ms = FIRST_MS;
  private isClosed = false;

  constructor(private readonly parts: FeedParts) {
    void this.connect();
  }

  close(): void {
    this.isClosed = true;
    this.stop();
  }

  /** Tries at once: the browser is online again, or the page is looked at. */
  wake(): void {
    if (this.socket !== null || this.isClosed) return;
    this.stop();
    void this.connect();
  }

  private stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  private async connect(): Promise<void> {
    let ticket: string | null;
    try {
      ticket = await this.parts.ticket();
    } catch {
      return this.later();
    }
    if (this.isClosed || this.socket !== null) return;
    if (ticket === null) return this.parts.signedOut();
    const socket = this.parts.open(this.parts.url);
    this.socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ ticket }));
    socket.onmessage = (event) => this.hear(String(event.data));
    socket.onclose = (event) => this.ended(socket, event.code);
    this.listen();
  }

  private listen(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => this.socket?.close(), SILENCE_MS);
  }

  private hear(text: string): void {
    this.listen();
    const message = fields(JSON.parse(text));
    if (message.t === "begin") {
      this.wait_ms = FIRST_MS;
      this.parts.begun();
    } else if (message.t === "again") {
      this.parts.begun();
    } else if (message.t === "changed") {
      this.parts.told(message);
    }
  }

  private ended(socket: WebSocket, code: number): void {
    if (this.socket !== socket) return;
    this.socket = null;
    this.parts.lost();
    if (SIGNED_OUT.has(code)) this.parts.signedOut();
    else this.later();
  }

  private later(): void {
    if (this.isClosed) return;
    if (this.timer !== null) clearTimeout(this.timer);
    const wait_ms = this.wait_ms * (0.5 + Math.random());
    this.wait_ms = Math.min(MOST_MS, this.wait_ms * 2);
    this.timer = setTimeout(() => void this.connect(), wait_ms);
  }
}
