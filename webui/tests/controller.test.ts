// @vitest-environment jsdom

import "fake-indexeddb/auto";
import type { EditorView } from "prosemirror-view";
import { afterEach, expect, test } from "vitest";
import type { Options, Session } from "../src/client";
import { type ControllerParts, DocumentController, type DocumentState } from "../src/controller";
import type { Draft } from "../src/document/types";
import { setWaiting, type Waiting } from "../src/editor/clipboard";
import { during } from "../src/editor/doing";
import { pasteWaiting } from "../src/editor/waiting";
import type { Socket } from "../src/shared/link";
import { Store } from "../src/store";
import { blocksOf, MemoryModel } from "./document-double";

/** A model in memory, with what the page wants beside a document. */
class PageModel extends MemoryModel {
  readonly outlineVersion = 0;
  kept: unknown = null;
  isClosed = false;
  onRights: (() => void) | null = null;

  constructor(readonly restored: unknown) {
    super(blocksOf("one"));
  }

  stored(): unknown {
    return this.kept;
  }

  close(): void {
    this.isClosed = true;
  }

  /** The person has edits that are not answered. */
  waitFor(edits: number): void {
    this.save = { kind: edits > 0 ? "saving" : "saved", edits, places: edits };
    this.kept = edits > 0 ? { edits } : null;
    this.onChange?.();
  }
}

class Stage {
  readonly states: DocumentState[] = [];
  readonly shown: unknown[] = [];
  readonly others = new Map<string, unknown>();
  readonly timers: { delay_ms: number; callback: () => void }[] = [];
  readonly clients: string[] = [];
  model: PageModel | null = null;
  tell: (() => void) | null = null;

  /** What the person is in the document, where there are accounts. */
  role: string | null = null;

  constructor(
    readonly store: Store | null,
    readonly taken = new Set<string>(),
  ) {}

  open(): Promise<DocumentController> {
    const parts: ControllerParts = {
      store: this.store,
      locks: {
        take: (client) => {
          const isFree = !this.taken.has(client);
          this.taken.add(client);
          return Promise.resolve(isFree);
        },
      },
      connect: (_urls, options) => this.session(options),
      openModel: (_session, _doc, stored) => {
        this.model = new PageModel(stored);
        return this.model;
      },
      openSocket: () => ({}) as Socket,
      after: (delay_ms, callback) => {
        const timer = { delay_ms, callback };
        this.timers.push(timer);
        return () => this.timers.splice(this.timers.indexOf(timer), 1);
      },
      urls: ["ws://a/ws"],
      principal: "guest",
      ...(this.role === null ? {} : { role: async () => this.role ?? "" }),
      texts: async () => new Map(),
      changed: (state) => this.states.push(state),
    };
    return DocumentController.open("plan", "Ann", parts);
  }

  private session(options: Options): Session {
    queueMicrotask(() => options.onState?.("connected"));
    const client = options.stored?.client ?? `client ${this.clients.length}`;
    this.clients.push(client);
    const { others } = this;
    const here = {
      others,
      set: (value: unknown) => this.shown.push(value),
      changes: () => this.changes(),
    };
    const stored = { client, selves: [], numbers: [] };
    const session = { client, stored, stopped: null, state: "connected" };
    const nothing = (): void => undefined;
    const rest = { open: async () => here, close: nothing, flush: nothing, retryNow: nothing };
    return { ...session, ...rest } as unknown as Session;
  }

  private async *changes(): AsyncGenerator<unknown> {
    for (;;) {
      await new Promise<void>((resolve) => {
        this.tell = resolve;
      });
      yield null;
    }
  }

  /** All timers of this delay run. */
  async pass(delay_ms: number): Promise<void> {
    const due = this.timers.filter((timer) => timer.delay_ms === delay_ms);
    for (const timer of due) {
      this.timers.splice(this.timers.indexOf(timer), 1);
      timer.callback();
    }
    await settle();
  }

  get last(): DocumentState | undefined {
    return this.states.at(-1);
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const draft = (id: string): Draft => ({ id, code: "gone", text: id });
const stages: { close(): void }[] = [];

async function opened(stage: Stage): Promise<DocumentController> {
  const controller = await stage.open();
  stages.push(controller);
  await settle();
  return controller;
}

/** With the text shown, and the view in it. */
async function openedText(stage: Stage): Promise<[DocumentController, EditorView]> {
  const controller = await opened(stage);
  controller.attach(document.createElement("div"));
  await settle();
  return [controller, (controller.text as unknown as { view: EditorView }).view];
}

function pasted(text: string): Waiting {
  const data = { getData: (type: string) => (type === "text/plain" ? text : "") };
  return { id: "w1", data: data as DataTransfer, from: 1, to: 1 };
}

async function keptEdits(client: string, state: unknown, ...drafts: Draft[]): Promise<Store> {
  const store = await Store.open();
  const session = { client, selves: [], numbers: [] };
  await store.keep({ doc: "plan", client, principal: "guest", session, state, drafts });
  return store;
}

afterEach(async () => {
  for (const one of stages.splice(0)) one.close();
  await settle();
  const store = await Store.open();
  for (const { client } of await store.kept("plan", "guest")) await store.forget(client, "plan");
  store.close();
});

test("the page shows others, and itself to them with its caret", async () => {
  const stage = new Stage(null);
  const controller = await opened(stage);
  expect(stage.shown).toEqual([["Ann", null, 0, 0, null, false, 0]]);
  stage.others.set("b", { name: "Bob", block: "b0", anchor: 0, head: 1 });
  stage.tell?.();
  await settle();
  await stage.pass(50);
  expect(stage.last?.company.people.map(({ name }) => name)).toEqual(["Bob"]);
  controller.setName("Annabel");
  expect(stage.shown.at(-1)).toEqual(["Annabel", null, 0, 0, null, false, 0]);
});

test("edits that wait for long are said to", async () => {
  const stage = new Stage(null);
  await opened(stage);
  stage.model?.waitFor(2);
  await stage.pass(3_000);
  expect(stage.last?.waited_s).toBe(3);
  stage.model?.waitFor(1);
  await settle();
  expect(stage.last?.waited_s).toBe(0);
  await stage.pass(10_000);
  expect(stage.last?.waited_s).toBe(10);
  stage.model?.waitFor(0);
  await settle();
  expect(stage.last?.waited_s).toBe(0);
});

test("what a closed tab could not send is sent by the next one, as the same client", async () => {
  const store = await keptEdits("old", { edits: 3 });
  const stage = new Stage(store);
  await opened(stage);
  expect(stage.clients).toEqual(["old"]);
  expect(stage.model?.restored).toEqual({ edits: 3 });
});

test("two tabs never use one client", async () => {
  const store = await keptEdits("old", { edits: 3 });
  const stage = new Stage(store, new Set(["old"]));
  await opened(stage);
  expect(stage.clients).toEqual(["client 0"]);
  expect(stage.model?.restored).toBeUndefined();
});

test("the drafts of a tab that is gone come to the next one, until they are discarded", async () => {
  const store = await keptEdits("old", null, draft("lost"));
  const stage = new Stage(store);
  const controller = await opened(stage);
  expect(controller.state.drafts).toEqual([draft("lost")]);
  await settle();
  const kept = await store.kept("plan", "guest");
  expect(kept.map(({ client, drafts }) => [client, drafts])).toEqual([
    ["client 0", [draft("lost")]],
  ]);
  controller.discardDraft("lost");
  controller.hide();
  await settle();
  expect([controller.state.drafts, await store.kept("plan", "guest")]).toEqual([[], []]);
});

test("edits that are waiting are kept, and forgotten when all are saved", async () => {
  const store = await Store.open();
  const stage = new Stage(store);
  const controller = await opened(stage);
  stage.model?.waitFor(1);
  controller.hide();
  await settle();
  expect((await store.kept("plan", "guest")).map(({ state }) => state)).toEqual([{ edits: 1 }]);
  stage.model?.waitFor(0);
  controller.hide();
  await settle();
  expect(await store.kept("plan", "guest")).toEqual([]);
});

test("closing is asked about only when something would be lost", async () => {
  const stage = new Stage(null);
  const controller = await opened(stage);
  expect(controller.hide()).toBe(false);
  stage.model?.waitFor(1);
  expect(controller.hide()).toBe(true);
});

test("what is not in the store yet is not said to be kept", async () => {
  const store = await Store.open();
  const stage = new Stage(store);
  const controller = await opened(stage);
  stage.model?.waitFor(1);
  expect(controller.state.isKept).toBe(false);
  await controller.kept();
  expect([controller.state.isKept, controller.hide()]).toEqual([true, false]);
  stage.model?.waitFor(2);
  expect(controller.state.isKept).toBe(false);
  stage.model?.waitFor(1);
  await controller.kept();
  expect(controller.state.isKept).toBe(true);
  stage.model?.waitFor(1);
  expect(controller.state.isKept).toBe(true);
  stage.model?.waitFor(0);
  controller.hide();
  await settle();
  store.close();
});

test("closing the page closes the model", async () => {
  const stage = new Stage(null);
  const controller = await opened(stage);
  controller.close();
  expect(stage.model?.isClosed).toBe(true);
});

test("where there are no accounts everybody may write", async () => {
  const controller = await opened(new Stage(null));
  expect([controller.state.role, controller.state.mayWrite]).toEqual(["owner", true]);
});

test("who may only read has a text that cannot be changed, until they may write", async () => {
  const stage = new Stage(null);
  stage.role = "viewer";
  const controller = await opened(stage);
  const host = document.createElement("div");
  controller.attach(host);
  expect([controller.state.role, controller.state.mayWrite]).toEqual(["viewer", false]);
  expect([host.getAttribute("contenteditable"), host.getAttribute("aria-readonly")]).toEqual([
    "false",
    "true",
  ]);
  stage.role = "editor";
  stage.model?.onRights?.();
  await settle();
  expect([controller.state.mayWrite, host.getAttribute("contenteditable")]).toEqual([true, "true"]);
  expect(host.getAttribute("aria-readonly")).toBe("false");
});

test("what is being done is not saved, and is kept until it is in the text", async () => {
  const store = await Store.open();
  const stage = new Stage(store);
  const [controller, view] = await openedText(stage);
  setWaiting(view, [pasted("words")]);
  let end = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  void during(view, done);
  await settle();
  expect(stage.last?.save).toEqual({ kind: "saving", edits: 1, places: 1 });
  expect(controller.hide()).toBe(true);
  await settle();
  const [kept] = await store.kept("plan", "guest");
  expect(kept?.drafts.map(({ text }) => text)).toEqual(["words"]);
  expect(stage.last?.drafts).toEqual([]);
  setWaiting(view, []);
  end();
  await settle();
  expect(stage.last?.save.kind).toBe("saved");
  expect(controller.hide()).toBe(false);
  await settle();
  expect(await store.kept("plan", "guest")).toEqual([]);
  store.close();
});

test("what was pasted and may not be put in any more is a draft", async () => {
  const stage = new Stage(null);
  stage.role = "editor";
  const [, view] = await openedText(stage);
  setWaiting(view, [pasted("words")]);
  stage.role = "viewer";
  stage.model?.onRights?.();
  await settle();
  pasteWaiting(view);
  await settle();
  expect(stage.last?.drafts).toEqual([{ id: "w1", code: "forbidden", text: "words" }]);
  expect(stage.last?.save.kind).toBe("kept");
});

test("a change of roles that this node learns of a little later is seen, too", async () => {
  const stage = new Stage(null);
  stage.role = "editor";
  const controller = await opened(stage);
  stage.model?.onRights?.();
  await settle();
  stage.role = "viewer";
  await stage.pass(1_000);
  expect(controller.state.mayWrite).toBe(false);
});
