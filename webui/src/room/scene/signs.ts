/** Plates of signs: what the board shows of a vote, a link, a clock or a timer. */

import { Group, Mesh, type MeshBasicMaterial, PlaneGeometry } from "three";
import type { Point } from "../../board/model/geometry";
import type { Now } from "../../board/model/states";
import { radians } from "../../board/model/units";
import type { Thing } from "../../place/thing";
import { isTicking } from "../live/sayings";
import { isSign, plateOf } from "../model/forms";
import { METRE } from "../model/metres";
import type { Painter } from "./painter";
import { Picture, see } from "./pictures";
import type { Surroundings } from "./surroundings";

/** The nearest have a picture; others are plates without one. */
const SIGNS_MAX = 20;
const SHARP = 260;
const EDGE = METRE / 50;

interface Shown {
  readonly mesh: Mesh<PlaneGeometry, MeshBasicMaterial>;
  readonly picture: Picture;
}

export class Signs {
  readonly group = new Group();
  private readonly shown = new Map<string, Shown>();
  private readonly plane = new PlaneGeometry(1, 1);

  constructor(
    private readonly surroundings: Surroundings,
    private readonly now: Now,
  ) {}

  /** `standing`: nearest first. */
  show(standing: readonly Thing[], origin: Point): void {
    const signs = standing.filter(isSign).slice(0, SIGNS_MAX);
    const here = new Set(signs.map(({ id }) => id));
    for (const [id, one] of this.shown) if (!here.has(id)) this.drop(id, one);
    for (const sign of signs) this.place(sign, origin);
  }

  private place(thing: Thing, origin: Point): void {
    const { mesh, picture } = this.one(thing.id);
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

  private one(id: string): Shown {
    const known = this.shown.get(id);
    if (known !== undefined) return known;
    const picture = new Picture(this.surroundings.anisotropy, "none");
    const mesh = new Mesh(this.plane, see(picture.texture));
    mesh.visible = false;
    this.group.add(mesh);
    const shown = { mesh, picture };
    this.shown.set(id, shown);
    return shown;
  }

  private drop(id: string, { mesh, picture }: Shown): void {
    this.shown.delete(id);
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
    for (const [id, one] of [...this.shown]) this.drop(id, one);
    this.plane.dispose();
  }
}
