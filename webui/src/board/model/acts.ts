/**
 * What can be done with a thing: the same for the board, the list and the room.
 *
 * Each act has its words, and says why it cannot be done now where it cannot. Those of the cells are
 * asked for by `BoardController.operate`; `open` is the page's own: it goes where the act says.
 */

import { SPEED_MAX } from "../../place/behaviours";
import { VOTES_MAX } from "../../place/limits";
import type { Thing } from "../../place/thing";
import { documentPath, placePath } from "../../router";
import { boardWords } from "../../words/board";
import {
  addressOf,
  choicesOf,
  documentOf,
  dueOf,
  facesOf,
  isOn,
  isUp,
  labelsOf,
  placeOf,
  secondsOf,
} from "./settings";

export interface Deed {
  /** For `operate`; `open`: the page goes to `to`; `read`: a document is opened over the place. */
  readonly action: string;
  readonly given: readonly number[];
  readonly label: string;
  /** Why it cannot be done now, in words; "": it can. */
  readonly hindrance: string;
  /** Of what is one way or another: whether it is this way now. */
  readonly isOn?: boolean;
  /** Of `open`: a path of this page, or the address of another one. */
  readonly to?: string;
}

/** Who acts, as far as it matters for what they can do. */
export interface Actor {
  readonly mayWrite: boolean;
  readonly isOnline: boolean;
  /** Whether a vote in this name is the person's own. */
  isOwn(who: string): boolean;
}

/** A push with a foot: it rolls some 900 units. */
export const KICK = 900;

/** What waits for nobody: it would happen at a time that nobody meant. */
const NOW_OR_NEVER: ReadonlySet<string> = new Set(["roll", "start", "stop", "kick"]);

/** Why an act cannot be asked for by this person now; "": it can. */
export function hindranceOf(action: string, { mayWrite, isOnline }: Actor): string {
  if (!mayWrite) return boardWords.mayNotUse;
  return !isOnline && NOW_OR_NEVER.has(action) ? boardWords.needsConnection : "";
}

/** All that the thing can do, the usual first; nothing for things that do not act. */
export function deedsOf(thing: Thing, actor: Actor): Deed[] {
  const deed = (action: string, label: string, more: Partial<Deed> = {}): Deed => {
    const hindrance = hindranceOf(action, actor) || (more.hindrance ?? "");
    return { action, given: [], label, ...more, hindrance };
  };
  switch (thing.kind) {
    case "light":
    case "switch": {
      const label = isOn(thing) ? boardWords.turnOff : boardWords.turnOn;
      return [deed("toggle", label, { isOn: isOn(thing) })];
    }
    case "timer": {
      const start = { given: [secondsOf(thing) * 1_000] };
      if (dueOf(thing) === 0) return [deed("start", boardWords.start, start)];
      return [deed("stop", boardWords.stop), deed("start", boardWords.startAgain, start)];
    }
    case "dice": {
      const hindrance = facesOf(thing) === null ? boardWords.noSuchDie : "";
      return [deed("roll", boardWords.roll, { hindrance })];
    }
    case "vote":
      return choiceDeeds(thing, actor, deed);
    case "token":
      return [
        deed("flip", isUp(thing) ? boardWords.turnDown : boardWords.turnUp, {
          isOn: isUp(thing),
        }),
      ];
    case "ball":
      return [
        deed("kick", boardWords.kickRight, { given: [KICK, 0] }),
        deed("kick", boardWords.kickLeft, { given: [-KICK, 0] }),
        deed("kick", boardWords.kickUp, { given: [0, -KICK] }),
        deed("kick", boardWords.kickDown, { given: [0, KICK] }),
      ];
    case "door": {
      const place = placeOf(thing);
      const to = place === null ? {} : { to: placePath(place) };
      return [opening(boardWords.goThrough, to, boardWords.leadsNowhere)];
    }
    case "link": {
      const address = addressOf(thing);
      const to = address === null ? {} : { to: address.href };
      return [opening(boardWords.openLink, to, boardWords.noAddress)];
    }
    case "card": {
      const document = documentOf(thing);
      const to = document === null ? {} : { to: documentPath(document) };
      const hindrance = document === null ? boardWords.noDocumentYet : "";
      const read = { action: "read", given: [], label: boardWords.readHere, hindrance };
      return [read, opening(boardWords.openDocument, to, boardWords.noDocumentYet)];
    }
    default:
      return [];
  }
}

/** Whoever may look may go: nothing of the place is changed. */
function opening(label: string, where: { readonly to?: string }, without: string): Deed {
  const hindrance = where.to === undefined ? without : "";
  return { action: "open", given: [], label, hindrance, ...where };
}

function choiceDeeds(
  thing: Thing,
  { isOwn }: Actor,
  deed: (action: string, label: string, more: Partial<Deed>) => Deed,
): Deed[] {
  const own = ownChoice(thing, isOwn);
  const isFull = own === null && thing.votes.length >= VOTES_MAX;
  return labelsOf(thing).map((label, at) => {
    const isChosen = own === at;
    const name = label || boardWords.choice(at + 1);
    return deed("choose", isChosen ? boardWords.takeBack(name) : boardWords.choose(name), {
      given: [isChosen ? -1 : at],
      isOn: isChosen,
      hindrance: isFull ? boardWords.tooManyVotes : "",
    });
  });
}

/** What the person has chosen; null: nothing. */
export function ownChoice({ votes }: Thing, isOwn: Actor["isOwn"]): number | null {
  return votes.find(([who]) => isOwn(who))?.[1] ?? null;
}

/** How many have chosen what. */
export function countsOf(thing: Thing): number[] {
  const counts = new Array<number>(choicesOf(thing)).fill(0);
  for (const [, choice] of thing.votes) {
    const before = counts[choice];
    if (before !== undefined) counts[choice] = before + 1;
  }
  return counts;
}

export function mayAct({ kind }: Thing): boolean {
  return ACTING.has(kind);
}

const ACTING: ReadonlySet<string> = new Set([
  ...["light", "switch", "timer", "dice", "vote", "token", "ball", "door", "link", "card"],
]);

/** How a ball goes that is pushed at a point: away from there, as the crow flies. */
export function kickFrom({ x, y }: Pick<Thing, "x" | "y">, at: Pick<Thing, "x" | "y">): number[] {
  const [dx, dy] = [x - at.x, y - at.y];
  const far = Math.hypot(dx, dy);
  if (far < 1) return [KICK, 0];
  const speed = Math.min(KICK, SPEED_MAX);
  return [Math.round((dx / far) * speed) + 0, Math.round((dy / far) * speed) + 0];
}
