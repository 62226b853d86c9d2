/** Drawings that float: what people carry and drag, and what lies over the floor. */

import { Group, Mesh, type MeshBasicMaterial, PlaneGeometry } from "three";
import type { Point } from "../../board/model/geometry";
import { METRE } from "../model/metres";
import type { Slab } from "../model/slabs";
import type { Painter } from "./painter";
import { Picture, see } from "./pictures";
import type { Surroundings } from "./surroundings";

const SHARP = 160;
const SIDE_MAX = 1_024;

interface Shown {
  readonly mesh: Mesh<PlaneGeometry, MeshBasicMaterial>;
  readonly picture: Picture;
}

export class Slabs {
  readonly group = new Group();
  private readonly shown = new Map<string, Shown>();
  private readonly plane = new PlaneGeometry(1, 1).rotateX(-Math.PI / 2);

  constructor(private readonly surroundings: Surroundings) {}

  show(slabs: readonly Slab[], origin: Point): void {
    const here = new Set(slabs.map(({ key }) => key));
    for (const [key, one] of this.shown) if (!here.has(key)) this.drop(key, one);
    for (const slab of slabs) {
      const { mesh, picture } = this.one(slab.key);
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

  private one(key: string): Shown {
    const known = this.shown.get(key);
    if (known !== undefined) return known;
    const picture = new Picture(this.surroundings.anisotropy, "none");
    const mesh = new Mesh(this.plane, see(picture.texture));
    mesh.renderOrder = 2;
    mesh.visible = false;
    this.group.add(mesh);
    const shown = { mesh, picture };
    this.shown.set(key, shown);
    return shown;
  }

  private drop(key: string, { mesh, picture }: Shown): void {
    this.shown.delete(key);
    this.group.remove(mesh);
    mesh.material.dispose();
    picture.dispose();
  }

  due(painter: Painter): (() => void)[] {
    const found = [...this.shown.values()].filter(({ picture }) => picture.isDue(painter));
    return found.map(({ mesh, picture }) => () => {
      picture.paint(painter, this.surroundings.things);
      mesh.visible = true;
    });
  }

  dispose(): void {
    for (const [key, one] of [...this.shown]) this.drop(key, one);
    this.plane.dispose();
  }
}
