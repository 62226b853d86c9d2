/** What becomes of a page's verbs where texts go on, connections are lost, and all nodes fail. */

import { expect, test } from "vitest";
import { Node } from "./node";

/** A page that shows two blocks. */
function shown(saves = false): Node {
  const node = new Node(saves);
  node.outline(["a", "one"], ["b", "two"]);
  node.block("a", ["one"]);
  node.block("b", ["two"]);
  return node;
}

test("a part of an edit that goes on from where its text went to is shown once, and confirmed", () => {
  const node = shown();
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

test.each([true, false])(
  "a join of a block that is open again, for a text that it had passed on, is done (answered before: %s)",
  (isAnsweredBefore) => {
    const node = shown();
    node.model.change([["join", "a", "b"]]);
    node.happens("a", "me", "join", ["closed", 1, "b", 1]);
    if (isAnsweredBefore) node.answers("a", 1, true);
    node.happens("a", "kim", "take_back", ["opened", 1, ["far"], {}]);
    if (!isAnsweredBefore) node.answers("a", 1, true);
    const text = ["edited", 1, [3, "one"]];
    node.happens("b", "kim", "accept", text, ["received", "a", 1, "done", "", 0]);
    expect(node.texts).toEqual([
      ["a", "far"],
      ["b", "twoone"],
    ]);
    expect(node.model.overlay.own).toEqual([]);
  },
);

test("a part of an edit that came with the text of a block is known in it by its parcel", () => {
  const node = shown();
  node.model.change([["edit", "a", [3, "1]"]]]);
  node.happens("a", "ann", "split", ["cut", 1, 2, "c", {}]);
  node.happens("a", "me", "edit");
  node.answers("a", 1, { version: 1, moved: [["c", 2]], draft: [] });
  node.model.change([["edit", "c", [1, -2]]]);
  expect(node.texts).toEqual([
    ["a", "on"],
    ["c", "e"],
    ["b", "two"],
  ]);
  // Somebody else has written the same letters behind it.
  const part = ["edit", [1, "1]"], "a", 2, 1] as const;
  const theirs = ["edit", [3, "11]"], "", 0, 0] as const;
  node.blockBy("c", ["e1]11]"], [["a", 2]], part, theirs);
  expect(node.texts).toEqual([
    ["a", "on"],
    ["c", "e11]"],
    ["b", "two"],
  ]);
});

test("a part of an edit that is answered before its block is open stays as it is shown", () => {
  const node = shown();
  node.model.change([["edit", "a", ["e", 2, -1]]]);
  node.inOneFrame(() => {
    node.happens("a", "ann", "split", ["cut", 1, 2, "c", {}]);
    node.happens("a", "me", "edit", ["edited", 2, ["e"]]);
    node.answers("a", 1, { version: 2, moved: [["c", 2]], draft: [] });
  });
  const all = [["a", "eon"], ["c"], ["b", "two"]];
  expect(node.texts).toEqual(all);
  node.blockBy("c", ["e"], [["a", 1]]);
  expect(node.texts).toEqual(all);
  node.happens("c", "kim", "accept", ["edited", 1, [-1]], ["received", "a", 2, "done", "", 0]);
  expect(node.texts).toEqual(all);
  expect(node.model.overlay.own).toEqual([]);
});

test("a block that one has inserted is told by its steps, also where the answer was lost", () => {
  const node = shown();
  node.model.change([["insert", "", [{ id: "c", attributes: {}, content: ["[A0]"] }]]]);
  node.model.change([["edit", "c", [4, "[A1]"]]]);
  node.model.change([["split", "c", 8, "d", {}]]);
  node.model.change([["edit", "c", [-4]]]); // the text that was inserted is gone here
  node.lose();
  node.outline(["c", "[A0]"], ["a", "one"], ["b", "two"]);
  node.block("a", ["one"]);
  node.block("b", ["two"]);
  expect(node.sent).toContainEqual({ t: "open", name: "doc/plan/c", type: "Block", base: 0 });
  node.blockBy("c", ["[B0][A0]"], [], ["edit", ["[B0]"], "", 0, 0]);
  expect(node.texts).toEqual([["c", "[B0][A1]"], ["d"], ["a", "one"], ["b", "two"]]);
});

test("what one types at the end of a text stays there when another text is joined to it", () => {
  const node = shown();
  node.model.change([["edit", "a", [3, "1"]]]);
  node.happens("b", "ann", "join", ["closed", 1, "a", 1]);
  node.model.change([["edit", "a", [4, "2"]]]);
  const received = ["received", "b", 1, "done", "", 0, true];
  node.happens("a", "kim", "accept", ["edited", 1, [3, "two"]], received);
  expect(node.texts).toEqual([["a", "one12two"]]);
});

test("so it does when it is not told whose text that is", () => {
  const node = shown();
  node.model.change([["edit", "a", [3, "1"]]]);
  const received = ["received", "far", 1, "done", "", 0, true];
  node.happens("a", "kim", "accept", ["edited", 1, [3, "two"]], received);
  expect(node.texts).toEqual([
    ["a", "one1two"],
    ["b", "two"],
  ]);
});

test("edits that come in one frame are shown as one change, and carried over one's own one by one", () => {
  const node = shown();
  node.model.change([["edit", "a", [3, "!"]]]);
  const seen: unknown[] = [];
  node.model.onView = ({ changes }) => seen.push(changes);
  node.inOneFrame(() => {
    node.happens("a", "ann", "edit", ["edited", 1, ["x"]]);
    node.happens("b", "ann", "edit", ["edited", 1, [3, "y"]]);
    node.happens("a", "me", "edit", ["edited", 2, [4, "!"]]);
    node.happens("a", "ann", "edit", ["edited", 3, [5, "?"]]);
    node.answers("a", 1, { version: 2, moved: [], draft: [] });
  });
  expect(seen).toEqual([
    [
      ["edit", "a", ["x"]],
      ["edit", "b", [3, "y"]],
      ["edit", "a", [5, "?"]],
    ],
  ]);
  expect(node.texts).toEqual([
    ["a", "xone!?"],
    ["b", "twoy"],
  ]);
  expect(node.model.overlay.own).toEqual([]);
});

test("a text that comes in a frame of edits is where it goes before the next one is looked at", () => {
  const node = shown();
  node.inOneFrame(() => {
    node.happens("b", "ann", "edit", ["edited", 1, [3, "y"]]);
    node.happens("a", "ann", "join", ["closed", 1, "b", 1]);
    const text = ["edited", 2, [4, "one"]];
    node.happens("b", "kim", "accept", text, ["received", "a", 1, "done", "", 0]);
    node.happens("b", "ann", "edit", ["edited", 3, [7, "z"]]);
  });
  expect(node.texts).toEqual([["b", "twoyonez"]]);
});

test("a join that was answered and lost with all nodes is made anew", () => {
  const node = shown(true);
  node.model.change([["join", "a", "b"]]);
  node.happens("a", "me", "join", ["closed", 1, "b", 1]);
  node.answers("a", 1, true);
  node.birth = "two";
  node.lose();
  node.outline(["a", "one"], ["b", "two"]);
  node.block("b", ["two"]);
  node.block("a", ["one"]);
  node.block("a", ["one"]); // asked for its steps
  expect(node.texts).toEqual([["b", "twoone"]]);
  expect(node.calls).toEqual([[2, "join"]]);
});

test("a state that was told over a connection before sends nothing to nodes that have lost it", () => {
  const node = shown(true);
  node.model.change([["edit", "a", ["x"]]]);
  node.lose();
  node.block("a", ["one"]); // the outline and the other block are waited for
  node.birth = "two";
  node.lose();
  node.outline(["a", "one"], ["b", "two"]);
  node.block("b", ["two"]);
  node.block("a", ["one"]);
  node.block("a", ["one"]); // asked for its steps
  expect(node.calls).toEqual([[2, "edit"]]);
});

test("words go back with a text of which the split was lost with all nodes, and with it again when that is made anew", () => {
  const node = shown(true);
  node.happens("a", "ann", "edit", ["edited", 1, [3, " two"]]); // it is lost
  node.model.change([["edit", "a", [7, "X"]]]);
  node.happens("a", "ann", "split", ["cut", 2, 2, "c", {}]);
  expect(node.texts).toEqual([
    ["a", "on"],
    ["c", "e twoX"],
    ["b", "two"],
  ]);
  node.birth = "two";
  node.lose();
  node.outline(["a", "one"], ["b", "two"]);
  node.goesOn("b");
  node.is("a", { content: ["one"], recent: null });
  node.is("a", { content: ["one"] }); // asked for its steps
  node.happens("a", "ann", "split", ["cut", 1, 2, "c", {}]);
  node.tells(["known", [["c", "paragraph", 1, true]]], ["placed", "a", ["c"]]);
  node.is("c", {
    content: ["!e"],
    version: 1,
    received: [["a", 1]],
    recent: [["edit", ["!"], "", 0, 0]],
  });
  expect(node.texts).toEqual([
    ["a", "on"],
    ["c", "!eX"],
    ["b", "two"],
  ]);
  const calls = node.sent.flatMap(({ t, name, calls }) => (t === "call" ? [[name, calls]] : []));
  expect(calls).toEqual([["doc/plan/c", [["edit", [1, [2, "X"], expect.anything()]]]]]);
});

test("nobody waits until a call is saved that was lost with all nodes", () => {
  const node = shown(true);
  node.model.change([["edit", "a", ["x"]]]);
  node.happens("a", "me", "edit", ["edited", 1, ["x"]]);
  node.answers("a", 1, { version: 1, moved: [], draft: [] });
  expect(node.model.save.kind).toBe("saving");
  node.birth = "two";
  node.lose();
  node.outline(["a", "one"], ["b", "two"]);
  node.block("b", ["two"]);
  node.block("a", ["one"]);
  node.block("a", ["one"]); // asked for its steps
  expect(node.model.drafts.map(({ code, text }) => [code, text])).toEqual([["power_lost", "x"]]);
  expect([node.calls, node.model.save.kind]).toEqual([[], "saved"]);
});

test("a join that was refused while there was no connection is taken back", () => {
  const node = shown();
  node.model.change([["join", "a", "b"]]);
  expect(node.texts).toEqual([["b", "twoone"]]);
  node.lose();
  node.outline(["a", "one"], ["b", "two"]);
  node.block("b", ["two"], [["a", 1]]);
  node.block("a", ["one"], [], 1, [[1, [true], ""]]);
  expect(node.texts).toEqual([
    ["a", "one"],
    ["b", "two"],
  ]);
  expect(node.model.save.kind).toBe("saved");
});

test("what was done behind a join goes with the letters that it was done to, wherever they come", () => {
  const node = shown();
  node.model.change([["edit", "b", [3, "ABC"]]]);
  node.model.change([["join", "a", "b"]]); // twoABCone, not sent yet: the edit is waited for
  node.model.change([["edit", "b", [4, -1, 1, "x"]]]); // twoACxone, and the b is gone
  expect(node.texts).toEqual([["b", "twoACxone"]]);
  node.happens("b", "kim", "edit", ["edited", 1, [3, "kim"]]);
  node.happens("a", "ann", "join", ["closed", 1, "b", 1]);
  node.happens(
    "b",
    "kim",
    "accept",
    ["edited", 2, [6, "one"]],
    ["received", "a", 1, "done", "", 0],
  );
  expect(node.texts).toEqual([["b", "twokimACxone"]]);
  expect(node.model.overlay.own.map(({ verb }) => verb)).toEqual([
    ["edit", "b", [6, "ABC"]],
    ["edit", "b", [7, -1, 1, "x"]],
  ]);
});

/** A page that shows four blocks. */
function shownFour(): Node {
  const node = new Node();
  const texts = [
    ["a", "one"],
    ["b", "two"],
    ["c", "six"],
    ["d", "ten"],
  ] as const; // prettier-ignore
  node.outline(...texts);
  for (const [id, text] of texts) node.block(id, [text]);
  return node;
}

test("a text that is joined to one that others join goes to its end, with what was done to it", () => {
  const node = shownFour();
  node.model.change([["join", "c", "d"]]); // d: tensix
  node.model.change([["join", "a", "b"]]); // b: twoone
  node.model.change([["edit", "b", [3, -1]]]); // b: twone, and not the o of two
  node.happens("b", "ann", "join", ["closed", 1, "d", 1]);
  node.happens(
    "d",
    "kim",
    "accept",
    ["edited", 1, [3, "two"]],
    ["received", "b", 1, "done", "", 0],
  );
  expect(node.texts).toEqual([["d", "tentwosixne"]]);
});

test("a block that was split off, handed over, and has taken all in while one was away is told by its steps", () => {
  const node = shown();
  node.lose();
  node.model.change([["edit", "a", [2, "X"]]]); // onXe
  node.happens("a", "ann", "split", ["cut", 1, 1, "c", {}]);
  node.happens("a", "kim", "handed", ["handed", "c", 1]);
  node.happens("a", "ann", "join", ["closed", 2, "b", 1]);
  node.goesOn("a");
  const text = ["edited", 1, [3, "o"]];
  node.happens("b", "kim", "accept", text, ["received", "a", 1, "done", "", 0, true]);
  node.happens("b", "ann", "join", ["closed", 2, "c", 1]);
  node.goesOn("b");
  node.tells(["known", [["c", "paragraph", 2, true]]], ["placed", "a", ["c"]]);
  node.goesOn("");
  const theirs = ["edit", ["ne"], "", 0, 0] as const;
  const joined = ["edit", [4, "twoo"], "b", 1, 0] as const;
  node.blockBy(
    "c",
    ["nenetwoo"],
    [
      ["a", 1],
      ["b", 1],
    ],
    theirs,
    joined,
  ); // prettier-ignore
  expect(node.texts).toContainEqual(["c", "nenXetwoo"]);
});

test("of several own edits of a text the one that was sent first is confirmed first", () => {
  const node = shownFour();
  node.model.change([["join", "c", "a"]]);
  node.model.change([["edit", "a", [1, "A"]]]); // waits for the join
  node.model.change([["edit", "b", ["B"]]]);
  node.happens("a", "ann", "join", ["closed", 1, "b", 1]);
  node.happens(
    "b",
    "kim",
    "accept",
    ["edited", 1, [3, "one"]],
    ["received", "a", 1, "done", "", 0],
  );
  node.answers("c", 1, false); // there is no join to wait for
  const sent = node.model.overlay.own.map(({ verb, call }) => [verb, call?.n]);
  expect(sent).toEqual([
    [["edit", "b", [4, "A"]], 2],
    [["edit", "b", ["B"]], 1],
  ]);
  node.happens("b", "me", "edit", ["edited", 2, ["B"]]);
  expect(node.model.overlay.own.map(({ verb }) => verb)).toEqual([["edit", "b", [5, "A"]]]);
});

test("a split that was on its way when its block was taken out saves what was written behind it", () => {
  const node = shown();
  node.model.change([
    ["split", "a", 1, "c", {}],
    ["edit", "c", ["x"]],
  ]);
  node.tells(["left", ["a"], false]);
  node.happens("a", "me", "split", ["cut", 1, 1, "c", {}]);
  node.answers("a", 1, null);
  node.happens("a", "kim", "delete", ["closed", 2, null, 0]);
  node.tells(["known", [["c", "paragraph", 2, true]]], ["placed", "", ["c"]]);
  node.block("c", ["ne"], [["a", 1]]);
  expect(node.texts).toEqual([
    ["c", "xne"],
    ["b", "two"],
  ]);
  expect(node.model.drafts).toEqual([]);
});

test("what waits for a text that was taken out is sent when that is deleted, and given back", () => {
  const node = shown();
  node.model.change([["edit", "a", ["x"]]]);
  node.model.change([["edit", "a", [4, "y"]]]);
  node.tells(["left", ["a"], false]);
  node.happens("a", "me", "edit", ["edited", 1, ["x"]]);
  node.answers("a", 1, { version: 1, moved: [], draft: [] });
  expect(node.calls).toEqual([[1, "edit"]]);
  expect(node.model.save.kind).toBe("saving");
  node.happens("a", "kim", "delete", ["closed", 2, null, 0]);
  expect(node.texts).toEqual([["b", "two"]]);
  expect(node.calls).toEqual([
    [1, "edit"],
    [2, "edit"],
  ]);
  node.answers("a", 2, { version: 2, moved: [], draft: [{ text: "y", marks: [] }] });
  expect(node.model.drafts.map(({ code, text }) => [code, text])).toEqual([
    ["block_deleted", "x"],
    ["block_deleted", "y"],
  ]);
});

test("a text that is on its way to another one is there, though its block was taken out", () => {
  const node = shown();
  node.model.change([["join", "a", "b"]]);
  node.happens("a", "me", "join", ["closed", 1, "b", 1]);
  node.answers("a", 1, true);
  node.model.change([["edit", "b", [5, "x"]]]);
  node.tells(["left", ["a"], false]);
  const text = ["edited", 1, [3, "one"]];
  node.happens("b", "kim", "accept", text, ["received", "a", 1, "done", "", 0, true]);
  expect(node.texts).toEqual([["b", "twoonxe"]]);
  expect(node.model.drafts).toEqual([]);
});

test("a block that has come to the document is asked for with its steps, also where its kind was told first", () => {
  const node = new Node();
  node.outline(["a", "one"]);
  node.block("a", ["one"]);
  node.tells(["known", [["b", "quote", 1, true]]], ["placed", "a", ["b"]]);
  expect(node.sent).toContainEqual({ t: "open", name: "doc/plan/b", type: "Block", base: 0 });
});

test("a block of which is known what it began with, since it was asked for, is asked for with its steps (F7)", () => {
  const node = new Node();
  node.outline(["a", "onee"], ["b", "ee"]);
  node.block("a", ["onee"]);
  node.model.change([["edit", "a", [3, "X"]]]);
  node.happens("a", "ann", "split", ["cut", 1, 2, "b", {}]);
  node.sent = [];
  node.block("b", ["eee"], [["a", 1]], 0, [], 1); // without its steps
  node.happens("b", "ann", "edit", ["edited", 2, [3, "!"]]); // on its way meanwhile
  expect(node.sent).toEqual([{ t: "open", name: "doc/plan/b", type: "Block", base: 0 }]);
  node.blockBy("b", ["eee!"], [["a", 1]], ["edit", ["e"], "", 0, 0], ["edit", [3, "!"], "", 0, 0]);
  expect(node.texts).toEqual([
    ["a", "on"],
    ["b", "eeXe!"],
  ]); // prettier-ignore
});
