/** Flat meshes with a painted picture each, by a key: plates of signs, and drawings that float. */

import { Group, Mesh, type MeshBasicMaterial, type PlaneGeometry } from "three";
import type { Painter } from "./painter";
import { Picture, see } from "./pictures";
import type { Surroundings } from "./surroundings";

export interface Pane {
  readonly mesh: Mesh<PlaneGeometry, MeshBasicMaterial>;
  readonly picture: Picture;
}

export class Panes {
  readonly group = new Group();
  private readonly shown = new Map<string, Pane>();

  /** `plane`: the shape of all of them, which is disposed of with them. */
  constructor(
    private readonly surroundings: Surroundings,
    private readonly plane: PlaneGeometry,
    private readonly renderOrder = 0,
  ) {}

  /** All but those of these keys go. */
  keep(keys: ReadonlySet<string>): void {
    for (const [key, pane] of this.shown) if (!keys.has(key)) this.drop(key, pane);
  }

  /** The pane of this key; a new one is not seen before it is painted. */
  of(key: string): Pane {
    const known = this.shown.get(key);
    if (known !== undefined) return known;
    const picture = new Picture(this.surroundings.anisotropy, "none");
    const mesh = new Mesh(this.plane, see(picture.texture));
    mesh.renderOrder = this.renderOrder;
    mesh.visible = false;
    this.group.add(mesh);
    const pane = { mesh, picture };
    this.shown.set(key, pane);
    return pane;
  }

  private drop(key: string, { mesh, picture }: Pane): void {
    this.shown.delete(key);
    this.group.remove(mesh);
    mesh.material.dispose();
    picture.dispose();
  }

  /** What is to be painted, a pane each. */
  due(painter: Painter): (() => void)[] {
    const found = [...this.shown.values()].filter(({ picture }) => picture.isDue(painter));
    return found.map(({ mesh, picture }) => () => {
      picture.paint(painter, this.surroundings.things);
      mesh.visible = true;
    });
  }

  dispose(): void {
    this.keep(new Set());
    this.plane.dispose();
  }
}
