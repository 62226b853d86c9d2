/** Blocks by id: never changed in place, and most of them shared by one document and the next. */

import type { ShownBlock } from "./types";

/** With no more others than this the shared part stays as it is. */
const NEWS_MIN = 8;

export class Blocks {
  private constructor(
    private readonly shared: ReadonlyMap<string, ShownBlock>,
    /** What is not as in the shared part; null: it is not there. */
    private readonly news: ReadonlyMap<string, ShownBlock | null>,
    readonly size: number,
  ) {}

  static of(blocks: ReadonlyMap<string, ShownBlock>): Blocks {
    return new Blocks(blocks, new Map(), blocks.size);
  }

  get(id: string): ShownBlock | undefined {
    const one = this.news.get(id);
    return one === undefined ? this.shared.get(id) : (one ?? undefined);
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** These in place of what was there; null: without it. */
  with(changes: ReadonlyMap<string, ShownBlock | null>): Blocks {
    if (changes.size === 0) return this;
    const news = new Map(this.news);
    let { size } = this;
    for (const [id, block] of changes) {
      if (this.has(id)) size -= 1;
      if (block !== null) size += 1;
      news.set(id, block);
    }
    // What is copied each time, and what is copied seldom, cost as much then.
    if (news.size <= NEWS_MIN || news.size ** 2 <= 2 * this.shared.size)
      return new Blocks(this.shared, news, size);
    const all = new Map(this.shared);
    for (const [id, block] of news) {
      if (block === null) all.delete(id);
      else all.set(id, block);
    }
    return Blocks.of(all);
  }

  /** The ids of this one's blocks that are another one, or none, there. */
  differing(there: Blocks): string[] {
    if (there === this) return [];
    const ids = new Set((this.shared === there.shared ? there.news : this.shared).keys());
    for (const id of this.news.keys()) ids.add(id);
    const found: string[] = [];
    for (const id of ids) {
      const block = this.get(id);
      if (block !== undefined && block !== there.get(id)) found.push(id);
    }
    return found;
  }
}
