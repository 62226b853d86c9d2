/** The other people in the room: where each of them is, and what they look like. */

import type { Nimbus, Person } from "../../board/live/others";
import { radians } from "../../board/model/units";
import { colourOf } from "../../people";
import { METRE } from "./metres";
import { type Pose, Track } from "./tracks";

export const FIGURES = ["capsule", "bell", "robot", "egg"] as const;
export type Figure = (typeof FIGURES)[number];

/** The figure of a person, the same on every page: another hash than that of the colour. */
export function figureOf(who: string): Figure {
  let hash = 7;
  for (const unit of who) hash = (hash * 33 + (unit.codePointAt(0) ?? 0)) >>> 0;
  return FIGURES[(hash >>> 5) % FIGURES.length] ?? "capsule";
}

export interface Companion {
  readonly who: string;
  readonly name: string;
  readonly colour: number;
  readonly figure: Figure;
  readonly pose: Pose;
  /** Not in the room: the pose is where they point, or what they look at. */
  readonly isOnBoard: boolean;
  readonly isIdle: boolean;
  readonly nimbus: Nimbus;
}

/** Where somebody is who shows this; null: nowhere. */
export function poseOf({ avatar, at, view }: Person): Pose | null {
  if (avatar !== null) {
    return { x: avatar.x / METRE, y: avatar.y / METRE, heading: radians(avatar.turn) };
  }
  if (at !== null) return { x: at.x / METRE, y: at.y / METRE, heading: 0 };
  if (view === null) return null;
  const [left, top, right, bottom] = view;
  return { x: (left + right) / 2 / METRE, y: (top + bottom) / 2 / METRE, heading: 0 };
}

export class Company {
  private readonly tracks = new Map<string, Track>();
  private people: readonly Person[] = [];

  constructor(private readonly isSmooth: () => boolean) {}

  update(people: readonly Person[], now_ms: number): void {
    this.people = people;
    const here = new Set(people.map(({ who }) => who));
    for (const who of [...this.tracks.keys()]) if (!here.has(who)) this.tracks.delete(who);
    for (const person of people) {
      const pose = poseOf(person);
      if (pose === null) continue;
      let track = this.tracks.get(person.who);
      if (track === undefined) {
        track = new Track(this.isSmooth());
        this.tracks.set(person.who, track);
      }
      track.tell(pose, now_ms);
    }
  }

  isMoving(now_ms: number): boolean {
    return [...this.tracks.values()].some((track) => track.isMoving(now_ms));
  }

  at(now_ms: number): Companion[] {
    return this.people.flatMap((person) => {
      const track = this.tracks.get(person.who);
      if (track === undefined) return [];
      const { who, name, isIdle, avatar, nimbus } = person;
      const about = { who, name, isIdle, isOnBoard: avatar === null, nimbus };
      return [{ ...about, colour: colourOf(who), figure: figureOf(who), pose: track.at(now_ms) }];
    });
  }
}
