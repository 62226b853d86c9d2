/**
 * The pictures of one open document: what is on its way, and the editor's part in it.
 *
 * What sends pictures is loaded with the first that is to be sent. Until it is there, a picture is
 * kept in the browser as it will be then, and counts as not saved.
 */

import { withMore } from "../document/save-state";
import type { SaveState } from "../document/types";
import { randomId } from "../ids";
import type { KeptUpload } from "../store";
import { withWords } from "../words/language";
import { PicturePlugin } from "./plugin";
import type { Standing, UploadParts, Uploads } from "./uploads";

/** Code that cannot be loaded is asked for again: the machine may be on the network then. */
const AGAIN_MS = 3_000;

export class PictureDesk {
  readonly editor: PicturePlugin;
  private uploads: Uploads | null = null;
  private standing: Standing | null = null;
  private isLoading = false;
  private cancelWait: (() => void) | null = null;
  private isClosed = false;
  /** Those that came before what sends them. */
  private early: KeptUpload[] = [];
  /** So many of them are kept nowhere but here. */
  private unkept = 0;
  /** Goes on with what an earlier tab has left; null: it has left nothing, or that is done. */
  private goOn: ((uploads: Uploads) => void) | null = null;

  /** `changed`: there is more or less on its way. */
  constructor(
    private readonly parts: UploadParts,
    nodes: () => readonly string[],
    private readonly changed: () => void,
  ) {
    this.editor = new PicturePlugin({
      doc: parts.doc,
      nodes,
      add: (id, file, name, behind) => this.put(id, { kind: "file", file, name, behind }),
      adopt: (from, picture) => this.put(randomId(), { kind: "copy", from, picture }),
    });
  }

  private put(id: string, work: KeptUpload["work"]): void {
    const { doc, principal, store, take } = this.parts;
    const kept = { id, doc, principal, work };
    if (this.uploads !== null) {
      void this.uploads.put(kept);
      return;
    }
    this.early.push(kept);
    this.unkept += 1;
    void take(id);
    store?.keepUpload(kept).then(
      () => (this.unkept -= 1),
      () => undefined, // closing the tab is asked about
    );
    this.changed();
    void this.load();
  }

  private async load(): Promise<void> {
    if (this.isLoading || this.isClosed) return;
    this.isLoading = true;
    this.cancelWait?.();
    const loaded = await withWords(import("./uploads")).catch(() => null);
    this.isLoading = false;
    if (this.isClosed) return;
    if (loaded === null) {
      this.cancelWait = this.parts.after(AGAIN_MS, () => void this.load());
      return;
    }
    const { editor, changed, early } = this;
    const standing = new loaded.Standing(() => editor.view, {
      retry: (id) => uploads.retry(id),
      cancel: (id) => uploads.cancel(id),
    });
    const uploads = new loaded.Uploads(this.parts, {
      begun: (upload, behind) => {
        standing.begun(upload, behind);
        changed();
      },
      changed: (upload) => {
        standing.changed(upload);
        if (upload.stage !== "sending") changed();
      },
      ended: (id, stored) => {
        standing.ended(id, stored);
        changed();
      },
    });
    this.uploads = uploads;
    this.standing = standing;
    this.early = [];
    for (const kept of early) void uploads.put(kept);
    this.goOn?.(uploads);
    this.goOn = null;
  }

  /** Goes on with what an earlier tab could not send; `isThere`: the text has such a block. */
  async restore(isThere: (id: string) => boolean): Promise<void> {
    const { doc, principal, store } = this.parts;
    const left = await store?.uploads(doc, principal).catch(() => []);
    if (!left?.length) return;
    this.goOn = (uploads) => void uploads.restore(isThere);
    if (this.uploads !== null) this.goOn(this.uploads);
    else void this.load();
  }

  /** The save state with what is on its way: nothing is saved that no node has. */
  with(save: SaveState): SaveState {
    return withMore(save, this.early.length + (this.uploads?.waiting ?? 0));
  }

  /** So many were not taken, and are kept until the person sends them again or removes them. */
  get kept(): number {
    return this.uploads?.failed ?? 0;
  }

  /** Whether closing the tab would lose a picture. */
  get wouldLose(): boolean {
    return this.uploads?.wouldLose ?? this.unkept > 0;
  }

  wake(): void {
    if (this.uploads !== null) this.uploads.retry();
    else if (this.early.length > 0 || this.goOn !== null) void this.load();
  }

  close(): void {
    this.isClosed = true;
    this.cancelWait?.();
    this.uploads?.close();
    this.standing?.close();
  }
}
