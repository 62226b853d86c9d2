/** Pointers, wheels and fingers on the canvas, as the board understands them. */

import type { Board } from "../model/board";
import { distance, type Point } from "../model/geometry";
import type { Press } from "../tools/tool";

const AGAIN_MS = 400;
const AGAIN_PX = 6;
const LINE_PX = 16;
const ZOOM_STEP = 0.0022;
const PINCH_STEP = 0.01;

export interface GestureOwner {
  /** The pointer is at this place; null: it is not over the board. */
  pointed(at: Point | null): void;
  menu(at: Point): void;
  /** The person moves the view by themselves. */
  wandered(): void;
  /** The person takes or draws something with the tool that they have. */
  pressed(): void;
}

export class Gestures {
  /** The space bar is down: the pointer takes the board. */
  private isSpace = false;
  private readonly fingers = new Map<number, Point>();
  private panning: { id: number; last: Point } | null = null;
  private drawing: number | null = null;
  private pinch: { far: number; middle: Point } | null = null;
  private lastDown: { at: Point; time: number; count: number } | null = null;
  private hasPen = false;

  constructor(
    private readonly element: HTMLElement,
    private readonly board: Board,
    private readonly owner: GestureOwner,
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
    on("pointercancel", (event) => this.cancelled(event));
    on("pointerleave", () => this.owner.pointed(null));
    on("wheel", (event) => this.wheel(event));
    on("contextmenu", (event) => {
      event.preventDefault();
      this.owner.menu(this.at(event));
    });
    return () => stop.abort();
  }

  space(isDown: boolean): void {
    this.isSpace = isDown;
    this.board.cursor(isDown ? "grab" : "default");
  }

  private at({ clientX, clientY }: MouseEvent): Point {
    const { left, top } = this.element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  private press(event: PointerEvent, count = 1): Press {
    const screen = this.at(event);
    const kind =
      event.pointerType === "touch" || event.pointerType === "pen" ? event.pointerType : "mouse";
    return {
      screen,
      at: this.board.camera.toPlace(screen),
      isShift: event.shiftKey,
      isAlt: event.altKey,
      isFree: event.ctrlKey || event.metaKey,
      kind,
      count,
    };
  }

  private down(event: PointerEvent): void {
    if (event.button === 2) return;
    const screen = this.at(event);
    capture(this.element, event.pointerId);
    if (event.pointerType === "pen") this.hasPen = true;
    if (event.pointerType === "touch") {
      this.fingers.set(event.pointerId, screen);
      if (this.fingers.size === 2) {
        this.beginPinch();
        return;
      }
      if (this.fingers.size > 2) return;
    }
    const press = this.press(event, this.countOf(event));
    if (event.button === 1 || this.isSpace || this.isForPanning(event, press)) {
      if (event.button === 1) event.preventDefault();
      this.panning = { id: event.pointerId, last: screen };
      if (event.pointerType !== "touch") this.board.cursor("grabbing");
      else if (this.board.toolName === "select") this.board.select([]);
      return;
    }
    this.drawing = event.pointerId;
    this.owner.pressed();
    this.board.down(press);
  }

  /** One finger moves the board where there is nothing to take, and beside a pen. */
  private isForPanning(event: PointerEvent, press: Press): boolean {
    if (event.pointerType !== "touch") return false;
    const { toolName } = this.board;
    if (this.hasPen && toolName !== "select") return true;
    return toolName === "select" && !this.isOnHandle(press) && this.board.topAt(press) === null;
  }

  private isOnHandle(press: Press): boolean {
    const near = this.board.near(press) * 1.6;
    return this.board.handles.some(({ at }) => distance(at, press.at) <= near);
  }

  private countOf(event: PointerEvent): number {
    const at = this.at(event);
    const { lastDown } = this;
    const isAgain =
      lastDown !== null &&
      event.timeStamp - lastDown.time < AGAIN_MS &&
      distance(at, lastDown.at) < AGAIN_PX * (event.pointerType === "touch" ? 3 : 1);
    const count = isAgain ? lastDown.count + 1 : 1;
    this.lastDown = { at, time: event.timeStamp, count };
    return count;
  }

  private move(event: PointerEvent): void {
    const screen = this.at(event);
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, screen);
    if (this.pinch !== null) {
      this.goOnPinching();
      return;
    }
    if (this.panning?.id === event.pointerId) {
      const { last } = this.panning;
      this.panning.last = screen;
      this.owner.wandered();
      this.board.pan(screen.x - last.x, screen.y - last.y);
      return;
    }
    const press = this.press(event);
    this.owner.pointed(press.at);
    if (this.drawing === event.pointerId) {
      for (const one of together(event)) this.board.move(this.press(one));
    } else if (this.drawing === null && event.pointerType !== "touch" && !this.isSpace) {
      this.board.hover(press);
    }
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    if (this.pinch !== null) {
      if (this.fingers.size < 2) this.pinch = null;
      return;
    }
    if (this.panning?.id === event.pointerId) {
      this.panning = null;
      this.board.cursor(this.isSpace ? "grab" : "default");
    } else if (this.drawing === event.pointerId) {
      this.drawing = null;
      this.board.up(this.press(event));
    }
  }

  private cancelled(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    this.pinch = null;
    this.panning = null;
    if (this.drawing !== event.pointerId) return;
    this.drawing = null;
    this.board.cancel();
  }

  private beginPinch(): void {
    if (this.drawing !== null) this.board.cancel();
    this.drawing = this.panning = null;
    const [one, other] = [...this.fingers.values()] as [Point, Point];
    this.pinch = { far: Math.max(1, distance(one, other)), middle: between(one, other) };
  }

  private goOnPinching(): void {
    const [one, other] = [...this.fingers.values()];
    if (one === undefined || other === undefined || this.pinch === null) return;
    const { board, pinch } = this;
    const far = Math.max(1, distance(one, other));
    const middle = between(one, other);
    const moved = board.camera.panned(middle.x - pinch.middle.x, middle.y - pinch.middle.y);
    this.pinch = { far, middle };
    this.owner.wandered();
    board.look(moved.zoomed((moved.zoom * far) / pinch.far, middle));
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { board } = this;
    const by = event.deltaMode === 1 ? LINE_PX : 1;
    this.owner.wandered();
    if (event.ctrlKey || event.metaKey) {
      const step = Math.abs(event.deltaY) < 50 ? PINCH_STEP : ZOOM_STEP;
      const zoom = board.camera.zoom * Math.exp(-event.deltaY * by * step);
      board.look(board.camera.zoomed(zoom, this.at(event)));
      return;
    }
    const isSideways = event.shiftKey && event.deltaX === 0;
    const [dx, dy] = isSideways ? [event.deltaY, 0] : [event.deltaX, event.deltaY];
    board.pan(-dx * by, -dy * by);
  }
}

function between(one: Point, other: Point): Point {
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
}

/** All that a pointer did since the last frame: a pen's line is as smooth as it was drawn. */
function together(event: PointerEvent): readonly PointerEvent[] {
  const all = event.getCoalescedEvents?.() ?? [];
  return all.length > 0 ? all : [event];
}

function capture(element: HTMLElement, pointer: number): void {
  try {
    element.setPointerCapture(pointer);
  } catch {
    // It is gone already.
  }
}
