/** Shows what is in focus: a line about its foot, or about its edge where it hangs. */

import { BufferGeometry, Float32BufferAttribute, Group, LineBasicMaterial, LineLoop } from "three";
import { inside, type Point } from "../../board/model/geometry";
import type { Theme } from "../../board/model/palette";
import { radians } from "../../board/model/units";
import type { Thing } from "../../place/thing";
import {
  bodyOf,
  FOOT,
  isDrawn,
  isPanel,
  PANEL_THICKNESS,
  type Panel,
  panelOf,
} from "../model/forms";
import type { Layout } from "../model/layout";
import { METRE } from "../model/metres";

const AROUND = 0.07;
const UP = 0.03;

export class Mark {
  readonly group = new Group();
  private readonly material = new LineBasicMaterial({ fog: false });
  private readonly lines: LineLoop[];

  constructor() {
    const square = [-0.5, 0, -0.5, 0.5, 0, -0.5, 0.5, 0, 0.5, -0.5, 0, 0.5];
    // One line is as thin as a hair on most machines: three beside each other can be seen.
    this.lines = [0, 1, 2].map(() => {
      const geometry = new BufferGeometry().setAttribute(
        "position",
        new Float32BufferAttribute(square, 3),
      );
      return new LineLoop(geometry, this.material);
    });
    this.group.add(...this.lines);
    this.group.renderOrder = 4;
  }

  recolour({ accent }: Theme): void {
    this.material.color.set(accent);
  }

  show(thing: Thing | null, layout: Layout, origin: Point): void {
    this.group.visible = thing !== null;
    if (thing === null) return;
    const panel = layout.holders.get(thing.id) ?? (isPanel(thing) ? panelOf(thing) : null);
    if (panel === null) this.lie(thing, origin);
    else this.hang(thing, panel, origin);
  }

  private size(width: number, height: number): void {
    this.lines.forEach((line, at) => {
      const by = 2 * (AROUND + at * 0.014);
      line.scale.set(width + by, 1, height + by);
    });
  }

  private lie(thing: Thing, origin: Point): void {
    const { group } = this;
    const body = isDrawn(thing)
      ? { across: thing.width / METRE, deep: thing.height / METRE }
      : bodyOf(thing);
    const up = isDrawn(thing) ? 0 : Math.max(0, thing.z / METRE);
    group.position.set(thing.x / METRE - origin.x, UP + up, thing.y / METRE - origin.y);
    group.rotation.set(0, -radians(thing.turn), 0, "YXZ");
    this.size(body.across, body.deep);
  }

  private hang(thing: Thing, panel: Panel, origin: Point): void {
    const { group } = this;
    const at = thing.id === panel.thing.id ? { x: 0, y: 0 } : inside(thing, panel.thing);
    const [right, down] = [at.x * panel.scale, at.y * panel.scale];
    const out = PANEL_THICKNESS / 2 + UP;
    const [sin, cos] = [Math.sin(panel.heading), Math.cos(panel.heading)];
    const x = panel.x + right * cos - out * sin;
    const y = panel.y + right * sin + out * cos;
    group.position.set(x - origin.x, FOOT + panel.height / 2 - down, y - origin.y);
    group.rotation.set(Math.PI / 2, -panel.heading, 0, "YXZ");
    this.size(thing.width * panel.scale, thing.height * panel.scale);
  }

  dispose(): void {
    for (const { geometry } of this.lines) geometry.dispose();
    this.material.dispose();
  }
}
