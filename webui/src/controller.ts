/** One open document: the session, the connection, the store and the editor held together. */

import type { ClientLocks } from "./client-lock";
import { Connection, type ConnectionTools } from "./connection";
import { DocumentEditor, type OwnCaret } from "./editor/editor";
import { randomId } from "./ids";
import { Keeper } from "./keeper";
import { mentioned } from "./model/changes";
import { peopleAfter } from "./people";
import type {
  DocumentMessage,
  Person,
  ProblemMessage,
  ServerMessage,
  Welcome,
} from "./protocol/messages";
import { DocumentSession } from "./session/session";
import type { Draft, SaveState, SessionEvent, StoredSession } from "./session/state";
import { draftsOf, type Store } from "./store";

/** What the page shows around the text. */
export interface DocumentState {
  readonly isLoaded: boolean;
  readonly title: string;
  readonly save: SaveState;
  /** How long the oldest edit has waited: 0, 3 or 10 seconds. */
  readonly waited_s: 0 | 3 | 10;
  readonly people: readonly Person[];
  readonly drafts: readonly Draft[];
  readonly isStale: boolean;
  /** Why nothing goes on any more, null as long as it does. */
  readonly problem: string | null;
  readonly block: string;
}

export interface ControllerParts {
  readonly store: Store | null;
  readonly locks: ClientLocks;
  readonly tools: ConnectionTools;
  readonly urls: readonly string[];
  readonly changed: (state: DocumentState) => void;
}

const CARET_MS = 50;
const RETRY_MS = 500;
const STALE_MS = 3_000;
const MISSING = "There is no document at this address. Check it, or look in the list.";

export class DocumentController {
  private people: readonly Person[] = [];
  private problem: string | null = null;
  private block = "paragraph";
  private editor: DocumentEditor | null = null;
  private caret: OwnCaret | null = null;
  private isCaretDue = false;
  private waited_s: 0 | 3 | 10 = 0;
  private cancelWaits: (() => void)[] = [];
  private isWaiting = false;
  private held: DocumentMessage[] = [];
  private readonly connection: Connection;

  private constructor(
    private readonly parts: ControllerParts,
    readonly session: DocumentSession,
    private readonly keeper: Keeper,
    private name: string,
  ) {
    this.connection = new Connection(
      parts.urls,
      { client: session.client, name },
      {
        connected: (welcome) => this.onConnected(welcome),
        disconnected: () => this.onDisconnected(),
        received: (message) => this.onMessage(message),
        stopped: ({ message }) => this.onStopped(message),
      },
      parts.tools,
    );
  }

  /** Opens a document, with the edits that an earlier tab could not send. */
  static async open(
    doc: string,
    name: string,
    parts: ControllerParts,
  ): Promise<DocumentController> {
    const { kept, drafts } = await takeKept(doc, parts);
    const client = kept?.client ?? randomId();
    if (kept === undefined) await parts.locks.take(client);
    const session = new DocumentSession(doc, client, kept);
    session.drafts = [...session.drafts, ...drafts];
    const keeper = new Keeper(parts.store, session, kept !== undefined);
    const controller = new DocumentController(parts, session, keeper, name);
    controller.connection.start();
    if (drafts.length > 0) keeper.changed();
    return controller;
  }

  /** Shows the text in this element, once it is loaded. */
  attach(host: HTMLElement): void {
    this.editor = new DocumentEditor(host, this.session, {
      edited: () => this.changed(),
      caretMoved: (caret) => this.onCaret(caret),
      blockChanged: (block) => this.onBlock(block),
      composed: () => this.releaseHeld(),
    });
    this.editor.showPeople(this.people);
  }

  get text(): DocumentEditor | null {
    return this.editor;
  }

  get state(): DocumentState {
    const { session } = this;
    return {
      isLoaded: session.isLoaded,
      title: session.view.title,
      save: session.saveState(),
      waited_s: this.waited_s,
      people: this.people,
      drafts: session.drafts,
      isStale: session.stale,
      problem: this.problem,
      block: this.block,
    };
  }

  setTitle(title: string): void {
    if (title === this.session.view.title || title === "") return;
    this.session.localChange([["title", title]]);
    this.changed();
  }

  setName(name: string): void {
    this.name = name;
    this.connection.identify({ client: this.session.client, name });
  }

  /** The nodes that may be tried, this page's own first. */
  setUrls(urls: readonly string[]): void {
    this.connection.urls = urls;
  }

  discardDraft(id: string): void {
    this.session.discardDraft(id);
    this.changed();
  }

  /** The machine or the tab is awake again. */
  wake(): void {
    if (this.connection.isWaiting) this.connection.retryNow();
  }

  /** The tab is being hidden or closed; true when closing now would lose edits. */
  hide(): boolean {
    this.keeper.flush();
    return this.keeper.hasFailed && this.session.hasUnsent;
  }

  close(): void {
    this.keeper.flush();
    this.connection.stop();
    this.cancelWaits.forEach((cancel) => {
      cancel();
    });
    this.editor?.destroy();
    this.editor = null;
  }

  private onConnected(welcome: Welcome): void {
    this.session.limits = welcome.limits;
    this.session.stale = false;
    this.connection.send(this.session.connected());
    this.changed();
  }

  private onDisconnected(): void {
    this.held = [];
    this.session.disconnected();
    this.showPeople([]);
    this.changed();
  }

  private onStopped(message: string): void {
    this.problem = message;
    this.onDisconnected();
  }

  private onMessage(message: ServerMessage): void {
    if ("doc" in message && message.doc !== undefined && message.doc !== this.session.doc) return;
    switch (message.t) {
      case "opened":
      case "snapshot":
      case "update":
      case "saved":
      case "reject":
        this.onContent(message);
        break;
      case "people":
      case "caret":
      case "left":
        this.showPeople(peopleAfter(this.people, message));
        break;
      case "status":
        this.onStatus(message.state === "stale");
        break;
      case "error":
        this.onError(message);
        break;
      default:
    }
  }

  private onContent(message: DocumentMessage): void {
    if (this.held.length > 0 || this.mustHold(message)) {
      this.held.push(message);
      return;
    }
    this.editor?.readSelection();
    if (message.t === "saved" || message.t === "update") this.progressed(message);
    for (const event of this.session.receive(message)) this.follow(event);
    this.changed();
  }

  /** Whether the message would change the very text that an input method is composing. */
  private mustHold(message: DocumentMessage): boolean {
    const block = this.editor?.composingBlock ?? null;
    if (block === null) return false;
    if (message.t === "snapshot") return true;
    if (message.t !== "update" || message.client === this.session.client) return false;
    return message.changes.some((change) => mentioned(change).includes(block));
  }

  private releaseHeld(): void {
    const held = this.held;
    this.held = [];
    for (const message of held) this.onContent(message);
  }

  private follow(event: SessionEvent): void {
    switch (event.kind) {
      case "view":
        this.editor?.show(event);
        break;
      case "reopen":
        this.connection.send(this.session.openFrom(event.position));
        break;
      case "retry":
        this.later(RETRY_MS * (1 + this.parts.tools.random()), () => this.session.retry());
        break;
      case "identity":
        void this.changeClient();
        break;
      case "draft":
    }
  }

  /** The node does not know this client's numbers: its unsent edits go on under a new id. */
  private async changeClient(): Promise<void> {
    const old = this.session.client;
    const client = randomId();
    await this.parts.locks.take(client);
    this.session.renamed(client);
    this.connection.identify({ client, name: this.name });
    this.changed();
    this.keeper.flush();
    await this.parts.store?.forget(old, this.session.doc);
  }

  private onStatus(isStale: boolean): void {
    this.session.stale = isStale;
    if (!isStale) this.session.retry();
    else if (this.connection.urls.length > 1) this.leaveWhenStale();
    this.changed();
  }

  /** A node outside the primary view is left for another when something waits to be sent. */
  private leaveWhenStale(): void {
    this.later(STALE_MS * (1 + this.parts.tools.random()), () => {
      if (!this.session.stale || !this.connection.isConnected) return;
      if (this.session.hasUnsent) this.connection.elsewhere();
      else this.leaveWhenStale();
    });
  }

  private onError(problem: ProblemMessage): void {
    if (problem.temporary) {
      const open = (): void => {
        if (this.session.saveState().kind === "offline" && !this.session.stale) {
          this.connection.send(this.session.connected());
        }
      };
      this.later(RETRY_MS * (1 + this.parts.tools.random()), open);
    } else if (!this.session.isLoaded) {
      const isMissing = problem.code === "no_such_document";
      this.problem = isMissing ? MISSING : problem.message;
      this.connection.stop();
    }
    this.changed();
  }

  private onCaret(caret: OwnCaret): void {
    this.caret = caret;
    if (this.isCaretDue) return;
    this.isCaretDue = true;
    this.later(CARET_MS, () => {
      this.isCaretDue = false;
      if (this.caret !== null && this.session.isLoaded) {
        this.connection.send({ t: "caret", doc: this.session.doc, ...this.caret });
      }
    });
  }

  private onBlock(block: string): void {
    if (block === this.block) return;
    this.block = block;
    this.parts.changed(this.state);
  }

  private showPeople(people: readonly Person[]): void {
    this.people = people;
    this.editor?.showPeople(people);
    this.parts.changed(this.state);
  }

  private later(delay_ms: number, act: () => void): void {
    const cancel = this.parts.tools.after(delay_ms, () => {
      this.cancelWaits = this.cancelWaits.filter((other) => other !== cancel);
      act();
      this.changed();
    });
    this.cancelWaits.push(cancel);
  }

  /** After everything that may have changed the session: send, keep, show. */
  private changed(): void {
    const submit = this.session.sendable();
    if (submit !== null) this.connection.send(submit);
    this.keeper.changed();
    this.watchWaiting();
    this.parts.changed(this.state);
  }

  private progressed(message: DocumentMessage): void {
    const isOwn =
      message.t === "saved" || (message.t === "update" && message.client === this.session.client);
    if (!isOwn) return;
    this.isWaiting = false;
    this.waited_s = 0;
  }

  /** Counts how long the oldest edit has waited without any progress. */
  private watchWaiting(): void {
    const isWaiting = this.session.saveState().edits > 0;
    if (!isWaiting) {
      this.isWaiting = false;
      this.waited_s = 0;
    } else if (!this.isWaiting) {
      this.isWaiting = true;
      const round = {};
      this.round = round;
      for (const waited_s of [3, 10] as const) {
        this.later(waited_s * 1_000, () => {
          if (this.isWaiting && this.round === round) this.waited_s = waited_s;
        });
      }
    }
  }

  private round: object = {};
}

interface Kept {
  readonly kept: StoredSession | undefined;
  readonly drafts: readonly Draft[];
}

/** The edits of an earlier tab that no living tab holds; its drafts when nothing is unsent. */
async function takeKept(doc: string, parts: ControllerParts): Promise<Kept> {
  const { store, locks } = parts;
  const drafts: Draft[] = [];
  let kept: StoredSession | undefined;
  for (const stored of (await store?.sessions(doc)) ?? []) {
    const isUnsent = stored.inFlight !== null || stored.pending.length > 0;
    if (isUnsent && kept !== undefined) continue;
    if (!(await locks.take(stored.client))) continue;
    if (isUnsent) {
      kept = stored;
    } else {
      drafts.push(...draftsOf(stored));
      await store?.forget(stored.client, doc);
    }
  }
  return { kept, drafts };
}
