/** Selects, moves, resizes and turns; the ends of an arrow are moved by themselves. */

import type { Thing } from "../../place/thing";
import { withContents, withGroups } from "../model/arrange";
import {
  type Bound,
  boundOf,
  type Ends,
  endsOf,
  followers,
  isArrow,
  LOOSE,
  mayBeBound,
  withEnds,
} from "../model/arrows";
import { boxBetween, boxOf, boxOfAll, distance, type Frame, type Point } from "../model/geometry";
import { cursorOf, type HandleName, handleAt, resized } from "../model/handles";
import { inMarquee } from "../model/hit";
import { snapped } from "../model/snapping";
import { fittedInto, isLoose, moved, turnedAbout } from "../model/transform";
import { units } from "../model/units";
import { holdsText } from "./drawing-tools";
import { asMap, type Desk, IDLE, type Press, type Tool } from "./tool";

/** Pixels that a pointer goes before something is dragged. */
const STILL = { mouse: 3, pen: 4, touch: 8 } as const;
const SNAP = 6;
const SIDE_MIN = units(8);
const EIGHTH = Math.PI / 12;
const SNAPPED_TO_MAX = 400;

/** Kinds that keep their proportions, unless Shift is held. */
const KEEP_SHAPE = new Set([
  ...["text", "ink", "picture", "light", "clock", "dice", "token", "ball"],
]);

type Work =
  | { readonly kind: "pressed"; readonly thing: Thing | null }
  | { readonly kind: "marquee"; readonly had: readonly string[] }
  | { readonly kind: "move"; readonly things: readonly Thing[]; readonly isCopy: boolean }
  | { readonly kind: "resize"; readonly name: Exclude<HandleName, "turn">; readonly frame: Frame }
  | { readonly kind: "turn"; readonly frame: Frame }
  | { readonly kind: "end"; readonly arrow: Thing; readonly which: 0 | 1 };

export class SelectTool implements Tool {
  readonly cursor = "default";
  private work: Work | null = null;
  private from: Press | null = null;
  private things: readonly Thing[] = [];
  private result: readonly Thing[] = [];
  private wasChosen = false;

  constructor(private readonly desk: Desk) {}

  down(press: Press): void {
    const { desk } = this;
    this.from = press;
    this.result = [];
    const handle = this.handleAt(press);
    const end = this.endAt(press);
    // A second press goes into what is hollow, too.
    const thing = desk.topAt(press) ?? (press.count === 2 ? desk.holderAt(press, holdsText) : null);
    const { frame } = desk;
    if (desk.mayWrite && end !== null) {
      this.work = { kind: "end", ...end };
      this.hold([end.arrow]);
    } else if (desk.mayWrite && handle !== null && frame !== null && !this.isLocked) {
      this.work =
        handle === "turn" ? { kind: "turn", frame } : { kind: "resize", name: handle, frame };
      this.hold(desk.chosen);
    } else if (thing !== null && press.count === 2 && !desk.isUsedAt(thing, press.at)) {
      this.work = null;
      this.open(thing);
    } else {
      this.work = { kind: "pressed", thing };
      this.press(thing, press);
    }
  }

  private get isLocked(): boolean {
    return this.desk.chosen.some(({ locked }) => locked);
  }

  private press(thing: Thing | null, press: Press): void {
    const { desk } = this;
    const had = desk.chosen.map(({ id }) => id);
    this.wasChosen = thing !== null && had.includes(thing.id);
    if (thing === null) {
      if (!press.isShift) desk.select([]);
    } else if (press.isShift) {
      if (!this.wasChosen) desk.select([...had, ...this.unit(thing)]);
    } else if (!this.wasChosen) {
      desk.select(this.unit(thing));
    }
  }

  private unit(thing: Thing): string[] {
    return withGroups([thing], this.desk.things).map(({ id }) => id);
  }

  /** A second press goes into a group first, then into the text. */
  private open(thing: Thing): void {
    const { desk } = this;
    const isAlone = desk.chosen.length === 1 && desk.chosen[0]?.id === thing.id;
    if (!isAlone) desk.select([thing.id]);
    if (thing.group !== "" && !isAlone) return;
    if (thing.kind === "card" || (desk.mayWrite && !thing.locked && thing.kind !== "ink"))
      desk.open(thing);
  }

  move(press: Press): void {
    const { work, from } = this;
    if (work === null || from === null) return;
    if (work.kind === "pressed") {
      if (distance(press.screen, from.screen) < STILL[press.kind]) return;
      this.begin(work.thing, press);
    }
    this.go(press, from);
  }

  private begin(thing: Thing | null, press: Press): void {
    const { desk } = this;
    if (thing === null) {
      this.work = { kind: "marquee", had: press.isShift ? desk.chosen.map(({ id }) => id) : [] };
      return;
    }
    if (!desk.mayWrite || desk.chosen.length === 0 || this.isLocked) {
      this.work = null;
      return;
    }
    const all = withContents(desk.chosen, desk.things).filter(({ locked }) => !locked);
    const ids = new Set(all.map(({ id }) => id));
    const things = all.filter((one) => !isArrow(one) || this.goesAlong(one, ids));
    this.work = { kind: "move", things, isCopy: press.isAlt };
    this.hold(things);
  }

  /** An arrow between what moves goes by that; one that something else holds stays. */
  private goesAlong(arrow: Thing, ids: ReadonlySet<string>): boolean {
    const { things } = this.desk;
    return isLoose(arrow, things) || boundOf(arrow).every((id) => !things.has(id) || ids.has(id));
  }

  private hold(things: readonly Thing[]): void {
    this.things = things;
    this.desk.grab(
      things.map(({ id }) => id),
      () => this.cancel(),
    );
  }

  private go(press: Press, from: Press): void {
    const { work, desk } = this;
    switch (work?.kind) {
      case "marquee": {
        const box = boxBetween(from.at, press.at);
        const found = inMarquee(desk.drawn, box, desk.things);
        const ids = withGroups(found, desk.things).map(({ id }) => id);
        desk.select([...new Set([...work.had, ...ids])]);
        desk.show({ marquee: box });
        break;
      }
      case "move":
        this.drag(press, from, work.things);
        break;
      case "resize": {
        const { keeps, centred } = { keeps: press.isShift, centred: press.isAlt };
        const keepsShape = keeps !== this.things.every(({ kind }) => KEEP_SHAPE.has(kind));
        const now = resized(work.frame, work.name, press.at, keepsShape, centred, SIDE_MIN);
        this.preview(fittedInto(this.things, work.frame, now.frame, desk.things));
        break;
      }
      case "turn": {
        const { frame } = work;
        const angle = angleOf(press.at, frame) - angleOf(from.at, frame);
        const even = press.isShift ? Math.round(angle / EIGHTH) * EIGHTH : angle;
        this.preview(turnedAbout(this.things, frame, even, desk.things));
        break;
      }
      case "end":
        this.dragEnd(press, work.arrow, work.which);
        break;
      default:
    }
  }

  private drag(press: Press, from: Press, things: readonly Thing[]): void {
    const { desk } = this;
    let [dx, dy] = [press.at.x - from.at.x, press.at.y - from.at.y];
    if (press.isShift) [dx, dy] = Math.abs(dx) > Math.abs(dy) ? [dx, 0] : [0, dy];
    const box = boxOfAll(things);
    if (box !== null && desk.isSnapping && !press.isFree) {
      const ids = new Set(things.map(({ id }) => id));
      const others = desk.drawn.filter(
        (one) => !ids.has(one.id) && !isArrow(one) && one.kind !== "ink",
      );
      const at = [box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy] as const;
      const near = SNAP * desk.camera.step;
      const snap = snapped(at, others.slice(-SNAPPED_TO_MAX).map(boxOf), near);
      [dx, dy] = [
        dx + (press.isShift && dx === 0 ? 0 : snap.dx),
        dy + (press.isShift && dy === 0 ? 0 : snap.dy),
      ];
      desk.show({ guides: snap.guides });
    }
    this.preview(moved(things, dx, dy));
  }

  private preview(result: readonly Thing[]): void {
    this.result = result;
    const { desk } = this;
    const drafts = asMap(result);
    const also = followers(desk.things, drafts);
    desk.show({ drafts: new Map([...drafts, ...asMap(also)]) });
  }

  private dragEnd(press: Press, arrow: Thing, which: 0 | 1): void {
    const { desk } = this;
    const target = press.isFree ? null : desk.holderAt(press, mayBeBound);
    const bound = boundOf(arrow);
    const links: Bound =
      which === 0 ? [target?.id ?? LOOSE, bound[1]] : [bound[0], target?.id ?? LOOSE];
    const ends = endsOf(arrow, desk.things);
    const to = press.at;
    const loose = withEnds({ ...arrow, links }, which === 0 ? [to, ends[1]] : [ends[0], to]);
    const now = withEnds(loose, endsOf(loose, desk.things));
    this.result = [now];
    desk.show({ drafts: asMap([now]), hovered: target?.id ?? null });
  }

  up(press: Press): void {
    const { work, desk, result } = this;
    this.work = null;
    desk.show(IDLE);
    if (work?.kind === "pressed" && work.thing !== null) {
      if (this.wasChosen) this.pressedAgain(work.thing, press);
      this.use(work.thing, press);
    }
    if (work?.kind === "move" && work.isCopy && result.length > 0) this.copy(result);
    else if (result.length > 0) desk.change(result);
    desk.release();
    this.result = [];
  }

  /** With Shift things are selected alone. */
  private use({ id }: Thing, press: Press): void {
    const thing = this.desk.things.get(id);
    if (thing !== undefined && !press.isShift) this.desk.useAt(thing, press.at);
  }

  private pressedAgain(thing: Thing, press: Press): void {
    const { desk } = this;
    const unit = new Set(this.unit(thing));
    if (press.isShift) desk.select(desk.chosen.map(({ id }) => id).filter((id) => !unit.has(id)));
    else if (desk.chosen.length > unit.size) desk.select([...unit]);
  }

  private copy(result: readonly Thing[]): void {
    const [first] = result;
    const before = this.things.find(({ id }) => id === first?.id);
    if (first === undefined || before === undefined) return;
    this.desk.copyBy(this.things, first.x - before.x, first.y - before.y);
  }

  cancel(): void {
    this.work = null;
    this.result = [];
    this.desk.show(IDLE);
    this.desk.release();
  }

  hover(press: Press): void {
    const { desk } = this;
    const handle = desk.mayWrite && !this.isLocked ? this.handleAt(press) : null;
    const end = this.endAt(press);
    const over = desk.topAt(press);
    const isChosen = over !== null && desk.chosen.some(({ id }) => id === over.id);
    if (handle !== null) desk.cursor(cursorOf(handle, desk.frame?.turn ?? 0));
    else if (end !== null) desk.cursor("crosshair");
    else if (over !== null && desk.isUsedAt(over, press.at)) desk.cursor("pointer");
    else desk.cursor(over !== null && desk.mayWrite ? "move" : "default");
    desk.show({ hovered: over !== null && !isChosen ? over.id : null });
  }

  private handleAt(press: Press): HandleName | null {
    return handleAt(this.desk.handles, press.at, this.desk.near(press) * 1.6);
  }

  private endAt(press: Press): { arrow: Thing; which: 0 | 1 } | null {
    const [arrow] = this.desk.chosen;
    if (arrow === undefined || this.desk.chosen.length > 1 || !isArrow(arrow) || arrow.locked)
      return null;
    const near = this.desk.near(press) * 2;
    const found = (endsOf(arrow, this.desk.things) as Ends).findIndex(
      (end) => distance(end, press.at) <= near,
    );
    return found < 0 ? null : { arrow, which: found === 0 ? 0 : 1 };
  }
}

function angleOf(point: Point, about: Point): number {
  return Math.atan2(point.y - about.y, point.x - about.x);
}
