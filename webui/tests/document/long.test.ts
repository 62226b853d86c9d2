/** A long document: what is done for a keystroke does not depend on how long it is. */

import { expect, test, vi } from "vitest";
import { connect } from "../../src/client";
import type { Out } from "../../src/client/messages";
import { decode, encode } from "../../src/client/msgpack";
import { Confirmed } from "../../src/document/confirmed";
import { type GroupedDocument, openModel } from "../../src/document/model";
import type { Socket } from "../../src/shared/link";

const BLOCKS = 5_000;

const TEXT = {
  ...{ status: "open", into: "", number: 0, leaving: [], content: ["some words"] },
  ...{ attributes: { type: "paragraph" }, version: 0, births: [], received: [], refused: [] },
  ...{ drafts: [], recent: null },
};

/** A node that has one long document, and takes every edit. */
class Node {
  readonly socket: Socket;
  readonly model: GroupedDocument;
  private version = 1;
  private said: Out[] = [];
  private due: (() => void)[] = [];
  private readonly steps = new Map<string, number>();

  /** `stored`: what a page before has left, to one that reaches no node. */
  constructor(stored?: unknown) {
    const send = (data: Uint8Array): unknown => this.said.push(...(decode(data) as Out[]));
    const quiet = { onopen: null, onmessage: null, onclose: null, close: () => undefined };
    this.socket = { ...quiet, send: (data) => void send(data) };
    const session = connect(["ws://a/"], {
      openSocket: () => this.socket,
      after: (delay_ms, act) => {
        if (delay_ms === 0) this.due.push(act);
        return () => undefined;
      },
      random: () => 0,
    });
    this.model = openModel(session, "long", stored);
    if (stored !== undefined) return;
    this.model.look(0, 30);
    const limits = { frame_bytes: 1_000_000, objects: 512, calls: 64 };
    const who = { who: "me", node: "a", principal: "guest", resumed: false };
    this.say({ t: "welcome", ...who, saves: true, heartbeat_s: 5, limits });
    for (let turn = 0; turn < 3; turn += 1) this.answer();
  }

  private say(...messages: unknown[]): void {
    const { buffer } = encode(messages);
    this.socket.onmessage?.({ data: buffer } as MessageEvent);
  }

  private flush(): void {
    for (const act of this.due.splice(0)) act();
  }

  /** Answers all that was asked. */
  answer(): void {
    this.flush();
    for (const message of this.said.splice(0)) {
      if (message.t === "open") this.open(message.name);
      if (message.t === "call") this.take(message.name, message.n, message.calls[0]?.[1][1]);
    }
    this.flush();
  }

  /** Says a detail of the outline. */
  tell(detail: unknown): void {
    this.version += 1;
    const item = [this.version, "another", "know", [detail]];
    this.say({ t: "changes", name: "doc/long", version: this.version, items: [item] });
  }

  private open(name: string): void {
    const ids = Array.from({ length: BLOCKS }, (_, at) => [`b${at}`, "paragraph", 10, true]);
    const state = name === "doc/long" ? { title: "Long", blocks: ids, seeds: [] } : TEXT;
    this.say({ t: "snapshot", name, birth: "one", version: 1, done: [], last: 0, state });
  }

  private take(name: string, n: number, delta: unknown): void {
    const version = (this.steps.get(name) ?? 0) + 1;
    this.steps.set(name, version);
    const item = [version + 1, "me", "edit", [["edited", version, delta]]];
    this.say({ t: "changes", name, version: version + 1, items: [item] });
    this.say({ t: "result", name, n, results: [{ version, moved: [], draft: [] }] });
    this.say({ t: "saved", name, n });
  }
}

test("a keystroke in a document of 5,000 blocks does not look at all of them", () => {
  const node = new Node();
  const { model } = node;
  expect(model.value.blocks).toHaveLength(BLOCKS);
  const lookAtAll = vi.spyOn(Confirmed.prototype, "lookAtAll" as never);
  for (let key = 0; key < 20; key += 1) {
    model.change([["edit", "b5", [key, "x"]]]);
    expect(model.save.edits).toBe(1);
    node.answer();
    expect(model.save).toEqual({ kind: "saved", edits: 0, places: 0 });
  }
  expect(lookAtAll).not.toHaveBeenCalled();
  expect(model.value.blocks[5]?.content).toEqual([`${"x".repeat(20)}some words`]);
  model.look(2_000, 2_030);
  node.answer();
  expect(model.value.blocks[2_010]?.content).toEqual(["some words"]);
  expect(model.value.blocks[20]?.content).toBe(null);
  node.tell(["known", [["b4000", "quote", 99, true]]]);
  expect(model.value.blocks[4_000]).toMatchObject({ length: 99, attributes: { type: "quote" } });
  node.tell(["seeds", [["b4001", { type: "heading" }, ["seed"]]]]);
  expect(model.value.blocks[4_001]?.content).toEqual(["seed"]);
  node.tell(["planted", ["b4001"]]);
  expect(model.value.blocks[4_001]).toMatchObject({ length: 4, content: null });
  expect(lookAtAll).not.toHaveBeenCalled();
  // An order that is another one is looked at whole.
  model.change([["move", ["b5"], "b2000"]]);
  expect(model.value.blocks[2_000]?.id).toBe("b5");
});

test("what becomes known of single blocks is kept beside the outline, and all anew when it is much", () => {
  const node = new Node();
  const { model } = node;
  const stored = () => model.stored()?.outline ?? [];
  model.change([["edit", "b5", ["x"]]]);
  const [whole] = stored();
  node.tell(["known", [["b4000", "quote", 99, true]]]);
  node.tell(["planted", ["b4001"]]);
  expect(stored()[0]).toBe(whole);
  expect(stored()[2]).toHaveLength(2);
  // A page that has nothing else shows as much: of texts the one alone that waits to be sent.
  const other = new Node(structuredClone(model.stored())).model;
  expect(other.value.blocks[4_000]).toMatchObject({ length: 99, attributes: { type: "quote" } });
  expect(other.value.blocks.slice(100)).toEqual(model.value.blocks.slice(100));
  for (let at = 0; at < 100; at += 1) node.tell(["known", [[`b${at}`, "paragraph", 11, true]]]);
  expect(stored()[0]).not.toBe(whole);
  expect(stored()[2]?.length).toBeLessThan(10);
  const [again] = stored();
  node.tell(["placed", "b7", ["b4000"]]);
  expect(stored()[0]).not.toBe(again);
  expect(stored()[0]?.blocks[8]?.slice(0, 3)).toEqual(["b4000", "quote", 99]);
  expect(stored()[2]).toEqual([]);
});
