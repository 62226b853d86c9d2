/** The floor: one area without an end, and a picture for each square on which something lies. */

import {
  CanvasTexture,
  Group,
  Mesh,
  MeshLambertMaterial,
  PlaneGeometry,
  RepeatWrapping,
  SRGBColorSpace,
} from "three";
import type { Point } from "../../board/model/geometry";
import { METRE, metres } from "../model/metres";
import { distanceTo } from "../model/sight";
import { TILE, type Tile } from "../model/tiles";
import { drawGrid, newCanvas, type Painter } from "./painter";
import { Picture } from "./pictures";
import type { Surroundings } from "./surroundings";

const REACH = 400;
const SIZES = [1_024, 512, 256] as const;
/** Up to so many metres a square is so sharp. */
const NEAR = [5, 14] as const;
/** What becomes less sharp does so a little further away. */
const SLACK = 3;
/** 32 units are a step of the grid: 800 units of a square are 25 of them. */
const GRID_PIXELS = 800;

interface Square {
  readonly tile: Tile;
  readonly mesh: Mesh<PlaneGeometry, MeshLambertMaterial>;
  readonly picture: Picture;
  size: number;
}

export class Floor {
  readonly group = new Group();
  private readonly squares = new Map<string, Square>();
  private readonly plane = new PlaneGeometry(TILE, TILE).rotateX(-Math.PI / 2);
  private readonly base: Mesh<PlaneGeometry, MeshLambertMaterial>;
  private readonly grid: CanvasTexture;

  constructor(private readonly surroundings: Surroundings) {
    this.grid = new CanvasTexture(newCanvas(GRID_PIXELS, GRID_PIXELS));
    this.grid.wrapS = this.grid.wrapT = RepeatWrapping;
    this.grid.colorSpace = SRGBColorSpace;
    this.grid.anisotropy = surroundings.anisotropy;
    this.grid.repeat.set((2 * REACH) / TILE, (2 * REACH) / TILE);
    // Squares lie on it: it is drawn as if it lay a little lower.
    const material = new MeshLambertMaterial({
      map: this.grid,
      polygonOffset: true,
      polygonOffsetFactor: 2,
      polygonOffsetUnits: 2,
    });
    const area = new PlaneGeometry(2 * REACH, 2 * REACH).rotateX(-Math.PI / 2);
    this.base = new Mesh(area, material);
    this.group.add(this.base);
  }

  recolour(painter: Painter): void {
    const canvas = this.grid.image as HTMLCanvasElement;
    const context = canvas.getContext("2d");
    if (context === null) return;
    context.fillStyle = painter.theme.back;
    context.fillRect(0, 0, GRID_PIXELS, GRID_PIXELS);
    const side = TILE * METRE;
    drawGrid(context, GRID_PIXELS, 1, [0, 0, side, side], painter.theme);
    this.grid.needsUpdate = true;
  }

  /** These lie there now, seen from a point in metres. */
  lay(tiles: ReadonlyMap<string, Tile>, at: Point, origin: Point): void {
    const whole = (value: number) => Math.round(value / TILE) * TILE;
    this.base.position.set(whole(at.x) - origin.x, 0, whole(at.y) - origin.y);
    for (const [key, square] of this.squares) if (!tiles.has(key)) this.drop(key, square);
    for (const [key, tile] of tiles) this.place(key, tile, at, origin);
  }

  private place(key: string, tile: Tile, at: Point, origin: Point): void {
    const { squares } = this;
    const known = squares.get(key);
    const far = metres(distanceTo(tile.box, at.x * METRE, at.y * METRE));
    const size = sizeFor(far, known?.size ?? 0);
    const picture = known?.picture ?? new Picture(this.surroundings.anisotropy, "floor");
    const mesh =
      known?.mesh ?? new Mesh(this.plane, new MeshLambertMaterial({ map: picture.texture }));
    if (known === undefined) {
      mesh.visible = false;
      this.group.add(mesh);
    }
    const half = TILE / 2;
    mesh.position.set(
      metres(tile.box[0]) + half - origin.x,
      0,
      metres(tile.box[1]) + half - origin.y,
    );
    picture.want({ ...tile, width: size, back: "floor" });
    squares.set(key, { tile, mesh, picture, size });
  }

  private drop(key: string, { mesh, picture }: Square): void {
    this.squares.delete(key);
    this.group.remove(mesh);
    mesh.material.dispose();
    picture.dispose();
  }

  /** Pictures that are to be painted, the sharper ones first. */
  due(painter: Painter): (() => void)[] {
    const found = [...this.squares.values()].filter(({ picture }) => picture.isDue(painter));
    found.sort((one, other) => other.size - one.size);
    return found.map(({ picture, mesh }) => () => {
      picture.paint(painter, this.surroundings.things);
      mesh.visible = true;
    });
  }

  dispose(): void {
    for (const [key, square] of [...this.squares]) this.drop(key, square);
    this.base.geometry.dispose();
    this.base.material.dispose();
    this.plane.dispose();
    this.grid.dispose();
  }
}

function sizeFor(far: number, now: number): number {
  const place = NEAR.findIndex((most) => far <= most);
  const wanted = SIZES[place < 0 ? SIZES.length - 1 : place] ?? SIZES[2];
  if (wanted >= now) return wanted;
  const slack = NEAR.findIndex((most) => far - SLACK <= most);
  return SIZES[slack < 0 ? SIZES.length - 1 : slack] ?? wanted;
}
