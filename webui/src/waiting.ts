/** Counts how long edits have waited without any progress: at once, for 3 s, for 10 s. */

export type Waited = 0 | 3 | 10;

export class Waiting {
  waited_s: Waited = 0;
  private edits = 0;
  private round: object | null = null;

  constructor(private readonly later: (delay_ms: number, act: () => void) => void) {}

  /** So many edits wait now; `changed` is called when their waiting has become long. */
  watch(edits: number, changed: () => void): void {
    const isProgress = edits === 0 || edits < this.edits;
    this.edits = edits;
    if (isProgress) {
      this.round = null;
      this.waited_s = 0;
    }
    if (edits === 0 || this.round !== null) return;
    const round = {};
    this.round = round;
    for (const waited_s of [3, 10] as const) {
      this.later(waited_s * 1_000, () => {
        if (this.round !== round) return;
        this.waited_s = waited_s;
        changed();
      });
    }
  }
}
