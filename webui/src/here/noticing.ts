/**
 * What one notices of the others: who comes and goes, what they change, and who asks everybody to
 * come. It loads with the first of them.
 */

import type { Person } from "../people";
import { Arrivals } from "./arrivals";
import { Calls } from "./calls";

export { Changes } from "./changes";
export { Calls };

export class Noticing {
  readonly arrivals: Arrivals;
  readonly calls: Calls<Person>;

  constructor(
    later: (delay_ms: number, act: () => void) => void,
    now_ms: () => number,
    changed: () => void,
  ) {
    this.arrivals = new Arrivals(later, now_ms, changed);
    this.calls = new Calls<Person>(later, now_ms, changed);
  }

  /** These are here now. */
  update(people: readonly Person[]): void {
    this.arrivals.update(people);
    this.calls.update(people);
  }
}
