/**
 * The room: one person who walks in a place, over the same board as the other faces.
 *
 * It knows nothing of elements, events and pictures; the page tells it what is done and when a frame
 * is, and the scene draws what it shows.
 */

import type { BoardController } from "../../board/live/controller";
import type { Person } from "../../board/live/others";
import { isArrow, type Things } from "../../board/model/arrows";
import type { Point } from "../../board/model/geometry";
import { isLoose } from "../../board/model/transform";
import { radians, turned } from "../../board/model/units";
import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { type Companion, Company } from "../model/company";
import { frontOf, type Near, nearOf, REACH, reachOf } from "../model/focus";
import { bodyOf, isDrawn } from "../model/forms";
import { type Layout, layoutOf } from "../model/layout";
import { ahead, type Heading, headingTo, inLengths, inMetres, METRE } from "../model/metres";
import { type Picked, pick, type Ray } from "../model/pick";
import { type Eye, eyeOf, nearer } from "../model/rig";
import { auraOf, Sight } from "../model/sight";
import { raisedSlab, type Slab, slabOf } from "../model/slabs";
import { type Pose, Track } from "../model/tracks";
import { type Stride, Walker } from "../model/walker";
import { Carry } from "./carry";

/** What the room has of the place. */
export type Ground = Pick<BoardController, "board" | "place" | "others"> & {
  stands(stance: { x: number; y: number; turn: number } | null, aura: Box | null): void;
};

/** A thing that stands and moves, or floats, and where it is now. */
export interface Mover {
  readonly thing: Thing;
  readonly pose: Pose;
  readonly up: number;
}

/** So far one goes before other cells are asked for, in metres. */
const FURTHER = 1;
const TURNED = 0.5;
/** What is carried is held so far ahead and so high. */
const HELD_M = 1.1;
const HELD_UP = 0.85;
const DRAGGED_UP = 0.06;
/** Balls and what others drag. */
const MOVERS_MAX = 200;
/** What one has turned to stays in focus for so long a way. */
const KEPT_M = 1.2;
const FRAME_MAX_S = 0.1;
/** Who follows stays so far from whom they follow. */
const BESIDE = 1.6;

/** Arrows that are bound stay where they lie until what they are bound to is put down. */
function goesAlong(thing: Thing, things: Things): boolean {
  return !isArrow(thing) || isLoose(thing, things);
}

const NOTHING: Layout = layoutOf([], new Map(), new Set(), [0, 0, 1, 1]);

export class Room {
  readonly walker = new Walker(NOTHING.solids);
  layout: Layout = NOTHING;
  near: readonly Near[] = [];
  /** What keys and buttons act on; null: nothing. */
  focus: Thing | null = null;
  /** Seen by one's own eyes. */
  isOwn = false;
  eye: Eye;
  carry: Carry | null = null;
  private carriedTurn: Heading = 0;
  private readonly sight = new Sight();
  private readonly company: Company;
  private readonly tracks = new Map<string, Track>();
  private slabbed: readonly Slab[] = [];
  private chosen: { readonly id: string; readonly at: Point } | null = null;
  private asked: { at: Point; heading: Heading } | null = null;
  private laid: readonly unknown[] = [];
  private isStale = true;
  private last_ms: number | null = null;
  /** Goes after them. */
  private followed: string | null = null;

  constructor(
    private readonly ground: Ground,
    /** Little motion is wanted. */
    readonly isCalm: () => boolean,
    private readonly now_ms: () => number,
  ) {
    this.company = new Company(() => !isCalm());
    this.eye = eyeOf(this.walker, NOTHING.solids, false);
  }

  get things(): Things {
    return this.ground.board.things;
  }

  // --- coming and going -----------------------------------------------------------------------

  /** Comes in at a point of the plane, in its lengths. */
  enter(at: Point, heading: Heading): void {
    this.ground.board.isWatching = false;
    this.walker.stand(inMetres(at), heading);
    this.ask();
    this.refresh();
    // What stands there is known only now.
    this.walker.stand(this.walker, heading);
    this.settle();
  }

  leave(): void {
    this.carry?.cancel();
    this.carry = null;
    this.ground.stands(null, null);
    const { board } = this.ground;
    board.isWatching = true;
    // The board shows what it has shown, unless one has left that.
    const at = inLengths(this.walker);
    const [left, top, right, bottom] = board.camera.box;
    const isIn = left <= at.x && at.x <= right && top <= at.y && at.y <= bottom;
    board.look(isIn ? board.camera : board.camera.centred(at));
  }

  /** Goes to the middle of a part of the plane; the way there is left out where it is long. */
  visit([left, top, right, bottom]: Box): void {
    const at = inMetres({ x: (left + right) / 2, y: (top + bottom) / 2 });
    const far = Math.hypot(at.x - this.walker.x, at.y - this.walker.y);
    if (far < 20 && !this.isCalm()) this.walker.goTo(at);
    else {
      this.walker.stand(at);
      this.ask();
    }
    this.isStale = true;
  }

  /** Walks after somebody; null: nobody. */
  follow(who: string | null): void {
    this.followed = who;
  }

  // --- what changes ---------------------------------------------------------------------------

  /** Something of the place is another one: it is looked at with the next frame. */
  changed(): void {
    this.isStale = true;
  }

  /** Looks at the place now. */
  refresh(): void {
    this.isStale = false;
    const { board, others } = this.ground;
    const now_ms = this.now_ms();
    this.company.update(others.people, now_ms);
    if (this.carry?.isGone || this.carry?.isOver) {
      this.carry.cancel();
      this.carry = null;
    }
    const { things } = board;
    const theirs = others.drafts(things);
    const drafts = [...this.carried, ...theirs].filter((one) => goesAlong(one, things));
    const moved = new Set(drafts.map(({ id }) => id));
    this.arrange(things, moved);
    this.slab(things, theirs);
    this.track(theirs, now_ms);
    this.attend();
  }

  private arrange(things: Things, moved: ReadonlySet<string>): void {
    const at = this.asked?.at ?? this.walker;
    const made = [things, [...moved].sort().join(), at];
    if (made.every((one, place) => one === this.laid[place])) return;
    this.laid = made;
    const around = auraOf(at, this.asked?.heading ?? 0);
    const seen = this.sight.look(things, at);
    this.layout = layoutOf(seen, things, moved, around);
    this.walker.solids = this.layout.solids;
  }

  /** What others drag is theirs by presence; whose it is says how high it is held. */
  private slab(things: Things, theirs: readonly Thing[]): void {
    const held = new Map<string, Thing[]>();
    const add = (who: string, thing: Thing): void => {
      if (isDrawn(thing) && goesAlong(thing, things))
        held.set(who, [...(held.get(who) ?? []), thing]);
    };
    for (const thing of this.carried) add("", thing);
    for (const thing of theirs) add(this.dragger(thing.id)?.who ?? "?", thing);
    const slabs = [...held].map(([who, some]) => {
      const isHeld = who === "" || this.inRoom(who);
      return slabOf(`held ${who}`, some, isHeld ? HELD_UP : DRAGGED_UP, things);
    });
    const raised = this.layout.floating.map((thing) => raisedSlab(thing, things));
    this.slabbed = [...slabs, ...raised].filter((one) => one !== null);
  }

  private dragger(id: string): Person | undefined {
    return this.ground.others.people.find(({ drafts }) => drafts.some(([one]) => one === id));
  }

  private inRoom(who: string): boolean {
    return this.ground.others.people.some((one) => one.who === who && one.avatar !== null);
  }

  private track(theirs: readonly Thing[], now_ms: number): void {
    const balls = this.layout.standing.filter(({ kind }) => kind === "ball").slice(0, MOVERS_MAX);
    const some = [...balls, ...theirs.filter((thing) => !isDrawn(thing))];
    const here = new Set(some.map(({ id }) => id));
    for (const id of [...this.tracks.keys()]) if (!here.has(id)) this.tracks.delete(id);
    for (const thing of some) {
      const track = this.tracks.get(thing.id) ?? new Track(!this.isCalm());
      this.tracks.set(thing.id, track);
      track.tell({ ...inMetres(thing), heading: radians(thing.turn) }, now_ms);
    }
  }

  // --- what is shown --------------------------------------------------------------------------

  get slabs(): readonly Slab[] {
    return this.slabbed;
  }

  companions(now_ms: number): Companion[] {
    return this.company.at(now_ms);
  }

  private get carried(): readonly Thing[] {
    return [...this.ground.board.doing.drafts.values()];
  }

  /** What stands and moves by itself, or is held by somebody. */
  movers(now_ms: number): Mover[] {
    const { things } = this;
    const found: Mover[] = [];
    for (const thing of this.carried) {
      if (isDrawn(thing) || !things.has(thing.id)) continue;
      found.push({
        thing,
        pose: { ...inMetres(thing), heading: radians(thing.turn) },
        up: HELD_UP,
      });
    }
    for (const [id, track] of this.tracks) {
      const thing = things.get(id);
      if (thing === undefined) continue;
      const holder = thing.kind === "ball" && !this.isDragged(id) ? undefined : this.dragger(id);
      const up = holder?.avatar == null ? thing.z / METRE : HELD_UP;
      found.push({ thing, pose: track.at(now_ms), up });
    }
    return found;
  }

  private isDragged(id: string): boolean {
    return this.dragger(id) !== undefined;
  }

  /** Standing things that stay where they are. */
  get still(): readonly Thing[] {
    return this.layout.standing.filter(({ id }) => !this.tracks.has(id));
  }

  /** Cards in sight, wherever they lie, hang or float. */
  get cards(): readonly Thing[] {
    const { lying, hung, floating } = this.layout;
    return [lying, floating, ...hung.values()].flat().filter(({ kind }) => kind === "card");
  }

  // --- a frame --------------------------------------------------------------------------------

  /** Goes on to this time; whether something of the picture goes on changing. */
  advance(now_ms: number, stride: Stride): boolean {
    const passed_s = Math.min(
      FRAME_MAX_S,
      Math.max(0, (now_ms - (this.last_ms ?? now_ms)) / 1_000),
    );
    this.last_ms = now_ms;
    this.pursue(now_ms);
    const walks = this.isCalm() ? false : this.walker.step(stride, passed_s);
    this.hold();
    if (this.hasGone()) this.ask();
    if (this.isStale) this.refresh();
    else this.attend();
    const wanted = eyeOf(this.walker, this.layout.solids, this.isOwn);
    this.eye = this.isCalm() ? wanted : nearer(this.eye, wanted, passed_s);
    this.show();
    const isMoving =
      walks ||
      this.eye !== wanted ||
      this.company.isMoving(now_ms) ||
      [...this.tracks.values()].some((track) => track.isMoving(now_ms));
    if (!isMoving) this.last_ms = null;
    return isMoving;
  }

  /** One step where little motion is wanted. */
  hop(stride: Stride): void {
    this.walker.hop(stride);
    this.isStale = true;
  }

  /** The eye is where it should be at once. */
  settle(): void {
    this.eye = eyeOf(this.walker, this.layout.solids, this.isOwn);
  }

  private pursue(now_ms: number): void {
    const found = this.company.at(now_ms).find(({ who }) => who === this.followed);
    if (found === undefined) return;
    const far = Math.hypot(found.pose.x - this.walker.x, found.pose.y - this.walker.y);
    if (far <= BESIDE) return;
    if (far > 25) {
      this.walker.stand(found.pose, found.pose.heading);
      return;
    }
    const by = ahead(headingTo(this.walker, found.pose));
    const to = { x: found.pose.x - by.x * BESIDE * 0.9, y: found.pose.y - by.y * BESIDE * 0.9 };
    if (this.isCalm()) this.walker.leap(to);
    else this.walker.goTo(to);
    this.walker.yaw = headingTo(this.walker, found.pose);
  }

  private hasGone(): boolean {
    const { asked, walker } = this;
    if (asked === null) return true;
    const isFar = Math.hypot(asked.at.x - walker.x, asked.at.y - walker.y) > FURTHER;
    return isFar || Math.abs(Math.sin((asked.heading - walker.yaw) / 2)) > TURNED / 2;
  }

  /** Asks for what is about the person, and before them. */
  private ask(): void {
    const { x, y, yaw } = this.walker;
    const before = this.asked?.at ?? { x, y };
    const [dx, dy] = [x - before.x, y - before.y].map((one) => Math.round(one * METRE)) as [
      number,
      number,
    ];
    this.asked = { at: { x, y }, heading: yaw };
    this.ground.place.view({ box: auraOf({ x, y }, yaw), dx, dy });
    this.isStale = true;
  }

  private show(): void {
    const { x, y, heading, yaw } = this.walker;
    const stance = { ...inLengths({ x, y }), turn: turned(heading) };
    const whole = { x: Math.round(stance.x), y: Math.round(stance.y), turn: stance.turn };
    const now = `${whole.x} ${whole.y} ${whole.turn}`;
    if (now === this.shown) return;
    this.shown = now;
    this.ground.stands(whole, auraOf({ x, y }, yaw));
  }
  private shown = "";

  // --- what one can do ------------------------------------------------------------------------

  private attend(): void {
    const { walker, things, chosen } = this;
    this.near = nearOf(this.layout, walker);
    if (chosen !== null) {
      const thing = things.get(chosen.id);
      const isHere = Math.hypot(chosen.at.x - walker.x, chosen.at.y - walker.y) <= KEPT_M;
      if (thing !== undefined && isHere) {
        this.focus = thing;
        return;
      }
      this.chosen = null;
    }
    this.focus = frontOf(this.near, walker, walker.heading)?.thing ?? null;
  }

  /** What keys act on from now on, until one walks away. */
  choose(id: string | null): void {
    const { x, y } = this.walker;
    this.chosen = id === null ? null : { id, at: { x, y } };
    this.attend();
  }

  /** The next of what is near, in the order of nearness; false: there is no further one. */
  step(by: 1 | -1): boolean {
    const place = this.near.findIndex(({ thing }) => thing.id === this.focus?.id);
    const next = this.near[place < 0 ? (by > 0 ? 0 : -1) : place + by];
    if (next === undefined) return false;
    this.walker.stop();
    this.walker.face(next.at);
    this.choose(next.thing.id);
    return true;
  }

  picked(ray: Ray): Picked | null {
    return pick(ray, this.layout, this.things);
  }

  /** Whether it is near enough to be used. */
  isInReach(thing: Thing): boolean {
    return reachOf(thing, this.layout, this.walker).far <= REACH;
  }

  /** Goes to a thing, as near as there is need to; `isThere`: it is near already. */
  approach(thing: Thing): boolean {
    const { at, far } = reachOf(thing, this.layout, this.walker);
    if (far <= REACH) {
      this.walker.face(at);
      return true;
    }
    const by = ahead(headingTo(this.walker, at));
    const short = REACH * 0.6 + Math.hypot(bodyOf(thing).across, bodyOf(thing).deep) / 4;
    const to = { x: at.x - by.x * Math.min(short, far), y: at.y - by.y * Math.min(short, far) };
    this.go(to);
    return false;
  }

  go(to: Point): void {
    if (this.isCalm()) this.walker.leap(to);
    else this.walker.goTo(to);
    this.isStale = true;
  }

  // --- carrying -------------------------------------------------------------------------------

  /** Takes up what is in focus; false: it stays. */
  take(thing: Thing): boolean {
    if (this.carry !== null) return false;
    this.carry = Carry.take(this.ground.board, thing, () => {
      this.carry = null;
      this.isStale = true;
    });
    this.carriedTurn = 0;
    this.hold();
    this.isStale = true;
    return this.carry !== null;
  }

  turnCarried(by: Heading): void {
    this.carriedTurn += by;
    this.isStale = true;
    this.hold();
  }

  putDown(): void {
    const { carry } = this;
    this.carry = null;
    carry?.place();
    if (carry !== null) this.choose(carry.thing.id);
    this.isStale = true;
  }

  letGo(): void {
    this.carry?.cancel();
    this.carry = null;
    this.isStale = true;
  }

  /** What is carried goes along. */
  private hold(): void {
    const { carry, walker } = this;
    if (carry === null || carry.isOver) return;
    const { thing } = carry;
    const deep = isDrawn(thing) ? Math.min(4, thing.height / METRE) : bodyOf(thing).deep;
    const by = ahead(walker.yaw);
    const far = HELD_M + deep / 2;
    carry.move(inLengths({ x: walker.x + by.x * far, y: walker.y + by.y * far }), this.carriedTurn);
  }
}
