/** One process in Python with many simulated clusters (tests/groupcore/web/document_games.py). */

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { decode, encode } from "@msgpack/msgpack";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LENGTH_BYTES = 4;

type Answer = readonly [isDone: boolean, value: unknown];

interface Asked {
  readonly request: readonly unknown[];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** What games played side by side ask goes out together: one batch is under way at a time. */
class Clusters {
  private process: ChildProcess | null = null;
  private waiting: Asked[] = [];
  private underWay: Asked[] = [];
  private parts: Buffer[] = [];
  private heard = 0;
  private said = "";
  private count = 0;
  private isFlushing = false;

  newGame(): number {
    this.count += 1;
    return this.count;
  }

  ask(...request: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      if (this.isFlushing || this.underWay.length > 0) return;
      this.isFlushing = true;
      setImmediate(() => this.flush());
    });
  }

  private flush(): void {
    this.isFlushing = false;
    [this.underWay, this.waiting] = [this.waiting, []];
    const batch = encode(this.underWay.map(({ request }) => request));
    const head = Buffer.alloc(LENGTH_BYTES);
    head.writeUInt32BE(batch.length);
    this.process ??= this.begin();
    this.process.stdin?.write(Buffer.concat([head, batch]));
  }

  private begin(): ChildProcess {
    const begun = spawn(".venv/bin/python", ["-m", "tests.groupcore.web.document_games"], {
      cwd: ROOT,
      env: { ...process.env, PYTHONHASHSEED: "0" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    begun.stderr?.on("data", (data) => {
      this.said += String(data);
    });
    begun.stdout?.on("data", (data: Buffer) => this.hear(data));
    begun.on("exit", () => {
      this.process = null;
      const error = new Error(`the clusters have ended: ${this.said}`);
      for (const { reject } of [...this.underWay, ...this.waiting]) reject(error);
      [this.underWay, this.waiting] = [[], []];
    });
    process.once("exit", () => begun.kill());
    return begun;
  }

  private hear(data: Buffer): void {
    this.parts.push(data);
    this.heard += data.length;
    if (this.heard < LENGTH_BYTES) return;
    if ((this.parts[0] as Buffer).length < LENGTH_BYTES) this.parts = [Buffer.concat(this.parts)];
    if (this.heard < LENGTH_BYTES + (this.parts[0] as Buffer).readUInt32BE()) return;
    const heard = Buffer.concat(this.parts);
    [this.parts, this.heard] = [[], 0];
    const answers = decode(heard.subarray(LENGTH_BYTES)) as Answer[];
    const asked = this.underWay;
    this.underWay = [];
    for (const [at, [isDone, value]] of answers.entries()) {
      if (isDone) asked[at]?.resolve(value);
      else asked[at]?.reject(new Error(String(value)));
    }
    if (this.waiting.length > 0 && !this.isFlushing) {
      this.isFlushing = true;
      setImmediate(() => this.flush());
    }
  }
}

export const clusters = new Clusters();
