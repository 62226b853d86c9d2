/** The pictures of one open document: what is on its way, and the editor's part in it. */

import { ApiError } from "../api";
import { withMore } from "../document/save-state";
import type { SaveState } from "../document/types";
import { randomId } from "../ids";
import { problemText } from "../problem";
import { ACCEPTED, PicturePlugin } from "./plugin";
import type { StoredPicture } from "./sending";
import { type UploadParts, Uploads } from "./uploads";

export class PictureDesk {
  readonly editor: PicturePlugin;
  private readonly uploads: Uploads;

  /** `changed`: there is more or less on its way. */
  constructor(parts: UploadParts, nodes: () => readonly string[], changed: () => void) {
    const { send } = parts;
    this.uploads = new Uploads(
      { ...parts, send: (doc, file, how) => checked(file, () => send(doc, file, how)) },
      {
        begun: (upload, behind) => {
          this.editor.begun(upload, behind);
          changed();
        },
        changed: (upload) => {
          this.editor.changed(upload);
          if (upload.stage !== "sending") changed();
        },
        ended: (id, stored) => {
          this.editor.ended(id, stored);
          changed();
        },
      },
    );
    this.editor = new PicturePlugin({
      doc: parts.doc,
      nodes,
      add: (id, file, name, behind) => void this.uploads.add(id, file, name, behind),
      adopt: (from, picture) => void this.uploads.adopt(randomId(), from, picture),
      retry: (id) => this.uploads.retry(id),
      cancel: (id) => this.uploads.cancel(id),
    });
  }

  /** Goes on with what an earlier tab could not send; `isThere`: the text has such a block. */
  restore(isThere: (id: string) => boolean): void {
    void this.uploads.restore(isThere);
  }

  /** The save state with what is on its way: nothing is saved that no node has. */
  with(save: SaveState): SaveState {
    return withMore(save, this.uploads.waiting);
  }

  /** So many were not taken, and are kept until the person sends them again or removes them. */
  get kept(): number {
    return this.uploads.failed;
  }

  /** Whether closing the tab would lose a picture. */
  get wouldLose(): boolean {
    return this.uploads.wouldLose;
  }

  wake(): void {
    this.uploads.retry();
  }

  close(): void {
    this.uploads.close();
  }
}

/** Says at once what a node would say after it has got the file. */
async function checked(file: Blob, send: () => Promise<StoredPicture>): Promise<StoredPicture> {
  if (file.type !== "" && !ACCEPTED.split(",").includes(file.type)) {
    throw new ApiError("not_a_picture", problemText("not_a_picture", ""));
  }
  return send();
}
