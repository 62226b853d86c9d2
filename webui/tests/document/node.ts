/** A node of which the test says what happens to a document's blocks, and that keeps what it is sent. */

import { decode, encode } from "@msgpack/msgpack";
import { connect } from "../../src/client";
import { type GroupedDocument, openModel } from "../../src/document/model";
import type { Step } from "../../src/shared/late-edits";
import type { Socket } from "../../src/shared/link";
import type { Rich } from "../../src/shared/rich";

type Said = Record<string, unknown>;
const LIMITS = { frame_bytes: 262_144, objects: 64, calls: 64 };

export class Node {
  /** What is said behind it is of this stretch of the order. */
  birth = "one";
  sent: Said[] = [];
  private socket: Socket | null = null;
  private due: (() => void)[] = [];
  private gathered: Said[] | null = null;
  private readonly versions = new Map<string, number>();
  private readonly session = connect(["ws://one/"], {
    openSocket: () => this.opened(),
    after: (delay_ms, callback) => {
      if (delay_ms === 0) callback();
      else this.due.push(callback);
      return () => undefined;
    },
    random: () => 0,
  });
  readonly model: GroupedDocument;

  /** `saves`: it says what is on disk; `stored`: what a page before has left. */
  constructor(
    private readonly saves = false,
    stored?: unknown,
  ) {
    this.model = openModel(this.session, "plan", stored);
    this.model.look(0, 10);
    this.greet();
  }

  private opened(): Socket {
    const nothing = { onopen: null, onmessage: null, onclose: null };
    const send = (data: Uint8Array): void => {
      this.sent.push(...(decode(data) as Said[]));
    };
    this.socket = { ...nothing, send, close: () => undefined };
    return this.socket;
  }

  private greet(): void {
    this.socket?.onopen?.();
    const me = { who: "me", node: "n", principal: "", resumed: false, saves: this.saves };
    this.say({ t: "welcome", v: 1, ...me, heartbeat_s: 1e6, limits: LIMITS });
  }

  /** The connection is lost, and made again; nothing is told yet. */
  lose(): void {
    this.sent = [];
    this.socket?.onclose?.({ code: 1006 });
    const { socket } = this;
    while (this.socket === socket) this.due.shift()?.();
    this.greet();
  }

  outline(...texts: readonly (readonly [id: string, text: string])[]): void {
    const blocks = texts.map(([id, text]) => [id, "paragraph", text.length, true]);
    this.snapshot("doc/plan", { title: "Plan", blocks, seeds: [] }, 0);
  }

  /**
   * A block as it is, of this version; `last`: of the page's calls it has those up to this one; `done`:
   * their ends.
   */
  block(
    id: string,
    content: Rich,
    received: unknown[] = [],
    last = 0,
    done: unknown[] = [],
    version = 0,
  ): void {
    const none = { births: [], refused: [], drafts: [], recent: null, attributes: {} };
    const open = { status: "open", into: "", number: 0, leaving: [], version };
    this.snapshot(`doc/plan/${id}`, { ...open, ...none, content, received }, last, done);
  }

  /** A block that has gone through these steps since it began. */
  blockBy(id: string, content: Rich, received: unknown[], ...recent: readonly Step[]): void {
    const none = { births: [], refused: [], drafts: [], attributes: {} };
    const open = { status: "open", into: "", number: 0, leaving: [], version: recent.length };
    this.snapshot(`doc/plan/${id}`, { ...open, ...none, content, received, recent }, 0);
  }

  /** An object is as the page has it; "": the outline. `done`: ends of the page's calls. */
  goesOn(id: string, done: unknown[] = []): void {
    const name = id === "" ? "doc/plan" : `doc/plan/${id}`;
    this.versions.set(name, 90);
    this.say({ t: "opened", name, version: 90, done });
  }

  /** A block whose text goes to another one in this parcel; with texts that it has passed on. */
  joined(id: string, content: Rich, into: string, number: number, onward: unknown[] = []): void {
    const none = { births: [], refused: [], drafts: [], recent: null, attributes: {}, content: [] };
    const gone = { status: "joined", into, number, leaving: content, version: 1 };
    const received = onward.map((one) => (one as unknown[]).slice(0, 2));
    this.snapshot(`doc/plan/${id}`, { ...gone, ...none, received, onward }, 0);
  }

  /** A block as it is, told in full: `state` has what differs from an empty open one. `done`: as for `block`. */
  is(id: string, state: Said, last = 0, done: unknown[] = []): void {
    const none = { births: [], refused: [], drafts: [], recent: [], attributes: {}, content: [] };
    const open = { status: "open", into: "", number: 0, leaving: [], version: 0, received: [] };
    this.snapshot(`doc/plan/${id}`, { ...open, ...none, ...state }, last, done);
  }

  /** A block whose text has gone elsewhere and is there, with parts of edits that it has passed on. */
  passedOn(id: string, passed: readonly (readonly [string, number, ...unknown[]])[]): void {
    const none = { births: [], refused: [], drafts: [], recent: null, attributes: {}, content: [] };
    const gone = { status: "joined", into: "b", number: 0, leaving: [], version: 1 };
    const received = passed.map(([source, number]) => [source, number]);
    this.snapshot(`doc/plan/${id}`, { ...gone, ...none, received, passed }, 0);
  }

  private snapshot(name: string, state: Said, last: number, done: unknown[] = []): void {
    const { birth } = this;
    this.versions.set(name, 9);
    this.say({ t: "snapshot", name, birth, version: 9, state, done, last });
  }

  /** Somebody has done this to a block. */
  happens(id: string, who: string, operation: string, ...details: unknown[]): void {
    const name = `doc/plan/${id}`;
    const version = (this.versions.get(name) ?? 0) + 1;
    this.versions.set(name, version);
    const items = [[version, who, operation, details]];
    this.say({ t: "changes", name, version, items });
  }

  /** A detail of the outline. */
  tells(...details: unknown[]): void {
    const version = (this.versions.get("doc/plan") ?? 0) + 1;
    this.versions.set("doc/plan", version);
    this.say({
      t: "changes",
      name: "doc/plan",
      version,
      items: [[version, "ann", "call", details]],
    });
  }

  answers(id: string, n: number, result: unknown): void {
    this.say({ t: "result", name: `doc/plan/${id}`, n, results: [result] });
  }

  private say(message: Said): void {
    if (this.gathered !== null) this.gathered.push(message);
    else this.socket?.onmessage?.({ data: encode([message]) });
  }

  /** A block cannot be had. */
  fails(id: string, code: string): void {
    this.say({ t: "error", name: `doc/plan/${id}`, code, message: "", temporary: false });
  }

  /** What is said meanwhile comes in one frame. */
  inOneFrame(say: () => void): void {
    this.gathered = [];
    say();
    const frame = this.gathered;
    this.gathered = null;
    this.socket?.onmessage?.({ data: encode(frame) });
  }

  /** The calls that were sent over this connection: number and operation. */
  get calls(): unknown {
    return this.sent.flatMap(({ t, n, calls }) =>
      t === "call" ? [[n, (calls as [[string]])[0][0]]] : [],
    );
  }

  get texts(): unknown {
    return this.model.value.blocks.map(({ id, content }) => [id, ...(content ?? [])]);
  }
}
