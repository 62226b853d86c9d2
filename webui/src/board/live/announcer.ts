/** What others do, to be said aloud: gathered, so that nobody is flooded. */

import { prop, type Thing } from "../../place/thing";
import { mayAct } from "../model/acts";
import type { Things } from "../model/arrows";
import { isMoving } from "../model/states";

/** So long news are gathered before they are said. */
const GATHER_MS = 2_500;
/** Each of so few is named. */
const NAMED_MAX = 2;

export interface News {
  readonly added: readonly string[];
  readonly changed: number;
  readonly gone: number;
  /** Those that stand in another way: a lamp was turned on, a die was rolled. */
  readonly acted: readonly string[];
}

export class Announcer {
  private before: Things | null = null;
  private readonly own = new Set<string>();
  private readonly added = new Set<string>();
  private readonly changed = new Set<string>();
  private readonly gone = new Set<string>();
  private readonly acted = new Set<string>();
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
      else if (was.version !== thing.version && !this.added.has(id)) this.note(was, thing);
    }
    for (const id of before.keys()) {
      if (!things.has(id) && !this.own.has(id)) this.gone.add(id);
    }
    this.soon();
  }

  private note(before: Thing, after: Thing): void {
    const kind = newsIn(before, after);
    if (kind === "acted") this.acted.add(after.id);
    else if (kind === "changed") this.changed.add(after.id);
  }

  private soon(): void {
    const all = [this.added, this.changed, this.gone, this.acted];
    if (this.isWaiting || all.every(({ size }) => size === 0)) return;
    this.isWaiting = true;
    this.after(GATHER_MS, () => {
      this.isWaiting = false;
      const [added, acted] = [[...this.added], [...this.acted]];
      const news = { added, changed: this.changed.size, gone: this.gone.size, acted };
      for (const some of [...all, this.own]) some.clear();
      this.say(news);
    });
  }
}

export function isNamed(some: readonly string[]): boolean {
  return some.length > 0 && some.length <= NAMED_MAX;
}

/** A ball that rolls is no news, nor is a timer that rings: that is said at once. */
function newsIn(before: Thing, after: Thing): "acted" | "changed" | null {
  if (!mayAct(after)) return "changed";
  const isSame = before.text === after.text && before.width === after.width;
  const isThere = before.x === after.x && before.y === after.y;
  if (after.kind === "ball" && isSame)
    return isMoving(before) || isMoving(after) ? null : "changed";
  if (prop(before, "rings") !== prop(after, "rings")) return null;
  return isSame && isThere ? "acted" : "changed";
}
