/** What others do, to be said aloud: gathered, so that nobody is flooded. */

import type { Things } from "../model/arrows";

/** So long news are gathered before they are said. */
const GATHER_MS = 2_500;
/** Each of so few is named. */
const NAMED_MAX = 2;

export interface News {
  readonly added: readonly string[];
  readonly changed: number;
  readonly gone: number;
}

export class Announcer {
  private before: Things | null = null;
  private readonly own = new Set<string>();
  private readonly added = new Set<string>();
  private readonly changed = new Set<string>();
  private readonly gone = new Set<string>();
  private isWaiting = false;

  constructor(
    private readonly after: (delay_ms: number, act: () => void) => void,
    private readonly say: (news: News) => void,
  ) {}

  /** These are the person's own doing: they know. */
  mine(ids: Iterable<string>): void {
    for (const id of ids) this.own.add(id);
  }

  /** What is not in sight any more has not gone: `isMoved` says that another part is shown. */
  look(things: Things, isMoved: boolean): void {
    const { before } = this;
    this.before = things;
    if (before === null || isMoved) return;
    for (const [id, thing] of things) {
      const was = before.get(id);
      if (was === thing || this.own.has(id)) continue;
      if (was === undefined) this.added.add(id);
      else if (was.version !== thing.version && !this.added.has(id)) this.changed.add(id);
    }
    for (const id of before.keys()) {
      if (!things.has(id) && !this.own.has(id)) this.gone.add(id);
    }
    this.soon();
  }

  private soon(): void {
    if (this.isWaiting || this.added.size + this.changed.size + this.gone.size === 0) return;
    this.isWaiting = true;
    this.after(GATHER_MS, () => {
      this.isWaiting = false;
      const news = { added: [...this.added], changed: this.changed.size, gone: this.gone.size };
      for (const some of [this.added, this.changed, this.gone, this.own]) some.clear();
      this.say(news);
    });
  }
}

export function isNamed({ added }: News): boolean {
  return added.length > 0 && added.length <= NAMED_MAX;
}
