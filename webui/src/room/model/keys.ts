/** The keys of the room: those that are held to walk, and what each of the others does. */

import { STILL, type Stride } from "./walker";

export type RoomAct =
  | { readonly do: "step"; readonly by: 1 | -1 }
  | { readonly do: "turn"; readonly by: 1 | -1 }
  | {
      readonly do: "use" | "carry" | "escape" | "eyes" | "board" | "wall" | "near" | "say" | "wave";
    };

export interface RoomKeyed {
  readonly key: string;
  readonly code: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** By their places on the keyboard, whatever letters these have. */
const WALKING: Readonly<Record<string, readonly [forward: number, aside: number, turn: number]>> = {
  ArrowUp: [1, 0, 0],
  ArrowDown: [-1, 0, 0],
  ArrowLeft: [0, 0, -1],
  ArrowRight: [0, 0, 1],
  KeyW: [1, 0, 0],
  KeyS: [-1, 0, 0],
  KeyA: [0, -1, 0],
  KeyD: [0, 1, 0],
};

export function isWalking({ code, ctrlKey, metaKey, altKey }: RoomKeyed): boolean {
  return Object.hasOwn(WALKING, code) && !ctrlKey && !metaKey && !altKey;
}

/** What a key does besides walking; null: it is the page's, or the browser's. */
export function roomActOf({ key, shiftKey, ctrlKey, metaKey, altKey }: RoomKeyed): RoomAct | null {
  if (ctrlKey || metaKey || altKey) return null;
  switch (key.length === 1 ? key.toLowerCase() : key) {
    case "Tab":
      return { do: "step", by: shiftKey ? -1 : 1 };
    case "Enter":
    case "e":
      return { do: "use" };
    case "g":
      return { do: "carry" };
    case "r":
      return { do: "turn", by: shiftKey ? -1 : 1 };
    case "v":
      return { do: "eyes" };
    case "o":
      return { do: "board" };
    case "u":
      return { do: "wall" };
    case "n":
      return { do: "near" };
    case "t":
      return { do: "say" };
    case "h":
      return { do: "wave" };
    case "Escape":
      return { do: "escape" };
    default:
      return null;
  }
}

/** Keys that are down at the same time, and a stick: how one walks. */
export class Steering {
  private readonly held = new Set<string>();
  private isRunning = false;
  private stick: readonly [forward: number, aside: number] = [0, 0];

  down({ code, shiftKey }: RoomKeyed): void {
    this.held.add(code);
    this.isRunning = shiftKey;
  }

  up({ code, shiftKey }: Pick<RoomKeyed, "code" | "shiftKey">): void {
    this.held.delete(code);
    this.isRunning = shiftKey;
  }

  /** Shift is down, or up again. */
  run(isRunning: boolean): void {
    this.isRunning = isRunning;
  }

  /** The page has no keys any more. */
  clear(): void {
    this.held.clear();
    this.stick = [0, 0];
  }

  /** Each from -1 to 1; a push to the end is a run. */
  push(forward: number, aside: number): void {
    this.stick = [forward, aside].map((one) => {
      return Number.isFinite(one) ? Math.min(1, Math.max(-1, one)) : 0;
    }) as [number, number];
  }

  get stride(): Stride {
    let [forward, aside, turn] = [this.stick[0], this.stick[1], 0];
    for (const code of this.held) {
      const [one, other, round] = WALKING[code] ?? [0, 0, 0];
      forward += one;
      aside += other;
      turn += round;
    }
    if (forward === 0 && aside === 0 && turn === 0) return STILL;
    const bounded = (value: number) => Math.min(1, Math.max(-1, value));
    const isRunning = this.isRunning || Math.hypot(...this.stick) > 0.95;
    return { forward: bounded(forward), aside: bounded(aside), turn: bounded(turn), isRunning };
  }

  /** What one key asks for, by itself. */
  static strideOf({ code }: Pick<RoomKeyed, "code">): Stride {
    const [forward, aside, turn] = WALKING[code] ?? [0, 0, 0];
    return { forward, aside, turn, isRunning: false };
  }
}
