/** The other people in the place: where they point or stand, what they have selected, drag and draw. */

import { TURN_MAX } from "../../place/limits";
import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import type { Things } from "../model/arrows";
import type { Point } from "../model/geometry";
import { colourIn } from "../model/palette";
import { placed } from "../model/units";

/** Where somebody stands in the room, and where they look; as things lie and are turned. */
export interface Stance extends Point {
  readonly turn: number;
}

/** How far somebody hears and is heard in the room: as usual, little, or to all. */
export type Nimbus = "" | "quiet" | "all";

/** What a session shows of itself; everything is small, and newest wins. */
export interface Shown {
  readonly name: string;
  /** null: the pointer is not over the board. */
  readonly at: Point | null;
  readonly selected: readonly string[];
  readonly drafts: readonly Draft[];
  readonly ink: readonly Point[];
  /** What the session sees. */
  readonly view: Box | null;
  readonly isIdle: boolean;
  /** How often the person has asked everybody to come. */
  readonly calls: number;
  /** Of what is being drawn. */
  readonly colour: string;
  readonly width: number;
  /** null: the person is on another face than the room. */
  readonly avatar: Stance | null;
  readonly nimbus: Nimbus;
}

export interface Person extends Shown {
  readonly who: string;
}

export type Draft = readonly [
  id: string,
  x: number,
  y: number,
  width: number,
  height: number,
  turn: number,
];

const SELECTED_MAX = 60;
const DRAFTS_MAX = 60;
const INK_MAX = 150;
/** A drag that has ended is shown as it ended until its operation comes, or for so long. */
const LAST_MS = 1_500;

/** As docs/protocol-browser.md has it. */
export function toPresence(shown: Shown): unknown {
  const { name, at, selected, drafts, ink, view, isIdle, calls } = shown;
  const { colour, width, avatar, nimbus } = shown;
  return [
    name,
    at === null ? [] : [placed(at.x), placed(at.y)],
    view === null ? [] : view.map(placed),
    selected.slice(0, SELECTED_MAX),
    drafts.slice(0, DRAFTS_MAX),
    isIdle,
    calls,
    "",
    ink.slice(-INK_MAX).flatMap(({ x, y }) => [placed(x), placed(y)]),
    ink.length > 0 ? colour : "",
    ink.length > 0 ? width : 0,
    // Nodes that do not know of rooms take those who are in none.
    ...(avatar === null ? [] : [[placed(avatar.x), placed(avatar.y), avatar.turn], nimbus]),
  ];
}

/** What somebody shows, read with care; null where it is nothing of this form. */
export function personOf(who: string, value: unknown): Person | null {
  if (typeof value !== "object" || value === null) return null;
  const given = value as Record<string, unknown>;
  const { name, pointer, selection, drag, line, view, idle, calls } = given;
  const { colour, width, avatar, nimbus } = given;
  if (typeof name !== "string") return null;
  const point = numbers(pointer);
  const box = numbers(view);
  const flat = numbers(line).slice(0, 2 * INK_MAX);
  const points: Point[] = [];
  for (let place = 0; place + 1 < flat.length; place += 2) {
    points.push({ x: flat[place] ?? 0, y: flat[place + 1] ?? 0 });
  }
  return {
    who,
    name: name.slice(0, 80),
    at: point.length === 2 ? { x: point[0] ?? 0, y: point[1] ?? 0 } : null,
    selected: list(selection)
      .filter((id) => typeof id === "string")
      .slice(0, SELECTED_MAX) as string[],
    drafts: list(drag).flatMap(draftOf).slice(0, DRAFTS_MAX),
    ink: points,
    view: box.length === 4 ? (box as unknown as Box) : null,
    isIdle: idle === true,
    calls: Number.isSafeInteger(calls) ? Number(calls) : 0,
    colour: colourIn(colour) ?? "",
    width: Math.min(64, Math.max(0, Number(width) || 0)),
    avatar: stanceOf(avatar),
    nimbus: nimbus === "quiet" || nimbus === "all" ? nimbus : "",
  };
}

function stanceOf(value: unknown): Stance | null {
  const [x, y, turn, ...more] = numbers(value);
  if (x === undefined || y === undefined || turn === undefined || more.length > 0) return null;
  return { x: placed(x), y: placed(y), turn: ((turn % TURN_MAX) + TURN_MAX) % TURN_MAX };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function numbers(value: unknown): number[] {
  const found = list(value);
  return found.every((one) => Number.isFinite(one)) ? (found as number[]) : [];
}

function draftOf(value: unknown): Draft[] {
  const [id, ...rest] = list(value);
  const isDraft = typeof id === "string" && rest.length === 5 && numbers(rest).length === 5;
  return isDraft ? [[id, ...rest] as unknown as Draft] : [];
}

interface Dragged {
  readonly draft: Draft;
  /** Of the thing when its drag was last heard of. */
  version: number;
  /** When it ended; null: it goes on. */
  ended_ms: number | null;
}

export class Others {
  people: readonly Person[] = [];
  private readonly dragged = new Map<string, Dragged>();

  constructor(private readonly now_ms: () => number) {}

  /** These show something else now. */
  update(people: readonly Person[], things: Things): void {
    this.people = people;
    const now = new Set<string>();
    for (const { drafts } of people) {
      for (const draft of drafts) {
        now.add(draft[0]);
        const version = things.get(draft[0])?.version ?? 0;
        this.dragged.set(draft[0], { draft, version, ended_ms: null });
      }
    }
    for (const [id, one] of this.dragged) if (!now.has(id)) one.ended_ms ??= this.now_ms();
  }

  /** Things as others drag them. */
  drafts(things: Things): readonly Thing[] {
    const found: Thing[] = [];
    for (const [id, { draft, version, ended_ms }] of this.dragged) {
      const thing = things.get(id);
      const isOver = ended_ms !== null && this.now_ms() - ended_ms > LAST_MS;
      if (thing === undefined || isOver || (ended_ms !== null && thing.version !== version)) {
        this.dragged.delete(id);
        continue;
      }
      const [, x, y, width, height, turn] = draft;
      found.push({ ...thing, x, y, width, height, turn });
    }
    return found;
  }
}
