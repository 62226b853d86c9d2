/** Somebody who walks: where they stand, where they look, and where they want to go. */

import { distance, type Point } from "../../board/model/geometry";
import { ahead, even, type Heading, headingTo, within } from "./metres";
import type { Solids } from "./solids";

/** What keys or a stick ask for: each between -1 and 1. */
export interface Stride {
  readonly forward: number;
  readonly aside: number;
  /** Clockwise. */
  readonly turn: number;
  readonly isRunning: boolean;
}

export const STILL: Stride = { forward: 0, aside: 0, turn: 0, isRunning: false };

/** Metres about the middle of who walks. */
export const GIRTH = 0.3;
export const EYES = 1.55;
const WALK_MS = 3.2;
const RUN_MS = 6.4;
const TURN_RS = 2.2;
/** No step is longer, so that nobody goes through something thin; in metres. */
const STEP_MAX = 0.15;
const STEPS_MAX = 20;
/** Of one step without smooth motion. */
const HOP_M = 0.8;
const HOP_TURN = Math.PI / 8;
export const PITCH_MIN = -0.9;
export const PITCH_MAX = 1.1;
/** Who is so near to where they go is there. */
const THERE_M = 0.08;
/** Who comes no further for so long stays. */
const STUCK_S = 0.4;

export class Walker {
  /** In metres. */
  x = 0;
  y = 0;
  /** Where the body looks. */
  heading: Heading = 0;
  /** Where the eyes look. */
  yaw: Heading = 0;
  /** Down is more. */
  pitch = 0.22;
  /** Where one goes by oneself. */
  target: Point | null = null;
  private stuck_s = 0;

  constructor(public solids: Solids) {}

  /** Stands there at once, beside what stands there already. */
  stand(at: Point, heading = this.heading): void {
    this.target = null;
    const free = this.solids.freed({ x: within(at.x), y: within(at.y) }, GIRTH);
    this.x = within(free.x);
    this.y = within(free.y);
    this.heading = this.yaw = even(Number.isFinite(heading) ? heading : 0);
  }

  /** Looks elsewhere, by so much. */
  look(turn: number, down: number): void {
    if (!Number.isFinite(turn) || !Number.isFinite(down)) return;
    this.yaw = even(this.yaw + turn);
    if (this.target === null) this.heading = this.yaw;
    this.pitch = Math.min(PITCH_MAX, Math.max(PITCH_MIN, this.pitch + down));
  }

  face(at: Point): void {
    if (distance(this, at) < 1e-6) return;
    this.heading = this.yaw = headingTo(this, at);
  }

  goTo(at: Point): void {
    this.target = { x: within(at.x), y: within(at.y) };
    this.stuck_s = 0;
  }

  stop(): void {
    this.target = null;
  }

  /** Goes on for so long; whether anything has changed. */
  step(stride: Stride, passed_s: number): boolean {
    const { forward, aside, turn, isRunning } = stride;
    const isAsked = forward !== 0 || aside !== 0;
    if (turn !== 0) this.look(turn * TURN_RS * passed_s, 0);
    if (isAsked) {
      this.target = null;
      const share = Math.min(1, Math.hypot(forward, aside));
      const way = this.yaw + Math.atan2(aside, forward);
      this.heading = even(forward < 0 ? way + Math.PI : way);
      if (aside === 0) this.heading = this.yaw;
      this.move(way, share * (isRunning ? RUN_MS : WALK_MS) * passed_s);
      return true;
    }
    if (this.target !== null) {
      this.towards(this.target, passed_s);
      return true;
    }
    return turn !== 0;
  }

  /** One step without smooth motion. */
  hop(stride: Stride): void {
    const { forward, aside, turn } = stride;
    if (turn !== 0) this.look(Math.sign(turn) * HOP_TURN, 0);
    if (forward === 0 && aside === 0) return;
    this.target = null;
    this.heading = this.yaw;
    this.move(this.yaw + Math.atan2(aside, forward), HOP_M);
  }

  /** Goes as far towards the point as there is a way, at once. */
  leap(at: Point): void {
    this.target = null;
    const end = { x: within(at.x), y: within(at.y) };
    this.heading = headingTo(this, end);
    for (let step = 0; step < STEPS_MAX * 20; step++) {
      const far = distance(this, end);
      if (far < THERE_M) return;
      const before = { x: this.x, y: this.y };
      this.move(headingTo(this, end), Math.min(far, STEP_MAX));
      if (distance(before, this) < STEP_MAX / 10) return;
    }
  }

  private towards(target: Point, passed_s: number): void {
    const far = distance(this, target);
    if (far < THERE_M) {
      this.target = null;
      return;
    }
    this.heading = headingTo(this, target);
    const before = { x: this.x, y: this.y };
    const wanted = Math.min(far, (far > 8 ? RUN_MS : WALK_MS) * passed_s);
    this.move(this.heading, wanted);
    const isNearer = far - distance(this, target) > wanted / 8;
    this.stuck_s = isNearer || distance(before, this) > wanted / 2 ? 0 : this.stuck_s + passed_s;
    if (this.stuck_s >= STUCK_S) this.target = null;
  }

  private move(heading: Heading, far: number): void {
    if (!Number.isFinite(far)) return;
    const by = ahead(heading);
    const steps = Math.min(STEPS_MAX, Math.ceil(far / STEP_MAX));
    for (let step = 0; step < steps; step++) {
      const part = Math.min(far / steps, STEP_MAX);
      const at = { x: this.x + by.x * part, y: this.y + by.y * part };
      const free = this.solids.freed(at, GIRTH);
      // Between two things that are nearer than one is wide there is no way.
      if (distance(free, this) > 2 * STEP_MAX) return;
      this.x = within(free.x);
      this.y = within(free.y);
    }
  }
}
