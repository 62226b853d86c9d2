/** The chat of a place as a node tells it: the last remarks, and calls that are made once. */

import type { Item } from "../client/messages";
import { type Change, changeOf, Shared, type StoredObject } from "../client/object";

export interface Remark {
  /** The number of the remark among all that there ever were, in hexadecimal. */
  readonly id: string;
  /** In whose name, as votes are counted. */
  readonly author: string;
  /** What a guest is called; "" for who has an account. */
  readonly name: string;
  readonly time_ms: number;
  readonly text: string;
}

export type WireRemark = readonly [
  id: string,
  author: string,
  name: string,
  time_ms: number,
  text: string,
];

export type TalkDetail =
  | readonly ["said", remark: WireRemark, dropped: readonly string[]]
  | readonly ["gone", remarks: readonly string[]];

/** Most characters of a remark: of code points. */
export const REMARK_MAX = 2_000;

export class TalkObject extends Shared {
  static readonly type = "PlaceTalk";
  /** By id, oldest first. */
  readonly remarks = new Map<string, Remark>();
  /** What was said here and has no answer yet, by the number of the call. */
  readonly unsaid = new Map<number, string>();
  /** A call has its answer; `code` "": it was done. `text`: what it was to say, if anything. */
  onAnswered: ((n: number, code: string, text: string | null) => void) | null = null;

  say(text: string, name: string, by: string): Promise<unknown> {
    this.unsaid.set(this.nextNumber, text);
    return this.call("say", text, name, by);
  }

  takeBack(id: string, by: string): Promise<unknown> {
    return this.call("take_back", id, by);
  }

  /** Goes on with what a page before has left unanswered. */
  resume(stored: StoredObject): void {
    this.restore(stored);
    for (const [n, [call]] of stored.waiting) {
      const text = call?.[0] === "say" ? call[1][0] : null;
      if (typeof text === "string") this.unsaid.set(n, text);
    }
  }

  protected override answered(n: number, _results: unknown, code: string): void {
    const text = this.unsaid.get(n) ?? null;
    this.unsaid.delete(n);
    this.onAnswered?.(n, code, text);
  }

  /** Everything here, as a snapshot has it. */
  get state(): { readonly remarks: readonly WireRemark[] } {
    const remarks = [...this.remarks.values()].map((one): WireRemark => {
      return [one.id, one.author, one.name, one.time_ms, one.text];
    });
    return { remarks };
  }

  protected override show(state: unknown): void {
    this.remarks.clear();
    for (const one of (state as TalkObject["state"]).remarks) this.add(one);
  }

  private add([id, author, name, time_ms, text]: WireRemark): void {
    this.remarks.set(id, { id, author, name, time_ms, text });
  }

  protected override done(item: Item, mine: boolean): Change {
    for (const detail of item[3] as readonly (TalkDetail | null)[]) {
      if (detail?.[0] === "said") {
        this.add(detail[1]);
        for (const id of detail[2]) this.remarks.delete(id);
      } else if (detail?.[0] === "gone") {
        for (const id of detail[1]) this.remarks.delete(id);
      }
    }
    return changeOf(item, mine);
  }
}
