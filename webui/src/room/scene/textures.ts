/** Pictures that many parts of the scene share: a soft shadow. */

import { CanvasTexture, MeshBasicMaterial } from "three";
import { newCanvas } from "./painter";

const SIDE = 64;

export class Textures {
  /** Lies below what stands: there are no other shadows, so that any machine can draw the room. */
  readonly shadow: MeshBasicMaterial;
  private readonly soft: CanvasTexture;

  constructor() {
    const canvas = newCanvas(SIDE, SIDE);
    const context = canvas.getContext("2d");
    if (context !== null) {
      const half = SIDE / 2;
      const fade = context.createRadialGradient(half, half, 0, half, half, half);
      fade.addColorStop(0, "rgb(0 0 0 / 42%)");
      fade.addColorStop(0.55, "rgb(0 0 0 / 24%)");
      fade.addColorStop(1, "rgb(0 0 0 / 0%)");
      context.fillStyle = fade;
      context.fillRect(0, 0, SIDE, SIDE);
    }
    this.soft = new CanvasTexture(canvas);
    this.shadow = new MeshBasicMaterial({ map: this.soft, transparent: true, depthWrite: false });
  }

  dispose(): void {
    this.soft.dispose();
    this.shadow.dispose();
  }
}
