/**
 * How many pixels of the screen the room is drawn with: fewer where frames take long, as without a
 * graphics card, and all of them once nothing moves any more.
 *
 * Rules.
 *   S1  After several frames in a row that came late, there are fewer pixels, down to `LEAST`.
 *   S2  What stands still is drawn with all of them, once.
 *   S3  What was too much is not tried again before the size is another one.
 */

/** A frame later than this is a slow one. */
export const SLOW_MS = 45;
const IN_A_ROW = 4;
const STEP = 0.7;
export const LEAST = 0.4;

export class Sharpness {
  private moving = 1;
  private slow = 0;
  private before_ms = 0;
  private isStill = false;

  /** The share of the screen's pixels in each direction. */
  get share(): number {
    return this.isStill ? 1 : this.moving;
  }

  /**
   * A frame is about to be drawn, which was asked for by the one before if it `follows`; whether
   * the share is another one.
   */
  begin(now_ms: number, follows: boolean): boolean {
    const took_ms = follows ? now_ms - this.before_ms : 0;
    this.before_ms = now_ms;
    const before = this.share;
    this.isStill = false;
    this.slow = took_ms > SLOW_MS ? this.slow + 1 : 0;
    if (this.slow >= IN_A_ROW && this.moving > LEAST) {
      this.moving = Math.max(LEAST, this.moving * STEP);
      this.slow = 0;
    }
    return this.share !== before;
  }

  /** Nothing moves behind this frame; whether it has to be drawn once more, as it is to stay. */
  rest(): boolean {
    if (this.share === 1) return false;
    this.isStill = true;
    return true;
  }

  /** The room has another size: it may be fast enough now. */
  reset(): void {
    this.moving = 1;
    this.slow = 0;
    this.isStill = false;
  }
}
