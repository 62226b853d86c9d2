/** A page's share of a large object of a class of one's own: the parts of it that the page sees. */

import type { About, Item } from "./messages";
import { type Change, Confirmed, changeOf } from "./object";

/** A rectangle of whole numbers: left, top, right, bottom. */
export type Sight = Required<About>["sight"];

interface PartsState<P> {
  readonly parts: readonly (readonly [name: string, part: P | null])[];
  /** Those that are seen no more; missing where all that is seen is told anew. */
  readonly left?: readonly string[];
}

/**
 * An object of which the node is told by the program what a sight meets (`interest` in Python).
 *
 * `parts` has what the sight meets: as of one place of the order, and then what becomes of it. A part
 * in which there is nothing is not there.
 */
export class SharedParts<P = unknown> extends Confirmed {
  static readonly type: string = "";
  readonly parts = new Map<string, P>();
  private sight: Sight | null = null;
  private isAsked = false;

  /** What is seen from now on: what comes to it follows, what is seen no more is forgotten. */
  look(sight: Sight): void {
    this.sight = sight;
    if (this.isAsked) this.host.send({ t: "look", name: this.name, sight });
  }

  override call(operation: string, ...args: unknown[]): Promise<unknown> {
    return super.call(operation, ...args);
  }

  protected override get about(): About {
    this.isAsked = true;
    return this.sight === null ? {} : { sight: this.sight };
  }

  protected override show(state: unknown): void {
    const { parts, left } = state as PartsState<P>;
    if (left === undefined) this.parts.clear();
    for (const name of left ?? []) this.parts.delete(name);
    for (const [name, part] of parts) this.put(name, part);
  }

  protected override done(item: Item, mine: boolean): Change | null {
    for (const [name, part] of item[3] as PartsState<P>["parts"]) this.put(name, part);
    return changeOf(item, mine);
  }

  private put(name: string, part: P | null): void {
    if (part === null) this.parts.delete(name);
    else this.parts.set(name, part);
  }
}
