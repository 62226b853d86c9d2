/** Lengths: places count in 1/64 of a unit, and one unit is a pixel at 100 %. */

import { END, SIZE_MAX, START, TURN_MAX } from "../../place/limits";

export const UNIT = 64;
/** Of a turn, for one degree. */
export const DEGREE = TURN_MAX / 360;

/** A whole number, so that all replicas have the same; never minus zero. */
export const whole = (value: number): number => Math.round(value) + 0;

export const units = (pixels: number): number => whole(pixels * UNIT);

export const pixels = (length: number): number => length / UNIT;

/** A coordinate as it may be: within the place. */
export function placed(value: number): number {
  return Math.min(Math.max(whole(value), START), END - 1);
}

export function sized(value: number): number {
  return Math.min(Math.max(whole(value), 0), SIZE_MAX);
}

/** A turn in 1/64 degrees of one in radians. */
export function turned(radians: number): number {
  const whole_turns = whole((radians * 180 * DEGREE) / Math.PI) % TURN_MAX;
  return (whole_turns + TURN_MAX) % TURN_MAX;
}

export function radians(turn: number): number {
  return (turn / DEGREE / 180) * Math.PI;
}
