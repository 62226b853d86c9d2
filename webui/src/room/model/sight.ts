/** What is near enough to be seen: in at a distance, out at a larger one, and the nearest of very many. */

import { seenBox } from "../../board/draw/sight";
import type { Things } from "../../board/model/arrows";
import type { Point } from "../../board/model/geometry";
import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { ahead, type Heading, METRE } from "./metres";

/** Metres about who walks. */
export const AURA = 24;
const OUT = 1.3;
/** The aura lies before who walks rather than behind. */
const BEFORE = 8;
export const SEEN_MAX = 3_000;

/** The part of the plane that somebody needs who stands there. */
export function auraOf(at: Point, heading: Heading): Box {
  const by = ahead(heading);
  const [x, y] = [(at.x + by.x * BEFORE) * METRE, (at.y + by.y * BEFORE) * METRE];
  const reach = AURA * METRE;
  return [Math.floor(x - reach), Math.floor(y - reach), Math.ceil(x + reach), Math.ceil(y + reach)];
}

export class Sight {
  private ids: ReadonlySet<string> = new Set();

  /** Those that are seen from a point, in metres; the nearer first. */
  look(things: Things, at: Point): Thing[] {
    const [x, y] = [at.x * METRE, at.y * METRE];
    const found: { thing: Thing; far: number }[] = [];
    for (const thing of things.values()) {
      const far = distanceTo(seenBox(thing, things), x, y);
      const reach = AURA * METRE * (this.ids.has(thing.id) ? OUT : 1);
      if (far <= reach) found.push({ thing, far });
    }
    found.sort((one, other) => one.far - other.far || (one.thing.id < other.thing.id ? -1 : 1));
    const seen = found.slice(0, SEEN_MAX).map(({ thing }) => thing);
    this.ids = new Set(seen.map(({ id }) => id));
    return seen;
  }
}

/** How far a point is from a box; 0 within. */
export function distanceTo([left, top, right, bottom]: Box, x: number, y: number): number {
  const across = Math.max(left - x, 0, x - right);
  const down = Math.max(top - y, 0, y - bottom);
  return Math.hypot(across, down);
}
