/**
 * The picture of a room: what `Room` says is there, drawn by three.js.
 *
 * Lengths are metres about `origin`, which goes along with who walks: a graphics card counts too
 * coarsely for places that are far from the middle.
 */

import { Group, PerspectiveCamera, Raycaster, Scene, Vector2, WebGLRenderer } from "three";
import type { Images } from "../../board/draw/paint";
import type { Measure } from "../../board/draw/text-layout";
import type { Things } from "../../board/model/arrows";
import type { Point } from "../../board/model/geometry";
import { fillColour, readableOn, type Theme } from "../../board/model/palette";
import type { Now } from "../../board/model/states";
import { radians } from "../../board/model/units";
import type { Thing } from "../../place/thing";
import type { Room } from "../live/room";
import type { Companion } from "../model/company";
import { bodyOf, FOOT, type Panel } from "../model/forms";
import { METRE } from "../model/metres";
import type { Ray } from "../model/pick";
import { Avatars, nameHeight } from "./avatars";
import { Bodies, BodyKit, type Stood } from "./bodies";
import { Floor } from "./floor";
import { type Label, Labels } from "./labels";
import { Lamps } from "./lamps";
import { Mark } from "./mark";
import { Painter } from "./painter";
import { Signs } from "./signs";
import { Sky } from "./sky";
import { Slabs } from "./slabs";
import type { Surroundings } from "./surroundings";
import { Textures } from "./textures";
import { Walls } from "./walls";

export interface SceneParts {
  readonly context: WebGL2RenderingContext;
  readonly theme: Theme;
  readonly measure: Measure;
  readonly images: Images;
  /** How things that act stand. */
  readonly now: Now;
  /** What a thing says over itself; empty: nothing. */
  readonly says: (thing: Thing) => string;
  /** What stands over a person beside their name, and how they are called; "": nothing. */
  readonly wordsOf: (who: string) => string;
  readonly nameOf: (person: Companion) => string;
  /** Who is seen from behind. */
  readonly self: () => Companion;
}

/** Who walks so far from the origin has it brought after them. */
const ORIGIN_MAX = 400;
/** Words stand over names. */
const NAME_HIGH = 0.36;
const WORDS_LINES = 4;
const LABELLED_MAX = 30;
const LABELLED_M = 16;
/** More points of the screen than this for one of the page are not seen. */
const DENSITY_MAX = 2;
const ANGLE = 52;
const ANGLE_UPRIGHT = 68;
/** So long pictures are painted within a frame, beside one of them. */
const PAINT_MS = 6;

export class RoomScene {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(ANGLE, 1, 0.1, 220);
  private readonly painter: Painter;
  private readonly surroundings: { anisotropy: number; things: Things };
  private readonly textures = new Textures();
  private readonly kit = new BodyKit(this.textures);
  private readonly still = new Bodies(this.kit);
  private readonly moving = new Bodies(this.kit);
  private readonly floor: Floor;
  private readonly walls: Walls;
  private readonly slabs: Slabs;
  private readonly signs: Signs;
  private readonly avatars = new Avatars(this.textures);
  private readonly labels = new Labels();
  private readonly lamps = new Lamps();
  private readonly sky: Sky;
  private readonly mark = new Mark();
  private readonly rays = new Raycaster();
  private origin: Point = { x: 0, y: 0 };
  private shown: unknown = null;
  private standing: readonly Thing[] = [];
  private isOld = true;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly parts: SceneParts,
  ) {
    const { context, theme, measure, images, now } = parts;
    this.renderer = new WebGLRenderer({ canvas, context, antialias: true });
    this.painter = new Painter(theme, measure, images, now);
    const anisotropy = Math.min(4, this.renderer.capabilities.getMaxAnisotropy());
    this.surroundings = { anisotropy, things: new Map() };
    this.floor = new Floor(this.surroundings as Surroundings);
    this.walls = new Walls(this.surroundings as Surroundings);
    this.slabs = new Slabs(this.surroundings as Surroundings);
    this.signs = new Signs(this.surroundings as Surroundings, now);
    this.sky = new Sky(this.scene);
    const all = new Group();
    all.add(this.floor.group, this.walls.group, this.still.group, this.moving.group);
    all.add(this.slabs.group, this.avatars.group, this.labels.group, this.lamps.group);
    all.add(this.sky.group, this.mark.group, this.signs.group);
    this.scene.add(all);
    this.recolour(theme);
  }

  /** Light or dark from now on. */
  recolour(theme: Theme): void {
    this.painter.theme = theme;
    this.sky.recolour(theme);
    this.lamps.recolour(theme.isDark);
    this.walls.recolour(theme.isDark);
    this.avatars.recolour(theme);
    this.floor.recolour(this.painter);
    this.mark.recolour(theme);
    this.isOld = true;
  }

  /** `share`: of the screen's pixels in each direction; the picture is stretched to the rest. */
  resize(width: number, height: number, share: number): void {
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(share * Math.min(DENSITY_MAX, devicePixelRatio || 1));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.fov = width < height ? ANGLE_UPRIGHT : ANGLE;
    this.camera.updateProjectionMatrix();
  }

  /** Draws the room as it is at this time; whether pictures are still to be painted. */
  draw(room: Room, now_ms: number): boolean {
    this.surroundings.things = room.things;
    this.centre(room);
    this.look(room);
    this.arrange(room);
    this.moving.show(
      room.movers(now_ms).map((one) => this.stood(one.thing, one.pose, one.up)),
      this.painter.theme,
    );
    this.slabs.show(room.slabs, this.origin);
    this.people(room, now_ms);
    this.mark.show(room.focus, room.layout, this.origin);
    const isDue = this.paint();
    this.renderer.render(this.scene, this.camera);
    return isDue;
  }

  private centre({ walker }: Room): void {
    const isFar = Math.hypot(walker.x - this.origin.x, walker.y - this.origin.y) > ORIGIN_MAX;
    if (!isFar && this.shown !== null) return;
    this.origin = { x: Math.round(walker.x), y: Math.round(walker.y) };
    this.isOld = true;
  }

  private look({ eye }: Room): void {
    const { camera, origin } = this;
    camera.position.set(eye.x - origin.x, eye.up, eye.y - origin.y);
    camera.rotation.set(-eye.pitch, -eye.yaw, 0, "YXZ");
    camera.updateMatrixWorld();
    this.sky.follow(camera.position.x, camera.position.z);
  }

  /** What stays where it is, is placed anew when something of it is another one. */
  private arrange(room: Room): void {
    const { layout, walker } = room;
    const { origin, painter } = this;
    this.floor.lay(layout.tiles, walker, origin);
    this.walls.stand(layout, walker, origin);
    const { still } = room;
    this.signs.show(still, origin);
    const isSame =
      still.length === this.standing.length && still.every((one, at) => one === this.standing[at]);
    if (!isSame || this.isOld) {
      this.still.show(
        still.map((thing) => this.stood(thing, null, thing.z / METRE)),
        painter.theme,
      );
      this.lamps.show(layout.standing, origin);
      this.standing = still;
    }
    this.shown = layout;
    this.isOld = false;
  }

  private stood(
    thing: Thing,
    pose: { x: number; y: number; heading: number } | null,
    up: number,
  ): Stood {
    const { origin } = this;
    const x = (pose?.x ?? thing.x / METRE) - origin.x;
    const y = (pose?.y ?? thing.y / METRE) - origin.y;
    return { thing, x, y, up: Math.max(0, up), heading: pose?.heading ?? radians(thing.turn) };
  }

  private people(room: Room, now_ms: number): void {
    const { origin, painter } = this;
    const { walker } = room;
    const others = room.companions(now_ms).sort((one, other) => {
      return farFrom(one.pose, walker) - farFrom(other.pose, walker);
    });
    const self = {
      ...this.parts.self(),
      pose: { x: walker.x, y: walker.y, heading: walker.heading },
    };
    this.avatars.show(room.isOwn ? others : [self, ...others], origin);
    const names = others.map((person): Label => {
      const { x, y } = person.pose;
      const back = painter.theme.people[person.colour] || painter.theme.text;
      return {
        key: `person ${person.who}`,
        text: this.parts.nameOf(person),
        x: x - origin.x,
        y: y - origin.y,
        up: nameHeight(person),
        ink: painter.theme.isDark ? "#12151b" : "#ffffff",
        back,
      };
    });
    const words = [self, ...others].flatMap((person) => this.words(person));
    this.labels.show([...words, ...names, ...this.sayings(room)]);
  }

  /** What somebody has just said. */
  private words(person: Companion): Label[] {
    const text = this.parts.wordsOf(person.who);
    if (text === "") return [];
    const { theme } = this.painter;
    const { x, y } = person.pose;
    return [
      {
        key: `words ${person.who}`,
        text,
        lines: WORDS_LINES,
        x: x - this.origin.x,
        y: y - this.origin.y,
        up: nameHeight(person) + NAME_HIGH,
        ink: theme.text,
        back: theme.paper,
      },
    ];
  }

  private sayings({ layout, walker, focus }: Room): Label[] {
    const { theme } = this.painter;
    const found: Label[] = [];
    for (const panel of layout.panels) found.push(...this.nameOf(panel));
    for (const thing of layout.standing) {
      if (found.length >= LABELLED_MAX) break;
      const at = { x: thing.x / METRE, y: thing.y / METRE };
      if (farFrom(at, walker) > LABELLED_M) continue;
      const text = this.parts.says(thing);
      if (text === "") continue;
      const fill = fillColour("grey", theme.isDark) ?? theme.paper;
      found.push({
        key: thing.id,
        text,
        x: at.x - this.origin.x,
        y: at.y - this.origin.y,
        up: bodyOf(thing).high + Math.max(0, thing.z / METRE) + 0.12,
        ink: thing.id === focus?.id ? theme.paper : readableOn(fill),
        back: thing.id === focus?.id ? theme.accent : fill,
      });
    }
    return found;
  }

  /** A panel's name stands over it, as a frame's on the board. */
  private nameOf({ thing, x, y, height }: Panel): Label[] {
    const { theme } = this.painter;
    const text = thing.text.split("\n")[0] ?? "";
    if (text === "") return [];
    const at = { x: x - this.origin.x, y: y - this.origin.y, up: FOOT + height + 0.1 };
    return [{ key: thing.id, text, ...at, ink: theme.text, back: theme.paper }];
  }

  /** A few pictures a frame: a room full of new things does not stand still. */
  private paint(): boolean {
    const due = [this.walls, this.slabs, this.signs, this.floor].flatMap((part) =>
      part.due(this.painter),
    );
    const start_ms = performance.now();
    let count = 0;
    for (const paint of due) {
      paint();
      count += 1;
      if (performance.now() - start_ms > PAINT_MS) break;
    }
    return count < due.length;
  }

  /** Through a point of the canvas: -1 to 1 from left to right and from below. */
  ray(x: number, y: number): Ray {
    this.rays.setFromCamera(new Vector2(x, y), this.camera);
    const { origin, direction } = this.rays.ray;
    return {
      from: { x: origin.x + this.origin.x, y: origin.z + this.origin.y, up: origin.y },
      by: { x: direction.x, y: direction.z, up: direction.y },
    };
  }

  dispose(): void {
    const parts = [
      this.floor,
      this.walls,
      this.slabs,
      this.signs,
      this.still,
      this.moving,
      this.avatars,
    ];
    for (const part of [...parts, this.labels, this.sky, this.mark, this.kit, this.textures])
      part.dispose();
    this.renderer.dispose();
  }
}

function farFrom(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
