/**
 * What several objects have missed, looked at one by one: in the order of `catching-up.ts`, and ahead
 * of that where a step needs it.
 *
 * What a block has missed may be many steps in one message. By one of them the text of another block
 * comes: what that one has gone through until its text went is looked at before this step, and not
 * before. So also a text that was split off, and has come back to where it was, is never compared.
 */

import { BlockObject } from "./block";
import { comeFrom, goneTo, type Heard } from "./catching-up";
import type { Confirmed } from "./confirmed";

export class Missed {
  private all: Heard[] = [];

  /** `hear`: looks at one. */
  constructor(
    private readonly confirmed: Confirmed,
    private readonly hear: (...heard: Heard) => void,
  ) {}

  /** Looks at all of it. */
  lookAt(messages: readonly Heard[]): void {
    this.all = [...messages];
    for (let next = this.all.shift(); next !== undefined; next = this.all.shift()) this.look(next);
  }

  private look([object, message]: Heard): void {
    if (object instanceof BlockObject && message.t === "changes")
      this.lookAhead(comeFrom(message), this.confirmed.idOf(object));
    this.hear(object, message);
  }

  /** Looks at what these blocks have missed until their texts went to the block `into`. */
  lookAhead(sources: Iterable<string>, into: string): void {
    for (const source of this.all.length > 0 ? sources : []) {
      const from = this.confirmed.blocks.get(source);
      const last = this.all.findIndex(
        ([one, message]) => one === from && goneTo(message).has(into),
      );
      const its = this.all.filter(([one], at) => one === from && at <= last);
      this.all = this.all.filter((one) => !its.includes(one));
      for (const one of its) this.look(one);
    }
  }
}
