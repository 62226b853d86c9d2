/** One open place: the session, the board, the people on it, and how things stand with one's edits. */

import { OwnRole } from "../../account/own-role";
import type { Session, State } from "../../client/session";
import { Presence } from "../../client/volatile";
import type { SaveState } from "../../document/types";
import type { Calls } from "../../here/calls";
import { Keeper, takeKept } from "../../keeper";
import { clipped } from "../../place/interest";
import type { Box } from "../../place/squares";
import type { Problem } from "../../problem";
import type { Kept } from "../../store";
import { Waiting } from "../../waiting";
import { boardWords } from "../../words/board";
import { number } from "../../words/formats";
import { Board } from "../model/board";
import { type Camera, NO_EDGES } from "../model/camera";
import type { Point } from "../model/geometry";
import { nameOf } from "../model/saying";
import { Album } from "../pictures/album";
import { PictureDesk } from "../pictures/desk";
import { Acting, actsAs } from "./acting";
import { Announcer, isNamed, type News } from "./announcer";
import { Bells } from "./bells";
import { CardShelf } from "./card-shelf";
import { changedBy, isStoredPlace, type StoredPlace, stateless, thingsOf } from "./keeping";
import { notDoneText } from "./not-done";
import {
  type Draft,
  type Nimbus,
  Others,
  type Person,
  personOf,
  type Stance,
  toPresence,
} from "./others";
import type { BoardParts, BoardState } from "./parts";
import { PlaceView } from "./place-view";
import { PRESENCE } from "./presence";
import { SessionDoors } from "./session-doors";
import { Talk } from "./talk";
import { Whereabouts } from "./whereabouts";

const NOTICE_MS = 6_000;
/** What is said of before is read by who has just come back. */
const LATE_NOTICE_MS = 30_000;
const RING_NOTICE_MS = 20_000;
const SHOWN_MS = 50;
/** Who walks changes with each frame; others' pages fill in what lies between. */
const WALK_SHOWN_MS = 100;
/** As long as the nodes have people wait between two calls, and a little more. */
const CALL_MS = 10_500;
const IDLE_MS = 120_000;

export type { BoardParts, BoardState } from "./parts";

export class BoardController {
  readonly board: Board;
  readonly place: PlaceView;
  readonly others: Others;
  readonly session: Session;
  readonly album: Album;
  readonly pictures: PictureDesk;
  /** The documents of cards. */
  readonly shelf: CardShelf;
  /** What things do, and how they stand: `model/acts.ts` says what each can do. */
  readonly acting: Acting;
  private readonly doors: SessionDoors;
  private readonly role: OwnRole;
  private readonly waiting: Waiting;
  private readonly announcer: Announcer;
  readonly bells: Bells;
  readonly talk: Talk;
  /** Everything was brought into sight once. */
  isFitted = false;
  /** The view that the page has set last (`first-view.ts`). */
  givenView: Camera | null = null;
  /** The person has the chat before them. */
  isReading = false;
  readonly whereabouts = new Whereabouts();
  private here: Presence | null = null;
  private at: Point | null = null;
  private isShowing = false;
  private problem: Problem | null = null;
  private notice: string | null = null;
  private said = "";
  private following: Person | null = null;
  private callers: Calls<Person> | null = null;
  private calls = 0;
  private isCalling = false;
  private isClosed = false;
  private isTold = false;
  private name: string;
  private active_ms: number;
  private heldView = "";
  private hasPictures = false;
  private readonly keeper: Keeper;
  /** How much was begun when it was looked at last. */
  private begun = 0;
  private wasUnsent = false;
  /** What is to be kept of a page that is closed. */
  private last: Kept | null = null;

  private constructor(
    readonly id: string,
    private readonly parts: BoardParts,
    kept: Kept | undefined,
  ) {
    this.name = parts.name;
    this.active_ms = parts.now_ms();
    const later = (delay_ms: number, act: () => void) =>
      void parts.after(delay_ms, () => this.isClosed || act());
    this.others = new Others(parts.now_ms);
    this.waiting = new Waiting(later);
    this.announcer = new Announcer(later, (news) => this.tellNews(news));
    this.bells = new Bells(parts.now_ms, (thing) => this.tellRing(thing));
    this.role = new OwnRole(parts.role, later, () => this.tell());
    const { store } = parts;
    this.keeper = new Keeper(
      store,
      () => this.toKeep(),
      kept !== undefined,
      () => this.tell(),
    );
    this.session = parts.session({
      ...(kept === undefined ? {} : { stored: kept.session }),
      kept: () => this.keeper.kept(),
      onState: (state) => this.onState(state),
    });
    const left = isStoredPlace(kept?.state) ? kept.state : null;
    this.doors = new SessionDoors(this.session, id, parts.after, left);
    this.doors.onEnd = (error) => this.ended(error);
    this.doors.onNotRenamed = () => this.say(boardWords.notDone);
    this.place = new PlaceView(this.doors);
    this.place.errands.onChange = () => this.keep();
    this.board = new Board(
      this.place,
      {
        changed: () => this.changed(),
        write: (thing, isNew) => parts.write(thing, isNew),
        notDone: (reason) => this.say(notDoneText(reason)),
        lost: ({ holder }) => this.say(this.heldText(holder)),
      },
      this.others,
      {
        isUsedAt: (thing, at) => this.acting.isUsedAt(thing, at),
        useAt: (thing, at) => this.acting.useAt(thing, at),
        use: (thing) => this.acting.use(thing),
      },
    );
    const { pictures, principal, after, locks } = parts;
    this.album = new Album(id, pictures.load, after, () => this.isClosed || parts.drawn());
    const how = { doc: id, principal, store, take: locks.take, after, ...pictures };
    this.pictures = new PictureDesk(how, {
      has: (thing) => this.place.things.has(thing),
      put: (thing) => {
        this.board.put([thing]);
        this.keeper.flush(); // before its file is forgotten
      },
      came: () => this.album.again(),
      changed: () => this.tell(),
    });
    this.shelf = new CardShelf(this.session, parts.after, () => this.isClosed || parts.drawn());
    this.acting = new Acting({
      place: this.place,
      mayWrite: () => this.mayWrite,
      ...this.self,
      isSelf: (who) => this.session.isSelf(who),
      now_ms: parts.now_ms,
      isRinging: (thing) => this.bells.ringingSince(thing) !== null,
      hush: (thing) => this.bells.hush(thing),
      isCalm: parts.isCalm ?? (() => false),
      go: parts.go ?? (() => undefined),
      read: (id) => {
        const card = this.place.things.get(id);
        if (card !== undefined) parts.read?.(card);
      },
      cards: this.shelf,
      say: (notice) => this.say(notice),
      tell: (said) => this.tellAloud(said),
      nameOf: (holder) => this.others.people.find(({ who }) => who === holder)?.name ?? "",
      changed: () => this.isClosed || parts.drawn(),
    });
    this.talk = new Talk({
      session: this.session,
      place: id,
      left: left?.talk ?? null,
      author: actsAs(this.self),
      by: this.self.voter,
      name: () => this.name,
      after: later,
      names: parts.names,
      remove: parts.removeRemark,
      changed: () => this.tell(),
      waits: () => this.keep(true),
      heard: (by) => this.hears(by),
    });
    const { wish } = this.place;
    this.place.wish = (asked) => {
      this.announcer.mine(thingsOf(asked));
      return wish.call(this.place, asked);
    };
    void this.meet(`place/${id}/here`);
    if (left !== null) this.takeUp(left);
  }

  /** Opens a place, with what an earlier tab could not send. */
  static async open(id: string, parts: BoardParts): Promise<BoardController> {
    const { kept } = await takeKept(id, parts);
    const controller = new BoardController(id, parts, kept);
    if (kept === undefined) await parts.locks.take(controller.session.client);
    controller.takePictures();
    controller.tell();
    return controller;
  }

  /** Who has done something here may go on with it, until a node says otherwise. */
  private takeUp(left: StoredPlace): void {
    this.role.assume();
    for (const { wish } of left.errands) this.announcer.mine(thingsOf(wish));
    for (const path of this.doors.left) this.place.cell(path);
    void this.place.takeUp(left.errands).then((failed) => {
      const reasons = new Set(failed.map(notDoneText));
      const said = boardWords.keptNotDone(failed.length, [...reasons].join(" "));
      if (failed.length > 0) this.say(said, LATE_NOTICE_MS);
    });
    this.keep();
  }

  /** Who acts here. */
  private get self(): { principal: string; isShared: boolean; voter: string } {
    const { principal, isShared, voter } = this.parts;
    return { principal, isShared: isShared === true, voter: voter ?? this.session.client };
  }

  get state(): BoardState {
    const { doors, session, waiting } = this;
    return {
      isLoaded: doors.isLoaded,
      title: doors.renamed ?? doors.outline.title,
      save: this.save,
      isKept: this.keeper.isKept,
      waited_s: waiting.waited_s,
      problem: this.problem ?? session.stopped,
      role: this.role.name,
      mayWrite: this.mayWrite,
      people: this.others.people,
      following: this.following,
      caller: this.callers?.caller ?? null,
      isCalling: this.isCalling,
      notice: this.notice,
      uploads: this.pictures.cards,
      said: this.said,
      condition: session.state === "connected" ? session.condition : "serving",
      unread: this.talk.unread,
    };
  }

  private get mayWrite(): boolean {
    return this.role.mayWrite && this.problem === null && this.session.stopped === null;
  }

  private get save(): SaveState {
    const { waiting } = this.pictures;
    const { talk } = this;
    const edits = this.place.unsaved + this.doors.outline.unsaved + talk.unsaved + waiting;
    const changed = changedBy(this.place.errands.all) + (this.doors.renamed === null ? 0 : 1);
    const places = edits === 0 ? 0 : Math.max(1, changed + talk.unanswered + waiting);
    if (this.session.state !== "connected") return { kind: "offline", edits, places };
    return { kind: edits === 0 ? "saved" : "saving", edits, places };
  }

  // --- what outlives the tab ------------------------------------------------------------------

  private get hasUnsent(): boolean {
    const { errands } = this.place;
    return errands.all.length > 0 || this.doors.renamed !== null || this.talk.unanswered > 0;
  }

  private toKeep(): Kept {
    if (this.last !== null) return this.last;
    const { client, stored: session, state } = this.session;
    const errands = this.place.errands.stored;
    const isOffline = state !== "connected";
    const { stored: talk } = this.talk;
    const said = talk === null ? {} : { talk: stateless(talk) };
    const left = this.hasUnsent ? { ...this.doors.stored(isOffline), errands, ...said } : null;
    const { principal } = this.parts;
    return { doc: this.id, client, principal, session, state: left, drafts: [] };
  }

  /** `isNew`: the person has done something. */
  private keep(isNew = this.place.errands.begun > this.begun): void {
    if (this.isClosed) return;
    this.begun = this.place.errands.begun;
    this.wasUnsent = this.hasUnsent;
    this.keeper.changed(this.wasUnsent, isNew);
  }

  /**
   * Has a thing do something; whether it was done. The person is told what is refused; a die is shown
   * as rolling until the order has it fall. `deedsOf(thing, controller.acting)` says what it can do.
   */
  operate(thing: string, action: string, given: readonly number[] = []): Promise<boolean> {
    return this.acting.operate(thing, action, given);
  }

  setTitle(title: string): void {
    const clean = title.replace(/\s+/g, " ").trim().slice(0, 200);
    if (clean === "" || clean === this.doors.outline.title) return;
    this.doors.rename(clean);
    this.keep(true);
    this.tell();
  }

  get ownName(): string {
    return this.name;
  }

  setName(name: string): void {
    this.name = name;
    this.show();
  }

  say(notice: string | null, lasts_ms = NOTICE_MS): void {
    this.notice = notice;
    this.tell();
    if (notice === null) return;
    this.parts.after(lasts_ms, () => {
      if (this.notice !== notice || this.isClosed) return;
      this.notice = null;
      this.tell();
    });
  }

  // --- the others -----------------------------------------------------------------------------

  private async meet(name: string): Promise<void> {
    try {
      this.here = await this.session.open(Presence, name, PRESENCE.type);
    } catch {
      return; // the place says why nothing goes on
    }
    this.show();
    this.look();
    for await (const _ of this.here.changes()) this.look();
  }

  private look(): void {
    const others = this.session.state === "connected" ? [...(this.here?.others ?? [])] : [];
    const people = others.flatMap(([who, value]) => personOf(who, value) ?? []);
    this.others.update(people, this.place.things);
    if (people.length > 0 || this.callers !== null) {
      this.listen(people).catch(() => undefined); // tried again when they show something else
    }
    if (this.following !== null) this.goAlong(people);
    this.board.refresh();
    this.tell();
  }

  private goAlong(people: readonly Person[]): void {
    const before = this.following;
    const now =
      people.find(({ who }) => who === before?.who) ??
      people.find(({ name }) => name === before?.name);
    this.following = now ?? null;
    // Who walks goes after the other's feet.
    if (now?.view == null || this.whereabouts.goes !== null) return;
    this.board.look(this.board.camera.fitting(now.view, NO_EDGES));
  }

  follow(who: string | null): void {
    this.following = this.others.people.find((one) => one.who === who) ?? null;
    if (this.following !== null) this.goAlong(this.others.people);
    this.tell();
  }

  /** What hears who asks comes with the first of the others, and is what documents have. */
  private async listen(people: readonly Person[]): Promise<void> {
    if (this.callers === null) {
      const { Calls } = await import("../../here/noticing");
      const later = (delay_ms: number, act: () => void) =>
        void this.parts.after(delay_ms, () => this.isClosed || act());
      this.callers ??= new Calls<Person>(later, this.parts.now_ms, () => this.tell());
    }
    this.callers.update(people);
  }

  /** Asks all others to come to what one sees. */
  call(): void {
    if (this.isCalling) return;
    this.calls += 1;
    this.isCalling = true;
    this.show();
    this.tell();
    this.parts.after(CALL_MS, () => {
      this.isCalling = false;
      this.tell();
    });
  }

  /** The answer to who asks to come. */
  answer(isGoing: boolean): void {
    const caller = this.callers?.answer(isGoing);
    if (caller?.view != null) this.goTo(caller.view);
  }

  /** One goes there once: following somebody else ends with it. */
  private goTo(view: Box): void {
    this.wandered();
    if (this.whereabouts.goes !== null) this.whereabouts.goes(view);
    else this.board.look(this.board.camera.fitting(view, NO_EDGES));
  }

  /** The person goes a way of their own. */
  wandered(): void {
    if (this.following !== null) this.follow(null);
  }

  pointed(at: Point | null): void {
    this.at = at;
    this.active_ms = this.parts.now_ms();
    this.show();
  }

  /** The person stands there in the room and sees so much; null: they have left it. */
  stands(stance: Stance | null, aura: Box | null): void {
    this.whereabouts.stance = stance ?? this.whereabouts.stance;
    this.whereabouts.aura = aura;
    this.pointed(stance);
  }

  /** How far they hear and are heard in the room from now on. */
  attune(nimbus: Nimbus): void {
    this.whereabouts.nimbus = nimbus;
    this.show();
  }

  /** Shows oneself to the others, soon. */
  private show(): void {
    if (this.isShowing || this.isClosed) return;
    this.isShowing = true;
    this.parts.after(this.whereabouts.aura === null ? SHOWN_MS : WALK_SHOWN_MS, () => {
      this.isShowing = false;
      if (!this.isClosed) this.here?.set(this.ownPresence());
    });
  }

  private ownPresence(): unknown {
    const { board } = this;
    const drafts = [...board.doing.drafts.values()].filter(({ id }) => board.things.has(id));
    const [left, top, right, bottom] = board.camera.box;
    return toPresence({
      name: this.name,
      at: this.at,
      selected: board.selected,
      drafts: drafts.map((one): Draft => [one.id, one.x, one.y, one.width, one.height, one.turn]),
      ink: board.doing.ink,
      view: clipped(this.whereabouts.aura ?? [left, top, right, bottom]),
      isIdle: this.parts.now_ms() - this.active_ms > IDLE_MS,
      calls: this.calls,
      colour: board.styleFor("ink").colour,
      width: board.styleFor("ink").width,
      avatar: this.whereabouts.avatar,
      nimbus: this.whereabouts.nimbus,
    });
  }

  private heldText(holder: string): string {
    const person = this.others.people.find(({ who }) => who === holder);
    return person === undefined ? boardWords.held : boardWords.heldBy(person.name);
  }

  // --- what happens ---------------------------------------------------------------------------

  private tellNews(news: News): void {
    const { things } = this.place;
    const parts: string[] = [];
    if (isNamed(news.added)) {
      for (const id of news.added) {
        const thing = things.get(id);
        if (thing !== undefined)
          parts.push(boardWords.saidAdded(this.whoAdded(id), nameOf(thing, this.shelf)));
      }
    } else if (news.added.length > 0) {
      parts.push(boardWords.saidAddedMany(news.added.length));
    }
    if (news.changed > 0) parts.push(boardWords.saidChanged(news.changed));
    if (news.gone > 0) parts.push(boardWords.saidGone(news.gone));
    if (isNamed(news.acted)) parts.push(...news.acted.map((id) => this.acting.stands(id)));
    else if (news.acted.length > 0) parts.push(boardWords.saidUsed(news.acted.length));
    this.tellAloud(parts.filter((part) => part !== "").join(" "));
  }

  private tellRing(id: string): void {
    const thing = this.place.things.get(id);
    if (thing !== undefined) this.say(boardWords.rings(nameOf(thing)), RING_NOTICE_MS);
  }

  /** Somebody has said something in the chat; who has it open reads it there. */
  private hears(by: string | null): void {
    if (!this.isReading) this.tellAloud(boardWords.saidInTalk(by ?? ""));
  }

  /** What is said once more, as of a die that falls the same, is another text for screen readers. */
  private tellAloud(said: string): void {
    this.said = said !== "" && said === this.said ? `${said}\u00a0` : said;
    this.tell();
  }

  /** Who has it selected has most likely made it. */
  private whoAdded(id: string): string {
    const { people } = this.others;
    const found = people.find(({ selected }) => selected.includes(id)) ?? people[0];
    return found?.name ?? number(people.length);
  }

  /** Pictures that an earlier tab has left go on once it is known which cells there are. */
  private takePictures(): void {
    if (this.hasPictures || !this.doors.isLoaded) return;
    this.hasPictures = true;
    this.talk.begin();
    void this.pictures.restore();
  }

  private changed(): void {
    if (this.isClosed) return;
    this.takePictures();
    const view = `${this.place.loaded}`;
    this.announcer.look(this.place.things, view !== this.heldView || !this.place.isLoaded);
    this.heldView = view;
    this.bells.look(this.place.things);
    this.board.mayWrite = this.mayWrite;
    if (this.hasUnsent !== this.wasUnsent) this.keep();
    this.show();
    this.parts.drawn();
    this.tell();
  }

  private onState(state: State): void {
    if (state === "connected") this.role.ask();
    // What is kept without a connection shows the place, too.
    else if (this.hasUnsent) this.keep();
    this.shelf.connected();
    this.look();
    this.tell();
  }

  private ended(error: unknown): void {
    const { code, message } = error as Problem;
    this.problem = { code: String(code), message: String(message) };
    this.tell();
  }

  /** The machine or the tab is awake again. */
  wake(): void {
    this.session.retryNow();
    this.pictures.retry();
    this.album.again();
    this.show();
  }

  /** The tab is being hidden or closed; true when closing now would lose something. */
  hide(): boolean {
    this.keeper.flush();
    const wouldLose = this.keeper.hasFailed && this.save.edits > 0 && this.problem === null;
    return wouldLose || this.pictures.wouldLose;
  }

  leave(): void {
    this.here?.set(null);
    this.session.flush();
    this.keeper.flush();
  }

  close(): void {
    this.last = this.toKeep();
    this.isClosed = true;
    this.here?.set(null);
    this.session.flush();
    this.keeper.flush();
    this.pictures.close();
    this.shelf.close();
    this.board.close();
    this.session.close();
  }

  private tell(): void {
    if (this.isTold || this.isClosed) return;
    this.isTold = true;
    queueMicrotask(() => {
      this.isTold = false;
      if (this.isClosed) return;
      this.board.mayWrite = this.mayWrite;
      this.waiting.watch(this.save.edits, () => this.tell());
      this.parts.changed(this.state);
    });
  }
}
