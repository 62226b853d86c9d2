/** The picture of the board: what is in sight of it, and what people do there. */

import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { endsOf, isArrow, type Things } from "../model/arrows";
import type { Camera } from "../model/camera";
import type { Frame, Point } from "../model/geometry";
import { fillColour, type Theme } from "../model/palette";
import type { Guide } from "../model/snapping";
import type { Now } from "../model/states";
import { radians } from "../model/units";
import type { Wire } from "../model/wires";
import { rectangle } from "./mark";
import { inkPath, marksOf } from "./marks";
import { type Images, paint } from "./paint";
import type { Measure } from "./text-layout";

/** From afar: how many things a part of the place has, where, and in which colours. */
export interface Sketch {
  readonly count: number;
  readonly box: Box;
  readonly colours: readonly string[];
}

/** What somebody else has selected, or is drawing. */
export interface Others {
  readonly colour: number;
  readonly selected: readonly Thing[];
  readonly ink: readonly Point[];
  readonly inkColour: string;
  readonly inkWidth: number;
}

export interface Picture {
  readonly camera: Camera;
  readonly theme: Theme;
  readonly things: Things;
  /** Those behind first. */
  readonly drawn: readonly Thing[];
  /** Being written into: its text is in a field over it. */
  readonly edited: string | null;
  readonly faded: ReadonlySet<string>;
  readonly selected: readonly Thing[];
  /** The frame of all that is selected, with handles; null: none. */
  readonly frame: Frame | null;
  readonly handles: readonly Point[];
  readonly hovered: Thing | null;
  readonly marquee: Box | null;
  readonly guides: readonly Guide[];
  readonly ink: readonly Point[];
  readonly inkColour: string;
  readonly inkWidth: number;
  readonly others: readonly Others[];
  readonly sketches: readonly Sketch[];
  readonly found: ReadonlySet<string>;
  /** How things that act stand. */
  readonly now: Now;
  /** Between switches and lamps, of those that are selected. */
  readonly wires: readonly Wire[];
}

const GRID = 32;

export class Surface {
  private readonly canvas: CanvasRenderingContext2D;

  constructor(
    private readonly element: HTMLCanvasElement,
    private readonly measure: Measure,
    private readonly images: Images,
  ) {
    const canvas = element.getContext("2d");
    if (canvas === null) throw new Error("This browser draws nothing on a canvas.");
    this.canvas = canvas;
  }

  draw(picture: Picture): void {
    const { canvas, element } = this;
    const { camera, theme } = picture;
    const density = devicePixelRatio || 1;
    const [width, height] = [
      Math.round(camera.width * density),
      Math.round(camera.height * density),
    ];
    if (element.width !== width) element.width = width;
    if (element.height !== height) element.height = height;
    canvas.setTransform(density, 0, 0, density, 0, 0);
    canvas.fillStyle = theme.back;
    canvas.fillRect(0, 0, camera.width, camera.height);
    this.grid(camera, theme);
    for (const sketch of picture.sketches) this.sketch(sketch, camera, theme);
    for (const thing of picture.drawn) this.thing(thing, picture);
    this.overlays(picture);
  }

  private grid(camera: Camera, theme: Theme): void {
    let step = GRID * camera.zoom;
    while (step < 20) step *= 4;
    const [left, top] = [
      modulo(-camera.x / camera.step, step),
      modulo(-camera.y / camera.step, step),
    ];
    this.canvas.fillStyle = theme.grid;
    for (let x = left; x < camera.width; x += step) {
      for (let y = top; y < camera.height; y += step)
        this.canvas.fillRect(x - 0.75, y - 0.75, 1.5, 1.5);
    }
  }

  private sketch({ box, colours, count }: Sketch, camera: Camera, theme: Theme): void {
    const { canvas } = this;
    const from = camera.toScreen({ x: box[0], y: box[1] });
    const to = camera.toScreen({ x: box[2], y: box[3] });
    const [width, height] = [Math.max(4, to.x - from.x), Math.max(4, to.y - from.y)];
    const shown = Math.min(48, count);
    const columns = Math.max(1, Math.ceil(Math.sqrt((shown * width) / height)));
    const rows = Math.max(1, Math.ceil(shown / columns));
    canvas.globalAlpha = 0.7;
    for (let at = 0; at < shown; at++) {
      const [column, row] = [at % columns, Math.floor(at / columns)];
      const colour = colours[at % Math.max(1, colours.length)] ?? "grey";
      canvas.fillStyle = fillColour(colour, theme.isDark) ?? theme.grid;
      const [wide, high] = [width / columns, height / rows];
      canvas.fillRect(from.x + column * wide + 1, from.y + row * high + 1, wide * 0.8, high * 0.8);
    }
    canvas.globalAlpha = 1;
  }

  private thing(thing: Thing, { camera, theme, things, edited, faded, now }: Picture): void {
    const { canvas } = this;
    const shown = thing.id === edited ? { ...thing, text: "" } : thing;
    canvas.save();
    const at = camera.toScreen(thing);
    canvas.translate(at.x, at.y);
    canvas.scale(camera.zoom, camera.zoom);
    if (thing.turn !== 0 && !isArrow(thing)) canvas.rotate(radians(thing.turn));
    if (faded.has(thing.id)) canvas.globalAlpha = 0.3;
    paint(canvas, marksOf(shown, things, theme, this.measure, now), this.images);
    canvas.restore();
  }

  private overlays(picture: Picture): void {
    const { camera, theme, things } = picture;
    const accent = theme.accent;
    for (const thing of picture.drawn) {
      if (picture.found.has(thing.id))
        this.outline(thing, camera, theme.people[1] ?? accent, 3, things);
    }
    for (const { colour, selected, ink, inkColour, inkWidth } of picture.others) {
      const shade = theme.people[colour] ?? accent;
      for (const thing of selected) this.outline(thing, camera, shade, 2, things);
      this.ink(ink, camera, inkColour, inkWidth);
    }
    for (const wire of picture.wires) this.wire(wire, camera, theme);
    if (picture.hovered !== null) this.outline(picture.hovered, camera, accent, 1, things);
    for (const thing of picture.selected) this.outline(thing, camera, accent, 1.25, things);
    this.ink(picture.ink, camera, picture.inkColour, picture.inkWidth);
    if (picture.marquee !== null) this.marquee(picture.marquee, camera, accent);
    for (const guide of picture.guides) this.guide(guide, camera, theme);
    if (picture.frame !== null) this.handles(picture, picture.frame);
  }

  /** It hangs a little, as wires do; while it has power it is drawn through. */
  private wire({ from, to, isLive }: Wire, camera: Camera, theme: Theme): void {
    const { canvas } = this;
    const [one, other] = [camera.toScreen(from), camera.toScreen(to)];
    const sag = Math.min(80, Math.hypot(other.x - one.x, other.y - one.y) * 0.25);
    canvas.strokeStyle = canvas.fillStyle = theme.accent;
    canvas.lineWidth = 2;
    canvas.setLineDash(isLive ? [] : [6, 5]);
    canvas.beginPath();
    canvas.moveTo(one.x, one.y);
    canvas.bezierCurveTo(one.x, one.y + sag, other.x, other.y + sag, other.x, other.y);
    canvas.stroke();
    canvas.setLineDash([]);
    for (const { x, y } of [one, other]) {
      canvas.beginPath();
      canvas.arc(x, y, 4, 0, 2 * Math.PI);
      canvas.fill();
    }
  }

  private outline(
    thing: Thing,
    camera: Camera,
    colour: string,
    width: number,
    things: Things,
  ): void {
    const { canvas } = this;
    canvas.strokeStyle = colour;
    canvas.lineWidth = width;
    if (isArrow(thing)) {
      const [from, to] = endsOf(thing, things).map((one) => camera.toScreen(one)) as [Point, Point];
      canvas.globalAlpha = 0.5;
      canvas.lineWidth = width + 3;
      this.line(from, to);
      canvas.globalAlpha = 1;
      return;
    }
    this.framed(thing, camera, 3);
  }

  /** A frame on the screen, `out` pixels around what it is of. */
  private framed(frame: Frame, camera: Camera, out: number): void {
    const { canvas } = this;
    const at = camera.toScreen(frame);
    canvas.save();
    canvas.translate(at.x, at.y);
    canvas.rotate(radians(frame.turn));
    const [across, down] = [frame.width / 2, frame.height / 2].map(
      (one) => one / camera.step + out,
    ) as [number, number];
    canvas.stroke(new Path2D(rectangle(across, down, 3)));
    canvas.restore();
  }

  private ink(points: readonly Point[], camera: Camera, colour: string, width: number): void {
    const [first] = points;
    if (first === undefined) return;
    const { canvas } = this;
    const about = points.map(({ x, y }) => ({ x: x - first.x, y: y - first.y }));
    const at = camera.toScreen(first);
    canvas.save();
    canvas.translate(at.x, at.y);
    canvas.scale(camera.zoom, camera.zoom);
    canvas.fillStyle = colour;
    canvas.fill(new Path2D(inkPath(about, width)));
    canvas.restore();
  }

  private marquee([left, top, right, bottom]: Box, camera: Camera, colour: string): void {
    const { canvas } = this;
    const from = camera.toScreen({ x: left, y: top });
    const to = camera.toScreen({ x: right, y: bottom });
    canvas.fillStyle = canvas.strokeStyle = colour;
    canvas.lineWidth = 1;
    canvas.globalAlpha = 0.1;
    canvas.fillRect(from.x, from.y, to.x - from.x, to.y - from.y);
    canvas.globalAlpha = 1;
    canvas.strokeRect(from.x, from.y, to.x - from.x, to.y - from.y);
  }

  private guide({ from, to }: Guide, camera: Camera, theme: Theme): void {
    this.canvas.strokeStyle = theme.people[7] ?? theme.accent;
    this.canvas.lineWidth = 1;
    this.line(camera.toScreen(from), camera.toScreen(to));
  }

  private line(from: Point, to: Point): void {
    const { canvas } = this;
    canvas.beginPath();
    canvas.moveTo(from.x, from.y);
    canvas.lineTo(to.x, to.y);
    canvas.stroke();
  }

  private handles({ handles, camera, theme, selected }: Picture, frame: Frame): void {
    const { canvas } = this;
    canvas.strokeStyle = theme.accent;
    canvas.lineWidth = 1.25;
    if (selected.length > 1) this.framed(frame, camera, 8);
    for (const handle of handles) {
      const { x, y } = camera.toScreen(handle);
      canvas.fillStyle = theme.paper;
      canvas.beginPath();
      canvas.roundRect(x - 5, y - 5, 10, 10, 3);
      canvas.fill();
      canvas.stroke();
    }
  }
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
