/** Where the person wrote last, in the document as it is shown: rule K6 of carry.ts. */

import type { RichDelta } from "../shared/rich";
import { extended } from "../shared/typing";
import type { Step } from "./doc";
import { behind, type Place } from "./place";

export class LastTyped {
  private place: Place | null = null;

  /** The person does this edit: whether it extends what they wrote last; null: it inserts nothing. */
  write(block: string, delta: RichDelta): boolean | null {
    const { place } = this;
    const [isGoingOn, end] = extended(place?.block === block ? place.offset : null, delta);
    if (end !== null) this.place = { block, offset: end };
    return isGoingOn;
  }

  /** Something else is about to happen; `lengthOf`: how long a text is ahead of it. */
  follow(step: Step, lengthOf: (block: string) => number): void {
    this.place = this.place && behind(this.place, step, "left", lengthOf);
  }
}
