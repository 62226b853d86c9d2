/** Puts a thing that acts, or a piece of furniture, where one presses. */

import type { Thing } from "../../place/thing";
import { asMap, type Desk, IDLE, type Press, type Tool } from "./tool";

/** Kinds that are of no use before something about them is known: their settings are asked for. */
const ASKED: ReadonlySet<string> = new Set(["vote", "door", "link", "timer", "card"]);

export class ActingTool implements Tool {
  readonly cursor = "copy";

  constructor(private readonly desk: Desk) {}

  down(): void {
    this.desk.select([]);
  }

  move(press: Press): void {
    this.hover(press);
  }

  hover(press: Press): void {
    const made = this.make(press);
    if (made !== null) this.desk.show({ drafts: asMap([{ ...made, id: "~" }]) });
  }

  private make({ at }: Press): Thing | null {
    const { desk } = this;
    const { maker } = desk;
    return maker?.make(at, desk.lookOf(maker.kind), desk.nextOrder) ?? null;
  }

  up(press: Press): void {
    const { desk } = this;
    desk.show(IDLE);
    const thing = this.make(press);
    if (thing === null) return;
    desk.put([thing]);
    desk.select([thing.id]);
    desk.finished();
    if (ASKED.has(thing.kind)) desk.write(thing.id);
  }

  cancel(): void {
    this.desk.show(IDLE);
  }
}
