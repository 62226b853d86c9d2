/** What the nodes lose together, because it was not on disk yet, is given back to who wrote it. */

import { encode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { connect } from "../../src/client";
import { openModel } from "../../src/document/model";
import type { Socket } from "../../src/shared/link";
import type { Rich } from "../../src/shared/rich";

type Said = Record<string, unknown>;
const DOC = "doc/plan";
const BLOCK = "doc/plan/a";

/** A node of which the test says what it has, and what comes of calls. */
class Node {
  socket: Socket | null = null;
  birth = "one";
  last: Record<string, number> = {};
  content: Rich = ["One"];
  version = 0;
  private due: (() => void)[] = [];

  readonly session = connect(["ws://one/"], {
    openSocket: () => this.opened(),
    after: (_delay, callback) => {
      this.due.push(callback);
      return () => undefined;
    },
    random: () => 0,
  });
  readonly model = openModel(this.session, "plan");

  private opened(): Socket {
    const socket: Socket = {
      onopen: null,
      onmessage: null,
      onclose: null,
      send: () => undefined,
      close: () => undefined,
    };
    this.socket = socket;
    return socket;
  }

  say(...messages: Said[]): void {
    this.socket?.onmessage?.({ data: encode(messages) });
  }

  /** The page is connected, and has what the node has. */
  begin(): void {
    this.socket?.onopen?.();
    const limits = { frame_bytes: 262_144, objects: 64, calls: 64 };
    const me = { who: "n#1/1", node: "n", principal: "", resumed: false, saves: true };
    this.say({ t: "welcome", v: 1, ...me, heartbeat_s: 1e6, limits });
    const title = "Plan";
    this.snapshot(DOC, { title, blocks: [["a", "paragraph", 3, true]], seeds: [] });
    this.block();
  }

  /** The block as the node has it. */
  block(): void {
    const none = { births: [], received: [], refused: [], drafts: [], recent: null };
    const text = { content: this.content, attributes: {}, version: this.version };
    const open = { status: "open", into: "", number: 0, leaving: [] };
    this.snapshot(BLOCK, { ...open, ...text, ...none });
  }

  private snapshot(name: string, state: Said): void {
    const last = this.last[name] ?? 0;
    this.say({ t: "snapshot", name, birth: this.birth, version: 9, state, done: [], last });
  }

  /** The connection is lost, and made again. */
  lose(): void {
    this.socket?.onclose?.({ code: 1006 });
    const { socket } = this;
    while (this.socket === socket) this.due.shift()?.();
    this.begin();
  }

  /** What was called is done, and not saved. */
  done(version: number, delta: unknown[]): void {
    const item = [9 + version, "n#1/1", "edit", [["edited", version, delta]]];
    this.say({ t: "changes", name: BLOCK, version: 9 + version, items: [item] });
    const results = [{ version, moved: [], draft: [] }];
    this.say({ t: "result", name: BLOCK, n: version, results });
  }
}

function written(): Node {
  const node = new Node();
  node.model.look(0, 10);
  node.begin();
  node.model.change([["edit", "a", [3, " kept"]]]);
  node.done(1, [3, " kept"]);
  node.say({ t: "saved", name: BLOCK, n: 1 });
  node.model.change([["edit", "a", [8, " lost"]]]);
  node.done(2, [8, " lost"]);
  expect(node.model.value.blocks[0]?.content).toEqual(["One kept lost"]);
  expect(node.model.save.kind).toBe("saving");
  return node;
}

test("what was answered and lost with all nodes before it was saved is a draft", () => {
  const node = written();
  Object.assign(node, { birth: "two", content: ["One kept"], version: 1, last: { [BLOCK]: 1 } });
  node.lose();
  node.block(); // asked for its steps
  expect(node.model.value.blocks[0]?.content).toEqual(["One kept"]);
  expect(node.model.drafts.map(({ code, text }) => [code, text])).toEqual([
    ["power_lost", " lost"],
  ]);
});

test("what the nodes still know behind a loss is none", () => {
  const node = written();
  Object.assign(node, {
    birth: "two",
    content: ["One kept lost"],
    version: 2,
    last: { [BLOCK]: 2 },
  });
  node.lose();
  expect(node.model.value.blocks[0]?.content).toEqual(["One kept lost"]);
  expect(node.model.drafts).toEqual([]);
});

test("what went on without a loss gives nothing back", () => {
  const node = written();
  Object.assign(node, { content: ["One kept lost"], version: 2, last: { [BLOCK]: 2 } });
  node.lose();
  expect(node.model.drafts).toEqual([]);
});

test("a sentence that is refused in two parts is one draft", () => {
  const node = new Node();
  node.model.look(0, 10);
  node.begin();
  const refuse = (n: number): void => {
    const error = { t: "error", code: "forbidden", message: "no", temporary: false };
    node.say({ ...error, name: BLOCK, n });
  };
  node.model.change([["edit", "a", [3, " ne"]]]);
  node.model.change([["edit", "a", [6, "ver"]]]);
  node.model.change([["edit", "a", [9, " taken"]]]);
  refuse(1);
  expect(node.model.drafts.map(({ text }) => text)).toEqual([" ne"]);
  expect(node.model.value.blocks[0]?.content).toEqual(["Onever taken"]);
  node.model.change([["edit", "a", ["elsewhere "]]]);
  refuse(2);
  refuse(3);
  expect(node.model.drafts.map(({ text }) => text)).toEqual([" never taken", "elsewhere "]);
  expect(node.model.value.blocks[0]?.content).toEqual(["One"]);
  // Of what was not done there is nothing to be saved.
  expect(node.model.save).toEqual({ kind: "saved", edits: 0, places: 0 });
  // What was thrown away meanwhile does not come back with the rest.
  node.model.change([["edit", "a", [3, " more"]]]);
  node.model.change([["edit", "a", [8, " of it"]]]);
  refuse(4);
  node.model.discardDraft(node.model.drafts.at(-1)?.id ?? "");
  refuse(5);
  expect(node.model.drafts.map(({ text }) => text).at(-1)).toBe(" of it");
});
