/** Pictures of the plane as textures: painted when they are needed, a few in each frame. */

import {
  CanvasTexture,
  CustomBlending,
  LinearFilter,
  LinearMipmapLinearFilter,
  MeshBasicMaterial,
  OneFactor,
  OneMinusSrcAlphaFactor,
  SRGBColorSpace,
  type Texture,
} from "three";
import type { Things } from "../../board/model/arrows";
import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { isSame } from "../model/tiles";
import { type Back, newCanvas, type Painter } from "./painter";

/** What a picture is to show. */
export interface Wanted {
  readonly box: Box;
  readonly things: readonly Thing[];
  readonly made: readonly unknown[];
  /** Pixels across. */
  readonly width: number;
  readonly back: Back;
}

/** Of a texture: larger ones are not had everywhere. */
const SIDE_MAX = 2_048;

export class Picture {
  readonly texture: CanvasTexture;
  private readonly canvas = newCanvas(1, 1);
  private made: readonly unknown[] = [];
  private wanted: Wanted | null = null;
  private width = 0;
  /** What was found to be painted already, and in which colours: it need not be compared again. */
  private known: readonly [made: readonly unknown[], theme: unknown] | null = null;

  constructor(anisotropy: number, back: Back) {
    this.texture = new CanvasTexture(this.canvas);
    this.texture.colorSpace = SRGBColorSpace;
    this.texture.anisotropy = anisotropy;
    this.texture.minFilter = LinearMipmapLinearFilter;
    this.texture.magFilter = LinearFilter;
    this.texture.premultiplyAlpha = back === "none";
  }

  want(wanted: Wanted): void {
    this.wanted = wanted;
  }

  isDue(painter: Painter): boolean {
    const { wanted } = this;
    if (wanted === null) return false;
    if (wanted.width !== this.width) return true;
    const { made, things } = wanted;
    if (this.known?.[0] === made && this.known[1] === painter.theme) return false;
    if (!isSame(painter.made(made, things), this.made)) return true;
    // Pictures come by and by, and documents change by themselves.
    const isLasting = !things.some(({ kind }) => kind === "picture" || kind === "card");
    this.known = isLasting ? [made, painter.theme] : null;
    return false;
  }

  paint(painter: Painter, all: Things): void {
    const { wanted, canvas, texture } = this;
    if (wanted === null) return;
    const { box, things, width, back } = wanted;
    const share = (box[3] - box[1]) / Math.max(1, box[2] - box[0]);
    const [across, down] = fitting(width, width * share);
    if (canvas.width !== across || canvas.height !== down) {
      canvas.width = across;
      canvas.height = down;
      // A texture keeps the size that it was made with.
      texture.dispose();
    }
    painter.draw(canvas, box, things, all, back);
    texture.needsUpdate = true;
    this.width = width;
    this.made = painter.made(wanted.made, things);
  }

  dispose(): void {
    this.texture.dispose();
    this.canvas.width = this.canvas.height = 0;
  }
}

function fitting(width: number, height: number): [number, number] {
  const share = Math.min(1, SIDE_MAX / width, SIDE_MAX / height);
  return [Math.max(1, Math.round(width * share)), Math.max(1, Math.round(height * share))];
}

/** Shows a picture that does not cover all of its area. */
export function see(map: Texture): MeshBasicMaterial {
  return new MeshBasicMaterial({
    map,
    transparent: true,
    depthWrite: false,
    // The picture's colours are multiplied by how much they cover: no dark edges.
    blending: CustomBlending,
    blendSrc: OneFactor,
    blendDst: OneMinusSrcAlphaFactor,
  });
}
