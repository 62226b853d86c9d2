/** Things moved, resized and turned together. */

import type { Thing } from "../../place/thing";
import { boundOf, type Ends, endsOf, isArrow, type Things, withEnds } from "./arrows";
import { type Frame, type Point, rotated } from "./geometry";
import { styleOf } from "./style";
import { placed, radians, sized, turned, whole } from "./units";

/** Moved by so much; arrows that are bound to something that stays are left to that. */
export function moved(things: readonly Thing[], dx: number, dy: number): Thing[] {
  return things.map((thing) => ({ ...thing, x: placed(thing.x + dx), y: placed(thing.y + dy) }));
}

/** Of several: each keeps its place within the frame; of one, which may be turned: it is the frame. */
export function fittedInto(
  things: readonly Thing[],
  before: Frame,
  after: Frame,
  all: Things,
): Thing[] {
  const [only] = things;
  if (only !== undefined && things.length === 1 && !isArrow(only)) {
    const { x, y, width, height } = after;
    const size = { width: sized(width), height: sized(height) };
    return [scaledText({ ...only, x: placed(x), y: placed(y), ...size }, only)];
  }
  const [across, down] = [
    after.width / Math.max(1, before.width),
    after.height / Math.max(1, before.height),
  ];
  const put = ({ x, y }: Point): Point => ({
    x: after.x + (x - before.x) * across,
    y: after.y + (y - before.y) * down,
  });
  return things.map((thing) => {
    if (isArrow(thing)) return withEnds(thing, endsOf(thing, all).map(put) as unknown as Ends);
    const { x, y } = put(thing);
    const size = { width: sized(thing.width * across), height: sized(thing.height * down) };
    return scaledText({ ...thing, x: placed(x), y: placed(y), ...size }, thing);
  });
}

/** The letters of a text grow with it. */
function scaledText(thing: Thing, before: Thing): Thing {
  if (thing.kind !== "text" || before.height === 0) return thing;
  const size = whole((styleOf(before).size * thing.height) / before.height);
  const known = new Map(thing.style).set("size", Math.min(400, Math.max(4, size)));
  const style = [...known].sort(([one], [other]) => (one < other ? -1 : 1));
  return { ...thing, style };
}

/** Turned about a point by an angle. */
export function turnedAbout(
  things: readonly Thing[],
  about: Point,
  angle: number,
  all: Things,
): Thing[] {
  return things.map((thing) => {
    if (isArrow(thing)) {
      const ends = endsOf(thing, all).map((one) => rotated(one, about, angle));
      return withEnds(thing, ends as unknown as Ends);
    }
    const { x, y } = rotated(thing, about, angle);
    const turn = turned(radians(thing.turn) + angle);
    return { ...thing, x: placed(x), y: placed(y), turn };
  });
}

/** Whether an arrow goes by itself where others go: nothing holds it. */
export function isLoose(arrow: Thing, things: Things): boolean {
  return !boundOf(arrow).some((id) => things.has(id));
}
