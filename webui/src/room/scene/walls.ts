/** Panels that stand upright, with what hangs on them as one picture. */

import {
  BoxGeometry,
  Group,
  Mesh,
  MeshBasicMaterial,
  MeshLambertMaterial,
  PlaneGeometry,
} from "three";
import type { Point } from "../../board/model/geometry";
import { FOOT, PANEL_THICKNESS, type Panel } from "../model/forms";
import type { Layout } from "../model/layout";
import { madeOf } from "../model/tiles";
import type { Painter } from "./painter";
import { Picture } from "./pictures";
import type { Surroundings } from "./surroundings";

/** Pixels for a metre of a panel: for who stands before it, who comes near, and from afar. */
const SHARP = [
  [4.5, 300],
  [10, 150],
  [Number.POSITIVE_INFINITY, 60],
] as const;
const SLACK = 1.5;
const SIDE_MAX = 2_048;
/** About what is drawn: the edge of a frame lies on its line. */
const EDGE = 4 * 64;

interface Wall {
  readonly group: Group;
  readonly front: Mesh<PlaneGeometry, MeshBasicMaterial>;
  readonly back: Mesh<BoxGeometry, MeshLambertMaterial>;
  readonly picture: Picture;
  sharp: number;
}

export class Walls {
  readonly group = new Group();
  private readonly walls = new Map<string, Wall>();
  private readonly plane = new PlaneGeometry(1, 1);
  private readonly box = new BoxGeometry(1, 1, 1);
  private readonly wood = new MeshLambertMaterial({ color: "#9aa3b2" });

  constructor(private readonly surroundings: Surroundings) {}

  stand({ panels, hung }: Layout, at: Point, origin: Point): void {
    const here = new Set(panels.map(({ thing }) => thing.id));
    for (const [id, wall] of this.walls) if (!here.has(id)) this.drop(id, wall);
    for (const panel of panels) this.place(panel, hung, at, origin);
  }

  private place(panel: Panel, hung: Layout["hung"], at: Point, origin: Point): void {
    const { thing, width, height, scale } = panel;
    const wall = this.walls.get(thing.id) ?? this.make(thing.id);
    wall.group.position.set(panel.x - origin.x, 0, panel.y - origin.y);
    wall.group.rotation.y = -panel.heading;
    const middle = FOOT + height / 2;
    wall.back.position.set(0, middle, 0);
    wall.back.scale.set(width + 0.08, height + 0.08, PANEL_THICKNESS);
    wall.front.position.set(0, middle, PANEL_THICKNESS / 2 + 0.006);
    wall.front.scale.set(width, height, 1);
    const far = Math.hypot(panel.x - at.x, panel.y - at.y) - width / 3;
    wall.sharp = sharpFor(far, wall.sharp);
    // A panel is upright, however its thing is turned: it is drawn as it would lie unturned.
    const things = [thing, ...(hung.get(thing.id) ?? [])].map((one) => unturned(one, panel));
    const { surroundings } = this;
    const [across, down] = [width / 2 / scale, height / 2 / scale];
    wall.picture.want({
      box: [
        thing.x - across - EDGE,
        thing.y - down - EDGE,
        thing.x + across + EDGE,
        thing.y + down + EDGE,
      ],
      things,
      made: [thing, ...madeOf(hung.get(thing.id) ?? [], surroundings.things)],
      width: Math.min(SIDE_MAX, Math.max(32, width * wall.sharp)),
      back: "paper",
    });
  }

  private make(id: string): Wall {
    const picture = new Picture(this.surroundings.anisotropy, "paper");
    const front = new Mesh(this.plane, new MeshBasicMaterial({ map: picture.texture }));
    const back = new Mesh(this.box, this.wood);
    front.visible = false;
    const group = new Group();
    group.add(back, front);
    this.group.add(group);
    const wall: Wall = { group, front, back, picture, sharp: 0 };
    this.walls.set(id, wall);
    return wall;
  }

  private drop(id: string, { group, front, picture }: Wall): void {
    this.walls.delete(id);
    this.group.remove(group);
    front.material.dispose();
    picture.dispose();
  }

  due(painter: Painter): (() => void)[] {
    const found = [...this.walls.values()].filter(({ picture }) => picture.isDue(painter));
    found.sort((one, other) => other.sharp - one.sharp);
    return found.map(({ picture, front }) => () => {
      picture.paint(painter, this.surroundings.things);
      front.visible = true;
    });
  }

  recolour(isDark: boolean): void {
    this.wood.color.set(isDark ? "#4a5363" : "#aab2c0");
  }

  dispose(): void {
    for (const [id, wall] of [...this.walls]) this.drop(id, wall);
    this.plane.dispose();
    this.box.dispose();
    this.wood.dispose();
  }
}

function sharpFor(far: number, now: number): number {
  const at = (metre: number) => SHARP.find(([most]) => metre <= most)?.[1] ?? 60;
  return Math.max(at(far), Math.min(now, at(far - SLACK)));
}

function unturned(one: Panel["thing"], { thing }: Panel): Panel["thing"] {
  if (thing.turn === 0) return one;
  const angle = -(thing.turn / 64 / 180) * Math.PI;
  const [dx, dy] = [one.x - thing.x, one.y - thing.y];
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const turn = (((one.turn - thing.turn) % 23_040) + 23_040) % 23_040;
  return { ...one, x: thing.x + dx * cos - dy * sin, y: thing.y + dx * sin + dy * cos, turn };
}
