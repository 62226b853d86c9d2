/** Puts a thing that acts, or a piece of furniture, where one presses. */

import type { Thing } from "../../place/thing";
import { isAskedFor, kindOf, newActing } from "../model/make-acting";
import { asMap, type Desk, IDLE, type Press, type Tool } from "./tool";

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
    this.desk.show({ drafts: asMap([{ ...this.make(press), id: "~" }]) });
  }

  private make({ at }: Press): Thing {
    const { desk } = this;
    return newActing(desk.made, at, desk.lookOf(kindOf(desk.made)), desk.nextOrder);
  }

  up(press: Press): void {
    const { desk } = this;
    desk.show(IDLE);
    const thing = this.make(press);
    desk.put([thing]);
    desk.select([thing.id]);
    desk.finished();
    if (isAskedFor(thing)) desk.write(thing.id);
  }

  cancel(): void {
    this.desk.show(IDLE);
  }
}
