/** Blocks by id: never changed in place, and most of them shared by one document and the next. */

import type { ShownBlock } from "./types";

/** With so many others the shared part is made anew. */
const NEWS_MAX = 256;

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
    const news = new Map([...this.news, ...changes]);
    let { size } = this;
    for (const [id, block] of changes) {
      if (this.has(id)) size -= 1;
      if (block !== null) size += 1;
    }
    if (news.size <= NEWS_MAX) return new Blocks(this.shared, news, size);
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
    const isNear = this.shared === there.shared;
    const ids = new Set([...(isNear ? there.news : this.shared).keys(), ...this.news.keys()]);
    return [...ids].filter((id) => this.has(id) && this.get(id) !== there.get(id));
  }
}
