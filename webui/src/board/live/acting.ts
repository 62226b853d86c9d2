/**
 * What a person has things do: asked of the order, and shown at once where it is known what comes of
 * it.
 *
 * Idea. Acts go the way of changes: without a connection they are kept, and sent once. What is for
 * everybody at the same time is not: a die, a timer or a ball waits for no connection, and the person
 * is told so (`hindranceOf`).
 */

import type { Thing } from "../../place/thing";
import { boardWords } from "../../words/board";
import { type Actor, type Deed, deedsOf, hindranceOf } from "../model/acts";
import type { Hands } from "../model/board";
import type { Cards, CardView } from "../model/card";
import { type Act, actFor } from "../model/foreseen";
import type { Point } from "../model/geometry";
import { nameOf } from "../model/saying";
import { type Now, stateOf } from "../model/states";
import { deedAt } from "../model/zones";
import type { NotDone, PlaceView } from "./place-view";

export interface ActingParts {
  readonly place: PlaceView;
  readonly mayWrite: () => boolean;
  /** Whose page this is, and whether others have the same name: guests, and who came by a link. */
  readonly principal: string;
  readonly isShared: boolean;
  /** Tells this browser's person from others of the same name. */
  readonly voter: string;
  /** Whether this is, or was, the session of the page. */
  readonly isSelf: (who: string) => boolean;
  readonly now_ms: () => number;
  readonly isRinging: (id: string) => boolean;
  /** The person has heard a timer. */
  readonly hush: (id: string) => void;
  /** The person wants nothing to move that need not. */
  readonly isCalm: () => boolean;
  /** Goes to a path of this page, or opens another one in a tab of its own. */
  readonly go: (to: string) => void;
  /** Shows why something is not done. */
  readonly say: (notice: string) => void;
  /** Says aloud what came of it. */
  readonly tell: (said: string) => void;
  /** How somebody is called who has hold of a thing; "": it is not known. */
  readonly nameOf: (holder: string) => string;
  /** Opens the document of a card over the place. */
  readonly read: (id: string) => void;
  /** What is known of documents. */
  readonly cards: Cards;
  /** Something is shown in another way. */
  readonly changed: () => void;
}

/** Acts that are asked for anew only once the order has done them. */
const ONE_AT_A_TIME: ReadonlySet<string> = new Set(["roll", "start", "kick"]);

/** In whose name somebody acts: guests, and who came by one link, are told apart by their browsers. */
export function actsAs({
  principal,
  voter,
  isShared,
}: Pick<ActingParts, "principal" | "voter" | "isShared">): string {
  if (principal === "") return voter;
  return isShared ? `${principal}/${voter}` : principal;
}

export class Acting implements Actor, Now, Hands {
  /** How often something was asked of a thing that has no end yet, by thing and action. */
  private readonly underWay = new Map<string, number>();
  private readonly votesAs: string;

  constructor(private readonly parts: ActingParts) {
    this.votesAs = actsAs(parts);
  }

  get mayWrite(): boolean {
    return this.parts.mayWrite();
  }

  get isOnline(): boolean {
    return this.parts.place.isOnline;
  }

  get time_ms(): number {
    return this.parts.now_ms();
  }

  get orderTime_ms(): number {
    return this.parts.place.orderTime_ms;
  }

  get isCalm(): boolean {
    return this.parts.isCalm();
  }

  // Bound, as they are handed on by themselves.
  readonly isOwn = (who: string): boolean => who === this.votesAs || this.parts.isSelf(who);
  readonly isRolling = (id: string): boolean => this.underWay.has(`${id} roll`);
  readonly isRinging = (id: string): boolean => this.parts.isRinging(id);
  readonly card = (document: string): CardView | null => this.parts.cards.card(document);

  /**
   * Has a thing do something; whether it was done. Why not is said to the person, what came of it is
   * said aloud. Without a connection it has no end before there is one.
   */
  async operate(id: string, action: string, given: readonly number[] = []): Promise<boolean> {
    const { place, say } = this.parts;
    const thing = place.things.get(id);
    const hindrance = thing === undefined ? boardWords.no_such_thing : hindranceOf(action, this);
    const key = `${id} ${action}`;
    if (hindrance !== "") say(hindrance);
    if (thing === undefined || hindrance !== "") return false;
    if (ONE_AT_A_TIME.has(action) && this.underWay.has(key)) return false;
    this.count(key, 1);
    try {
      const done = place.operate(this.actFor(thing, action, given));
      if (action !== "roll" && action !== "kick") this.tellState(id);
      await done;
    } catch (reason) {
      say(this.notActed(reason as NotDone));
      return false;
    } finally {
      this.count(key, -1);
    }
    if (action === "roll") this.tellState(id);
    return true;
  }

  private actFor(thing: Thing, action: string, given: readonly number[]): Act {
    const { principal, isShared, voter } = this.parts;
    const isVote = action === "choose" && (isShared || principal === "");
    const who = { by: isVote ? voter : "", who: this.votesAs };
    return actFor(thing, action, given, this.orderTime_ms, who);
  }

  // --- pressed on the board ---------------------------------------------------------------------

  /** Whether a press at this point does something beside selecting. */
  isUsedAt(thing: Thing, at: Point): boolean {
    return deedAt(thing, at, this) !== null;
  }

  useAt(thing: Thing, at: Point): void {
    const deed = deedAt(thing, at, this);
    if (deed !== null) this.do(thing.id, deed);
  }

  /** The usual of what the thing can do; whether there is such a thing. */
  use(thing: Thing): boolean {
    const [deed] = deedsOf(thing, this);
    if (deed !== undefined) this.do(thing.id, deed);
    return deed !== undefined;
  }

  do(id: string, { action, given, hindrance, to }: Deed): void {
    this.parts.hush(id);
    if (hindrance !== "") this.parts.say(hindrance);
    else if (action === "read") this.parts.read(id);
    else if (action === "open" && to !== undefined) this.parts.go(to);
    else void this.operate(id, action, given);
  }

  private count(key: string, by: 1 | -1): void {
    const now = (this.underWay.get(key) ?? 0) + by;
    if (now > 0) this.underWay.set(key, now);
    else this.underWay.delete(key);
    this.parts.changed();
  }

  private tellState(id: string): void {
    const said = this.stands(id);
    if (said !== "") this.parts.tell(said);
  }

  /** A thing and how it stands, in words; "": there is nothing to be said. */
  stands(id: string): string {
    const { things } = this.parts.place;
    const thing = things.get(id);
    const state = thing === undefined ? "" : stateOf(thing, things, this);
    return thing === undefined || state === "" ? "" : boardWords.stands(nameOf(thing, this), state);
  }

  private notActed({ code, holder }: NotDone): string {
    switch (code) {
      case "thing_held": {
        const name = this.parts.nameOf(holder);
        return name === "" ? boardWords.thing_held : boardWords.movedBy(name);
      }
      case "thing_busy":
      case "no_such_thing":
        return boardWords[code];
      case "bad_action":
        return boardWords.bad_action;
      case "forbidden":
        return boardWords.mayNotUse;
      default:
        return boardWords.notActed;
    }
  }
}
