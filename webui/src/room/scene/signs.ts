/** Plates of signs: what the board shows of a vote, a link, a clock or a timer. */

import { type Group, PlaneGeometry } from "three";
import type { Point } from "../../board/model/geometry";
import type { Now } from "../../board/model/states";
import { radians } from "../../board/model/units";
import type { Thing } from "../../place/thing";
import { isTicking } from "../live/sayings";
import { isSign, plateOf } from "../model/forms";
import { METRE } from "../model/metres";
import type { Painter } from "./painter";
import { Panes } from "./panes";
import type { Surroundings } from "./surroundings";

/** The nearest have a picture; others are plates without one. */
const SIGNS_MAX = 20;
const SHARP = 260;
const EDGE = METRE / 50;

export class Signs {
  private readonly panes: Panes;

  constructor(
    surroundings: Surroundings,
    private readonly now: Now,
  ) {
    this.panes = new Panes(surroundings, new PlaneGeometry(1, 1));
  }

  get group(): Group {
    return this.panes.group;
  }

  /** `standing`: nearest first. */
  show(standing: readonly Thing[], origin: Point): void {
    const signs = standing.filter(isSign).slice(0, SIGNS_MAX);
    this.panes.keep(new Set(signs.map(({ id }) => id)));
    for (const sign of signs) this.place(sign, origin);
  }

  private place(thing: Thing, origin: Point): void {
    const { mesh, picture } = this.panes.of(thing.id);
    const { width, height, foot } = plateOf(thing);
    const turn = radians(thing.turn);
    const out = 0.025;
    mesh.position.set(
      thing.x / METRE - origin.x - out * Math.sin(turn),
      Math.max(0, thing.z / METRE) + foot + height / 2,
      thing.y / METRE - origin.y + out * Math.cos(turn),
    );
    mesh.rotation.y = -turn;
    const share = 1 + (2 * EDGE) / Math.max(1, thing.width);
    mesh.scale.set(width * share, height * share, 1);
    const [across, down] = [thing.width / 2 + EDGE, (thing.height / 2) * share];
    picture.want({
      box: [thing.x - across, thing.y - down, thing.x + across, thing.y + down],
      things: [{ ...thing, turn: 0 }],
      made: [thing, isTicking(thing) ? Math.floor(this.now.time_ms / 1_000) : 0],
      width: Math.round(width * SHARP),
      back: "none",
    });
  }

  due(painter: Painter): (() => void)[] {
    return this.panes.due(painter);
  }

  dispose(): void {
    this.panes.dispose();
  }
}
