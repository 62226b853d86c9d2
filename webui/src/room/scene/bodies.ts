/** Things that stand, drawn by very few calls: one mesh for each primitive, with a place for each part. */

import {
  BoxGeometry,
  type BufferGeometry,
  Color,
  CylinderGeometry,
  Group,
  InstancedMesh,
  type Material,
  Matrix4,
  MeshBasicMaterial,
  MeshLambertMaterial,
  PlaneGeometry,
  Quaternion,
  SphereGeometry,
  Vector3,
} from "three";
import type { Theme } from "../../board/model/palette";
import type { Thing } from "../../place/thing";
import { bodyOf } from "../model/forms";
import { type Part, type Primitive, partsOf } from "../model/parts";
import type { Textures } from "./textures";

/** A thing and where it stands in the scene. */
export interface Stood {
  readonly thing: Thing;
  readonly x: number;
  readonly y: number;
  readonly up: number;
  readonly heading: number;
}

/** So many parts of a primitive are drawn: those of the nearest things. */
const PARTS_MAX = 8_000;
const FIRST = 64;
const UP = new Vector3(0, 1, 0);
const SHADOW_UP = 0.015;
const SHADOW = "shadow";

export class Bodies {
  readonly group = new Group();
  private readonly meshes = new Map<string, InstancedMesh>();
  private readonly known = new WeakMap<Thing, { theme: Theme; parts: readonly Part[] }>();
  private readonly counts = new Map<string, number>();
  private readonly matrix = new Matrix4();
  private readonly turn = new Quaternion();
  private readonly place = new Vector3();
  private readonly size = new Vector3();
  private readonly colour = new Color();

  constructor(private readonly kit: BodyKit) {}

  /** These stand there now, the nearest first. */
  show(stood: readonly Stood[], theme: Theme): void {
    this.counts.clear();
    for (const one of stood) this.add(one, theme);
    for (const [key, mesh] of this.meshes) {
      mesh.count = this.counts.get(key) ?? 0;
      mesh.visible = mesh.count > 0;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor !== null) mesh.instanceColor.needsUpdate = true;
    }
  }

  private add({ thing, x, y, up, heading }: Stood, theme: Theme): void {
    this.turn.setFromAxisAngle(UP, -heading);
    for (const { form, at, size, colour, isLit } of this.partsOf(thing, theme)) {
      this.place.set(at[0], at[1], at[2]).applyQuaternion(this.turn);
      this.place.set(this.place.x + x, this.place.y + up, this.place.z + y);
      this.size.set(size[0], size[1], size[2]);
      this.put(`${form} ${isLit}`, colour);
    }
    const { across, deep } = bodyOf(thing);
    this.place.set(x, SHADOW_UP, y);
    this.size.set(across * 1.25 + 0.2, 1, deep * 1.25 + 0.2);
    this.put(SHADOW, null);
  }

  private partsOf(thing: Thing, theme: Theme): readonly Part[] {
    const found = this.known.get(thing);
    if (found?.theme === theme) return found.parts;
    const parts = partsOf(thing, theme);
    this.known.set(thing, { theme, parts });
    return parts;
  }

  private put(key: string, colour: string | null): void {
    const at = this.counts.get(key) ?? 0;
    if (at >= PARTS_MAX) return;
    const mesh = this.meshFor(key, at + 1);
    mesh.setMatrixAt(at, this.matrix.compose(this.place, this.turn, this.size));
    if (colour !== null) mesh.setColorAt(at, this.colour.set(colour));
    this.counts.set(key, at + 1);
  }

  private meshFor(key: string, count: number): InstancedMesh {
    const known = this.meshes.get(key);
    const room = known?.instanceMatrix.count ?? 0;
    if (known !== undefined && room >= count) return known;
    const { geometry, material } = this.kit.of(key);
    const mesh = new InstancedMesh(geometry, material, Math.max(FIRST, room * 2));
    // Parts lie all about: there is no box of theirs that could be out of sight.
    mesh.frustumCulled = false;
    if (key === SHADOW) mesh.renderOrder = 1;
    if (known !== undefined) {
      for (let at = 0; at < room; at++) {
        known.getMatrixAt(at, this.spare);
        mesh.setMatrixAt(at, this.spare);
        if (known.instanceColor === null) continue;
        known.getColorAt(at, this.spareColour);
        mesh.setColorAt(at, this.spareColour);
      }
      this.group.remove(known);
      known.dispose();
    }
    this.group.add(mesh);
    this.meshes.set(key, mesh);
    return mesh;
  }
  private readonly spare = new Matrix4();
  private readonly spareColour = new Color();

  dispose(): void {
    for (const mesh of this.meshes.values()) mesh.dispose();
  }
}

/** The primitives and what they are made of, shared by all bodies. */
export class BodyKit {
  private readonly geometries: Readonly<Record<Primitive | typeof SHADOW, BufferGeometry>>;
  private readonly plain = new MeshLambertMaterial();
  private readonly lit = new MeshBasicMaterial();
  private readonly shadow: Material;

  constructor(textures: Textures) {
    this.geometries = {
      box: new BoxGeometry(1, 1, 1),
      cylinder: new CylinderGeometry(0.5, 0.5, 1, 20),
      sphere: new SphereGeometry(0.5, 20, 14),
      // A lampshade rather than a hat.
      cone: new CylinderGeometry(0.28, 0.5, 1, 20),
      shadow: new PlaneGeometry(1, 1).rotateX(-Math.PI / 2),
    };
    this.shadow = textures.shadow;
  }

  of(key: string): { geometry: BufferGeometry; material: Material } {
    const [form = "box", isLit = ""] = key.split(" ");
    const geometry = this.geometries[form as Primitive];
    if (key === SHADOW) return { geometry, material: this.shadow };
    return { geometry, material: isLit === "true" ? this.lit : this.plain };
  }

  dispose(): void {
    for (const geometry of Object.values(this.geometries)) geometry.dispose();
    this.plain.dispose();
    this.lit.dispose();
  }
}
