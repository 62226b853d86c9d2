/** Keys and the clipboard, on whichever face of the place has the focus. */

import type { Thing } from "../../place/thing";
import { bring } from "../exchange/brought";
import { copyTo, filesIn, pastedFrom } from "../exchange/clipboard";
import { ImportRefusal } from "../exchange/refusal";
import type { BoardController } from "../live/controller";
import { mayAct } from "../model/acts";
import * as commands from "../model/commands";
import { actOf, type KeyAct } from "../model/keys";
import { inReadingOrder } from "../model/reading";

export interface KeyOwner {
  readonly controller: BoardController;
  face(): void;
  find(): void;
  /** Opens the chat. */
  talk(): void;
  help(): void;
  /** The person wants to choose pictures. */
  picture(): void;
  takeFiles(files: readonly File[]): void;
  refused(error: ImportRefusal): void;
}

const ZOOM_STEP = 1.25;

export class Keys {
  /** The space bar is down, or up again. */
  space: (isDown: boolean) => void = () => undefined;
  /** Opens the menu of what more can be made, and of what the selected thing can do. */
  more: () => void = () => undefined;
  deeds: () => void = () => undefined;

  constructor(private readonly owner: KeyOwner) {}

  down(event: KeyboardEvent): void {
    if (event.defaultPrevented) return;
    if (event.key === " ") {
      event.preventDefault();
      if (!event.repeat) this.space(true);
      return;
    }
    const act = actOf(event);
    if (act !== null && this.run(act)) event.preventDefault();
  }

  up({ key }: KeyboardEvent): void {
    if (key === " ") this.space(false);
  }

  /** Whether the key is used up. */
  run(act: KeyAct): boolean {
    const { owner } = this;
    const { board } = owner.controller;
    switch (act.do) {
      case "tool":
        if (board.mayWrite || act.tool === "hand" || act.tool === "select") board.take(act.tool);
        return true;
      case "nudge":
        return this.nudge(act.dx, act.dy, act.isLarge);
      case "step":
        return this.step(act.by);
      case "delete":
        commands.remove(board);
        return true;
      case "duplicate":
        commands.duplicate(board);
        return true;
      case "undo":
        board.undo();
        return true;
      case "redo":
        board.redo();
        return true;
      case "all":
        commands.selectAll(board);
        return true;
      case "group":
        commands.group(board);
        return true;
      case "ungroup":
        commands.ungroup(board);
        return true;
      case "lock":
        commands.toggleLock(board);
        return true;
      case "front":
      case "forward":
      case "backward":
      case "back":
        commands.restack(board, act.do);
        return true;
      case "zoomIn":
      case "zoomOut":
      case "zoomWhole":
      case "fit":
      case "fitChosen":
        this.look(act.do);
        return true;
      case "snap":
        board.isSnapping = !board.isSnapping;
        return true;
      case "picture":
        if (board.mayWrite) owner.picture();
        return true;
      case "find":
        owner.find();
        return true;
      case "talk":
        owner.talk();
        return true;
      case "help":
        owner.help();
        return true;
      case "face":
        owner.face();
        return true;
      case "edit":
        return this.edit();
      case "use":
        return this.use();
      case "more":
        if (board.mayWrite) this.more();
        return true;
      case "escape":
        return this.escape();
    }
  }

  private look(how: "zoomIn" | "zoomOut" | "zoomWhole" | "fit" | "fitChosen"): void {
    const { board } = this.owner.controller;
    this.owner.controller.wandered();
    const { camera } = board;
    if (how === "fit" || how === "fitChosen") board.fit(how === "fitChosen");
    else if (how === "zoomWhole") board.look(camera.zoomed(1));
    else
      board.look(
        camera.zoomed(how === "zoomIn" ? camera.zoom * ZOOM_STEP : camera.zoom / ZOOM_STEP),
      );
  }

  private nudge(dx: number, dy: number, isLarge: boolean): boolean {
    const { board } = this.owner.controller;
    if (board.selected.length > 0) commands.nudge(board, dx, dy, isLarge);
    else board.pan(-dx * (isLarge ? 240 : 60), -dy * (isLarge ? 240 : 60));
    return true;
  }

  private get order(): Thing[] {
    return inReadingOrder(this.owner.controller.board.things.values()).map(({ thing }) => thing);
  }

  /** Past the last one, and while nothing is selected, Tab leaves the board. */
  private step(by: 1 | -1): boolean {
    const { board } = this.owner.controller;
    const { order } = this;
    const at = order.findIndex(({ id }) => id === board.selected[0]);
    if (at < 0 || order[at + by] === undefined) return false;
    commands.step(board, order, by);
    return true;
  }

  /** What acts does so; into all else is written. */
  private use(): boolean {
    const { acting, board } = this.owner.controller;
    const [thing, ...others] = board.chosen;
    if (thing === undefined || others.length > 0 || !mayAct(thing)) return this.edit();
    // A vote has a choice for the person to make: its menu opens.
    if (thing.kind === "vote") this.deeds();
    else acting.use(thing);
    return true;
  }

  private edit(): boolean {
    const { board } = this.owner.controller;
    const [id] = board.selected;
    if (id !== undefined) board.write(id);
    else commands.step(board, this.order, 1);
    return true;
  }

  private escape(): boolean {
    const { board } = this.owner.controller;
    board.cancel();
    if (board.toolName !== "select") board.take("select");
    else board.select([]);
    return true;
  }

  // --- the clipboard --------------------------------------------------------------------------

  copy(event: ClipboardEvent): void {
    const { board, id } = this.owner.controller;
    if (board.chosen.length === 0 || event.clipboardData === null) return;
    copyTo(event.clipboardData, board.chosen, id, this.owner.controller.acting);
    event.preventDefault();
  }

  cut(event: ClipboardEvent): void {
    this.copy(event);
    if (event.defaultPrevented) commands.remove(this.owner.controller.board);
  }

  paste(event: ClipboardEvent): void {
    const { board, pictures } = this.owner.controller;
    const { clipboardData } = event;
    if (clipboardData === null || !board.mayWrite) return;
    event.preventDefault();
    const files = filesIn(clipboardData);
    if (files.length > 0) {
      this.owner.takeFiles(files);
      return;
    }
    try {
      bring(pastedFrom(clipboardData, board.camera.centre, board.nextOrder), board, pictures);
    } catch (error) {
      if (!(error instanceof ImportRefusal)) throw error;
      this.owner.refused(error);
    }
  }
}
