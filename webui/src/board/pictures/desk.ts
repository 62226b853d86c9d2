/**
 * Pictures on their way to a board.
 *
 * A file is sent to a node first, and is a thing for everybody then, whose id is the upload's own.
 * What waits is kept in the browser and goes on in the next tab. What sends them is the code that
 * documents have, and is loaded with the first picture.
 */

import { randomId } from "../../ids";
import type { Upload, UploadParts, Uploads } from "../../pictures/uploads";
import type { Thing } from "../../place/thing";
import type { KeptUpload } from "../../store";
import { withWords } from "../../words/language";
import type { Point } from "../model/geometry";
import { pictureThing, readSpot, type Spot, spotsFor, written } from "./spots";

/** Code that cannot be loaded is asked for again: the machine may be on the network then. */
const AGAIN_MS = 3_000;

export interface PictureOwner {
  /** Whether the place has such a thing. */
  has(id: string): boolean;
  put(thing: Thing): void;
  /** A picture of another place belongs to this one now. */
  came(): void;
  changed(): void;
}

/** A picture of a file, and where it is to lie. */
export interface Placed {
  readonly file: File;
  readonly spot: Spot;
}

export class PictureDesk {
  private uploads: Uploads | null = null;
  private isLoading = false;
  private isClosed = false;
  /** Those that came before what sends them. */
  private early: KeptUpload[] = [];
  private readonly spots = new Map<string, Spot>();
  private readonly shown = new Map<string, Upload>();
  private isLeft = false;

  constructor(
    private readonly parts: UploadParts,
    private readonly owner: PictureOwner,
  ) {}

  /** What is on its way, and what was not taken, as they came. */
  get cards(): readonly Upload[] {
    return [...this.shown.values()];
  }

  /** Whether closing the tab would lose a picture. */
  get wouldLose(): boolean {
    const isUnkept = this.early.length > 0 && this.parts.store === null;
    return isUnkept || (this.uploads?.wouldLose ?? false);
  }

  /** So many are on their way: nothing is saved that no node has. */
  get waiting(): number {
    return this.early.length + (this.uploads?.waiting ?? 0);
  }

  /** Puts files beside each other about a point. */
  add(files: readonly File[], at: Point, order: number): void {
    const spots = spotsFor(files.length, at, order);
    this.place(files.map((file, which) => ({ file, spot: spots[which] as Spot })));
  }

  place(pictures: readonly Placed[]): void {
    for (const { file, spot } of pictures) {
      const work = { kind: "file", file, name: file.name, behind: written(spot) } as const;
      this.put({ ...this.own(), work });
    }
  }

  /** Has pictures of another place belong to this one. */
  adopt(from: string, pictures: Iterable<string>): void {
    if (from === this.parts.doc) return;
    for (const picture of new Set(pictures)) {
      this.put({ ...this.own(), work: { kind: "copy", from, picture } });
    }
  }

  private own(): Pick<KeptUpload, "id" | "doc" | "principal"> {
    return { id: randomId(), doc: this.parts.doc, principal: this.parts.principal };
  }

  private put(kept: KeptUpload): void {
    if (this.uploads !== null) {
      void this.uploads.put(kept);
      return;
    }
    this.early.push(kept);
    void this.parts.take(kept.id);
    // Where it cannot be kept, closing the tab is asked about.
    this.parts.store?.keepUpload(kept).catch(() => undefined);
    this.owner.changed();
    void this.load();
  }

  private async load(): Promise<void> {
    if (this.isLoading || this.isClosed || this.uploads !== null) return;
    this.isLoading = true;
    const loaded = await withWords(import("../../pictures/uploads")).catch(() => null);
    this.isLoading = false;
    if (this.isClosed) return;
    if (loaded === null) {
      this.parts.after(AGAIN_MS, () => void this.load());
      return;
    }
    const uploads = new loaded.Uploads(this.parts, {
      begun: (upload, behind) => {
        this.spots.set(upload.id, readSpot(behind));
        this.show(upload);
      },
      changed: (upload) => this.show(upload),
      ended: (id, stored) => {
        const spot = this.spots.get(id);
        this.spots.delete(id);
        this.shown.delete(id);
        if (stored !== null && spot !== undefined) this.owner.put(pictureThing(id, spot, stored));
        else if (stored !== null) this.owner.came();
        this.owner.changed();
      },
    });
    this.uploads = uploads;
    const { early } = this;
    this.early = [];
    for (const kept of early) void uploads.put(kept);
    if (this.isLeft) void uploads.restore((id) => this.owner.has(id));
  }

  private show(upload: Upload): void {
    this.shown.set(upload.id, upload);
    this.owner.changed();
  }

  /** Goes on with what an earlier tab could not send. */
  async restore(): Promise<void> {
    const { doc, principal, store } = this.parts;
    const left = await store?.uploads(doc, principal).catch(() => []);
    if (!left?.length) return;
    this.isLeft = true;
    if (this.uploads === null) void this.load();
    else void this.uploads.restore((id) => this.owner.has(id));
  }

  retry(id?: string): void {
    if (this.uploads === null) void this.load();
    else this.uploads.retry(id);
  }

  cancel(id: string): void {
    this.uploads?.cancel(id);
  }

  close(): void {
    this.isClosed = true;
    this.uploads?.close();
  }
}
