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
  /** So many at most; without, one. */
  readonly lines?: number;
}

const LABELS_MAX = 72;
const LETTERS_MAX = 28;
const SIZE = 44;
const LINE = 52;
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

  private one({ key, text, ink, back, lines = 1 }: Label): Shown {
    const says = `${ink} ${back} ${text}`;
    const known = this.shown.get(key);
    if (known?.says === says) return known;
    if (known !== undefined) this.drop(key, known);
    const canvas = draw(lines === 1 ? [shortened(text)] : wrapped(text, lines), ink, back);
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

/** Broken between words where that can be; what is too long ends with dots. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  let rest = [...text.replace(/\s+/g, " ").trim()];
  while (rest.length > LETTERS_MAX && lines.length < most - 1) {
    const blank = rest.slice(0, LETTERS_MAX + 1).lastIndexOf(" ");
    const end = blank > 0 ? blank : LETTERS_MAX;
    lines.push(rest.slice(0, end).join(""));
    rest = rest.slice(blank > 0 ? end + 1 : end);
  }
  return [...lines, shortened(rest.join(""))];
}

function draw(lines: readonly string[], ink: string, back: string): HTMLCanvasElement {
  const font = `600 ${SIZE}px ${FONT}`;
  const canvas = newCanvas(1, 1);
  const context = canvas.getContext("2d");
  if (context === null) return canvas;
  context.font = font;
  const widths = lines.map((line) => context.measureText(line).width);
  canvas.width = Math.ceil(Math.max(...widths)) + 2 * PAD_X;
  canvas.height = SIZE + 2 * PAD_Y + (lines.length - 1) * LINE;
  context.font = font;
  context.fillStyle = back;
  context.beginPath();
  context.roundRect(0, 0, canvas.width, canvas.height, SIZE / 2 + PAD_Y);
  context.fill();
  context.fillStyle = ink;
  context.textBaseline = "middle";
  const middle = PAD_Y + SIZE / 2 + 2;
  for (const [at, line] of lines.entries()) context.fillText(line, PAD_X, middle + at * LINE);
  return canvas;
}
