/** A simulated cluster in Python (tests/groupcore/web/document_world.py), and pages on it. */

import { connect, type Session } from "../../src/client";
import type { StoredSession } from "../../src/client/session";
import { type GroupedDocument, openModel } from "../../src/document/model";
import type { Socket } from "../../src/shared/link";
import type { Rich } from "../../src/shared/rich";
import { clusters } from "./cluster";

export interface Truth {
  readonly title: string;
  readonly blocks: readonly (readonly [string, Record<string, unknown>, Rich])[];
  readonly drafts: readonly Rich[];
  readonly owed: readonly string[];
}

/** `disks`: nodes say what is saved; `lists`: so many pages may write, by an access list; `objects`: so many a page may have open; `hosts`: pages are at the nodes that keep the document, else each is a node; `alone`: one node keeps it, and its order costs nothing. */
export interface Setting {
  readonly delay_s?: number;
  readonly disks?: boolean;
  readonly lists?: number;
  readonly objects?: number;
  readonly hosts?: boolean;
  readonly alone?: boolean;
}

type Said = readonly [
  ran_s: number,
  frames: readonly (readonly [string, Uint8Array])[],
  isQuiet: boolean,
  hasFailed: boolean,
];

/** The simulated cluster. One question is asked at a time. */
export class World {
  readonly pages = new Map<string, Page>();
  now_ms = 0;
  /** How often the power has failed. */
  failures = 0;
  /** The power fails: what pages hear from now on is of nodes that have begun again. */
  onFailure: (() => void) | null = null;
  private readonly game = clusters.newGame();
  private timers: { at_ms: number; callback: () => void; isOff: boolean }[] = [];
  private told: unknown[][] = [];
  private isQuiet = false;
  private isClosed = false;
  private readonly begun: Promise<unknown>;

  constructor(seed: number, setting: Setting = {}) {
    const usual = {
      delay_s: 0.02,
      disks: false,
      lists: 0,
      objects: 64,
      hosts: false,
      alone: false,
    };
    const given = { seed, ...usual, ...setting };
    this.begun = clusters.ask(this.game, "begin", given);
    this.begun.catch(() => undefined);
  }

  close(): void {
    this.isClosed = true;
    for (const page of this.pages.values()) page.session.close();
    clusters.ask(this.game, "end").catch(() => undefined);
  }

  /** Tells the cluster something; pages hear what comes of it as time goes on. */
  tell(...words: unknown[]): void {
    if (!this.isClosed) this.told.push(words);
  }

  /** Lets time go on. */
  async elapse(seconds: number): Promise<void> {
    await this.begun;
    const end_ms = this.now_ms + seconds * 1_000;
    for (;;) {
      this.ring();
      const left_ms = Math.min(end_ms, this.nextTimer()) - this.now_ms;
      if (left_ms <= 0 && this.told.length === 0) return;
      await this.go(Math.max(0, left_ms));
    }
  }

  /** Lets time go on until nothing happens any more, or so long. */
  async rest(seconds: number): Promise<void> {
    await this.begun;
    const end_ms = this.now_ms + seconds * 1_000;
    this.isQuiet = false;
    while (this.now_ms < end_ms) {
      this.ring();
      const isOver = this.isQuiet && this.told.length === 0;
      if (isOver && this.nextTimer() > this.now_ms + 1_000) return;
      await this.go(Math.min(end_ms, this.nextTimer()) - this.now_ms);
    }
  }

  private nextTimer(): number {
    return this.timers.reduce((least, { at_ms }) => Math.min(least, at_ms), Infinity);
  }

  /** Calls back what is due, and what that makes due. */
  private ring(): void {
    for (;;) {
      const due = this.timers.filter(({ at_ms }) => at_ms <= this.now_ms);
      if (due.length === 0) return;
      this.timers = this.timers.filter(({ at_ms }) => at_ms > this.now_ms);
      for (const timer of due) if (!timer.isOff) timer.callback();
    }
  }

  private async go(limit_ms: number): Promise<void> {
    const { told } = this;
    this.told = [];
    const said = (await clusters.ask(this.game, "go", told, limit_ms / 1_000)) as Said;
    const [ran_s, frames, isQuiet, hasFailed] = said;
    // Rounding must not leave a timer a little before its time.
    this.now_ms =
      ran_s * 1_000 >= limit_ms - 1e-6 ? this.now_ms + limit_ms : this.now_ms + ran_s * 1_000;
    this.isQuiet = isQuiet;
    for (const [page, frame] of frames) this.pages.get(page)?.hear(frame);
    if (!hasFailed) return;
    this.failures += 1;
    this.onFailure?.();
    for (const page of this.pages.values()) page.lose();
  }

  async look(): Promise<Truth> {
    await this.begun;
    return (await clusters.ask(this.game, "look")) as Truth;
  }

  /** Has the nodes forget what everybody was given, so that a long game fits. */
  async trim(): Promise<void> {
    await clusters.ask(this.game, "trim");
  }

  after(delay_ms: number, callback: () => void): () => void {
    const timer = { at_ms: this.now_ms + delay_ms, callback, isOff: false };
    this.timers.push(timer);
    return () => {
      timer.isOff = true;
      this.timers = this.timers.filter((one) => one !== timer);
    };
  }
}

/** A page: one session, and the document in it. */
export class Page {
  session: Session;
  model: GroupedDocument;
  /** No connection is made until the world has come so far. */
  offlineUntil_ms = 0;
  private socket: Socket | null = null;
  private isLost = false;
  /** The connection is dead, and nobody has noticed. */
  private isDeaf = false;

  constructor(
    readonly world: World,
    readonly name: string,
  ) {
    world.pages.set(name, this);
    this.session = this.newSession({});
    this.model = this.newModel();
  }

  private newSession(kept: { stored?: StoredSession }): Session {
    return connect(["ws://one/", "ws://two/"], {
      openSocket: () => this.newSocket(),
      after: (delay_ms, callback) => this.world.after(delay_ms, callback),
      random: () => 0,
      ...kept,
    });
  }

  private newModel(stored?: unknown): GroupedDocument {
    const model = openModel(this.session, "plan", stored);
    model.look(0, 100);
    return model;
  }

  private newSocket(): Socket {
    const socket: Socket = {
      onopen: null,
      onmessage: null,
      onclose: null,
      send: (data) => {
        if (this.socket !== socket || this.isLost || this.isDeaf) return;
        this.world.tell("frame", this.name, data);
      },
      close: () => {
        if (this.socket === socket && !this.isLost) this.world.tell("lose", this.name);
      },
    };
    this.socket = socket;
    this.isLost = this.isDeaf = false;
    if (this.world.now_ms < this.offlineUntil_ms) {
      this.world.after(20, () => this.deaf(socket));
      return socket;
    }
    this.world.tell("connect", this.name);
    this.world.after(1, () => {
      if (this.socket === socket && !this.isLost) socket.onopen?.();
    });
    return socket;
  }

  /** Nobody is reached. */
  private deaf(socket: Socket): void {
    if (this.socket !== socket || this.isLost) return;
    this.isLost = true;
    socket.onclose?.({ code: 1006 });
  }

  hear(frame: Uint8Array): void {
    if (!this.isLost && !this.isDeaf) this.socket?.onmessage?.({ data: frame });
  }

  /** The connection breaks; the page comes back by itself, not before `offline_s`. */
  lose(offline_s = 0): void {
    this.offlineUntil_ms = Math.max(this.offlineUntil_ms, this.world.now_ms + offline_s * 1_000);
    if (this.socket === null || this.isLost) return;
    this.isLost = true;
    this.world.tell("lose", this.name);
    this.socket.onclose?.({ code: 1006 });
  }

  /** For `deaf_s` nothing comes or goes any more, then the connection breaks, as by `lose`. */
  fade(deaf_s: number, offline_s: number): void {
    const { socket } = this;
    if (deaf_s <= 0 || socket === null || this.isLost) {
      this.lose(offline_s);
      return;
    }
    this.isDeaf = true;
    this.world.after(deaf_s * 1_000, () => {
      if (this.socket === socket) this.lose(offline_s);
    });
  }

  /** The tab is closed, at any moment, and opened again with what was kept. */
  reload(): void {
    const document = structuredClone(this.model.stored());
    const session = structuredClone(this.session.stored);
    if (this.socket !== null && !this.isLost) this.world.tell("lose", this.name);
    this.socket = null;
    this.isLost = true;
    this.session.close();
    this.session = this.newSession({ stored: session });
    this.model = this.newModel(document);
  }

  get texts(): unknown {
    const { title, blocks } = this.model.value;
    return {
      title,
      blocks: blocks.map(({ id, attributes, content }) => [id, attributes, content]),
    };
  }
}
