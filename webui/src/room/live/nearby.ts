/**
 * What is said near the person who walks: they hear it while they are there, and it is gone.
 *
 * Rules.
 *   N1  What was said in earshot is heard once, wherever one walks meanwhile.
 *   N2  What could not be said is told to its writer at once, with the words.
 */

import type { Nimbus } from "../../board/live/others";
import type { Point } from "../../board/model/geometry";
import { CallError } from "../../client/errors";
import type { Session } from "../../client/session";
import { Topic } from "../../client/topic";
import { ALL, isHeard, reach, squareOf, squaresFor, TEXT_MAX } from "../model/earshot";

/** What a place calls its squares. */
const EARSHOT = { type: "PlaceEarshot" } as const;
/** So long words stand over who has said them: the more letters, the longer. */
const SHOWN_MS = 5_000;
const LETTER_MS = 60;
const LINES_MAX = 30;
const READY_MS = 3_000;

export interface Heard {
  readonly key: number;
  readonly who: string;
  readonly name: string;
  readonly kind: "words" | "wave";
  readonly text: string;
  readonly at_ms: number;
  readonly isOwn: boolean;
  readonly isToAll: boolean;
}

/** What one says, on its way to the node. */
type Uttered = readonly [
  kind: "words" | "wave",
  name: string,
  x: number,
  y: number,
  reach: number,
  text: string,
];

export interface NearbyParts {
  readonly session: Pick<Session, "attach" | "isSelf">;
  readonly place: string;
  readonly name: () => string;
  readonly now_ms: () => number;
  /** Something was heard, by oneself, too. */
  readonly heard: (one: Heard) => void;
}

export class Nearby {
  /** What was heard last, the newest at the end. */
  lines: readonly Heard[] = [];
  private readonly topics = new Map<string, Topic>();
  private at: Point = { x: 0, y: 0 };
  private nimbus: Nimbus = "";
  private count = 0;
  private isClosed = false;

  constructor(private readonly parts: NearbyParts) {}

  /** The person stands there now, in lengths of the place, and listens so far. */
  stand(at: Point, nimbus: Nimbus): void {
    const { x, y } = { x: Math.round(at.x), y: Math.round(at.y) };
    const isSame = this.topics.size > 0 && x === this.at.x && y === this.at.y;
    if (this.isClosed || (isSame && nimbus === this.nimbus)) return;
    this.at = { x, y };
    this.nimbus = nimbus;
    const needed = new Set(squaresFor(this.at, nimbus, this.topics.keys()));
    for (const square of needed) this.open(square);
    for (const [square, topic] of this.topics) {
      if (needed.has(square)) continue;
      this.topics.delete(square);
      topic.close();
    }
  }

  private open(square: string): Topic | null {
    const known = this.topics.get(square);
    if (known !== undefined) return known;
    const { session, place } = this.parts;
    try {
      const topic = session.attach<Topic>(Topic, `place/${place}/near/${square}`, EARSHOT.type);
      this.topics.set(square, topic);
      void this.listen(square, topic);
      return topic;
    } catch {
      return null; // the session has stopped, and says why
    }
  }

  private async listen(square: string, topic: Topic): Promise<void> {
    try {
      for await (const { who, value } of topic.events()) this.hear(who, value);
    } catch {
      // Too much came at once: what was said is gone.
    }
    if (this.topics.get(square) === topic) this.topics.delete(square);
  }

  private hear(who: string, value: unknown): void {
    const said = saidIn(value);
    const isOwn = this.parts.session.isSelf(who);
    if (said === null || this.isClosed || !(isOwn || isHeard(said, this.at, this.nimbus))) return;
    const { name, kind, text } = said;
    this.count += 1;
    const about = { who, name, kind, text, isOwn, isToAll: said.reach === 0 };
    const one = { key: this.count, at_ms: this.parts.now_ms(), ...about };
    this.lines = [...this.lines, one].slice(-LINES_MAX);
    this.parts.heard(one);
  }

  /** Says it to those who are near, or to all; raises CallError where it is not said (N2). */
  async say(text: string): Promise<void> {
    const clean = [...text.replace(/\s+/g, " ").trim()].slice(0, TEXT_MAX).join("");
    if (clean !== "") await this.utter("words", clean);
  }

  wave(): Promise<void> {
    return this.utter("wave", "");
  }

  private async utter(kind: "words" | "wave", text: string): Promise<void> {
    const { x, y } = this.at;
    const far = reach(this.nimbus);
    const topic = this.open(far === 0 ? ALL : squareOf({ x, y }));
    const said: Uttered = [kind, this.parts.name(), x, y, far, text];
    if (topic === null) throw notOpen();
    await Promise.race([topic.ready, late()]);
    await topic.publish(said);
  }

  /** What is still shown, the last one of each session; over their heads, and as a list. */
  fresh(now_ms: number): ReadonlyMap<string, Heard> {
    const found = new Map<string, Heard>();
    for (const one of this.lines) if (now_ms - one.at_ms < lasts(one)) found.set(one.who, one);
    return found;
  }

  close(): void {
    this.isClosed = true;
    for (const topic of this.topics.values()) topic.close();
    this.topics.clear();
  }
}

const notOpen = (): CallError => new CallError("not_open", "not_open");

/** A square that was just walked into is open soon; what waits for longer is not said at all. */
function late(): Promise<never> {
  return new Promise((_, reject) => setTimeout(() => reject(notOpen()), READY_MS));
}

/** How long it is shown, in milliseconds. */
export function lasts({ text }: Heard): number {
  return SHOWN_MS + LETTER_MS * text.length;
}

type Said = Point & Pick<Heard, "kind" | "name" | "text"> & { readonly reach: number };

/** Read with care; null where it is nothing of this form. */
function saidIn(value: unknown): Said | null {
  if (typeof value !== "object" || value === null) return null;
  const { kind, name, x, y, reach, text } = value as Record<string, unknown>;
  if (kind !== "words" && kind !== "wave") return null;
  if (typeof name !== "string" || typeof text !== "string") return null;
  const numbers = [x, y, reach].map(Number);
  if (!numbers.every(Number.isFinite)) return null;
  const [left, top, far] = numbers as [number, number, number];
  return { kind, name: name.slice(0, 80), text, x: left, y: top, reach: far };
}
