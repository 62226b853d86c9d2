/**
 * Pictures that are to get into a document: each is sent once, when a node can be reached.
 *
 * A file is in the text for nobody until a node has it; then a block is put in whose id is the
 * upload's own. What waits is kept in the browser, so it outlives the tab; the tab that comes next
 * goes on with it, and leaves out what is in the text already. This code comes with the first
 * upload: pictures/desk.ts.
 */

import { ApiError } from "../api";
import { alsoKnown, problemText } from "../problem";
import type { KeptUpload } from "../store";
import { uploadWords } from "../words/uploads";
import { ACCEPTED, type Sending, type StoredPicture } from "./sending";

export { Standing } from "./standing";

alsoKnown(uploadWords);

export type Stage = "waiting" | "sending" | "failed";

/** A file on its way. */
export interface Upload {
  readonly id: string;
  readonly name: string;
  readonly file: Blob;
  readonly stage: Stage;
  /** How much is sent: 0 to 1. */
  readonly progress: number;
  /** Why it was not taken, in words; null while it may still be. */
  readonly problem: string | null;
}

/** Where uploads are kept. */
export interface UploadStore {
  keepUpload(upload: KeptUpload): Promise<void>;
  uploads(doc: string, principal: string): Promise<KeptUpload[]>;
  forgetUpload(id: string): Promise<void>;
}

export interface UploadParts {
  readonly doc: string;
  readonly principal: string;
  readonly store: UploadStore | null;
  /** Whether this tab alone has the upload from now on. */
  readonly take: (id: string) => Promise<boolean>;
  readonly after: (delay_ms: number, act: () => void) => () => void;
  readonly send: (doc: string, file: Blob, how: Sending) => Promise<StoredPicture>;
  readonly copy: (doc: string, from: string, picture: string) => Promise<StoredPicture>;
}

/** What is told of uploads. */
export interface UploadListener {
  /** This one is to be shown, behind that block; empty: nobody knows where. */
  begun(upload: Upload, behind: string): void;
  changed(upload: Upload): void;
  /** It is to be a block now; null: it was taken back. */
  ended(id: string, stored: StoredPicture | null): void;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** What another try may change. */
const TEMPORARY = new Set([
  "unreachable",
  "unauthenticated",
  "not_primary",
  "not_ready",
  "awaits_nodes",
  "busy",
  "wait",
  "",
]);

interface Job {
  kept: KeptUpload;
  upload: Upload | null;
  abort: AbortController;
}

export class Uploads {
  private readonly jobs = new Map<string, Job>();
  private wait_ms = FIRST_MS;
  private cancelWait: (() => void) | null = null;
  private isRunning = false;
  private isClosed = false;
  /** Whether something is kept nowhere but here. */
  private isUnsafe = false;

  constructor(
    private readonly parts: UploadParts,
    private readonly listener: UploadListener,
  ) {}

  /** So many are not in the text yet. */
  get waiting(): number {
    return this.jobs.size - this.failed;
  }

  /** So many were not taken. */
  get failed(): number {
    return [...this.jobs.values()].filter(({ upload }) => upload?.stage === "failed").length;
  }

  /** Whether closing the tab would lose one. */
  get wouldLose(): boolean {
    return this.isUnsafe && this.jobs.size > 0;
  }

  /** Goes on with what an earlier tab has left; `isThere`: whether the text has such a block. */
  async restore(isThere: (id: string) => boolean): Promise<void> {
    const { doc, principal, store, take } = this.parts;
    for (const kept of (await store?.uploads(doc, principal).catch(() => [])) ?? []) {
      if (this.jobs.has(kept.id) || !(await take(kept.id)) || this.isClosed) continue;
      if (isThere(kept.id)) await store?.forgetUpload(kept.id);
      else this.begin(kept);
    }
    this.run();
  }

  /** A file is to stand behind a block, or a block names a picture of another document. */
  async put(kept: KeptUpload): Promise<void> {
    this.begin(kept);
    const isOwn = this.parts.take(kept.id);
    try {
      if (this.parts.store === null) this.isUnsafe = true;
      await this.parts.store?.keepUpload(kept);
    } catch {
      this.isUnsafe = true;
    }
    await isOwn;
    this.run();
  }

  private begin(kept: KeptUpload): void {
    const { id, work } = kept;
    const upload: Upload | null =
      work.kind === "copy"
        ? null
        : { id, name: work.name, file: work.file, stage: "waiting", progress: 0, problem: null };
    this.jobs.set(id, { kept, upload, abort: new AbortController() });
    if (upload !== null && work.kind === "file") this.listener.begun(upload, work.behind);
  }

  /** Tries again at once: the person asks, or the machine is on the network again. */
  retry(id?: string): void {
    const job = id === undefined ? undefined : this.jobs.get(id);
    if (job !== undefined) this.change(job, { stage: "waiting", progress: 0, problem: null });
    this.cancelWait?.();
    this.cancelWait = null;
    this.wait_ms = FIRST_MS;
    this.run();
  }

  /** Takes an upload back. */
  cancel(id: string): void {
    const job = this.jobs.get(id);
    if (job === undefined) return;
    job.abort.abort();
    this.end(job, null);
  }

  close(): void {
    this.isClosed = true;
    this.cancelWait?.();
    for (const { abort } of this.jobs.values()) abort.abort();
  }

  private run(): void {
    if (!this.isRunning) void this.work();
  }

  /** One at a time, in the order in which they came. */
  private async work(): Promise<void> {
    this.isRunning = true;
    while (!this.isClosed && this.cancelWait === null) {
      const job = [...this.jobs.values()].find(({ upload }) => upload?.stage !== "failed");
      if (job === undefined) break;
      await this.attempt(job);
    }
    this.isRunning = false;
  }

  private async attempt(job: Job): Promise<void> {
    const { doc, send, copy } = this.parts;
    const { work } = job.kept;
    this.change(job, { stage: "sending", progress: 0 });
    try {
      const { signal } = job.abort;
      const progress = (part: number): void => this.change(job, { progress: part });
      const stored =
        work.kind === "copy"
          ? await copy(doc, work.from, work.picture)
          : await send(doc, checked(work.file), { signal, progress });
      if (this.isClosed || !this.jobs.has(job.kept.id)) return;
      this.wait_ms = FIRST_MS;
      this.end(job, stored);
    } catch (error) {
      if (!this.isClosed && this.jobs.has(job.kept.id)) this.refused(job, error);
    }
  }

  private refused(job: Job, error: unknown): void {
    const code = error instanceof ApiError ? error.code : "";
    if (TEMPORARY.has(code)) {
      this.change(job, { stage: "waiting", progress: 0 });
      this.cancelWait = this.parts.after(this.wait_ms, () => {
        this.cancelWait = null;
        this.run();
      });
      this.wait_ms = Math.min(LONGEST_MS, this.wait_ms * 2);
    } else if (job.upload === null) {
      this.end(job, null); // its block says that there is no such picture
    } else {
      const problem = error instanceof Error ? error.message : "";
      this.change(job, { stage: "failed", progress: 0, problem });
    }
  }

  private change(job: Job, now: Partial<Upload>): void {
    if (job.upload === null || !this.jobs.has(job.upload.id)) return;
    job.upload = { ...job.upload, ...now };
    this.listener.changed(job.upload);
  }

  private end(job: Job, stored: StoredPicture | null): void {
    const { id } = job.kept;
    this.jobs.delete(id);
    this.listener.ended(id, stored);
    void this.parts.store?.forgetUpload(id).catch(() => undefined);
  }
}

/** Says at once what a node would say after it has got the file. */
function checked(file: Blob): Blob {
  if (file.type !== "" && !ACCEPTED.split(",").includes(file.type)) {
    throw new ApiError("not_a_picture", problemText("not_a_picture", ""));
  }
  return file;
}
