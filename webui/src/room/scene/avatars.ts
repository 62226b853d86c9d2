/** People in the room: a figure for each, and a marker for those who are on the board. */

import {
  BoxGeometry,
  type BufferGeometry,
  CapsuleGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshLambertMaterial,
  PlaneGeometry,
  SphereGeometry,
} from "three";
import type { Theme } from "../../board/model/palette";
import type { Companion, Figure } from "../model/company";
import type { Textures } from "./textures";

/** The nearest are drawn. */
export const AVATARS_MAX = 120;
const MARKER = "marker";
/** Colours of names are dark by day, to be written on: a body has more light. */
const PALER = 0.07;
const WHITE = new Color("#ffffff");

interface Shown {
  readonly group: Group;
  readonly colour: number;
  readonly looks: string;
}

/** Over the feet: where a name stands. */
export function nameHeight({ isOnBoard }: Pick<Companion, "isOnBoard">): number {
  return isOnBoard ? 1.35 : 1.95;
}

export class Avatars {
  readonly group = new Group();
  private readonly shown = new Map<string, Shown>();
  private readonly geometries: Readonly<
    Record<Figure | typeof MARKER | "head" | "eye" | "shadow", BufferGeometry>
  >;
  private readonly skins: MeshLambertMaterial[] = [];
  private readonly eyes = new MeshLambertMaterial({ color: "#151a24" });

  constructor(private readonly textures: Textures) {
    this.geometries = {
      capsule: new CapsuleGeometry(0.3, 0.7, 6, 18).translate(0, 0.65, 0),
      bell: new CylinderGeometry(0.14, 0.42, 1.25, 22).translate(0, 0.63, 0),
      robot: new BoxGeometry(0.6, 1.05, 0.4).translate(0, 0.68, 0),
      egg: new SphereGeometry(0.5, 22, 16).scale(0.78, 1.3, 0.78).translate(0, 0.66, 0),
      marker: new ConeGeometry(0.22, 0.55, 4).rotateX(Math.PI).translate(0, 0.75, 0),
      head: new SphereGeometry(0.26, 20, 14),
      eye: new SphereGeometry(0.05, 10, 8),
      shadow: new PlaneGeometry(1.15, 1.15).rotateX(-Math.PI / 2),
    };
  }

  recolour({ people }: Theme): void {
    people.forEach((colour, at) => {
      const skin = this.skins[at] ?? new MeshLambertMaterial();
      if (colour !== "") skin.color.set(colour).lerp(WHITE, PALER);
      this.skins[at] = skin;
    });
  }

  show(people: readonly Companion[], origin: { readonly x: number; readonly y: number }): void {
    const some = people.slice(0, AVATARS_MAX);
    const here = new Set(some.map(({ who }) => who));
    for (const [who, one] of this.shown) if (!here.has(who)) this.drop(who, one);
    for (const person of some) {
      const { group } = this.one(person);
      group.position.set(person.pose.x - origin.x, 0, person.pose.y - origin.y);
      group.rotation.y = -person.pose.heading;
    }
  }

  private one(person: Companion): Shown {
    const looks = person.isOnBoard ? MARKER : person.figure;
    const known = this.shown.get(person.who);
    if (known?.looks === looks) return known;
    if (known !== undefined) this.drop(person.who, known);
    const skin = this.skins[person.colour] ?? this.eyes;
    const group = new Group();
    group.add(new Mesh(this.geometries[looks], skin), this.shadow(person.isOnBoard));
    if (!person.isOnBoard) group.add(...this.head(person.figure, skin));
    this.group.add(group);
    const shown: Shown = { group, colour: person.colour, looks };
    this.shown.set(person.who, shown);
    return shown;
  }

  /** Who looks to where it is turned. */
  private head(figure: Figure, skin: MeshLambertMaterial): Mesh[] {
    const up = { capsule: 1.5, bell: 1.42, robot: 1.42, egg: 1.08 }[figure];
    const out = { capsule: 0.24, bell: 0.24, robot: 0.24, egg: 0.33 }[figure];
    const found: Mesh[] = [];
    if (figure !== "egg") {
      const head = new Mesh(this.geometries.head, skin);
      head.position.y = up;
      if (figure === "robot") head.scale.set(1, 0.85, 0.9);
      found.push(head);
    }
    for (const side of [-1, 1]) {
      const eye = new Mesh(this.geometries.eye, this.eyes);
      eye.position.set(side * 0.1, up + 0.05, -out);
      found.push(eye);
    }
    return found;
  }

  private shadow(isSmall: boolean): Mesh {
    const shadow = new Mesh(this.geometries.shadow, this.textures.shadow);
    shadow.position.y = 0.02;
    shadow.renderOrder = 1;
    if (isSmall) shadow.scale.setScalar(0.5);
    return shadow;
  }

  private drop(who: string, { group }: Shown): void {
    this.shown.delete(who);
    this.group.remove(group);
  }

  dispose(): void {
    for (const geometry of Object.values(this.geometries)) geometry.dispose();
    for (const skin of this.skins) skin.dispose();
    this.eyes.dispose();
  }
}
