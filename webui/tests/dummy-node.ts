/** A node of one process for tests: one copy of each document, the same model as the page. */

import type { Transaction } from "../src/model/changes";
import type { DocumentValue } from "../src/model/document";
import { rebaseBoth } from "../src/model/rebase";
import type { DocumentMessage, Open, Reject, Submit, Update } from "../src/protocol/messages";
import { RefusalError } from "../src/shared/refusal";

interface Verdict {
  readonly op: number;
  readonly answer: Update | Reject;
}

export interface Outcome {
  /** To the one who asked. */
  readonly reply: readonly DocumentMessage[];
  /** To everybody who has the document open, the one who asked included. */
  readonly broadcast: readonly DocumentMessage[];
}

export class DummyDocument {
  epoch = 1;
  saved = 0;
  history: Update[] = [];
  /** Oldest version that updates are kept from. */
  private oldest = 0;
  private verdicts = new Map<string, Verdict>();

  constructor(
    readonly id: string,
    public value: DocumentValue,
  ) {}

  get version(): number {
    return this.oldest + this.history.length;
  }

  /** Forgets history up to the present, so that everybody behind it gets a snapshot. */
  forget(): void {
    this.oldest = this.version;
    this.history = [];
  }

  open(client: string, message: Open): DocumentMessage[] {
    const { epoch, version } = message;
    const isKnown =
      epoch === this.epoch &&
      version !== undefined &&
      version >= this.oldest &&
      version <= this.version;
    if (!isKnown) return [this.snapshot(client)];
    const opened = { t: "opened", doc: this.id, epoch, version, saved: this.saved } as const;
    return [opened, ...this.history.slice(version - this.oldest)];
  }

  snapshot(client: string): DocumentMessage {
    const verdict = this.verdicts.get(client);
    return {
      t: "snapshot",
      doc: this.id,
      epoch: this.epoch,
      version: this.version,
      saved: this.saved,
      title: this.value.title,
      blocks: this.value.blocks.map((block) => [block.id, block.attributes, block.text]),
      applied: verdict?.op ?? 0,
    };
  }

  submit(client: string, name: string, message: Submit): Outcome {
    const known = this.verdicts.get(client);
    if (known !== undefined && known.op === message.op) {
      return { reply: [known.answer], broadcast: [] };
    }
    if (message.op !== (known?.op ?? 0) + 1) {
      return this.refuse(client, message, "op_out_of_order", "not the next number", false);
    }
    if (message.epoch !== this.epoch) return this.refuse(client, message, "epoch_changed", "");
    if (message.base < this.oldest) return this.refuse(client, message, "base_too_old", "");
    try {
      let changes: Transaction = message.changes;
      for (const later of this.history.slice(message.base - this.oldest)) {
        changes = rebaseBoth(later.changes, changes)[1];
      }
      return { reply: [], broadcast: [this.apply(client, name, message.op, changes)] };
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      return this.refuse(client, message, error.code, error.message);
    }
  }

  /** Everything so far is on disk. */
  save(): DocumentMessage {
    this.saved = this.version;
    return { t: "saved", doc: this.id, epoch: this.epoch, version: this.saved };
  }

  private apply(client: string, name: string, op: number, changes: Transaction): Update {
    const applied = this.value.apply(changes);
    this.value = applied.document;
    const version = this.version + 1;
    const { id: doc, epoch } = this;
    const exact = applied.changes;
    const update: Update = { t: "update", doc, epoch, version, changes: exact, client, op, name };
    this.history.push(update);
    this.verdicts.set(client, { op, answer: update });
    return update;
  }

  private refuse(
    client: string,
    message: Submit,
    code: string,
    text: string,
    isRemembered = true,
  ): Outcome {
    const { doc, op } = message;
    const answer: Reject = { t: "reject", doc, op, code, message: text, temporary: false };
    if (isRemembered) this.verdicts.set(client, { op, answer });
    return { reply: [answer], broadcast: [] };
  }
}
