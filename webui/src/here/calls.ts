/** Others ask everybody to come to where they are: one notice at a time, and not again and again. */

/** What calls need to know of a person; `calls`: how often they have asked. */
export interface Calling {
  readonly who: string;
  readonly name: string;
  readonly calls: number;
}

/** So long a notice stands. */
const NOTICE_MS = 30_000;
/** Who was told "not now" is not heard for so long. */
const QUIET_MS = 60_000;

export class Calls<Person extends Calling = Calling> {
  /** Who asks. */
  caller: Person | null = null;
  private readonly heard = new Map<string, number>();
  private readonly quietUntil_ms = new Map<string, number>();
  private round = 0;

  constructor(
    private readonly later: (delay_ms: number, act: () => void) => void,
    private readonly now_ms: () => number,
    private readonly changed: () => void,
  ) {}

  /** What people show now; how often they had called before one has seen them does not count. */
  update(people: readonly Person[]): void {
    for (const person of people) {
      const before = this.heard.get(person.who);
      this.heard.set(person.who, person.calls);
      if (before !== undefined && person.calls > before) this.ring(person);
    }
    const here = new Set(people.map(({ who }) => who));
    for (const who of this.heard.keys()) if (!here.has(who)) this.heard.delete(who);
    const now = people.find(({ who }) => who === this.caller?.who) ?? null;
    if (this.caller !== null) this.caller = now;
  }

  /** The notice has been answered. */
  answer(isGoing: boolean): Person | null {
    const { caller } = this;
    if (caller !== null && !isGoing) {
      this.quietUntil_ms.set(caller.name, this.now_ms() + QUIET_MS);
    }
    this.caller = null;
    this.changed();
    return isGoing ? caller : null;
  }

  private ring(person: Person): void {
    if (this.caller !== null && this.caller.who !== person.who) return;
    if (this.now_ms() < (this.quietUntil_ms.get(person.name) ?? 0)) return;
    this.caller = person;
    this.round += 1;
    const { round } = this;
    this.later(NOTICE_MS, () => {
      if (this.caller === null || round !== this.round) return;
      this.caller = null;
      this.changed();
    });
    this.changed();
  }
}
