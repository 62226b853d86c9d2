/** Which rows of a list are chosen, and which one the keyboard is at. */

export class Selection {
  /** The row that the keyboard is at. */
  current = $state("");
  chosen = $state.raw<ReadonlySet<string>>(new Set());
  /** Where a stretch begins that Shift extends. */
  private anchor = "";

  /** Rows that are shown no more are chosen no more; the keyboard goes to the nearest one. */
  keep(ids: readonly string[], former: readonly string[]): void {
    const there = new Set(ids);
    if ([...this.chosen].some((id) => !there.has(id))) {
      this.chosen = new Set([...this.chosen].filter((id) => there.has(id)));
    }
    if (there.has(this.current)) return;
    const place = Math.max(0, former.indexOf(this.current));
    this.current =
      former.slice(place).find((id) => there.has(id)) ?? ids[Math.min(place, ids.length - 1)] ?? "";
    this.anchor = this.current;
  }

  /** The keyboard goes there; with Shift everything on the way is chosen. */
  go(ids: readonly string[], id: string, isExtending = false): void {
    if (!ids.includes(id)) return;
    if (isExtending) {
      const from = ids.indexOf(this.anchor || this.current || id);
      const to = ids.indexOf(id);
      this.chosen = new Set(ids.slice(Math.min(from, to), Math.max(from, to) + 1));
    } else {
      this.anchor = id;
    }
    this.current = id;
  }

  toggle(id: string): void {
    const chosen = new Set(this.chosen);
    if (!chosen.delete(id)) chosen.add(id);
    this.chosen = chosen;
    this.current = this.anchor = id;
  }

  all(ids: readonly string[]): void {
    this.chosen = new Set(ids);
  }

  clear(): void {
    this.chosen = new Set();
    this.anchor = this.current;
  }

  /** What is to be done something with: what is chosen, or the row itself where it is not. */
  around(id: string): readonly string[] {
    return this.chosen.has(id) ? [...this.chosen] : [id];
  }
}
