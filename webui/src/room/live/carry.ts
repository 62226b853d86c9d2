/** What somebody carries: held as in a drag on the board, shown to others as one, put down by one change. */

import { withContents, withGroups } from "../../board/model/arrange";
import { followers, isArrow } from "../../board/model/arrows";
import type { Board } from "../../board/model/board";
import type { Point } from "../../board/model/geometry";
import { isLoose, moved, turnedAbout } from "../../board/model/transform";
import { whole } from "../../board/model/units";
import { asMap, IDLE } from "../../board/tools/tool";
import type { Thing } from "../../place/thing";

/** What may be carried at a time: a frame may hold a whole board. */
const CARRIED_MAX = 60;

export class Carry {
  private result: readonly Thing[] = [];
  private last = "";
  isOver = false;

  /** `lost`: somebody else was first. */
  private constructor(
    private readonly board: Board,
    /** What was taken; the others go along with it. */
    readonly thing: Thing,
    private readonly things: readonly Thing[],
    lost: () => void,
  ) {
    board.grab(
      things.map(({ id }) => id),
      () => {
        this.cancel();
        lost();
      },
    );
  }

  /** Takes a thing with its group and what lies in it; null: it stays where it is. */
  static take(board: Board, thing: Thing, lost: () => void): Carry | null {
    if (!board.mayWrite || thing.locked || isArrow(thing)) return null;
    const all = withContents(withGroups([thing], board.things), board.things);
    const free = all.filter((one) => !one.locked && (!isArrow(one) || isLoose(one, board.things)));
    if (free.length > CARRIED_MAX) return null;
    return new Carry(board, thing, free, lost);
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.things.map(({ id }) => id));
  }

  /** Somebody has deleted it meanwhile. */
  get isGone(): boolean {
    return !this.board.things.has(this.thing.id);
  }

  /** It is held over this point of the plane, turned by so much in radians. */
  move(to: Point, turn: number): void {
    const [dx, dy] = [whole(to.x - this.thing.x), whole(to.y - this.thing.y)];
    const now = `${dx} ${dy} ${turn}`;
    if (this.isOver || now === this.last) return;
    this.last = now;
    const there = moved(this.things, dx, dy);
    const { x, y } = { x: this.thing.x + dx, y: this.thing.y + dy };
    this.result = turn === 0 ? there : turnedAbout(there, { x, y }, turn, this.board.things);
    const drafts = asMap(this.result);
    const also = followers(this.board.things, drafts);
    this.board.show({ drafts: new Map([...drafts, ...asMap(also)]) });
  }

  /** Puts it down where it is held. */
  place(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.board.show(IDLE);
    if (this.result.length > 0) this.board.change(this.result);
    this.board.release();
  }

  /** It is back where it was. */
  cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.board.show(IDLE);
    this.board.release();
  }
}
