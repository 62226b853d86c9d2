/** Where the room is seen from: behind who walks, or by their eyes. */

import { ahead, even } from "./metres";
import type { Solids } from "./solids";
import { EYES, type Walker } from "./walker";

/** In metres: the plane's x and y, and up. */
export interface Eye {
  readonly x: number;
  readonly y: number;
  readonly up: number;
  readonly yaw: number;
  /** Down is more. */
  readonly pitch: number;
}

const BEHIND = 5;
const NEAREST = 1;
/** Over the right shoulder: who walks does not hide what is before them. */
const ASIDE = 0.45;
const LOWEST = 0.4;
/** Over what is lower than this one sees. */
const HIGH = 1.5;
/** What follows does so by half in this time. */
const HALF_S = 0.07;
const STILL = 0.002;

/** Where the eye should be now. */
export function eyeOf(walker: Walker, solids: Solids, isOwn: boolean): Eye {
  const { x, y, yaw, pitch } = walker;
  if (isOwn) return { x, y, up: EYES, yaw, pitch };
  const far = Math.max(NEAREST, solids.clear(walker, yaw + Math.PI, BEHIND, HIGH) - 0.25);
  const by = ahead(yaw);
  const tilt = pitch + 0.12;
  const back = Math.min(BEHIND, far) * Math.cos(tilt);
  const up = Math.max(LOWEST, EYES + 0.25 + Math.min(BEHIND, far) * Math.sin(tilt));
  const aside = Math.min(ASIDE, far / 8);
  const at = { x: x - by.x * back - by.y * aside, y: y - by.y * back + by.x * aside };
  return { ...at, up, yaw, pitch: tilt };
}

/** The eye on its way to where it should be; the same one once it is there. */
export function nearer(now: Eye, wanted: Eye, passed_s: number): Eye {
  const share = 1 - 0.5 ** (passed_s / HALF_S);
  const turn = even(wanted.yaw - now.yaw);
  const left = [
    wanted.x - now.x,
    wanted.y - now.y,
    wanted.up - now.up,
    turn,
    wanted.pitch - now.pitch,
  ];
  const isThere = left.every((one) => Math.abs(one) < STILL);
  const isFar = Math.hypot(left[0] ?? 0, left[1] ?? 0) > 3 * BEHIND;
  if (isThere || isFar) return wanted;
  return {
    x: now.x + (wanted.x - now.x) * share,
    y: now.y + (wanted.y - now.y) * share,
    up: now.up + (wanted.up - now.up) * share,
    yaw: now.yaw + turn * share,
    pitch: now.pitch + (wanted.pitch - now.pitch) * share,
  };
}
