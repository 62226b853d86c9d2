/** Sets of letters. A letter is known by the run that it was written in, and its place there. */

type Span = readonly [from: number, to: number];

/** A stretch of a run, and whether it is in the set. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly isIn: boolean;
}

export class Letters {
  private readonly spans = new Map<number, Span[]>();

  get isEmpty(): boolean {
    return this.spans.size === 0;
  }

  /** The runs that letters of the set are of. */
  get origins(): Iterable<number> {
    return this.spans.keys();
  }

  /** Puts in letters that are not in it. */
  add(origin: number, from: number, to: number): void {
    const spans = this.spans.get(origin) ?? [];
    const last = spans.at(-1);
    if (last?.[1] === from) spans[spans.length - 1] = [last[0], to];
    else spans.push([from, to]);
    this.spans.set(origin, spans);
  }

  /** All from `from` to `to`, in as few stretches as it takes. */
  divide(origin: number, from: number, to: number): Stretch[] {
    const found: Stretch[] = [];
    let at = from;
    const spans = this.spans.get(origin) ?? [];
    for (const [start, end] of [...spans].sort((one, other) => one[0] - other[0])) {
      const first = Math.max(at, start);
      const last = Math.min(to, end);
      if (first >= last) continue;
      if (at < first) found.push({ from: at, to: first, isIn: false });
      found.push({ from: first, to: last, isIn: true });
      at = last;
    }
    if (at < to) found.push({ from: at, to, isIn: false });
    return found;
  }

  /** Whether any of these are in it. */
  has(origin: number, from: number, to: number): boolean {
    return this.divide(origin, from, to).some(({ isIn }) => isIn);
  }
}
