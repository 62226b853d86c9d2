/**
 * What moves by itself on a board, between two states of the order: balls glide from tick to tick, a
 * die tumbles until it has fallen, a timer that rings shakes.
 *
 * Things are drawn as this gives them; what they are is not touched. Who wants nothing to move that
 * need not sees each state as it is.
 */

import { prop, type Thing, withProps } from "../../place/thing";
import { dueOf, facesOf } from "../model/settings";
import type { Now } from "../model/states";
import { DEGREE, placed, units } from "../model/units";

/** Between two ticks, and a little more: they come unevenly. */
const GLIDE_MS = 70;
/** A ball that was put elsewhere does not glide there. */
const GLIDE_MAX = units(400);
const FALL_MS = 650;
/** So long a die that was thrown tumbles without an answer; then it lies, and waits. */
const TUMBLE_MAX_MS = 5_000;
const FACE_MS = 75;
const SHAKE_MS = 2_500;
const TURN = 360 * DEGREE;

interface Glide {
  readonly from: readonly [x: number, y: number];
  readonly to: readonly [x: number, y: number];
  readonly at_ms: number;
}

interface Fall {
  readonly rolls: number;
  /** When it was thrown, and when it was known how it falls; null: it was not. */
  thrown_ms: number | null;
  fell_ms: number | null;
}

export class Motion {
  private readonly glides = new Map<string, Glide>();
  private readonly falls = new Map<string, Fall>();
  private readonly rings = new Map<string, number>();
  /** Whether something moves with every frame. */
  private isMoving = false;

  /** Things as they are seen at this time. */
  shown(things: readonly Thing[], now: Now): readonly Thing[] {
    this.isMoving = false;
    const found = things.map((thing) => this.look(thing, now));
    this.forget(new Set(things.map(({ id }) => id)));
    return found;
  }

  private look(thing: Thing, now: Now): Thing {
    switch (thing.kind) {
      case "ball":
        return this.glided(thing, now);
      case "dice":
        return this.tumbled(thing, now);
      case "timer":
        return this.shaken(thing, now);
      default:
        return thing;
    }
  }

  private glided(ball: Thing, { time_ms, isCalm }: Now): Thing {
    const { x, y } = ball;
    const known = this.glides.get(ball.id);
    const to = [x, y] as const;
    if (known === undefined || isCalm) {
      this.glides.set(ball.id, { from: to, to, at_ms: time_ms });
      return ball;
    }
    let glide = known;
    if (known.to[0] !== x || known.to[1] !== y) {
      const now = spotOf(known, time_ms);
      const isNear = Math.hypot(x - now[0], y - now[1]) < GLIDE_MAX;
      glide = { from: isNear ? now : to, to, at_ms: time_ms };
      this.glides.set(ball.id, glide);
    }
    if (time_ms - glide.at_ms >= GLIDE_MS || glide.from === glide.to) return ball;
    this.isMoving = true;
    const [nowX, nowY] = spotOf(glide, time_ms);
    return { ...ball, x: placed(nowX), y: placed(nowY) };
  }

  private tumbled(die: Thing, { time_ms, isCalm, isRolling }: Now): Thing {
    const rolls = prop(die, "rolls");
    let fall = this.falls.get(die.id);
    if (fall === undefined || isCalm) {
      fall = { rolls, thrown_ms: null, fell_ms: null };
      this.falls.set(die.id, fall);
    }
    if (isCalm) return die;
    if (fall.rolls !== rolls) {
      fall = { rolls, thrown_ms: fall.thrown_ms ?? time_ms, fell_ms: time_ms };
      this.falls.set(die.id, fall);
    }
    if (isRolling(die.id)) {
      // Thrown again before it lay still.
      if (fall.thrown_ms === null || fall.fell_ms !== null) fall.thrown_ms = time_ms;
      fall.fell_ms = null;
    }
    const { thrown_ms, fell_ms } = fall;
    if (thrown_ms === null) return die;
    const isOver =
      fell_ms === null ? time_ms - thrown_ms > TUMBLE_MAX_MS : time_ms - fell_ms > FALL_MS;
    if (isOver || (fell_ms === null && !isRolling(die.id))) {
      fall.thrown_ms = fall.fell_ms = null;
      return die;
    }
    this.isMoving = true;
    const force = fell_ms === null ? 1 : 1 - (time_ms - fell_ms) / FALL_MS;
    const step = Math.floor((time_ms - thrown_ms) / FACE_MS);
    const turn = Math.sin((time_ms - thrown_ms) / 60) * 24 * DEGREE * force;
    const hop = Math.abs(Math.sin((time_ms - thrown_ms) / 110)) * die.height * 0.22 * force;
    const face = force > 0.4 ? 1 + ((step * 5 + rolls) % (facesOf(die) ?? 6)) : null;
    const seen = face === null ? die : withProps(die, { face });
    return { ...seen, y: placed(die.y - hop), turn: (die.turn + turn + TURN) % TURN };
  }

  private shaken(timer: Thing, { time_ms, isCalm, isRinging }: Now): Thing {
    if (!isRinging(timer.id)) {
      this.rings.delete(timer.id);
      return timer;
    }
    const since_ms = this.rings.get(timer.id) ?? time_ms;
    this.rings.set(timer.id, since_ms);
    const for_ms = time_ms - since_ms;
    if (isCalm || for_ms > SHAKE_MS) return timer;
    this.isMoving = true;
    const force = 1 - for_ms / SHAKE_MS;
    const turn = Math.sin(for_ms / 28) * 3 * DEGREE * force;
    return { ...timer, turn: (timer.turn + turn + TURN) % TURN };
  }

  private forget(here: ReadonlySet<string>): void {
    for (const known of [this.glides, this.falls, this.rings]) {
      for (const id of known.keys()) if (!here.has(id)) known.delete(id);
    }
  }

  /** When the picture is another one by itself; null: not before something happens. */
  nextIn_ms(things: readonly Thing[], now: Now): number | null {
    if (this.isMoving) return 0;
    let next: number | null = null;
    for (const thing of things) {
      const in_ms = changesIn(thing, now);
      if (in_ms !== null) next = next === null ? in_ms : Math.min(next, in_ms);
    }
    return next;
  }
}

function spotOf({ from, to, at_ms }: Glide, time_ms: number): readonly [x: number, y: number] {
  const share = Math.min(1, Math.max(0, (time_ms - at_ms) / GLIDE_MS));
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

/** When the hands or figures of a thing move on. */
function changesIn(thing: Thing, { time_ms, orderTime_ms, isCalm, isRinging }: Now): number | null {
  if (thing.kind === "clock") {
    const step_ms = isCalm ? 60_000 : 1_000;
    return step_ms - (time_ms % step_ms);
  }
  if (thing.kind !== "timer") return null;
  if (dueOf(thing) > 0) {
    const left_ms = dueOf(thing) - orderTime_ms;
    return left_ms <= 0 ? null : (left_ms % 1_000) + 10;
  }
  return isRinging(thing.id) ? 1_000 : null;
}
