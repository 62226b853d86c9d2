/** People on one document: their sessions, and what is on its way between them and the node. */

import { expect } from "vitest";
import type { DocumentValue } from "../../src/model/document";
import type { DocumentMessage } from "../../src/protocol/messages";
import { DocumentSession } from "../../src/session/session";
import type { SessionEvent } from "../../src/session/state";
import type { DummyDocument } from "../dummy-node";
import { type Choice, editOf, plain } from "../random";

/** One person: a session, and the frames that are on their way in both directions. */
export class Player {
  session: DocumentSession;
  /** What the editor shows, led along by the events alone. */
  shown: DocumentValue;
  private toNode: (() => void)[] = [];
  private fromNode: DocumentMessage[] = [];
  private isUp = false;
  private count = 0;
  events: SessionEvent[] = [];

  constructor(
    private readonly world: World,
    readonly client: string,
  ) {
    this.session = new DocumentSession("doc", client);
    this.shown = this.session.view;
  }

  connect(): void {
    if (this.isUp) return;
    this.isUp = true;
    const open = this.session.connected();
    this.toNode.push(() => this.fromNode.push(...this.world.document.open(this.client, open)));
  }

  /** The socket is lost with everything on it; what the node got stays got. */
  lose(): void {
    this.isUp = false;
    this.toNode = [];
    this.fromNode = [];
    this.session.disconnected();
  }

  edit(choice: Choice): void {
    if (!this.session.isLoaded) return;
    this.count += 1;
    const changes = editOf(choice, this.session.view, `${this.client}-${this.count}`);
    this.session.localChange(changes);
    this.shown = this.shown.apply(changes).document;
    expect(plain(this.shown)).toEqual(plain(this.session.view));
  }

  submit(): void {
    const submit = this.session.sendable();
    if (submit === null) return;
    this.toNode.push(() => {
      const outcome = this.world.document.submit(this.client, this.client, submit);
      this.fromNode.push(...outcome.reply);
      this.world.broadcast(outcome.broadcast);
    });
  }

  hear(messages: readonly DocumentMessage[]): void {
    if (this.isUp) this.fromNode.push(...messages);
  }

  deliver(): void {
    this.toNode.shift()?.();
  }

  take(): void {
    const message = this.fromNode.shift();
    if (message !== undefined) this.follow(this.session.receive(message));
  }

  /** Takes everything that has come. */
  hearAll(): void {
    while (this.fromNode.length > 0) this.take();
  }

  /** Everything goes well for a while. */
  flow(): void {
    this.connect();
    this.submit();
    while (this.toNode.length > 0) this.deliver();
    this.hearAll();
  }

  get isQuiet(): boolean {
    return this.toNode.length === 0 && this.fromNode.length === 0 && !this.session.hasUnsent;
  }

  /** The tab is closed and opened again from what was kept. */
  reload(): void {
    const stored = structuredClone(this.session.toStored());
    this.lose();
    this.session = new DocumentSession("doc", this.client, stored);
    expect(plain(this.session.view)).toEqual(plain(this.shown));
  }

  private follow(events: SessionEvent[]): void {
    this.events.push(...events);
    for (const event of events) {
      if (event.kind === "view") {
        expect(plain(event.before)).toEqual(plain(this.shown));
        this.shown = this.shown.apply(event.changes).document;
        expect(plain(event.after)).toEqual(plain(this.shown));
      } else if (event.kind === "reopen") {
        const open = this.session.openFrom(event.position);
        this.toNode.push(() => this.fromNode.push(...this.world.document.open(this.client, open)));
      }
    }
  }
}

export class World {
  readonly players: Player[];

  constructor(
    readonly document: DummyDocument,
    count: number,
  ) {
    this.players = Array.from({ length: count }, (_, index) => new Player(this, `c${index}`));
    for (const player of this.players) player.connect();
  }

  broadcast(messages: readonly DocumentMessage[]): void {
    for (const player of this.players) player.hear(messages);
  }

  /** Everybody is connected, and everything on its way arrives. */
  settle(): void {
    for (let round = 0; round < 500; round += 1) {
      for (const player of this.players) {
        player.connect();
        player.submit();
        player.deliver();
        player.take();
      }
      if (this.players.every((player) => player.isQuiet)) break;
    }
    this.broadcast([this.document.save()]);
    for (const player of this.players) player.take();
  }
}
