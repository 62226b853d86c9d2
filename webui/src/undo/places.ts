/**
 * Where in the order blocks stood that own edits have taken out, or away to another place.
 *
 * Behind each block that is shown, and in front of the first one, there may be some that are not:
 * so what stands between them and what does not keeps its order, whatever others do with the rest.
 */

/** A block that is not shown, by its id; or the place that a moved one has left. */
export type Left = string | object;

export class LeftPlaces {
  /** By the block behind which they are; empty: in front of all. */
  private readonly chains = new Map<string, Left[]>();

  /** A block goes from behind `before`; `left`, if anything, stays in its place. */
  leave(id: string, before: string, left: Left | null): void {
    const own = left === null ? [] : [left];
    this.put(before, [...this.behind(before), ...own, ...this.behind(id)]);
    this.chains.delete(id);
  }

  /** All that is behind the one is behind the other, which has come right behind it. */
  pass(id: string, to: string): void {
    this.put(to, this.behind(id));
    this.chains.delete(id);
  }

  /** Behind which block it is; null: it is nowhere. */
  find(left: Left): string | null {
    for (const [id, chain] of this.chains) if (chain.includes(left)) return id;
    return null;
  }

  /** The block `id` has come there. */
  show(left: Left, id: string): void {
    const before = this.find(left);
    if (before === null) return;
    const chain = this.behind(before);
    const at = chain.indexOf(left);
    const behind = chain.slice(at + 1);
    this.put(before, chain.slice(0, at));
    this.put(id, before === id ? [...this.behind(id), ...behind] : behind);
  }

  /** Nobody asks for it any more. */
  drop(left: Left): void {
    const before = this.find(left);
    if (before === null) return;
    const chain = this.behind(before).filter((one) => one !== left);
    this.put(before, chain);
  }

  /** Keeps what is asked for. */
  sweep(isKept: (left: Left) => boolean): void {
    for (const [id, chain] of [...this.chains]) this.put(id, chain.filter(isKept));
  }

  private behind(id: string): readonly Left[] {
    return this.chains.get(id) ?? [];
  }

  private put(id: string, chain: readonly Left[]): void {
    if (chain.length > 0) this.chains.set(id, [...chain]);
    else this.chains.delete(id);
  }
}
