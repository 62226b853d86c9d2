/** Drawings that float: what people carry and drag, and what lies over the floor. */

import { type Group, PlaneGeometry } from "three";
import type { Point } from "../../board/model/geometry";
import { METRE } from "../model/metres";
import type { Slab } from "../model/slabs";
import type { Painter } from "./painter";
import { Panes } from "./panes";
import type { Surroundings } from "./surroundings";

const SHARP = 160;
const SIDE_MAX = 1_024;

export class Slabs {
  private readonly panes: Panes;

  constructor(surroundings: Surroundings) {
    // Over what lies on the floor.
    this.panes = new Panes(surroundings, new PlaneGeometry(1, 1).rotateX(-Math.PI / 2), 2);
  }

  get group(): Group {
    return this.panes.group;
  }

  show(slabs: readonly Slab[], origin: Point): void {
    this.panes.keep(new Set(slabs.map(({ key }) => key)));
    for (const slab of slabs) {
      const { mesh, picture } = this.panes.of(slab.key);
      const [left, top, right, bottom] = slab.box;
      const [width, height] = [(right - left) / METRE, (bottom - top) / METRE];
      mesh.position.set(
        (left + right) / 2 / METRE - origin.x,
        slab.up,
        (top + bottom) / 2 / METRE - origin.y,
      );
      mesh.scale.set(width, 1, height);
      picture.want({
        ...slab,
        width: Math.round(Math.min(SIDE_MAX, Math.max(32, width * SHARP))),
        back: "none",
      });
    }
  }

  due(painter: Painter): (() => void)[] {
    return this.panes.due(painter);
  }

  dispose(): void {
    this.panes.dispose();
  }
}
