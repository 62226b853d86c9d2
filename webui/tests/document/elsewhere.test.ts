/** Words of the person that turn out to stand elsewhere than they are shown, or nowhere, and what was done to them since. */

import { expect, test } from "vitest";
import { Node } from "./node";

/** A page that shows these blocks. */
function shown(...texts: readonly (readonly [id: string, text: string])[]): Node {
  const node = new Node();
  node.outline(...texts);
  for (const [id, text] of texts) node.block(id, [text]);
  return node;
}

const EDITED = { version: 1, moved: [], draft: [] };

/** What was called last of a block. */
function lastCall(node: Node, id: string): unknown {
  const calls = node.sent.filter(({ t, name }) => t === "call" && name === `doc/plan/${id}`);
  return calls.at(-1)?.calls;
}

test("letters are named as of the last version of a text that is on its way to another block", () => {
  const node = shown(["a", "word"], ["b", "two"], ["d", "ten"]);
  node.model.change([["edit", "a", [-4]]]);
  node.happens("a", "me", "edit", ["edited", 1, [-4]]);
  node.answers("a", 1, EDITED);
  node.model.change([
    ["edit", "b", [1, "word"]],
    ["letters", "a", 0, 0, 4, "b", 1, false],
  ]);
  node.inOneFrame(() => {
    node.happens("b", "me", "edit", ["edited", 1, [1, "word"]]);
    node.answers("b", 1, EDITED);
    node.happens("b", "ann", "join", ["closed", 2, "d", 1]);
  });
  expect(lastCall(node, "a")).toEqual([["letters", [0, 0, 4, "b", 1, 1, false]]]);
});

/** A page whose words X, in a between letters that somebody has cut out, have gone after these to b, as parcel 1. */
function goneAfter(node: Node): void {
  node.model.change([["edit", "a", [2, "X"]]]);
  node.happens("a", "ann", "edit", ["edited", 1, [-4]]);
}

function saysSo(node: Node): void {
  node.happens("a", "me", "edit");
  node.answers("a", 1, { version: 1, moved: [["b", 1]], draft: [] });
}

const PART = ["received", "a", 1, "done", "", 0, false] as const;

test("words that went after letters are shown where they were written until they have come there", () => {
  const node = shown(["a", "word"], ["b", "two"]);
  goneAfter(node);
  saysSo(node);
  expect(node.texts).toEqual([
    ["a", "X"],
    ["b", "two"],
  ]); // prettier-ignore
  node.happens("b", "kim", "accept", ["edited", 1, [1, "X"]], PART);
  expect(node.texts).toEqual([["a"], ["b", "tXwo"]]); // prettier-ignore
  expect(node.model.stored()).toBeNull();
});

test("words that went after letters, and have no place there, are a draft", () => {
  const node = shown(["a", "word"], ["b", "two"]);
  goneAfter(node);
  saysSo(node);
  node.happens("b", "kim", "accept", ["received", "a", 1, "drafted", "", 0, false, [], ["X"]]);
  expect(node.texts).toEqual([["a"], ["b", "two"]]); // prettier-ignore
  expect(node.model.drafts.map(({ text }) => text)).toEqual(["X"]);
  expect(node.model.unconfirmed).toEqual([]);
});

test("what was done to words that went after letters is done to them there", () => {
  const node = shown(["a", "word"], ["b", "two"]);
  goneAfter(node);
  node.model.change([["edit", "a", [-1]]]); // X is taken out again
  saysSo(node);
  node.happens("b", "kim", "accept", ["edited", 1, [1, "X"]], PART);
  expect(node.texts).toEqual([["a"], ["b", "two"]]); // prettier-ignore
  expect(node.model.unconfirmed).toEqual([["edit", "b", [1, -1]]]);
});

test.each([
  ["a", "b"],
  ["b", "a"],
])("so it is where both are told behind a reconnect, %s first", (...order) => {
  const node = shown(["a", "word"], ["b", "two"]);
  node.model.change([["edit", "a", [2, "X"]]]);
  node.lose();
  node.model.change([["edit", "a", [2, -1]]]); // X is taken out again
  for (const id of order) {
    if (id === "a") {
      node.happens("a", "ann", "edit", ["edited", 1, [-4]]);
      node.happens("a", "me", "edit");
      node.goesOn("a", [[1, [{ version: 1, moved: [["b", 1]], draft: [] }], ""]]);
    } else {
      node.happens("b", "kim", "accept", ["edited", 1, [1, "X"]], PART);
      node.goesOn("b");
    }
  }
  node.goesOn("");
  expect(node.texts).toEqual([["a"], ["b", "two"]]); // prettier-ignore
  expect(node.model.unconfirmed).toEqual([["edit", "b", [1, -1]]]);
});

test("what was done to words that went on after letters, from where they are shown, is done to them there", () => {
  const node = shown(["a", "one"], ["b", "two"], ["d", "ten"]);
  node.model.change([["edit", "a", [3, "X"]]]);
  node.happens("a", "ann", "join", ["closed", 1, "b", 1]);
  node.model.change([["edit", "a", [3, "X", -1]]]); // cut, and pasted again
  const text = ["edited", 1, [3, "one"]];
  node.happens("b", "kim", "accept", text, ["received", "a", 1, "done", "", 0, true]);
  node.happens("a", "me", "edit");
  node.answers("a", 1, { version: 1, moved: [["b", 2]], draft: [] });
  expect(node.texts).toEqual([
    ["b", "twooneX"],
    ["d", "ten"],
  ]); // prettier-ignore
  // It went on after a letter beside it, which somebody has cut out of b and pasted in d.
  const moved = [["d", 1]];
  node.happens("b", "kim", "accept", ["received", "a", 2, "done", "", 0, false, moved]);
  const part = ["received", "b", 1, "done", "", 0, false];
  node.happens("d", "kim", "accept", ["edited", 1, [3, "X"]], part);
  expect(node.model.value.blocks.flatMap(({ content }) => content ?? []).join("")).toBe(
    "twooneXten",
  );
  expect(node.model.drafts).toEqual([]);
});

test("words that their writer has taken out are in no draft when their text is deleted", () => {
  const node = shown(["a", "one"], ["b", "two"]);
  node.lose();
  node.model.change([["edit", "a", [3, "XY"]]]);
  node.model.change([["join", "a", "b"]]);
  node.model.change([["edit", "b", [6, -1]]]); // X, behind the join
  node.happens("a", "ann", "delete", ["closed", 1, null, 0]);
  node.goesOn("a");
  node.goesOn("b");
  node.goesOn("");
  expect(node.texts).toEqual([["b", "two"]]);
  expect(node.model.drafts.map(({ text }) => text)).toEqual(["Y"]);
});

test.each([true, false])(
  "what is done in a block that cannot be had is given back at once; its text: %s",
  (isText) => {
    const node = shown(["a", "one"], ["b", "two"]);
    node.tells(["seeds", [["c", { type: "quote" }, ["six"]]]], ["placed", "b", ["c"]]);
    node.model.change([["edit", "c", [3, "Y"]]]);
    node.fails("c", "no_such_block"); // somebody has taken it out, which the outline has not told yet
    node.model.change([["edit", "c", isText ? ["X"] : [[3, { bold: true }]]]]);
    expect(node.model.unconfirmed).toEqual([]);
    expect(node.model.drafts.map(({ text }) => text)).toEqual(isText ? ["Y", "X"] : ["Y"]);
    node.tells(["left", ["c"], false]);
    expect(node.model.save.kind).toBe("saved");
    expect(node.model.stored()?.adrift ?? []).toEqual([]);
  },
);

/** A page whose words X have gone after a text to b, which is deleted: both come back. */
function refused(isOut: boolean): Node {
  const node = shown(["a", "one"], ["b", "two"]);
  node.model.change([["edit", "a", [3, "X"]]]);
  node.happens("a", "ann", "join", ["closed", 1, "b", 1]);
  if (isOut) node.model.change([["edit", "a", [3, -1]]]);
  node.happens("a", "me", "edit");
  node.answers("a", 1, { version: 1, moved: [["b", 2]], draft: [] });
  node.happens("b", "ann", "delete", ["closed", 1, null, 0]);
  node.happens("b", "kim", "accept", ["received", "a", 1, "refused", "", 0, true]);
  node.happens("b", "kim", "accept", ["received", "a", 2, "refused", "", 0, false]);
  expect(node.texts).toEqual([["a", isOut ? "one" : "oneX"]]);
  return node;
}

test("what was done to words that come back with their text is done to them there", () => {
  const node = refused(true);
  const back = ["opened", 2, ["oneX"], {}, [["b", 2, []]]];
  node.happens("a", "kim", "take_back", ["edited", 2, [3, "X"]], back);
  expect(node.texts).toEqual([["a", "one"]]);
  expect(node.model.unconfirmed).toEqual([["edit", "a", [3, -1]]]);
  expect(node.model.drafts).toEqual([]);
});

test("words that have come back, and have no place, are a draft", () => {
  const node = refused(false);
  node.happens("a", "kim", "take_back", ["opened", 2, ["one"], {}, [["b", 2, ["X"]]]]);
  expect(node.texts).toEqual([["a", "one"]]);
  expect(node.model.unconfirmed).toEqual([]);
  expect(node.model.drafts.map(({ text }) => text)).toEqual(["X"]);
});

test("words that were refused before that was answered stay in sight until they are back", () => {
  const node = shown(["a", "one"], ["b", "two"]);
  node.model.change([["edit", "a", [3, "X"]]]);
  node.happens("a", "ann", "join", ["closed", 1, "b", 1]);
  node.model.change([["edit", "a", [3, -1]]]);
  node.happens("b", "ann", "delete", ["closed", 1, null, 0]);
  node.happens("b", "kim", "accept", ["received", "a", 1, "refused", "", 0, true]);
  node.happens("b", "kim", "accept", ["received", "a", 2, "refused", "", 0, false]);
  node.happens("a", "me", "edit");
  node.answers("a", 1, { version: 1, moved: [["b", 2]], draft: [] });
  expect(node.texts).toEqual([["a", "one"]]);
  const back = ["opened", 2, ["oneX"], {}, [["b", 2, []]], ["b", 1]];
  node.happens("a", "kim", "take_back", ["edited", 2, [3, "X"]], back);
  expect(node.texts).toEqual([["a", "one"]]);
  expect(node.model.unconfirmed).toEqual([["edit", "a", [3, -1]]]);
});

const DELETED = { status: "deleted", version: 1, recent: null };
const REFUSED = [
  ["a", 1],
  ["a", 2],
]; // prettier-ignore

test("words that were refused, as their block says behind a reconnect, stay in sight until they are back", () => {
  const node = refused(true);
  node.lose();
  node.goesOn("a");
  node.is("b", { ...DELETED, received: [["a", 2]], refused: REFUSED });
  node.goesOn("");
  expect(node.texts).toEqual([["a", "one"]]);
  const back = ["opened", 2, ["oneX"], {}, [["b", 2, []]], ["b", 1]];
  node.happens("a", "kim", "take_back", ["edited", 2, [3, "X"]], back);
  expect(node.texts).toEqual([["a", "one"]]);
  expect(node.model.unconfirmed).toEqual([["edit", "a", [3, -1]]]);
});

test.each([
  ["b", "a"],
  ["a", "b"],
])(
  "what was done to words that are back behind a reconnect is done to them there (%s first)",
  (...order) => {
    const node = refused(true);
    node.lose();
    const recent = [["edit", [3, "X"], "", 0, 0]];
    for (const id of order) {
      if (id === "b") node.is("b", { ...DELETED, received: [["a", 2]], refused: REFUSED });
      else
        node.is("a", { content: ["oneX"], version: 2, recent, passed: [[">b", 2, "", 0]] }, 1, [
          [1, [{ version: 1, moved: [["b", 2]], draft: [] }], ""],
        ]);
    }
    node.goesOn("");
    expect(node.texts).toEqual([["a", "one"]]);
    expect(node.model.unconfirmed).toEqual([["edit", "a", [3, -1]]]);
    expect(node.model.drafts).toEqual([]);
  },
);

type Say = (node: Node) => void;

/** In which x and y say what has become of the text of s, and of the words that went after it. */
const ORDERS = ["xy", "yx"];

/**
 * A page whose words X, in s, have gone after a text that x has passed on to y. That is deleted, and s has
 * left the document: all of it is on its way back to x. `order`: in which these say so; `then`: what is
 * told before s has left.
 */
function passedOnAndRefused(order = "xy", then: Say = () => undefined): Node {
  const node = shown(["s", "six"], ["x", "one"], ["y", "two"]);
  node.model.change([["edit", "s", ["XZ"]]]);
  node.happens("s", "ann", "join", ["closed", 1, "x", 1]);
  node.model.change([["edit", "s", [-1]]]); // X is taken out again
  node.happens("s", "me", "edit");
  node.answers("s", 1, { version: 1, moved: [["x", 2]], draft: [] });
  for (const id of order) {
    if (id === "x") {
      node.happens("x", "bob", "join", ["closed", 1, "y", 1]);
      node.happens("x", "kim", "accept", ["received", "s", 1, "done", "y", 2, true]);
      node.happens("x", "kim", "accept", ["received", "s", 2, "done", "", 0, false, [["y", 3]]]);
    } else {
      node.happens("y", "kim", "delete", ["closed", 1, null, 0]);
      for (const number of [1, 2, 3])
        node.happens("y", "kim", "a", ["received", "x", number, "refused", "", 0, number < 3]);
    }
  }
  then(node);
  node.tells(["left", ["s"], true]);
  return node;
}

const ON_ITS_WAY = [
  ["s", "Zsix"],
  ["x", "one"],
];

/** The texts come back to x, each by itself. */
function comeBack(node: Node): void {
  node.happens("x", "kim", "take_back", ["opened", 1, ["one"], {}, [], ["y", 1]]);
  const whole = ["opened", 3, ["oneXZsix"], {}, [["y", 3, []]], ["y", 2]];
  const [text, words] = [["edited", 2, [3, "six"]] as const, ["edited", 3, [3, "XZ"]] as const];
  node.happens("x", "kim", "take_back", text, words, whole);
}

function expectBack(node: Node): void {
  expect(node.texts).toEqual([["x", "oneZsix"]]);
  expect(node.model.unconfirmed).toEqual([["edit", "x", [3, -1]]]);
  expect(node.model.drafts).toEqual([]);
}

test.each(ORDERS)(
  "a text that comes back to the block that has passed it on is shown until then (%s)",
  (order) => {
    const node = passedOnAndRefused(order);
    expect(node.texts).toEqual(ON_ITS_WAY);
    comeBack(node);
    expectBack(node);
  },
);

test("it is shown once where it is back before its block has left", () => {
  const node = passedOnAndRefused("xy", (before) => {
    expect(before.texts).toEqual(ON_ITS_WAY);
    comeBack(before);
    expectBack(before);
  });
  expectBack(node);
});

test.each(ORDERS)("so it is where it is back behind a reconnect (%s)", (order) => {
  const node = passedOnAndRefused();
  node.lose();
  node.goesOn("s");
  for (const id of order) {
    if (id === "y")
      node.is("y", {
        ...DELETED,
        received: [["x", 3]],
        refused: [1, 2, 3].map((number) => ["x", number]),
      });
    else
      node.is("x", {
        content: ["oneXZsix"],
        version: 3,
        received: [["s", 2]],
        recent: [
          ["edit", [3, "six"], "s", 1, 0],
          ["edit", [3, "XZ"], "", 0, 0],
        ],
        passed: [
          ["s", 2, "y", 3],
          [">y", 3, "", 0],
        ],
        onward: [],
      });
  }
  node.goesOn("");
  expectBack(node);
});

test("what is written at the end of a text stays there when another one comes back behind it", () => {
  const node = shown(["x", "one"], ["y", "two"]);
  node.happens("x", "bob", "join", ["closed", 1, "y", 1]);
  node.happens("x", "kim", "accept", ["received", "s", 1, "done", "y", 2, true]);
  node.happens("y", "kim", "delete", ["closed", 1, null, 0]);
  for (const number of [1, 2])
    node.happens("y", "kim", "accept", ["received", "x", number, "refused", "", 0, true]);
  node.happens("x", "kim", "take_back", ["opened", 1, ["one"], {}, [], ["y", 1]]);
  node.model.change([["edit", "x", [3, "X"]]]);
  const back = ["opened", 2, ["onesix"], {}, [], ["y", 2]];
  node.happens("x", "kim", "take_back", ["edited", 2, [3, "six"]], back);
  expect(node.texts).toEqual([["x", "oneXsix"]]);
});
