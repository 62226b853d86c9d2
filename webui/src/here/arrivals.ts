/** Who has come and gone, said now and then in one sentence: it is not to flood who listens. */

import type { Person } from "../people";
import { comingAndGoing } from "./words";

/** Who comes and goes within this time is not spoken of. */
const WAIT_MS = 3_000;
/** So much time lies between two sentences. */
const PAUSE_MS = 15_000;

export class Arrivals {
  /** The last sentence. */
  said = "";
  private told: ReadonlyMap<string, string> | null = null;
  private here: ReadonlyMap<string, string> = new Map();
  private isDue = false;
  private saidAt_ms = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly later: (delay_ms: number, act: () => void) => void,
    private readonly now_ms: () => number,
    private readonly changed: () => void,
  ) {}

  /** These are here now; those of the first time are not spoken of. */
  update(people: readonly Person[]): void {
    this.here = new Map(people.map(({ who, name }) => [who, name]));
    this.told ??= this.here;
    if (this.isDue || isSame(this.here, this.told)) return;
    this.isDue = true;
    const pause_ms = this.saidAt_ms + PAUSE_MS - this.now_ms();
    this.later(Math.max(WAIT_MS, pause_ms), () => this.say());
  }

  private say(): void {
    this.isDue = false;
    const before = this.told ?? new Map();
    const come = without(this.here, before);
    const gone = without(before, this.here);
    this.told = this.here;
    if (come.length + gone.length === 0) return;
    this.saidAt_ms = this.now_ms();
    this.said = comingAndGoing(come, gone, this.here.size);
    this.changed();
  }
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one.keys()].every((who) => other.has(who));
}

/** The names in the first that are not in the second: who has only changed nodes is in both. */
function without(
  all: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, string>,
): readonly string[] {
  const left = [...others.values()];
  return [...all.values()].filter((name) => {
    const place = left.indexOf(name);
    if (place < 0) return true;
    left.splice(place, 1);
    return false;
  });
}
