/** Short texts that always look at who sees them: names of people, and what things say. */

import { CanvasTexture, Group, LinearFilter, Sprite, SpriteMaterial, SRGBColorSpace } from "three";
import { FONT } from "../../board/draw/paint";
import { newCanvas } from "./painter";

export interface Label {
  readonly key: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly up: number;
  readonly ink: string;
  readonly back: string;
}

const LABELS_MAX = 72;
const LETTERS_MAX = 28;
const SIZE = 44;
const PAD_X = 22;
const PAD_Y = 12;
/** Metres for a pixel of a label's picture. */
const SCALE = 0.0042;

interface Shown {
  readonly sprite: Sprite;
  readonly texture: CanvasTexture;
  readonly says: string;
  readonly width: number;
  readonly height: number;
}

export class Labels {
  readonly group = new Group();
  private readonly shown = new Map<string, Shown>();

  show(labels: readonly Label[]): void {
    const some = labels.slice(0, LABELS_MAX);
    const here = new Set(some.map(({ key }) => key));
    for (const [key, one] of this.shown) if (!here.has(key)) this.drop(key, one);
    for (const label of some) {
      const { sprite } = this.one(label);
      sprite.position.set(label.x, label.up, label.y);
    }
  }

  private one({ key, text, ink, back }: Label): Shown {
    const says = `${ink} ${back} ${text}`;
    const known = this.shown.get(key);
    if (known?.says === says) return known;
    if (known !== undefined) this.drop(key, known);
    const canvas = draw(shortened(text), ink, back);
    const texture = new CanvasTexture(canvas);
    texture.colorSpace = SRGBColorSpace;
    texture.minFilter = LinearFilter;
    texture.generateMipmaps = false;
    const sprite = new Sprite(new SpriteMaterial({ map: texture, fog: false }));
    sprite.scale.set(canvas.width * SCALE, canvas.height * SCALE, 1);
    sprite.center.set(0.5, 0);
    sprite.renderOrder = 3;
    const shown = { sprite, texture, says, width: canvas.width, height: canvas.height };
    this.group.add(sprite);
    this.shown.set(key, shown);
    return shown;
  }

  private drop(key: string, { sprite, texture }: Shown): void {
    this.shown.delete(key);
    this.group.remove(sprite);
    sprite.material.dispose();
    texture.dispose();
  }

  dispose(): void {
    for (const [key, one] of [...this.shown]) this.drop(key, one);
  }
}

export function shortened(text: string): string {
  const letters = [...text.replace(/\s+/g, " ").trim()];
  return letters.length > LETTERS_MAX
    ? `${letters.slice(0, LETTERS_MAX).join("")}…`
    : letters.join("");
}

function draw(text: string, ink: string, back: string): HTMLCanvasElement {
  const font = `600 ${SIZE}px ${FONT}`;
  const canvas = newCanvas(1, 1);
  const context = canvas.getContext("2d");
  if (context === null) return canvas;
  context.font = font;
  const width = Math.ceil(context.measureText(text).width) + 2 * PAD_X;
  canvas.width = width;
  canvas.height = SIZE + 2 * PAD_Y;
  context.font = font;
  context.fillStyle = back;
  context.beginPath();
  context.roundRect(0, 0, canvas.width, canvas.height, canvas.height / 2);
  context.fill();
  context.fillStyle = ink;
  context.textBaseline = "middle";
  context.fillText(text, PAD_X, canvas.height / 2 + 2);
  return canvas;
}
