/** One open document: the session, the model, the store, the people and the editor held together. */

import { OwnRole } from "./account/own-role";
import { nodeOf } from "./account/ticket";
import type { Options, Session, State } from "./client";
import type { ClientLocks } from "./client-lock";
import { withMore } from "./document/save-state";
import type { Draft, OpenModel, SaveState, ViewEvent } from "./document/types";
import type { OfferedMenu } from "./editor/callbacks";
import { DocumentEditor } from "./editor/editor";
import type { Finding } from "./editor/find";
import { LONG_BLOCKS, loadFolds } from "./editor/folding";
import type { Surroundings } from "./editor/state";
import type { Changes } from "./here/changes";
import { Company, type CompanyState } from "./here/company";
import { Keeper, takeKept } from "./keeper";
import { PictureDesk } from "./pictures/desk";
import type { UploadParts } from "./pictures/uploads";
import type { Problem } from "./problem";
import type { Socket } from "./shared/link";
import type { Kept, Store } from "./store";
import { Waiting } from "./waiting";
import { documentWords } from "./words/document";

/** What the page shows around the text. */
export interface DocumentState {
  readonly isLoaded: boolean;
  readonly title: string;
  readonly save: SaveState;
  /** The browser's store has what is not saved; null: it cannot have it. */
  readonly isKept: boolean | null;
  /** How long the oldest edit has waited: 0, 3 or 10 seconds. */
  readonly waited_s: 0 | 3 | 10;
  readonly company: CompanyState;
  readonly drafts: readonly Draft[];
  /** What others have changed, to be said aloud. */
  readonly changesSaid: string;
  /** What the node can do: `serving`, `stale`, … */
  readonly condition: string;
  /** Why nothing goes on any more, null as long as it does. */
  readonly problem: Problem | null;
  /** What the person is here; null until it is known. */
  readonly role: string | null;
  readonly mayWrite: boolean;
  readonly around: Surroundings;
  /** Why something was not done that the person wanted. */
  readonly notice: string | null;
  readonly finding: Finding;
  /** The menu behind a slash. */
  readonly menu: OfferedMenu | null;
}

export interface ControllerParts {
  readonly store: Store | null;
  readonly locks: ClientLocks;
  readonly connect: (urls: readonly string[], options: Options) => Session;
  readonly openModel: (session: Session, doc: string, stored: unknown) => OpenModel;
  readonly openSocket: (url: string) => Socket;
  readonly after: (delay_ms: number, callback: () => void) => () => void;
  readonly urls: readonly string[];
  /** Whose page this is; what was kept for another person is left alone. */
  readonly principal: string;
  /** Where people sign in: a ticket for the socket at this address, null: sign in first. */
  readonly ticket?: (url: string) => Promise<string | null>;
  /** Where people sign in: what the person is in the document. */
  readonly role?: (doc: string) => Promise<string>;
  /** The texts of all blocks, as the node has them. */
  readonly texts: (doc: string) => Promise<ReadonlyMap<string, string>>;
  /** How pictures get to a node. */
  readonly pictures?: Pick<UploadParts, "send" | "copy">;
  readonly changed: (state: DocumentState) => void;
}

const NOTICE_MS = 6_000;
/** For so long the texts of blocks that are not here are not asked for again. */
const TEXTS_MS = 2_000;

export class DocumentController {
  private editor: DocumentEditor | null = null;
  private around: Surroundings = { block: "paragraph", marks: [], link: null, language: "" };
  private notice: string | null = null;
  private menu: OfferedMenu | null = null;
  private finding: Finding = { query: "", matches: [], current: -1 };
  private isClosed = false;
  private readonly role: OwnRole;
  private areTextsAsked = false;
  private cancels: (() => void)[] = [];
  private drafts: readonly Draft[] = [];
  private nodes: readonly string[] = [];
  private isTold = false;
  private isReady = false;
  private readonly keeper: Keeper;
  /** How much there was to keep when it was looked at last. */
  private unsaved = 0;
  private readonly waiting: Waiting;
  private changes: Changes | null = null;
  /** Who else is here. */
  readonly company: Company;
  private readonly pictures: PictureDesk | null;
  readonly session: Session;
  readonly model: OpenModel;
  /** The person asks for a link at the selection: by a key. */
  onLinkWanted: (() => void) | null = null;

  private constructor(
    private readonly parts: ControllerParts,
    private readonly doc: string,
    kept: Kept | undefined,
    name: string,
  ) {
    this.session = parts.connect(parts.urls, {
      ...(kept === undefined ? {} : { stored: kept.session }),
      ...(parts.ticket === undefined ? {} : { ticket: parts.ticket }),
      openSocket: (url) => this.listening(parts.openSocket(url)),
      onState: (state) => this.onState(state),
      kept: () => this.keeper.kept(),
    });
    this.model = parts.openModel(this.session, doc, kept?.state ?? undefined);
    this.model.onChange = () => this.changed();
    const { role } = parts;
    const later = (delay_ms: number, act: () => void) => this.later(delay_ms, act);
    this.role = new OwnRole(role && (() => role(doc)), later, () => this.roleChanged());
    this.model.onRights = () => this.role.learn();
    if (this.model.isLoaded) this.role.assume();
    this.drafts = kept?.drafts ?? [];
    const toKeep = () => this.toKeep();
    this.keeper = new Keeper(parts.store, toKeep, kept !== undefined, () => this.tell());
    this.waiting = new Waiting((delay_ms, act) => this.later(delay_ms, act));
    const now_ms = () => performance.now();
    const text = () => this.editor;
    this.company = new Company(name, { later, now_ms, text, changed: () => this.tell() });
    void this.company.meet(this.session, `doc/${doc}/here`);
    this.pictures = this.pictureDesk();
  }

  private pictureDesk(): PictureDesk | null {
    const { store, principal, locks, after, pictures } = this.parts;
    if (pictures === undefined) return null;
    const take = (id: string) => locks.take(id);
    const parts = { ...pictures, doc: this.doc, principal, store, take, after };
    return new PictureDesk(
      parts,
      () => this.nodes,
      () => this.changed(),
    );
  }

  /** Opens a document, with the edits that an earlier tab could not send. */
  static async open(
    doc: string,
    name: string,
    parts: ControllerParts,
  ): Promise<DocumentController> {
    const { kept, drafts } = await takeKept(doc, parts);
    const controller = new DocumentController(parts, doc, kept, name);
    if (kept === undefined) await parts.locks.take(controller.session.client);
    controller.drafts = [...controller.drafts, ...drafts];
    controller.changed();
    controller.keeper.flush();
    return controller;
  }

  /** Shows the text in this element, once it is loaded. */
  attach(host: HTMLElement): void {
    this.editor = new DocumentEditor(host, this.model, {
      edited: () => this.changed(true),
      notPut: (texts) => {
        this.drafts = [...this.drafts, ...texts];
        this.changed();
      },
      othersDid: (event) => this.othersDid(event),
      caretMoved: (caret, isCarried) => this.company.caretMoved(caret, isCarried),
      viewed: (block) => this.company.viewed(block),
      surroundings: (around) => this.onSurroundings(around),
      linkWanted: () => this.onLinkWanted?.(),
      notLoaded: () => this.say(documentWords.notAllLoaded),
      toolsMissing: () => this.say(documentWords.partMissing),
      offered: (menu) => {
        this.menu = menu;
        this.tell();
      },
      ...(this.pictures === null ? {} : { pictures: this.pictures.editor }),
      found: (finding) => {
        this.finding = finding;
        this.tell();
      },
    });
    this.editor.setWritable(this.mayWrite);
    this.company.attached();
    void this.pictures?.restore((id) => this.model.value.blocks.some((block) => block.id === id));
  }

  /** What is said of it has come with the others. */
  private othersDid(event: ViewEvent): void {
    const later = (delay_ms: number, act: () => void) => this.later(delay_ms, act);
    import("./here/changes").then(
      ({ Changes }) => {
        this.changes ??= new Changes(later, () => this.tell());
        this.changes.heard(event);
      },
      () => undefined,
    ); // the next one tries again
  }

  get text(): DocumentEditor | null {
    return this.editor;
  }

  get state(): DocumentState {
    const { model } = this;
    return {
      isLoaded: this.isReady,
      title: model.value.title,
      save: this.save,
      isKept: this.keeper.isKept,
      waited_s: this.waiting.waited_s,
      company: this.company.state,
      drafts: this.allDrafts,
      changesSaid: this.changes?.said ?? "",
      condition: this.session.state === "connected" ? this.session.condition : "serving",
      problem: this.problem,
      role: this.role.name,
      mayWrite: this.mayWrite,
      around: this.around,
      notice: this.notice,
      finding: this.finding,
      menu: this.menu,
    };
  }

  /** With all that is on its way; it is not "saved" as long as something is kept that has no place. */
  private get save(): SaveState {
    const sent = this.pictures?.with(this.model.save) ?? this.model.save;
    const save = withMore(sent, this.doing);
    const places = this.allDrafts.length + (this.pictures?.kept ?? 0);
    return save.kind === "saved" && places > 0 ? { kind: "kept", edits: 0, places } : save;
  }

  private get doing(): number {
    return this.editor?.doing ?? 0;
  }

  /** Those of earlier tabs and of this one. */
  private get allDrafts(): readonly Draft[] {
    const { drafts } = this.model;
    const known = new Set(drafts.map(({ id }) => id));
    return [...this.drafts.filter(({ id }) => !known.has(id)), ...drafts];
  }

  private get problem(): Problem | null {
    return this.model.problem ?? this.session.stopped;
  }

  private get mayWrite(): boolean {
    return this.role.mayWrite && this.model.problem === null;
  }

  setTitle(title: string): void {
    if (title === this.model.value.title || title === "") return;
    this.model.change([["rename", title]]);
    this.changed(true);
  }

  setName(name: string): void {
    this.company.setName(name);
  }

  /** Looks for words in the whole document; none: ends the search. */
  find(query: string): void {
    const finder = this.editor?.finder;
    if (!finder) return;
    finder.look(query);
    // A search that has ended knows no texts any more.
    if (query === "") this.areTextsAsked = false;
    if (query === "" || this.areTextsAsked || !finder.isPartial) return;
    this.areTextsAsked = true;
    const known = this.parts.texts(this.doc).then(
      (texts) => this.editor?.finder?.know(texts),
      () => undefined, // offline: what is here is searched
    );
    void known.then(() => this.later(TEXTS_MS, () => (this.areTextsAsked = false)));
  }

  /** The nodes that may be tried, this page's own first. */
  setUrls(urls: readonly string[]): void {
    this.session.urls = urls;
    this.nodes = urls.slice(1).map(nodeOf);
  }

  discardDraft(id: string): void {
    this.drafts = this.drafts.filter((draft) => draft.id !== id);
    if (this.model.drafts.some((draft) => draft.id === id)) this.model.discardDraft(id);
    this.changed();
  }

  /** The machine or the tab is awake again. */
  wake(): void {
    this.company.away(false);
    this.session.retryNow();
    this.pictures?.wake();
  }

  /** The tab is being hidden or closed; true when closing now would lose edits. */
  hide(): boolean {
    this.company.away(true);
    this.keeper.flush();
    const isUnkept =
      this.keeper.hasFailed && (this.model.stored() !== null || this.allDrafts.length > 0);
    return isUnkept || this.doing > 0 || this.pictures?.wouldLose === true;
  }

  /** What is not saved is kept, or cannot be: the page may be left. */
  kept(): Promise<void> {
    return this.keeper.kept();
  }

  /** The page is left; a browser may bring it back as it was. */
  leave(): void {
    this.company.gone();
    this.session.flush();
    this.keeper.flush();
  }

  close(): void {
    this.isClosed = true;
    this.drafts = this.allOf(this.drafts);
    this.pictures?.close();
    this.editor?.destroy();
    this.editor = null;
    this.keeper.flush();
    this.model.close();
    this.session.close();
    for (const cancel of this.cancels) cancel();
  }

  /** Before anything is heard, the editor takes over what the browser has done. */
  private listening(socket: Socket): Socket {
    const outer: Socket = {
      onopen: null,
      onmessage: null,
      onclose: null,
      get readyState() {
        return socket.readyState;
      },
      send: (data) => socket.send(data),
      close: (code, reason) => socket.close(code, reason),
    };
    socket.onopen = () => outer.onopen?.();
    socket.onclose = (event) => outer.onclose?.(event);
    socket.onmessage = (event) => {
      this.editor?.readSelection();
      outer.onmessage?.(event);
    };
    return outer;
  }

  private onState(state: State): void {
    this.company.connected(state === "connected");
    if (state === "connected") this.role.ask();
    this.changed();
  }

  private roleChanged(): void {
    this.editor?.setWritable(this.mayWrite);
    this.tell();
  }

  private onSurroundings(around: Surroundings): void {
    const { block, marks, link, language } = this.around;
    const isSame =
      around.block === block &&
      around.link === link &&
      around.language === language &&
      `${around.marks}` === `${marks}`;
    this.around = around;
    if (!isSame) this.tell();
  }

  private say(notice: string | null): void {
    this.notice = notice;
    this.tell();
    if (notice !== null) this.later(NOTICE_MS, () => this.say(null));
  }

  private later(delay_ms: number, act: () => void): void {
    const cancel = this.parts.after(delay_ms, () => {
      this.cancels = this.cancels.filter((other) => other !== cancel);
      act();
    });
    this.cancels.push(cancel);
  }

  private toKeep(): Kept {
    const { doc, session } = this;
    const { client, stored } = session;
    const drafts = this.allOf(this.allDrafts);
    const { principal } = this.parts;
    return { doc, client, principal, session: stored, state: this.model.stored(), drafts };
  }

  /** With what was pasted and is not in the text yet: without this tab it would have no place. */
  private allOf(drafts: readonly Draft[]): readonly Draft[] {
    return [...drafts, ...(this.editor?.unread ?? [])];
  }

  /** After everything that may have changed the model: keep, count, show; `isOwn`: by the person. */
  private changed(isOwn = false): void {
    if (this.isClosed) return;
    if (this.model.isLoaded) void this.prepare();
    this.editor?.setWritable(this.mayWrite);
    const unsaved = this.model.save.edits + this.allDrafts.length + this.doing;
    this.keeper.changed(unsaved > 0, isOwn || unsaved > this.unsaved);
    this.unsaved = unsaved;
    this.waiting.watch(this.save.edits, () => this.tell());
    this.tell();
  }

  /** What a long document is shown with comes first. */
  private async prepare(): Promise<void> {
    if (this.model.value.blocks.length > LONG_BLOCKS) await loadFolds();
    if (!this.isReady) this.tell();
    this.isReady = true;
  }

  /** Tells the page how things stand, once a turn. */
  private tell(): void {
    if (this.isTold) return;
    this.isTold = true;
    queueMicrotask(() => {
      this.isTold = false;
      if (!this.isClosed) this.parts.changed(this.state);
    });
  }
}
