/** Lamps that are on: the nearest of them light what is about them, the others only shine. */

import { Group, PointLight } from "three";
import { isOn } from "../../board/model/settings";
import type { Thing } from "../../place/thing";
import { METRE } from "../model/metres";
import { bulbHeight } from "../model/parts";

/** Each costs with every pixel, also one that is off: there are always so many. */
const LIGHTS = 4;
const REACH = 10;
const COLOUR = "#ffd9a0";

export class Lamps {
  readonly group = new Group();
  private readonly lights = Array.from(
    { length: LIGHTS },
    () => new PointLight(COLOUR, 0, REACH, 2),
  );
  private strength = 8;

  constructor() {
    this.group.add(...this.lights);
  }

  recolour(isDark: boolean): void {
    this.strength = isDark ? 42 : 8;
  }

  /** `standing`: nearest first. */
  show(standing: readonly Thing[], origin: { readonly x: number; readonly y: number }): void {
    const lit = standing.filter((thing) => thing.kind === "light" && isOn(thing));
    this.lights.forEach((light, at) => {
      const lamp = lit[at];
      light.intensity = lamp === undefined ? 0 : this.strength;
      if (lamp === undefined) return;
      const up = lamp.z / METRE + bulbHeight(lamp);
      light.position.set(lamp.x / METRE - origin.x, up, lamp.y / METRE - origin.y);
    });
  }
}
