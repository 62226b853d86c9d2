/** A simulated cluster in Python (tests/groupcore/web/document_world.py), and pages on it. */

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connect, type Session } from "../../src/client";
import type { StoredSession } from "../../src/client/session";
import { type GroupedDocument, openModel } from "../../src/document/model";
import type { Socket } from "../../src/shared/link";
import type { Rich } from "../../src/shared/rich";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export interface Truth {
  readonly title: string;
  readonly blocks: readonly (readonly [string, Record<string, unknown>, Rich])[];
  readonly drafts: readonly Rich[];
  readonly owed: readonly string[];
}

/** The simulated cluster. One question is asked at a time. */
export class World {
  readonly pages = new Map<string, Page>();
  now_ms = 0;
  private readonly process: ChildProcess;
  private readonly answers: string[] = [];
  private wake: (() => void) | null = null;
  private timers: { at_ms: number; callback: () => void }[] = [];
  private asking: Promise<unknown> = Promise.resolve();
  private said = "";
  private isClosed = false;

  constructor(seed: number, delay_s = 0.02) {
    const module = "tests.groupcore.web.document_world";
    this.process = spawn(".venv/bin/python", ["-m", module, `${seed}`, `${delay_s}`], {
      cwd: ROOT,
      env: { ...process.env, PYTHONHASHSEED: "0" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.process.stderr?.on("data", (data) => {
      this.said += String(data);
      this.wake?.();
    });
    createInterface({ input: this.process.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      this.answers.push(line);
      this.wake?.();
    });
    this.process.on("exit", () => this.wake?.());
  }

  close(): void {
    this.isClosed = true;
    for (const page of this.pages.values()) page.session.close();
    this.process.stdin?.end();
    this.process.kill();
  }

  private async ask(...words: unknown[]): Promise<unknown> {
    this.process.stdin?.write(`${JSON.stringify(words)}\n`);
    while (this.answers.length === 0) {
      if (this.process.exitCode !== null) throw new Error(`the world has ended: ${this.said}`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return JSON.parse(this.answers.shift() ?? "null");
  }

  /** Tells the cluster something; pages hear what comes of it. */
  tell(...words: unknown[]): void {
    if (this.isClosed) return;
    this.asking = this.asking.then(async () => {
      const said = (await this.ask(...words)) as [string, string][];
      for (const [page, hex] of said) this.pages.get(page)?.hear(hex);
    });
  }

  /** Lets time go on, in small steps. */
  async elapse(seconds: number, step_s = 0.01): Promise<void> {
    for (let left = seconds; left > 0; left -= step_s) {
      this.now_ms += step_s * 1_000;
      const due = this.timers.filter((timer) => timer.at_ms <= this.now_ms);
      this.timers = this.timers.filter((timer) => timer.at_ms > this.now_ms);
      for (const timer of due) timer.callback();
      this.tell("step", step_s);
      await this.asking;
    }
  }

  async look(): Promise<Truth> {
    await this.asking;
    return (await this.ask("look")) as Truth;
  }

  after(delay_ms: number, callback: () => void): () => void {
    const timer = { at_ms: this.now_ms + delay_ms, callback };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  }
}

/** A page: one session, and the document in it. */
export class Page {
  session: Session;
  model: GroupedDocument;
  private socket: Socket | null = null;
  /** Frames arrive so long after they were sent. */
  private isLost = false;

  constructor(
    readonly world: World,
    readonly name: string,
    stored?: { session: StoredSession; document: unknown },
  ) {
    world.pages.set(name, this);
    this.session = connect(["ws://one/", "ws://two/"], {
      openSocket: () => this.newSocket(),
      after: (delay_ms, callback) => world.after(delay_ms, callback),
      random: () => 0,
      ...(stored === undefined ? {} : { stored: stored.session }),
    });
    this.model = openModel(this.session, "plan", stored?.document);
    this.model.look(0, 100);
  }

  private newSocket(): Socket {
    const socket: Socket = {
      onopen: null,
      onmessage: null,
      onclose: null,
      send: (data) => {
        if (this.socket === socket && !this.isLost) {
          this.world.tell("frame", this.name, Buffer.from(data).toString("hex"));
        }
      },
      close: () => this.world.tell("lose", this.name),
    };
    this.socket = socket;
    this.isLost = false;
    this.world.tell("connect", this.name);
    this.world.after(1, () => {
      if (this.socket === socket && !this.isLost) socket.onopen?.();
    });
    return socket;
  }

  hear(hex: string): void {
    if (!this.isLost) this.socket?.onmessage?.({ data: new Uint8Array(Buffer.from(hex, "hex")) });
  }

  /** The connection breaks; the page comes back by itself. */
  lose(): void {
    if (this.socket === null || this.isLost) return;
    this.isLost = true;
    this.world.tell("lose", this.name);
    this.socket.onclose?.({ code: 1006 });
  }

  /** The tab is closed, at any moment, and opened again with what was kept. */
  reload(): void {
    const document = structuredClone(this.model.stored());
    const session = structuredClone(this.session.stored);
    const { socket } = this;
    this.socket = null;
    this.isLost = true;
    if (socket !== null) this.world.tell("lose", this.name);
    this.session.close();
    const next = new Page(this.world, this.name, { session, document });
    this.session = next.session;
    this.model = next.model;
  }

  get texts(): unknown {
    const { title, blocks } = this.model.value;
    return {
      title,
      blocks: blocks.map(({ id, attributes, content }) => [id, attributes, content]),
    };
  }
}
