/** What a person does with what is in front of them: the acts of things, carrying, walls, the board. */

import type { BoardController } from "../../board/live/controller";
import { type Deed, deedsOf, kickFrom } from "../../board/model/acts";
import { mayBeWall } from "../../board/model/commands";
import { documentOf } from "../../board/model/settings";
import { prop, type Thing, withProps } from "../../place/thing";
import { roomWords } from "../../words/room";
import { isDrawn, isPanel } from "../model/forms";
import { inLengths } from "../model/metres";
import type { Room } from "./room";

/** Something that can be done now, with its key. */
export interface Choice {
  readonly label: string;
  /** "": it has none. */
  readonly key: string;
  /** Why it cannot be done; "": it can. */
  readonly hindrance: string;
  readonly isOn?: boolean;
  readonly act: () => void;
}

export interface DeedOwner {
  board(thing: Thing): void;
  say(notice: string): void;
}

const TURN = Math.PI / 8;

export class Deeds {
  constructor(
    private readonly controller: BoardController,
    private readonly room: Room,
    private readonly owner: DeedOwner,
  ) {}

  /** All that can be done with a thing, the usual first. */
  of(thing: Thing): Choice[] {
    if (this.room.carry !== null) return this.ofCarried();
    const acts = this.acts(thing).map((deed, at): Choice => {
      const act = () => this.controller.acting.do(thing.id, deed);
      const { label, hindrance, isOn } = deed;
      return {
        label,
        hindrance,
        key: at > 0 ? "" : thing.kind === "card" ? "O" : "E",
        act,
        ...(isOn === undefined ? {} : { isOn }),
      };
    });
    return [...acts, ...this.ofPlace(thing, acts.length === 0)];
  }

  /** A ball goes away from who kicks it: the sides of the plane mean nothing here. */
  private acts(thing: Thing): Deed[] {
    const deeds = deedsOf(thing, this.controller.acting);
    const [kick] = deeds;
    if (thing.kind !== "ball" || kick === undefined) return deeds;
    const given = kickFrom(thing, inLengths(this.room.walker));
    return [{ ...kick, label: roomWords.kick, given }];
  }

  private ofPlace(thing: Thing, isUsual: boolean): Choice[] {
    const { mayWrite } = this.controller.board;
    const choices: Choice[] = [];
    if (mayWrite) {
      const hindrance = thing.locked ? roomWords.isLocked : "";
      const key = isUsual ? "E" : "G";
      choices.push({ label: roomWords.carry, key, hindrance, act: () => this.carry(thing) });
    }
    if (mayWrite && mayBeWall(thing)) {
      const label = isPanel(thing) ? roomWords.layDown : roomWords.standUp;
      const hindrance = thing.locked ? roomWords.isLocked : "";
      choices.push({ label, key: "U", hindrance, act: () => this.turnWall(thing) });
    }
    if (isDrawn(thing)) {
      const act = () => this.owner.board(thing);
      // A card is opened by the key that opens everything else on the board.
      const key = documentOf(thing) === null ? "O" : "";
      choices.push({ label: roomWords.onBoard, key, hindrance: "", act });
    }
    return choices;
  }

  private ofCarried(): Choice[] {
    const { room } = this;
    return [
      { label: roomWords.putDown, key: "G", hindrance: "", act: () => this.putDown() },
      { label: roomWords.turnIt, key: "R", hindrance: "", act: () => room.turnCarried(TURN) },
      { label: roomWords.letGo, key: "Escape", hindrance: "", act: () => room.letGo() },
    ];
  }

  /** What a press, E or Enter does: the usual act, else it is picked up. */
  use(thing: Thing | null): void {
    if (this.room.carry !== null) this.putDown();
    else if (thing !== null) {
      const [first] = this.of(thing);
      if (first?.hindrance) this.owner.say(first.hindrance);
      else first?.act();
    }
  }

  /** Whether a press on it has it act rather than be looked at. */
  hasActs(thing: Thing): boolean {
    return this.acts(thing).length > 0;
  }

  /** Picks it up, or puts down what is carried. */
  carry(thing: Thing | null): void {
    const { room, owner } = this;
    if (room.carry !== null) {
      this.putDown();
      return;
    }
    if (thing === null) return;
    if (!this.controller.board.mayWrite) owner.say(roomWords.readOnly);
    else if (thing.locked) owner.say(roomWords.isLocked);
    else if (!room.take(thing)) owner.say(roomWords.tooMuch);
  }

  turn(by: 1 | -1): void {
    this.room.turnCarried(by * TURN);
  }

  private putDown(): void {
    this.room.putDown();
  }

  /** A frame or shape stands up, or lies down again. */
  turnWall(thing: Thing | null): void {
    const { board } = this.controller;
    if (thing === null || !mayBeWall(thing)) return;
    if (!board.mayWrite) this.owner.say(roomWords.readOnly);
    else if (thing.locked) this.owner.say(roomWords.isLocked);
    else board.change([withProps(thing, { wall: prop(thing, "wall") === 0 })]);
  }
}
