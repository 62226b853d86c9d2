/** What becomes of an edit whose text goes on from where it went to, before the edit is there. */

import { encode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { connect } from "../../src/client";
import { openModel } from "../../src/document/model";
import type { Socket } from "../../src/shared/link";
import type { Rich } from "../../src/shared/rich";

type Said = Record<string, unknown>;

/** A node of which the test says what happens to the blocks of a document. */
class Node {
  private socket: Socket | null = null;
  private readonly versions = new Map<string, number>();
  private readonly session = connect(["ws://one/"], {
    openSocket: () => this.opened(),
    after: () => () => undefined,
    random: () => 0,
  });
  readonly model = openModel(this.session, "plan");

  private opened(): Socket {
    const nothing = { onopen: null, onmessage: null, onclose: null };
    this.socket = { ...nothing, send: () => undefined, close: () => undefined };
    return this.socket;
  }

  begin(...texts: readonly (readonly [id: string, text: string])[]): void {
    this.model.look(0, 10);
    this.socket?.onopen?.();
    const limits = { frame_bytes: 262_144, objects: 64, calls: 64 };
    const me = { who: "me", node: "n", principal: "", resumed: false, saves: false };
    this.say({ t: "welcome", v: 1, ...me, heartbeat_s: 1e6, limits });
    const blocks = texts.map(([id, text]) => [id, "paragraph", text.length, true]);
    this.snapshot("doc/plan", { title: "Plan", blocks, seeds: [] });
    for (const [id, text] of texts) this.block(id, [text], []);
  }

  block(id: string, content: Rich, received: unknown[]): void {
    const none = { births: [], refused: [], drafts: [], recent: null, attributes: {} };
    const open = { status: "open", into: "", number: 0, leaving: [], version: 0 };
    this.snapshot(`doc/plan/${id}`, { ...open, ...none, content, received });
  }

  private snapshot(name: string, state: Said): void {
    this.versions.set(name, 9);
    this.say({ t: "snapshot", name, birth: "one", version: 9, state, done: [], last: 0 });
  }

  /** Somebody has done this to a block. */
  happens(id: string, who: string, operation: string, ...details: unknown[]): void {
    const name = `doc/plan/${id}`;
    const version = (this.versions.get(name) ?? 0) + 1;
    this.versions.set(name, version);
    const items = [[version, who, operation, details]];
    this.say({ t: "changes", name, version, items });
  }

  answers(id: string, n: number, result: unknown): void {
    this.say({ t: "result", name: `doc/plan/${id}`, n, results: [result] });
  }

  private say(message: Said): void {
    this.socket?.onmessage?.({ data: encode([message]) });
  }

  get texts(): unknown {
    return this.model.value.blocks.map(({ id, content }) => [id, ...(content ?? [])]);
  }
}

test("a part of an edit that goes on from where its text went to is shown once, and confirmed", () => {
  const node = new Node();
  node.begin(["a", "one"], ["b", "two"]);
  node.model.change([["edit", "a", ["x", 3, "y"]]]);
  node.happens("a", "ann", "join", ["closed", 1, "b", 1]);
  node.happens(
    "b",
    "kim",
    "accept",
    ["edited", 1, [3, "one"]],
    ["received", "a", 1, "done", "", 0],
  );
  node.happens("b", "ann", "split", ["cut", 2, 4, "c", {}]);
  node.happens("a", "me", "edit");
  node.answers("a", 1, { version: 1, moved: [["b", 2]], draft: [] });
  node.block("c", ["ne"], [["b", 1]]);
  expect(node.texts).toEqual([
    ["b", "twoxo"],
    ["c", "ney"],
  ]);
  node.model.change([["edit", "c", [3, "z"]]]);
  node.happens("b", "kim", "accept", ["edited", 3, [3, "x"]], ["received", "a", 2, "done", "", 0]);
  node.happens("c", "kim", "accept", ["edited", 1, [2, "y"]], ["received", "b", 2, "done", "", 0]);
  expect(node.texts).toEqual([
    ["b", "twoxo"],
    ["c", "neyz"],
  ]);
  expect(node.model.overlay.own.map(({ verb }) => verb)).toEqual([["edit", "c", [3, "z"]]]);
  expect(node.model.drafts).toEqual([]);
});
