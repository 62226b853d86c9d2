import fc from "fast-check";
import { expect, test } from "vitest";
import type { Transaction } from "../../src/model/changes";
import { DocumentValue } from "../../src/model/document";
import { DummyDocument } from "../dummy-node";
import { type Choice, choices, documents, plain } from "../random";
import { type Player, World } from "./world";

function play(value: DocumentValue, count = 2): World {
  const world = new World(new DummyDocument("doc", value), count);
  world.settle();
  return world;
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index];
  if (value === undefined) throw new Error(`nothing at ${index}`);
  return value;
}

const HELLO = new DocumentValue("Title", [{ id: "b0", attributes: {}, text: "hello" }]);
const type = (text: string, place: number): Transaction => [
  ["text", "b0", place > 0 ? [place, text] : [text]],
];

const steps = fc.array(
  fc.record({
    player: fc.nat(2),
    action: fc.constantFrom(
      ...["edit", "edit", "submit", "deliver", "take", "take", "hear", "flow", "flow"],
      ...["lose", "connect", "connect", "reload", "forget", "save"],
    ),
    choice: choices,
  }),
  { maxLength: 120 },
);

function act(world: World, player: Player, action: string, choice: Choice): void {
  switch (action) {
    case "edit":
      player.edit(choice);
      break;
    case "submit":
      player.submit();
      break;
    case "deliver":
      player.deliver();
      break;
    case "take":
      player.take();
      break;
    case "hear":
      player.hearAll();
      break;
    case "flow":
      player.flow();
      break;
    case "lose":
      player.lose();
      break;
    case "connect":
      player.connect();
      break;
    case "reload":
      player.reload();
      break;
    case "forget":
      world.document.forget();
      break;
    default:
      world.broadcast([world.document.save()]);
      break;
  }
}

test("all views become equal, whatever is edited, delayed, lost, reloaded or forgotten", () => {
  fc.assert(
    fc.property(documents, steps, (value, script) => {
      const world = play(value, 3);
      for (const { player, action, choice } of script) {
        act(world, at(world.players, player), action, choice);
      }
      world.settle();
      for (const player of world.players) {
        expect(plain(player.session.view)).toEqual(plain(world.document.value));
        expect(player.session.saveState()).toEqual({ kind: "saved", edits: 0 });
      }
    }),
    { numRuns: 300 },
  );
});

test("every typed word is in the document once or in a draft of its author (S3)", () => {
  fc.assert(
    fc.property(steps, (script) => {
      const world = play(HELLO, 3);
      const words: [Player, string][] = [];
      for (const { player: index, action, choice } of script) {
        const player = at(world.players, index);
        if (action !== "edit") {
          act(world, player, action, choice);
        } else if (player.session.view.get("b0") !== undefined) {
          const word = `<${words.length}>`;
          player.session.localChange(type(word, 0));
          player.shown = player.session.view;
          words.push([player, word]);
        }
      }
      world.settle();
      const text = world.document.value.blocks.map((block) => block.text).join("\n");
      for (const [, word] of words) expect(text.split(word).length - 1).toBe(1);
    }),
    { numRuns: 200 },
  );
});

test("saved is never said while an own edit is not on disk at a majority (S4)", () => {
  fc.assert(
    fc.property(documents, steps, (value, script) => {
      const world = play(value, 3);
      const typed = new Map<Player, number>();
      for (const { player: index, action, choice } of script) {
        const player = at(world.players, index);
        act(world, player, action, choice);
        if (action === "edit") typed.set(player, (typed.get(player) ?? 0) + 1);
        const { document } = world;
        for (const one of world.players) {
          if (one.session.saveState().kind !== "saved") continue;
          const isUnsaved = (update: { client: string; version: number }): boolean =>
            update.client === one.client && update.version > document.saved;
          expect(document.history.some(isUnsaved)).toBe(false);
          expect(one.session.hasUnsent).toBe(false);
        }
      }
    }),
  );
});

test("one transaction is in flight at a time, and it is sent again unchanged (S2)", () => {
  const [one] = play(HELLO).players;
  if (one === undefined) throw new Error("no player");
  one.session.localChange(type("a", 0));
  const first = one.session.sendable();
  one.session.localChange(type("b", 1));
  expect(one.session.sendable()).toBeNull();
  one.lose();
  expect(one.session.saveState()).toEqual({ kind: "offline", edits: 2 });
  const open = one.session.connected();
  expect(open).toEqual({ t: "open", doc: "doc", epoch: 1, version: 0 });
  one.session.receive({ t: "opened", doc: "doc", epoch: 1, version: 0, saved: 0 });
  expect(one.session.sendable()).toEqual(first);
});

test("an edit counts as saved only after its answer and the mark on disk (S4)", () => {
  const world = play(HELLO);
  const one = at(world.players, 0);
  const kind = (): string => one.session.saveState().kind;
  one.session.localChange(type("a", 0));
  expect(kind()).toBe("saving");
  one.submit();
  one.deliver();
  one.take();
  expect(one.session.hasUnsent).toBe(false);
  expect(kind()).toBe("saving");
  world.broadcast([world.document.save()]);
  one.take();
  expect(kind()).toBe("saved");
});

test("text typed into a block that somebody else deleted is kept as a draft", () => {
  const world = play(HELLO);
  const [one, two] = [at(world.players, 0), at(world.players, 1)];
  one.session.localChange([["delete", "b0", null]]);
  one.shown = one.session.view;
  two.session.localChange(type("precious ", 0));
  two.shown = two.session.view;
  one.submit();
  one.deliver();
  world.settle();
  expect(two.session.view.blocks).toEqual([]);
  expect(two.session.drafts.map((draft) => draft.text)).toEqual(["precious hello"]);
  expect(two.session.drafts[0]?.code).toBe("block_deleted");
});

test("a refusal for a while keeps the edit and sends the same again", () => {
  const one = at(play(HELLO).players, 0);
  one.session.localChange(type("a", 0));
  const first = one.session.sendable();
  const events = one.session.receive({
    t: "reject",
    doc: "doc",
    op: 1,
    code: "not_primary",
    message: "",
    temporary: true,
  });
  expect(events).toEqual([{ kind: "retry" }]);
  expect(one.session.sendable()).toBeNull();
  expect(one.session.saveState().kind).toBe("offline");
  one.session.retry();
  expect(one.session.sendable()).toEqual(first);
});

test("an acknowledged edit that a new epoch lost becomes a draft (S3)", () => {
  const world = play(HELLO);
  const one = at(world.players, 0);
  one.session.localChange(type("lost ", 0));
  one.submit();
  one.deliver();
  one.take();
  one.lose();
  const fresh = new DummyDocument("doc", HELLO);
  fresh.epoch = 2;
  one.session.connected();
  one.session.receive(fresh.snapshot("c0"));
  expect(one.session.view.get("b0")?.text).toBe("hello");
  expect(one.session.drafts.map((draft) => draft.text)).toEqual(["lost hello"]);
});

test("a large paste goes in several submits", () => {
  const world = play(HELLO);
  const one = at(world.players, 0);
  one.session.limits = { changes: 10, frame_bytes: 65_536 };
  one.session.localChange(type("x".repeat(90_000), 0));
  one.shown = one.session.view;
  world.settle();
  expect(world.document.value.get("b0")?.text.length).toBe(90_005);
  expect(world.document.version).toBeGreaterThan(1);
});

test("a snapshot that holds the transaction in flight ends it: nothing is shown twice", () => {
  const world = play(HELLO);
  const one = at(world.players, 0);
  one.session.localChange(type("once ", 0));
  one.submit();
  one.deliver();
  one.lose();
  world.document.forget();
  one.session.connected();
  one.session.receive(world.document.snapshot("c0"));
  expect(one.session.view.get("b0")?.text).toBe("once hello");
  expect(one.session.hasUnsent).toBe(false);
});

test.each(["base_too_old", "epoch_changed"])(
  "after %s the edit goes again under a new number",
  (code) => {
    const world = play(HELLO);
    const one = at(world.players, 0);
    one.session.localChange(type("kept ", 0));
    expect(one.session.sendable()?.op).toBe(1);
    const refusal = { doc: "doc", op: 1, code, message: "", temporary: false };
    const events = one.session.receive({ t: "reject", ...refusal });
    expect(events).toEqual([{ kind: "reopen", position: null }]);
    expect(one.session.sendable()).toBeNull();
    one.session.receive(world.document.snapshot("c0"));
    expect(one.session.sendable()).toMatchObject({ op: 2, changes: type("kept ", 0) });
  },
);

test("a client that the node has forgotten goes on under a new id from 1, with its edits", () => {
  const one = at(play(HELLO).players, 0);
  one.session.localChange(type("kept ", 0));
  one.session.sendable();
  const refusal = { doc: "doc", op: 1, code: "op_out_of_order", message: "", temporary: false };
  expect(one.session.receive({ t: "reject", ...refusal })).toEqual([{ kind: "identity" }]);
  one.session.renamed("fresh");
  one.session.connected();
  one.session.receive({ t: "opened", doc: "doc", epoch: 1, version: 0, saved: 0 });
  expect(one.session.sendable()).toMatchObject({ op: 1, changes: type("kept ", 0) });
});
