/** Where somebody else, or a thing, is between two times that one was told of it. */

import type { Point } from "../../board/model/geometry";
import { even, type Heading, within } from "./metres";

/** Where, and looking to where; in metres. */
export interface Pose extends Point {
  readonly heading: Heading;
}

/** What is told of ten times a second is shown so much later, and never stands still in between. */
const LATE_MS = 130;
/** Who comes further than this at once has not walked. */
const JUMP_M = 12;
const KEPT = 6;

interface Told extends Pose {
  readonly at_ms: number;
}

export class Track {
  private told: readonly Told[] = [];

  /** `isSmooth`: not where somebody wants little motion. */
  constructor(private readonly isSmooth: boolean) {}

  tell({ x, y, heading }: Pose, now_ms: number): void {
    const pose = { x: within(x), y: within(y), heading: Number.isFinite(heading) ? heading : 0 };
    const last = this.told.at(-1);
    const isSame =
      last !== undefined && last.x === pose.x && last.y === pose.y && last.heading === pose.heading;
    if (isSame) return;
    const isJump = last === undefined || Math.hypot(pose.x - last.x, pose.y - last.y) > JUMP_M;
    const next = { ...pose, at_ms: now_ms };
    if (isJump || !this.isSmooth) {
      this.told = [next];
      return;
    }
    // Who stood still begins to move now, not when they came to a stand.
    const isRested = last !== undefined && now_ms - last.at_ms > LATE_MS * 2;
    const rested = isRested ? [{ ...last, at_ms: now_ms - LATE_MS }] : this.told;
    this.told = [...rested, next].slice(-KEPT);
  }

  /** Whether it is still on its way then. */
  isMoving(now_ms: number): boolean {
    const last = this.told.at(-1);
    return this.told.length > 1 && last !== undefined && now_ms - LATE_MS < last.at_ms;
  }

  at(now_ms: number): Pose {
    const shown_ms = now_ms - LATE_MS;
    const last = this.told.at(-1);
    if (last === undefined) return { x: 0, y: 0, heading: 0 };
    const place = this.told.findIndex(({ at_ms }) => at_ms > shown_ms);
    if (place < 0) return last;
    const after = this.told[place] ?? last;
    const before = this.told[place - 1] ?? after;
    const long = after.at_ms - before.at_ms;
    const share = long <= 0 ? 1 : Math.min(1, Math.max(0, (shown_ms - before.at_ms) / long));
    return {
      x: before.x + (after.x - before.x) * share,
      y: before.y + (after.y - before.y) * share,
      heading: before.heading + even(after.heading - before.heading) * share,
    };
  }
}
