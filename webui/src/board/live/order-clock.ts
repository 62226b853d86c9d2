/**
 * The order's time in a page: nodes number each operation with it, and timers are due by it.
 *
 * The time that comes with an operation is a little old when it comes, never too new. So the page's
 * own clock is corrected by the largest difference that was heard; before anything was heard it is
 * taken to be right.
 */

/** Two clocks that differ by more than this are not compared: one of them was set meanwhile. */
const DIFFERENCE_MAX_MS = 366 * 24 * 3_600 * 1_000;

export class OrderClock {
  private ahead_ms: number | null = null;

  constructor(private readonly clock: () => number) {}

  get now_ms(): number {
    return this.clock() + (this.ahead_ms ?? 0);
  }

  hear(time_ms: number): void {
    const ahead_ms = time_ms - this.clock();
    if (!Number.isFinite(ahead_ms) || Math.abs(ahead_ms) > DIFFERENCE_MAX_MS) return;
    this.ahead_ms = Math.max(ahead_ms, this.ahead_ms ?? ahead_ms);
  }
}
