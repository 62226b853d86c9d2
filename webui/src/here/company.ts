/** The people in a document, oneself among them: who is where, following, calling. */

import { Presence, type Session } from "../client";
import { type Caret, type Person, peopleOf } from "../people";
import { type Choices, loadChoices, saveChoices } from "./choices";
import type { Noticing } from "./noticing";

/** Where somebody is: the first block in their sight, and their caret. */
export interface Place {
  readonly view: string | null;
  readonly block: string | null;
  readonly head: number;
}

/** The text, as far as people are concerned. */
export interface Text {
  showPeople(people: readonly Person[]): void;
  /** Brings a place into sight, loaded or not; null: the person goes a way of their own. */
  visit(place: Place | null): void;
  /** Where one's own caret is by now; null: it is elsewhere. */
  caret(): Caret | null;
}

export interface CompanyTools {
  readonly later: (delay_ms: number, act: () => void) => void;
  readonly now_ms: () => number;
  readonly text: () => Text | null;
  readonly changed: () => void;
}

export interface CompanyState {
  /** Changes when somebody comes, goes or is idle; where they are: `Company.people`. */
  readonly people: readonly Person[];
  readonly following: string | null;
  /** The name of who asks to come. */
  readonly caller: string | null;
  readonly said: string;
  readonly choices: Choices;
  /** One has just called. */
  readonly isCalling: boolean;
}

const CARET_MS = 50;
/** A caret that goes along with the text is shown so seldom. */
const CARRIED_MS = 1_000;
const VIEW_MS = 250;
const IDLE_MS = 120_000;
/** As long as the nodes have people wait between two calls, and a little more. */
const CALL_MS = 10_500;
const NOWHERE: Caret = { block: null, anchor: 0, head: 0 };

export class Company {
  /** What all others show now. */
  people: readonly Person[] = [];
  private listed: readonly Person[] = [];
  private here: Presence | null = null;
  private isConnected = false;
  private caret = NOWHERE;
  /** The first block in sight. */
  view: string | null = null;
  private calls = 0;
  private isCalling = false;
  private isIdle = false;
  private isGone = false;
  private activeAt_ms: number;
  private session: Session | null = null;
  private readonly due = new Set<string>();
  private followed: Person | null = null;
  private choices: Choices = loadChoices();
  private noticing: Noticing | null = null;
  private isLoading = false;
  /** Who was here before it is loaded: at first, and last. */
  private unnoticed: readonly (readonly Person[])[] = [];

  constructor(
    private name: string,
    private readonly tools: CompanyTools,
  ) {
    this.activeAt_ms = tools.now_ms();
  }

  get state(): CompanyState {
    return {
      people: this.listed,
      following: this.followed?.name ?? null,
      caller: this.noticing?.calls.caller?.name ?? null,
      said: this.noticing?.arrivals.said ?? "",
      choices: this.choices,
      isCalling: this.isCalling,
    };
  }

  /** Shows oneself to the others, and them here; ends when the session does. */
  async meet(session: Session, name: string): Promise<void> {
    this.session = session;
    try {
      this.here = await session.open(Presence, name);
    } catch {
      return; // the document says why nothing goes on
    }
    this.watchIdle();
    this.present();
    this.look();
    for await (const _ of this.here.changes()) this.soon("look", CARET_MS, () => this.look());
  }

  /** The connection is there, or is not: then nobody is known to be here. */
  connected(isConnected: boolean): void {
    this.isConnected = isConnected;
    this.look();
  }

  /** The text can be shown now. */
  attached(): void {
    this.draw();
  }

  // --- oneself --------------------------------------------------------------------------------

  setName(name: string): void {
    this.name = name;
    this.present();
  }

  /** `isCarried`: others see it by what the person writes, as carets go along with the text. */
  caretMoved(caret: Caret, isCarried = false): void {
    const { block, start } = this.caret;
    const isKnown = isCarried && caret.block === block && caret.start === start;
    this.caret = caret;
    this.active();
    if (isKnown) this.settle();
    else this.soon("caret", CARET_MS, () => this.present());
  }

  /** This block is the first in sight now. */
  viewed(block: string): void {
    if (block === this.view) return;
    this.view = block;
    this.active();
    this.soon("view", VIEW_MS, () => this.present());
  }

  /** The page is out of sight, or is back. */
  away(isAway: boolean): void {
    if (isAway) {
      this.beIdle(true);
    } else {
      this.isGone = false;
      this.active();
      this.present();
    }
  }

  /** The page is being left: nobody waits until its session is over. */
  gone(): void {
    this.isGone = true;
    this.here?.set(null);
  }

  choose(choices: Partial<Choices>): void {
    this.choices = { ...this.choices, ...choices };
    saveChoices(this.choices);
    this.present();
    this.draw();
    this.tools.changed();
  }

  /** Asks all others to come here. */
  call(): void {
    if (this.isCalling || !this.choices.isOwnShown) return;
    this.calls += 1;
    this.isCalling = true;
    this.present();
    this.tools.later(CALL_MS, () => {
      this.isCalling = false;
      this.tools.changed();
    });
    this.tools.changed();
  }

  /**
   * Shows a caret that went along with the text, behind the edits: ahead of them it misleads. It is
   * named anew then: who opens the block later is not told by whom each of its steps is.
   */
  private settle(): void {
    this.soon("settled", CARRIED_MS, () => {
      if (this.session?.unanswered) {
        this.settle();
        return;
      }
      this.caret = this.tools.text()?.caret() ?? this.caret;
      this.present();
    });
  }

  private active(): void {
    this.activeAt_ms = this.tools.now_ms();
    this.beIdle(false);
  }

  private beIdle(isIdle: boolean): void {
    if (isIdle === this.isIdle) return;
    this.isIdle = isIdle;
    this.present();
  }

  private watchIdle(): void {
    const left_ms = this.activeAt_ms + IDLE_MS - this.tools.now_ms();
    if (left_ms <= 0) this.beIdle(true);
    this.tools.later(left_ms <= 0 ? IDLE_MS : left_ms, () => this.watchIdle());
  }

  private present(): void {
    if (this.isGone) return;
    const { isOwnShown } = this.choices;
    const shown = isOwnShown ? this.caret : NOWHERE;
    const { block, anchor, head, start = null, version = null, startVersion = null } = shown;
    const view = isOwnShown ? this.view : null;
    const known = version === null ? [] : [version, startVersion];
    const last = start === null && version === null ? [] : [start, ...known];
    this.here?.set([this.name, block, anchor, head, view, this.isIdle, this.calls, ...last]);
  }

  // --- others ---------------------------------------------------------------------------------

  /** Goes where this session is, once. */
  visit(who: string): void {
    const person = this.people.find((one) => one.who === who);
    if (person !== undefined) this.tools.text()?.visit(person);
  }

  /** Goes wherever this session goes. */
  follow(who: string): void {
    this.followed = this.people.find((one) => one.who === who) ?? null;
    if (this.followed !== null) this.tools.text()?.visit(this.followed);
    this.tools.changed();
  }

  /** Goes with nobody any more. */
  leave(): void {
    this.tools.text()?.visit(null);
    if (this.followed === null) return;
    this.followed = null;
    this.tools.changed();
  }

  /** The answer to who asks to come. */
  answer(isGoing: boolean): void {
    const caller = this.noticing?.calls.answer(isGoing) ?? null;
    if (caller !== null) this.tools.text()?.visit(caller);
  }

  private look(): void {
    const isHere = this.here !== null && this.isConnected;
    this.people = isHere && this.here !== null ? peopleOf(this.here.others) : [];
    if (isHere) this.notice(this.people);
    this.goAlong();
    this.draw();
    if (isListed(this.listed, this.people)) return;
    this.listed = this.people;
    this.tools.changed();
  }

  private notice(people: readonly Person[]): void {
    if (this.noticing !== null) {
      this.noticing.update(people);
      return;
    }
    this.unnoticed = [...this.unnoticed.slice(0, 1), people];
    if (people.length === 0 || this.isLoading) return;
    this.isLoading = true;
    const { later, now_ms, changed } = this.tools;
    import("./noticing").then(
      ({ Noticing }) => {
        this.noticing = new Noticing(later, now_ms, changed);
        for (const some of this.unnoticed) this.noticing.update(some);
      },
      () => {
        this.isLoading = false; // tried again when they show something else
      },
    );
  }

  private draw(): void {
    this.tools.text()?.showPeople(this.choices.areCaretsShown ? this.people : []);
  }

  private goAlong(): void {
    const before = this.followed;
    if (before === null) return;
    const isSame = (one: Person) => one.who === before.who;
    const isNamed = (one: Person) => one.name === before.name; // at another node by now
    const now = this.people.find(isSame) ?? this.people.find(isNamed) ?? null;
    if (now === null && !this.isConnected) return;
    this.followed = now;
    if (now === null) this.tools.changed();
    else if (hasMoved(before, now)) this.tools.text()?.visit(now);
  }

  private soon(what: string, delay_ms: number, act: () => void): void {
    if (this.due.has(what)) return;
    this.due.add(what);
    this.tools.later(delay_ms, () => {
      this.due.delete(what);
      act();
    });
  }
}

function hasMoved(before: Person, now: Person): boolean {
  return before.view !== now.view || before.block !== now.block || before.head !== now.head;
}

/** Whether a list of people looks the same with these. */
function isListed(shown: readonly Person[], people: readonly Person[]): boolean {
  if (shown.length !== people.length) return false;
  return people.every((one, place) => {
    const other = shown[place];
    return one.who === other?.who && one.name === other.name && one.isIdle === other.isIdle;
  });
}
