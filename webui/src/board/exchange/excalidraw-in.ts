/**
 * Reads `.excalidraw` files: shapes, lines, drawings, texts and frames.
 *
 * Only numbers, plain texts and pictures of kinds that nodes take are taken out of them; links and
 * embedded pages are left.
 */

import { VALUE_MAX } from "../../place/limits";
import { PlaceRefusal } from "../../place/refusal";
import { checkThing, type Thing } from "../../place/thing";
import { boardWords } from "../../words/board";
import { type Bound, type Ends, LOOSE } from "../model/arrows";
import { type Frame, type Point, rotated } from "../model/geometry";
import { newArrow, newInk, newShape, newThing } from "../model/make";
import { colourIn, isName, nearestName } from "../model/palette";
import { turned, units } from "../model/units";
import { IN_FILE } from "./brought";
import { fileIn } from "./picture-data";
import { type Fields, fieldsOf, ImportRefusal, parsed, THINGS_MAX } from "./refusal";

/** Pixels: what lies farther out, or is larger, is no drawing of anybody. */
const FAR_MAX = 5_000_000;
const SIDE_MAX = 16_384;
const POINTS_MAX = 50_000;
const TEXT_MAX = 10_000;

const SHAPES = new Set(["rectangle", "ellipse", "diamond"]);

export interface Imported {
  /** Those that show a picture of the file name it behind `IN_FILE`. */
  readonly things: readonly Thing[];
  /** The pictures of the file, by their names in it. */
  readonly files: ReadonlyMap<string, File>;
  /** Elements of kinds that are not taken. */
  readonly left: number;
}

/** The things of a file, in the places that they have there; ImportRefusal. */
export function excalidrawIn(text: string): Imported {
  const { type, elements, files } = fieldsOf(parsed(text));
  const isOurs = type === "excalidraw" || type === "excalidraw/clipboard";
  if (!isOurs || !Array.isArray(elements)) throw new ImportRefusal("other_kind");
  if (elements.length > THINGS_MAX) throw new ImportRefusal("too_many");
  const all = elements.map(fieldsOf).filter(({ isDeleted }) => isDeleted !== true);
  return new Reading(all, fieldsOf(files)).run();
}

class Reading {
  private readonly ids = new Map<string, string>();
  private readonly labels = new Map<string, string>();
  private readonly groups = new Map<string, string>();
  private readonly pictures = new Map<string, File>();
  private left = 0;

  constructor(
    private readonly elements: readonly Fields[],
    private readonly files: Fields,
  ) {}

  run(): Imported {
    const { elements } = this;
    for (const { type, containerId, text } of elements) {
      if (type === "text" && typeof containerId === "string")
        this.labels.set(containerId, textIn(text));
    }
    const ids = new Set(elements.map(({ id }) => id));
    const own = elements.filter((one) => one.type !== "text" || !ids.has(one.containerId ?? null));
    const found = own.map((element, at) => ({ element, at, thing: this.thing(element, at) }));
    for (const { element, thing } of found) {
      if (thing !== null && typeof element.id === "string") this.ids.set(element.id, thing.id);
    }
    const things = found.flatMap(({ element, at, thing }) => {
      return thing === null ? [] : [this.finished(thing, element, at)];
    });
    return { things, files: this.pictures, left: this.left };
  }

  private thing(element: Fields, at: number): Thing | null {
    const { type } = element;
    if (typeof type !== "string") throw new ImportRefusal("absurd", at + 1);
    const frame = frameIn(element, at + 1);
    const look = lookIn(element);
    if (SHAPES.has(type)) return newShape(type, frame, look, at);
    if (type === "frame" || type === "magicframe")
      return newThing("frame", frame, {}, { order: at });
    if (type === "text") {
      const size = Math.min(400, Math.max(4, Math.round(numberIn(element.fontSize, 20))));
      const align = ["left", "center", "right"].find((one) => one === element.textAlign) ?? "left";
      return newThing("text", frame, { colour: look.colour, size, align }, { order: at });
    }
    if (type === "freedraw" || type === "line" || type === "arrow")
      return this.drawn(element, frame, at);
    const picture = type === "image" ? this.picture(textIn(element.fileId)) : null;
    if (picture !== null)
      return newThing("picture", frame, {}, { order: at, props: [["picture", picture]] });
    this.left += 1;
    return null;
  }

  /** What a thing names a picture of the file by; null: the file has no such picture. */
  private picture(name: string): string | null {
    if (name === "" || name.length > VALUE_MAX - IN_FILE.length) return null;
    if (!this.pictures.has(name)) {
      const file = fileIn(fieldsOf(this.files[name]).dataURL, boardWords.picture);
      if (file === null) return null;
      this.pictures.set(name, file);
    }
    return IN_FILE + name;
  }

  private drawn(element: Fields, frame: Frame, at: number): Thing | null {
    const points = pointsIn(element, frame, at + 1);
    const look = lookIn(element);
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) {
      this.left += 1;
      return null;
    }
    const line = { colour: look.colour, width: look.width, dash: look.dash };
    if (element.type === "freedraw")
      return newInk(points, { colour: look.colour, width: look.width }, at);
    // A line of many stretches is drawn: lines and arrows here are straight.
    if (points.length > 3 && element.type === "line") return newInk(points, line, at);
    const ends: Ends = [first, last];
    const heads = element.type === "line" ? "none" : element.startArrowhead ? "both" : "end";
    return newArrow(ends, [LOOSE, LOOSE], line, at, heads);
  }

  private finished(thing: Thing, element: Fields, at: number): Thing {
    const text = this.labels.get(String(element.id)) ?? textIn(element.text ?? element.name);
    const links: Bound = [this.bound(element.startBinding), this.bound(element.endBinding)];
    const groups = Array.isArray(element.groupIds) ? element.groupIds : [];
    const done = {
      ...thing,
      text: thing.kind === "ink" ? "" : text,
      links: thing.kind === "arrow" ? links : [],
      group: this.groupOf(groups.at(-1)),
      locked: element.locked === true,
    };
    try {
      checkThing(done);
    } catch (error) {
      if (error instanceof PlaceRefusal) throw new ImportRefusal("absurd", at + 1);
      throw error;
    }
    return done;
  }

  private bound(binding: unknown): string {
    return this.ids.get(String(fieldsOf(binding).elementId)) ?? LOOSE;
  }

  private groupOf(group: unknown): string {
    if (typeof group !== "string") return "";
    const known = this.groups.get(group) ?? `group-${this.groups.size + 1}`;
    this.groups.set(group, known);
    return known;
  }
}

function numberIn(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function within(value: unknown, most: number, element: number): number {
  const found = numberIn(value, Number.NaN);
  if (!(Math.abs(found) <= most)) throw new ImportRefusal("absurd", element);
  return found;
}

function frameIn(element: Fields, at: number): Frame {
  if (textIn(element.text).length > TEXT_MAX) throw new ImportRefusal("absurd", at);
  const [x, y] = [within(element.x, FAR_MAX, at), within(element.y, FAR_MAX, at)];
  const width = Math.abs(within(element.width ?? 0, SIDE_MAX, at));
  const height = Math.abs(within(element.height ?? 0, SIDE_MAX, at));
  const turn = turned(within(element.angle ?? 0, 1_000, at));
  const middle = { x: units(x + width / 2), y: units(y + height / 2) };
  return { ...middle, width: units(width), height: units(height), turn };
}

/** Points of a line in the plane, as it lies there turned. */
function pointsIn(element: Fields, frame: Frame, at: number): Point[] {
  const given = Array.isArray(element.points) ? element.points : [];
  if (given.length > POINTS_MAX) throw new ImportRefusal("absurd", at);
  const [x, y] = [numberIn(element.x, 0), numberIn(element.y, 0)];
  const angle = numberIn(element.angle, 0);
  return given.map((point) => {
    const [across, down] = Array.isArray(point) ? point : [];
    const right = units(x + within(across, SIDE_MAX, at));
    const low = units(y + within(down, SIDE_MAX, at));
    return angle === 0 ? { x: right, y: low } : rotated({ x: right, y: low }, frame, angle);
  });
}

function named(value: unknown, which: 0 | 1, otherwise: string): string {
  const colour = colourIn(value);
  if (colour === null) return otherwise;
  return colour === "none" || isName(colour) ? colour : nearestName(colour, which);
}

function lookIn(element: Fields): { colour: string; fill: string; width: number; dash: string } {
  const wide = numberIn(element.strokeWidth, 2);
  const width = wide <= 2 ? 2 : wide <= 4 ? 4 : 8;
  const dash = ["dashed", "dotted"].find((one) => one === element.strokeStyle) ?? "solid";
  const colour = named(element.strokeColor, 0, "ink");
  return { colour, fill: named(element.backgroundColor, 1, "none"), width, dash };
}
