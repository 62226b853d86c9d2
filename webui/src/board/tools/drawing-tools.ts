/** Tools that make something where one presses and drags. */

import type { Thing } from "../../place/thing";
import { type Bound, edgeOf, LOOSE, mayBeBound } from "../model/arrows";
import { boxBetween, distance, type Frame, frameOf, type Point } from "../model/geometry";
import { newArrow, newInk, newShape, newSticky, newThing } from "../model/make";
import { units } from "../model/units";
import { asMap, type Desk, IDLE, type Press, type Tool } from "./tool";

/** What is smaller was a press without a drag: it gets a usual size. */
const DRAG_MIN = 6;
const USUAL = { width: units(160), height: units(100) };
const USUAL_FRAME = { width: units(480), height: units(320) };
const EIGHTH = Math.PI / 12;

function isDragged(from: Press, to: Press): boolean {
  return distance(from.screen, to.screen) >= DRAG_MIN;
}

/** Between two corners; with Shift as high as wide, with Alt about the first. */
export function drawnFrame(from: Point, press: Press): Frame {
  let [dx, dy] = [press.at.x - from.x, press.at.y - from.y];
  if (press.isShift) {
    const side = Math.max(Math.abs(dx), Math.abs(dy));
    [dx, dy] = [Math.sign(dx || 1) * side, Math.sign(dy || 1) * side];
  }
  const begin = press.isAlt ? { x: from.x - dx, y: from.y - dy } : from;
  return frameOf(boxBetween(begin, { x: from.x + dx, y: from.y + dy }));
}

abstract class Drawing implements Tool {
  readonly cursor: string = "crosshair";
  protected from: Press | null = null;

  constructor(protected readonly desk: Desk) {}

  down(press: Press): void {
    this.from = press;
    this.desk.select([]);
  }

  move(press: Press): void {
    if (this.from !== null && isDragged(this.from, press)) {
      this.desk.show({ drafts: asMap([this.make(this.from, press)]) });
    }
  }

  up(press: Press): void {
    const { from, desk } = this;
    this.cancel();
    if (from !== null) this.done(this.make(from, press));
    desk.finished();
  }

  protected done(thing: Thing): void {
    this.desk.put([thing]);
    this.desk.select([thing.id]);
  }

  cancel(): void {
    this.from = null;
    this.desk.show(IDLE);
  }

  protected abstract make(from: Press, to: Press): Thing;
}

export class ShapeTool extends Drawing {
  constructor(
    desk: Desk,
    private readonly shape: string,
  ) {
    super(desk);
  }

  private readonly id = { now: "" };

  protected make(from: Press, to: Press): Thing {
    const frame = isDragged(from, to) ? drawnFrame(from.at, to) : { ...from.at, ...USUAL, turn: 0 };
    const thing = newShape(this.shape, frame, this.desk.lookOf("shape"), this.desk.nextOrder);
    this.id.now ||= thing.id;
    return { ...thing, id: this.id.now };
  }

  override cancel(): void {
    super.cancel();
    this.id.now = "";
  }
}

export class FrameTool extends Drawing {
  protected make(from: Press, to: Press): Thing {
    const usual = { ...from.at, ...USUAL_FRAME, turn: 0 };
    const frame = isDragged(from, to) ? drawnFrame(from.at, to) : usual;
    return newThing("frame", frame, this.desk.lookOf("frame"), { order: this.desk.nextOrder });
  }
}

export class ArrowTool extends Drawing {
  constructor(
    desk: Desk,
    private readonly heads: "none" | "end",
  ) {
    super(desk);
  }

  override move(press: Press): void {
    super.move(press);
    if (this.from !== null) this.desk.show({ hovered: this.target(press)?.id ?? null });
  }

  hover(press: Press): void {
    this.desk.show({ hovered: this.target(press)?.id ?? null });
  }

  private target(press: Press): Thing | null {
    return press.isFree ? null : this.desk.holderAt(press, mayBeBound);
  }

  override up(press: Press): void {
    const isDrawn = this.from !== null && isDragged(this.from, press);
    if (isDrawn) super.up(press);
    else this.cancel();
  }

  protected make(from: Press, to: Press): Thing {
    const { desk } = this;
    const [begin, end] = [this.target(from), this.target(to)];
    const isLoop = begin !== null && begin.id === end?.id;
    const target = isLoop ? null : end;
    const aim = to.isShift && target === null ? evened(from.at, to.at) : to.at;
    const links: Bound = [begin?.id ?? LOOSE, target?.id ?? LOOSE];
    const last = target === null ? aim : edgeOf(target, begin ?? from.at);
    const first = begin === null ? from.at : edgeOf(begin, target ?? aim);
    return newArrow([first, last], links, desk.lookOf("arrow"), desk.nextOrder, this.heads);
  }
}

/** In a direction that is a whole number of 15 degrees. */
export function evened(from: Point, to: Point): Point {
  const angle = Math.round(Math.atan2(to.y - from.y, to.x - from.x) / EIGHTH) * EIGHTH;
  const far = distance(from, to);
  return { x: from.x + far * Math.cos(angle), y: from.y + far * Math.sin(angle) };
}

export class InkTool implements Tool {
  readonly cursor = "crosshair";
  private points: Point[] = [];
  private isDown = false;

  constructor(private readonly desk: Desk) {}

  down({ at }: Press): void {
    this.desk.select([]);
    this.isDown = true;
    this.points = [at];
    this.desk.show({ ink: this.points });
  }

  move({ at }: Press): void {
    if (!this.isDown) return;
    const last = this.points.at(-1);
    if (last !== undefined && distance(last, at) < this.desk.camera.step) return;
    this.points = [...this.points, at];
    this.desk.show({ ink: this.points });
  }

  up(): void {
    const { points, desk } = this;
    const isDrawn = this.isDown;
    this.cancel();
    if (isDrawn && points.length > 0)
      desk.put([newInk(points, desk.lookOf("ink"), desk.nextOrder)]);
  }

  cancel(): void {
    this.isDown = false;
    this.points = [];
    this.desk.show(IDLE);
  }
}

export function holdsText({ kind }: Thing): boolean {
  return kind === "text" || kind === "sticky" || kind === "shape";
}

/** A place to write at; where there is a thing that holds text, it is written into. */
export class TextTool implements Tool {
  readonly cursor = "text";

  constructor(private readonly desk: Desk) {}

  down(): void {
    return;
  }

  move(): void {
    return;
  }

  up(press: Press): void {
    const { desk } = this;
    const over = desk.holderAt(press, holdsText);
    if (over !== null && !over.locked) {
      desk.select([over.id]);
      desk.finished();
      desk.write(over.id);
      return;
    }
    const look = desk.lookOf("text");
    const high = units(Number(look.size ?? 20) * 1.3);
    const frame = { x: press.at.x, y: press.at.y, width: units(20), height: high, turn: 0 };
    const thing = newThing("text", frame, look, { order: desk.nextOrder });
    desk.finished();
    desk.writeNew(thing);
  }

  cancel(): void {
    return;
  }
}

export class StickyTool implements Tool {
  readonly cursor = "copy";

  constructor(private readonly desk: Desk) {}

  down(): void {
    this.desk.select([]);
  }

  move(press: Press): void {
    this.hover(press);
  }

  hover({ at }: Press): void {
    const { desk } = this;
    desk.show({
      drafts: asMap([{ ...newSticky(at, desk.lookOf("sticky"), desk.nextOrder), id: "~" }]),
    });
  }

  up({ at }: Press): void {
    const { desk } = this;
    desk.show(IDLE);
    const thing = newSticky(at, desk.lookOf("sticky"), desk.nextOrder);
    desk.put([thing]);
    desk.select([thing.id]);
    desk.finished();
    desk.write(thing.id);
  }

  cancel(): void {
    this.desk.show(IDLE);
  }
}

export class HandTool implements Tool {
  readonly cursor = "grab";
  private last: Point | null = null;

  constructor(private readonly desk: Desk) {}

  down({ screen }: Press): void {
    this.last = screen;
    this.desk.cursor("grabbing");
  }

  move({ screen }: Press): void {
    if (this.last === null) return;
    this.desk.pan(screen.x - this.last.x, screen.y - this.last.y);
    this.last = screen;
  }

  up(): void {
    this.last = null;
    this.desk.cursor("grab");
  }

  cancel(): void {
    this.up();
  }
}

/** Takes away what it is drawn over, once it is lifted. */
export class EraserTool implements Tool {
  readonly cursor = "cell";
  private readonly erased = new Set<string>();
  private isDown = false;

  constructor(private readonly desk: Desk) {}

  down(press: Press): void {
    this.isDown = true;
    this.desk.select([]);
    this.move(press);
  }

  move(press: Press): void {
    if (!this.isDown) return;
    const thing = this.desk.topAt(press);
    if (thing === null || thing.locked || this.erased.has(thing.id)) return;
    this.erased.add(thing.id);
    this.desk.show({ erased: new Set(this.erased) });
  }

  up(): void {
    const ids = [...this.erased];
    this.cancel();
    if (ids.length > 0) this.desk.remove(ids);
  }

  cancel(): void {
    this.isDown = false;
    this.erased.clear();
    this.desk.show(IDLE);
  }
}
