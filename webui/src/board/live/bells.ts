/** Timers that ring: those whose count of rings grows while they are here. */

import { prop } from "../../place/thing";
import type { Things } from "../model/arrows";
import { dueOf } from "../model/settings";

/** So long a timer is shown as ringing. */
const RING_MS = 30_000;

export class Bells {
  private readonly counts = new Map<string, number>();
  private readonly since = new Map<string, number>();

  constructor(
    private readonly now_ms: () => number,
    private readonly rings: (id: string) => void,
  ) {}

  look(things: Things): void {
    for (const [id, thing] of things) {
      if (thing.kind !== "timer") continue;
      const count = prop(thing, "rings");
      const before = this.counts.get(id);
      this.counts.set(id, count);
      if (dueOf(thing) > 0) this.since.delete(id);
      else if (before !== undefined && count > before) this.ring(id);
    }
    for (const id of this.counts.keys()) {
      // One that comes back has rung where nobody here has heard it.
      if (!things.has(id)) this.forget(id);
    }
  }

  private ring(id: string): void {
    this.since.set(id, this.now_ms());
    this.rings(id);
  }

  private forget(id: string): void {
    this.counts.delete(id);
    this.since.delete(id);
  }

  /** Since when a timer rings; null: it does not. */
  ringingSince(id: string): number | null {
    const since_ms = this.since.get(id);
    return since_ms === undefined || this.now_ms() - since_ms > RING_MS ? null : since_ms;
  }

  /** Somebody here has heard it. */
  hush(id: string): void {
    this.since.delete(id);
  }
}
