/** A node with one place, for pages that come and go: it knows calls again by their numbers. */

import { decode, encode } from "@msgpack/msgpack";
import { expect, vi } from "vitest";
import { ApiError } from "../../src/api";
import { BoardController, type BoardParts, type BoardState } from "../../src/board/live/controller";
import { LocalPlace } from "../../src/board/live/local-doors";
import { Camera } from "../../src/board/model/camera";
import type { Call, Out } from "../../src/client/messages";
import { connect } from "../../src/client/session";
import type { ClientLocks } from "../../src/client-lock";
import type { StoredPicture } from "../../src/pictures/sending";
import { PlaceRefusal } from "../../src/place/refusal";
import type { WireRemark } from "../../src/place/talk";
import { operationOf } from "../../src/place/wire";
import type { Socket } from "../../src/shared/link";
import type { Store } from "../../src/store";
import { cellToWire } from "../place/cell-to-wire";

type Verdict = readonly [n: number, results: readonly unknown[], code: string];

/** Longer times are those of silence, which nobody waits for here. */
const LONG_MS = 2_600;

/** Waits until it holds: by what comes, on a busy machine, too. */
export const until = (holds: () => unknown): Promise<unknown> =>
  vi.waitFor(holds, { timeout: 20_000, interval: 10 });

/** Of every picture that is taken. */
export const HASH = "cd".repeat(32);

export class PlaceNode {
  readonly place = new LocalPlace();
  title = "Plan";
  isUp = true;
  /** Calls are done, and no answer of this operation comes through. */
  swallowed = "";
  /** Is asked before each call. */
  before: (client: string, operation: string) => Promise<void> = async () => undefined;
  /** What was done, in its order: client, object, number, operation. */
  readonly ran: string[] = [];
  /** Why no picture is taken; empty: they are. */
  refuses = "";
  /** The names of files that were taken, and the pictures that were copied from other places. */
  readonly taken: string[] = [];
  readonly remarks: WireRemark[] = [];
  private said = 0;
  /** A text that the chat does not take. */
  refusedRemark = "";
  readonly adopted: (readonly [from: string, picture: string])[] = [];
  private readonly known = new Map<string, Verdict[]>();
  private readonly connections = new Set<Connection>();

  open(): Socket {
    const connection = new Connection(this);
    queueMicrotask(() => {
      if (this.isUp) this.connections.add(connection);
      if (this.isUp) connection.onopen?.();
      else connection.onclose?.({ code: 1006 });
    });
    return connection;
  }

  /** Nothing comes through any more. */
  cut(code = 1006): void {
    this.isUp = false;
    for (const one of this.connections) {
      this.connections.delete(one);
      one.onclose?.({ code });
    }
  }

  /** Takes a picture of 960 by 480 pixels. */
  async take(sent: Blob): Promise<StoredPicture> {
    await this.answer();
    this.taken.push(sent instanceof File ? sent.name : "");
    return { picture: HASH, width: 960, height: 480 };
  }

  async adopt(from: string, picture: string): Promise<StoredPicture> {
    await this.answer();
    this.adopted.push([from, picture]);
    return { picture, width: 960, height: 480 };
  }

  private async answer(): Promise<void> {
    await Promise.resolve();
    if (!this.isUp) throw new ApiError("unreachable", "");
    if (this.refuses !== "") throw new ApiError(this.refuses, "It is not taken.");
  }

  verdicts(client: string, name: string): Verdict[] {
    const key = `${client} ${name}`;
    const found = this.known.get(key) ?? [];
    this.known.set(key, found);
    return found;
  }

  stateOf(name: string): unknown {
    const path = name.split("/")[2];
    if (path === "talk") return { remarks: [...this.remarks] };
    if (path !== undefined) return cellToWire(this.place.at(path));
    const { tree } = this.place;
    return { title: this.title, version: tree.size, tree: [...tree], far: [] };
  }

  /** Once, whoever asks again. */
  run(client: string, name: string, n: number, [operation, args]: Call): Verdict {
    const verdicts = this.verdicts(client, name);
    const known = verdicts.find(([one]) => one === n);
    if (known !== undefined) return known;
    this.ran.push(`${name.split("/")[2] ?? "place"} ${n} ${operation}`);
    let verdict: Verdict;
    try {
      verdict = [n, [this.do(client, name, operation, args)], ""];
    } catch (error) {
      if (!(error instanceof PlaceRefusal)) throw error;
      verdict = [n, [], error.code];
    }
    verdicts.push(verdict);
    return verdict;
  }

  private do(client: string, name: string, operation: string, args: readonly unknown[]): unknown {
    const path = name.split("/")[2];
    if (path === "talk") return this.talk(operation, args.map(String));
    if (path === undefined) {
      this.title = String(args[0]);
      return null;
    }
    const known = operationOf(operation, args);
    if (known === null) throw new PlaceRefusal("bad_action");
    return this.place.run(path, client, known) ?? null;
  }

  /** The chat, of guests who are told apart. */
  private talk(operation: string, [text = "", name = "", by = ""]: readonly string[]): unknown {
    if (text === this.refusedRemark) throw new PlaceRefusal("bad_thing");
    if (operation === "say") {
      this.said += 1;
      const id = this.said.toString(16);
      this.remarks.push([id, `guest/${by}`, name, 1_000 * this.said, text]);
      return id;
    }
    const at = this.remarks.findIndex(([id]) => id === text);
    if (at >= 0) this.remarks.splice(at, 1);
    return at >= 0;
  }

  /** All that have an object open are told what it is now. */
  tell(): void {
    for (const one of this.connections) one.tell();
  }
}

class Connection implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  private client = "";
  private version = 1;
  private readonly names = new Set<string>();
  private queue: Promise<void> = Promise.resolve();

  constructor(private readonly node: PlaceNode) {}

  send(data: Uint8Array<ArrayBuffer>): void {
    for (const message of decode(data) as Out[]) {
      this.queue = this.queue.then(() => this.hear(message));
    }
  }

  close(): void {
    this.onclose = null;
    this.onmessage = null;
  }

  private say(message: unknown): void {
    if (this.node.isUp) this.onmessage?.({ data: encode([message]) });
  }

  private async hear(message: Out): Promise<void> {
    if (!this.node.isUp) return;
    if (message.t === "hello") {
      this.client = message.client;
      const limits = { frame_bytes: 1_000_000, objects: 64, calls: 64 };
      const who = message.client;
      this.say({ t: "welcome", who, node: "a", principal: "", heartbeat_s: 15, limits });
    } else if (message.t === "open" && message.type === "PlacePresence") {
      this.say({ t: "opened", name: message.name, version: 1, done: [] });
    } else if (message.t === "open") {
      const { name } = message;
      this.names.add(name);
      const done = this.node.verdicts(this.client, name);
      const last = Math.max(0, ...done.map(([n]) => n));
      const state = this.node.stateOf(name);
      this.say({ t: "snapshot", name, birth: "b", version: this.version, state, done, last });
    } else if (message.t === "call") {
      await this.call(message.name, message.n, message.calls);
    }
  }

  private async call(name: string, n: number, calls: readonly Call[]): Promise<void> {
    const [call] = calls;
    if (call === undefined) return;
    await this.node.before(this.client, call[0]);
    if (!this.node.isUp) return;
    const [, results, code] = this.node.run(this.client, name, n, call);
    if (call[0] === this.node.swallowed) return;
    this.node.tell();
    const end =
      code === ""
        ? { t: "result", name, n, results }
        : { t: "error", name, n, code, message: code, temporary: false };
    this.say(end);
  }

  tell(): void {
    this.version += 1;
    for (const name of this.names) {
      const state = this.node.stateOf(name);
      const items = [[this.version, "nodes", "told", []]];
      if (name.split("/").length === 3)
        this.say({ t: "changes", name, version: this.version, items, state });
    }
  }
}

/** A tab in front of the place; `crash` ends it without a word. */
export interface Tab {
  readonly controller: BoardController;
  readonly shown: () => BoardState;
  readonly said: string[];
  crash(): void;
}

/** The ids that are held, by tab: of one browser. */
const held = new Map<string, object>();

export async function tab(
  node: PlaceNode,
  store: Store | null,
  more: Partial<BoardParts> = {},
): Promise<Tab> {
  const own = {};
  let isDead = false;
  let shown: BoardState | null = null;
  const said: string[] = [];
  const locks: ClientLocks = {
    take: async (client) => {
      const isFree = (held.get(client) ?? own) === own;
      if (isFree) held.set(client, own);
      return isFree;
    },
  };
  const after = (delay_ms: number, act: () => void): (() => void) => {
    if (delay_ms > LONG_MS) return () => undefined;
    const timer = setTimeout(() => isDead || act(), delay_ms / 10);
    return () => clearTimeout(timer);
  };
  const sockets: Socket[] = [];
  const controller = await BoardController.open("p1", {
    session: (options) =>
      connect(["ws://node/"], {
        ...options,
        openSocket: () => {
          const socket = node.open();
          sockets.push(socket);
          return socket;
        },
        after,
        random: () => 0,
      }),
    store,
    locks,
    principal: "guest",
    after,
    now_ms: () => Date.now(),
    name: "Ann",
    isShared: true,
    ...more,
    changed: (state) => {
      shown = state;
      if (state.notice !== null && said.at(-1) !== state.notice) said.push(state.notice);
    },
    drawn: () => undefined,
    write: () => undefined,
    pictures: {
      send: (_place, sent) => node.take(sent),
      copy: (_place, from, picture) => node.adopt(from, picture),
      load: () => Promise.reject(new Error("nothing is drawn here")),
    },
  });
  void vi
    .waitFor(() => {
      expect(controller.state.isLoaded).toBe(true);
      controller.board.look(new Camera(0, 0, 1, 1_000, 800));
    })
    .catch(() => undefined); // it stays without a connection
  return {
    controller,
    said,
    shown: () => shown ?? controller.state,
    crash: () => {
      isDead = true;
      controller.pictures.close();
      for (const socket of sockets) socket.onmessage = socket.onclose = socket.onopen = null;
      for (const [client, whose] of held) if (whose === own) held.delete(client);
    },
  };
}
