/** The room on a canvas: its picture, its frames, and what becomes of both when the card loses them. */

import { canvasMeasure } from "../../board/draw/paint";
import type { BoardController } from "../../board/live/controller";
import type { Point } from "../../board/model/geometry";
import type { Theme } from "../../board/model/palette";
import { colourOf } from "../../people";
import type { Room } from "../live/room";
import { labelOf } from "../live/sayings";
import { type Companion, figureOf } from "../model/company";
import { Steering } from "../model/keys";
import type { Picked, Ray } from "../model/pick";
import { Sharpness } from "../model/sharpness";
import { RoomScene } from "../scene/scene";
import { Loop } from "./loop";

export interface RoomViewOwner {
  /** A frame was drawn. */
  drawn(): void;
  lost(): void;
  back(): void;
  /** What stands over somebody beside their name; "": nothing. */
  wordsOf(who: string): string;
  /** What people are called over their heads. */
  nameOf(person: Companion): string;
}

/** One that is told apart from those that three.js asks for by itself. */
function contextOf(canvas: HTMLCanvasElement): WebGL2RenderingContext | null {
  const how = {
    alpha: false,
    antialias: true,
    stencil: false,
    powerPreference: "default",
  } as const;
  return canvas.getContext("webgl2", how) as WebGL2RenderingContext | null;
}

export class RoomView {
  readonly steering = new Steering();
  private readonly sharpness = new Sharpness();
  /** The next frame is the last one, with all pixels. */
  private isResting = false;
  /** The frame before has asked for the next one. */
  private goesOn = false;
  private scene: RoomScene | null;
  private readonly loop: Loop;
  private readonly stop = new AbortController();

  private constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly context: WebGL2RenderingContext,
    private readonly controller: BoardController,
    private readonly room: Room,
    private theme: Theme,
    private readonly owner: RoomViewOwner,
  ) {
    this.scene = this.build();
    this.loop = new Loop(() => this.frame());
    const { signal } = this.stop;
    canvas.addEventListener("webglcontextlost", (event) => this.onLost(event), { signal });
    canvas.addEventListener("webglcontextrestored", () => this.onBack(), { signal });
  }

  /** null: this browser draws nothing of this kind. */
  static open(
    canvas: HTMLCanvasElement,
    controller: BoardController,
    room: Room,
    theme: Theme,
    owner: RoomViewOwner,
  ): RoomView | null {
    const context = contextOf(canvas);
    if (context === null || context.isContextLost()) return null;
    return new RoomView(canvas, context, controller, room, theme, owner);
  }

  private build(): RoomScene {
    const { controller, context, theme } = this;
    const { who } = controller.session;
    const about = { who, name: "", isIdle: false, isOnBoard: false, nimbus: "" } as const;
    const pose = { x: 0, y: 0, heading: 0 };
    return new RoomScene(this.canvas, {
      context,
      theme,
      measure: canvasMeasure(),
      images: (picture) => controller.album.image(picture),
      now: controller.acting,
      says: (thing) => labelOf(thing, controller.acting),
      wordsOf: (who) => this.owner.wordsOf(who),
      nameOf: (person) => this.owner.nameOf(person),
      self: () => ({ ...about, colour: colourOf(who), figure: figureOf(who), pose }),
    });
  }

  private onLost(event: Event): void {
    // Otherwise it never comes back.
    event.preventDefault();
    this.scene?.dispose();
    this.scene = null;
    this.owner.lost();
  }

  private onBack(): void {
    this.scene = this.build();
    this.resize();
    this.owner.back();
    this.ask();
  }

  recolour(theme: Theme): void {
    this.theme = theme;
    this.scene?.recolour(theme);
    this.ask();
  }

  resize(): void {
    this.sharpness.reset();
    this.fit();
    this.ask();
  }

  private fit(): void {
    const { clientWidth, clientHeight } = this.canvas;
    this.scene?.resize(clientWidth, clientHeight, this.sharpness.share);
  }

  /** Something is another one. */
  ask(): void {
    this.loop.ask();
  }

  private frame(): boolean {
    const { scene, room, steering } = this;
    if (scene === null) return false;
    const now_ms = performance.now();
    const isMoving = room.advance(now_ms, steering.stride);
    if (!this.isResting && this.sharpness.begin(now_ms, this.goesOn)) this.fit();
    const isDue = scene.draw(room, now_ms);
    this.owner.drawn();
    const isOver = !isMoving && !isDue;
    this.isResting = isOver && this.sharpness.rest();
    if (this.isResting) this.fit();
    this.goesOn = !isOver || this.isResting;
    return this.goesOn;
  }

  private ray({ x, y }: Point): Ray | null {
    const { clientWidth, clientHeight } = this.canvas;
    if (clientWidth === 0 || clientHeight === 0) return null;
    return this.scene?.ray((x / clientWidth) * 2 - 1, 1 - (y / clientHeight) * 2) ?? null;
  }

  /** What lies under a point of the canvas, in its pixels. */
  picked(at: Point): Picked | null {
    const ray = this.ray(at);
    return ray === null ? null : this.room.picked(ray);
  }

  close(): void {
    this.stop.abort();
    this.loop.stop();
    this.scene?.dispose();
    this.scene = null;
  }
}
