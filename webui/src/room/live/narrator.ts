/** Says what is in front of somebody who walks, and who is near: when they have come to rest. */

import { listed } from "../../words/formats";
import { roomWords } from "../../words/room";
import type { Companion } from "../model/company";
import type { Pose } from "../model/tracks";

/** Who passes by is not told of all that they pass. */
const REST_MS = 450;
/** So near people are told of, in metres; and so far that they are not any more. */
const NEAR = 4;
const OUT = 6;
const NAMED_MAX = 4;

export class Narrator {
  private before = "";
  private waiting = "";
  private isWaiting = false;
  private readonly near = new Set<string>();
  private news = "";

  constructor(
    private readonly after: (delay_ms: number, act: () => void) => void,
    private readonly say: (text: string) => void,
  ) {}

  /** `front`: what is in front, in words; "": nothing. */
  look(front: string, people: readonly Companion[], at: Pick<Pose, "x" | "y">): void {
    this.meet(people, at);
    if (front === this.waiting) return;
    this.waiting = front;
    this.wait();
  }

  private meet(people: readonly Companion[], at: Pick<Pose, "x" | "y">): void {
    const far = ({ pose }: Companion) => Math.hypot(pose.x - at.x, pose.y - at.y);
    const inRoom = people.filter(({ isOnBoard }) => !isOnBoard);
    const here = new Set(inRoom.map(({ who }) => who));
    let hasChanged = false;
    for (const who of [...this.near]) {
      const one = inRoom.find((person) => person.who === who);
      if (one !== undefined && here.has(who) && far(one) <= OUT) continue;
      this.near.delete(who);
      hasChanged = true;
    }
    for (const one of inRoom) {
      if (this.near.has(one.who) || far(one) > NEAR) continue;
      this.near.add(one.who);
      hasChanged = true;
    }
    if (!hasChanged) return;
    const names = inRoom.filter(({ who }) => this.near.has(who)).map(({ name }) => name);
    const [first] = names;
    this.news =
      first === undefined
        ? roomWords.nobodyNear
        : roomWords.isNear(listed(names.slice(0, NAMED_MAX)), names.length);
    this.wait();
  }

  private wait(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    const { waiting } = this;
    this.after(REST_MS, () => {
      this.isWaiting = false;
      if (this.waiting !== waiting) this.wait();
      else this.tell();
    });
  }

  private tell(): void {
    const { news, waiting, before } = this;
    this.news = "";
    this.before = waiting;
    const said = [news, waiting === before ? "" : waiting].filter((text) => text !== "").join(" ");
    if (said !== "") this.say(said);
  }
}
