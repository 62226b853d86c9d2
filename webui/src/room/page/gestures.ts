/** Mouse and fingers on the room: a drag looks around, a press goes there or uses what is there. */

import type { Point } from "../../board/model/geometry";

export interface RoomGestureOwner {
  /** Pixels. */
  look(dx: number, dy: number): void;
  /** In pixels of the element; `count`: how often one has pressed here. */
  press(at: Point, count: number): void;
  zoomed(isNearer: boolean): void;
}

/** A press that goes further is a drag. */
const STILL_PX = { mouse: 5, touch: 12 } as const;
const AGAIN_MS = 400;
const AGAIN_PX = 24;

export class RoomGestures {
  private dragged: { id: number; start: Point; last: Point; isDrag: boolean } | null = null;
  private before: { at: Point; time: number; count: number } | null = null;

  constructor(
    private readonly element: HTMLElement,
    private readonly owner: RoomGestureOwner,
  ) {}

  /** Listens from now on; undone by what it gives. */
  start(): () => void {
    const { element } = this;
    const stop = new AbortController();
    const on = <K extends keyof HTMLElementEventMap>(
      name: K,
      act: (event: HTMLElementEventMap[K]) => void,
    ) => element.addEventListener(name, act, { signal: stop.signal, passive: false });
    on("pointerdown", (event) => this.down(event));
    on("pointermove", (event) => this.move(event));
    on("pointerup", (event) => this.up(event));
    on("pointercancel", () => {
      this.dragged = null;
    });
    on("wheel", (event) => {
      event.preventDefault();
      if (event.deltaY !== 0) this.owner.zoomed(event.deltaY < 0);
    });
    on("contextmenu", (event) => event.preventDefault());
    return () => stop.abort();
  }

  private at({ clientX, clientY }: MouseEvent): Point {
    const { left, top } = this.element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  private down(event: PointerEvent): void {
    if (this.dragged !== null) return;
    const at = this.at(event);
    try {
      this.element.setPointerCapture(event.pointerId);
    } catch {
      // It is gone already.
    }
    this.dragged = { id: event.pointerId, start: at, last: at, isDrag: false };
  }

  private move(event: PointerEvent): void {
    const { dragged } = this;
    if (dragged?.id !== event.pointerId) return;
    const at = this.at(event);
    const still = event.pointerType === "touch" ? STILL_PX.touch : STILL_PX.mouse;
    const far = Math.hypot(at.x - dragged.start.x, at.y - dragged.start.y);
    if (!dragged.isDrag && far < still) return;
    dragged.isDrag = true;
    this.owner.look(at.x - dragged.last.x, at.y - dragged.last.y);
    dragged.last = at;
  }

  private up(event: PointerEvent): void {
    const { dragged } = this;
    if (dragged?.id !== event.pointerId) return;
    this.dragged = null;
    if (dragged.isDrag || event.button === 2) return;
    const at = this.at(event);
    const { before } = this;
    const isAgain =
      before !== null &&
      event.timeStamp - before.time < AGAIN_MS &&
      Math.hypot(at.x - before.at.x, at.y - before.at.y) < AGAIN_PX;
    const count = isAgain ? before.count + 1 : 1;
    this.before = { at, time: event.timeStamp, count };
    this.owner.press(at, count);
  }
}
