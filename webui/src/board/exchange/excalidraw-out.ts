/** Things as an `.excalidraw` file. */

import type { Thing } from "../../place/thing";
import { byOrder } from "../draw/sight";
import { boundOf, endsOf, isArrow, LOOSE, type Things } from "../model/arrows";
import { type Point, pointsOf } from "../model/geometry";
import { fillColour, lineColour } from "../model/palette";
import { nameOf } from "../model/saying";
import { addressOf } from "../model/settings";
import { type Now, STILL, stateOf } from "../model/states";
import { headsOf, shapeOf, styleOf } from "../model/style";
import { pixels, radians } from "../model/units";
import { pictureIn } from "../pictures/album";
import { documentAddress } from "./addresses";
import type { PictureData } from "./picture-data";

type Element = Record<string, unknown>;

const ROUND: ReadonlySet<string> = new Set(["light", "clock", "ball"]);

const round = (value: number): number => Math.round(value * 100) / 100;

/** `data`: the pictures that things show, which stand in the file. */
export function excalidrawOf(
  things: readonly Thing[],
  all: Things,
  data: PictureData = new Map(),
  now: Now = STILL,
): string {
  const sorted = [...things].sort(byOrder);
  const elements = sorted.flatMap((thing) => elementsOf(thing, sorted, all, now));
  const file = { type: "excalidraw", version: 2, source: "groupcore", elements };
  const appState = { viewBackgroundColor: "#ffffff", gridSize: null };
  return JSON.stringify({ ...file, appState, files: filesOf(data) }, null, 2);
}

function filesOf(data: PictureData): Record<string, Element> {
  const files = [...data].map(([id, dataURL]): [string, Element] => {
    return [id, { id, dataURL, mimeType: /^data:([^;]*)/.exec(dataURL)?.[1] ?? "", created: 1 }];
  });
  return Object.fromEntries(files);
}

/** What acts is a shape there that says what it is, and how it stands. */
function inWords(thing: Thing, all: Things, now: Now): Thing {
  if (thing.kind === "card") {
    return { ...thing, text: [nameOf(thing, now), documentAddress(thing)].join("\n").trim() };
  }
  const state = stateOf(thing, all, STILL);
  return state === "" ? thing : { ...thing, text: `${nameOf(thing)}\n${state}` };
}

function elementsOf(given: Thing, things: readonly Thing[], all: Things, now: Now): Element[] {
  const thing = inWords(given, all, now);
  const style = styleOf(thing);
  const own = { ...base(thing), ...lookOf(thing), ...bodyOf(thing, all) };
  if (thing.text === "" || ["text", "frame", "picture"].includes(thing.kind)) {
    return [{ ...own, boundElements: bindings(thing, things, false) }];
  }
  const label = {
    ...base({ ...thing, id: `${thing.id}-text` }),
    ...lookOf(thing),
    ...lettersOf(thing),
    type: "text",
    containerId: thing.id,
    link: null,
    textAlign: style.align,
    verticalAlign: "middle",
    backgroundColor: "transparent",
  };
  return [{ ...own, boundElements: bindings(thing, things, true) }, label];
}

function base(thing: Thing): Element {
  const [width, height] = [pixels(thing.width), pixels(thing.height)];
  return {
    id: thing.id,
    x: round(pixels(thing.x) - width / 2),
    y: round(pixels(thing.y) - height / 2),
    width: round(width),
    height: round(height),
    angle: round(radians(thing.turn)),
    groupIds: thing.group === "" ? [] : [thing.group],
    frameId: null,
    locked: thing.locked,
    isDeleted: false,
    opacity: 100,
    roughness: 0,
    seed: 1,
    version: 1,
    versionNonce: 0,
    updated: 1,
    link: (addressOf(thing)?.href ?? documentAddress(thing)) || null,
    boundElements: null,
  };
}

function lookOf(thing: Thing): Element {
  const { colour, fill, width, dash } = styleOf(thing);
  return {
    strokeColor: width === 0 ? "transparent" : (lineColour(colour, false) ?? "#1c2330"),
    backgroundColor: fillColour(fill, false) ?? "transparent",
    fillStyle: "solid",
    strokeWidth: Math.max(1, width),
    strokeStyle: dash,
    roundness: thing.kind === "shape" ? { type: 3 } : null,
  };
}

function lettersOf(thing: Thing): Element {
  const { size } = styleOf(thing);
  const text = { text: thing.text, originalText: thing.text };
  return { ...text, fontSize: size, fontFamily: 2, lineHeight: 1.3, strokeColor: inkOf(thing) };
}

function inkOf(thing: Thing): string {
  return lineColour(styleOf(thing).colour, false) ?? "#1c2330";
}

function bodyOf(thing: Thing, all: Things): Element {
  switch (thing.kind) {
    case "ink":
      return {
        type: "freedraw",
        ...lineOf(pointsOf(thing).map((one) => moved(one, thing))),
        simulatePressure: true,
        pressures: [],
      };
    case "arrow":
      return arrowOf(thing, all);
    case "text":
      return {
        type: "text",
        ...lettersOf(thing),
        textAlign: styleOf(thing).align,
        verticalAlign: "top",
        containerId: null,
      };
    case "frame":
      return { type: "frame", name: thing.text };
    case "picture":
      return { type: "image", fileId: pictureIn(thing), status: "saved", scale: [1, 1] };
    case "shape":
      return { type: shapeOf(thing) };
    default:
      return { type: ROUND.has(thing.kind) ? "ellipse" : "rectangle" };
  }
}

function moved(point: Point, thing: Thing): Point {
  return { x: point.x + thing.x, y: point.y + thing.y };
}

function lineOf(points: readonly Point[]): Element {
  const [first = { x: 0, y: 0 }] = points;
  const flat = points.map(({ x, y }) => [round(pixels(x - first.x)), round(pixels(y - first.y))]);
  return { x: round(pixels(first.x)), y: round(pixels(first.y)), points: flat };
}

function arrowOf(thing: Thing, all: Things): Element {
  const [from, to] = boundOf(thing);
  const heads = headsOf(thing);
  const binding = (id: string) => (id === LOOSE ? null : { elementId: id, focus: 0, gap: 5 });
  return {
    type: heads === "none" ? "line" : "arrow",
    ...lineOf(endsOf(thing, all)),
    startBinding: binding(from),
    endBinding: binding(to),
    startArrowhead: heads === "both" ? "arrow" : null,
    endArrowhead: heads === "none" ? null : "arrow",
  };
}

function bindings(thing: Thing, things: readonly Thing[], hasLabel: boolean): Element[] | null {
  const arrows = things.filter((one) => isArrow(one) && boundOf(one).includes(thing.id));
  const found: Element[] = arrows.map(({ id }) => ({ type: "arrow", id }));
  if (hasLabel) found.push({ type: "text", id: `${thing.id}-text` });
  return found.length > 0 ? found : null;
}
