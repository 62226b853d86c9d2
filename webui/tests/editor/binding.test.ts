// @vitest-environment jsdom

import fc from "fast-check";
import { TextSelection } from "prosemirror-state";
import { afterEach, expect, test } from "vitest";
import { findBlock } from "../../src/editor/remote";
import { toBlocks } from "../../src/editor/schema";
import { away, block, blocksOf, MemoryModel } from "../document-double";
import { type Choice, choices, documents, verbsOf } from "../random";
import { type Bench, bench, cleared, key, select, type } from "./bench";

afterEach(cleared);

const shown = ({ view }: Bench): unknown => toBlocks(view.state.doc);

/** A random edit of the person, by what the editor itself does. */
function act({ view }: Bench, choice: Choice): void {
  const { doc } = view.state;
  const size = doc.content.size;
  const at = (choice.at * 7 + choice.block * 13) % (size + 1);
  const to = Math.min(size, at + choice.count);
  const near = TextSelection.between(doc.resolve(at), doc.resolve(to));
  view.dispatch(view.state.tr.setSelection(near));
  if (choice.kind < 40) type(view, choice.text);
  else if (choice.kind < 50) key(view, "Enter");
  else if (choice.kind < 60) key(view, "Backspace");
  else if (choice.kind < 65) key(view, "b", { ctrlKey: true });
  else if (choice.kind < 70) key(view, "i", { ctrlKey: true });
  else if (choice.kind < 75) key(view, "ArrowDown", { altKey: true });
  else if (choice.kind < 80) key(view, "1", { ctrlKey: true, altKey: true });
  else if (choice.kind < 90) key(view, "z", { ctrlKey: true });
  else if (choice.kind < 95) key(view, "y", { ctrlKey: true });
  else key(view, "a", { ctrlKey: true });
}

test("editor and model show the same, whatever the person and others do", () => {
  const steps = fc.array(fc.tuple(fc.boolean(), choices), { maxLength: 14 });
  fc.assert(
    fc.property(documents, steps, (start, picks) => {
      const one = bench(new MemoryModel(start));
      picks.forEach(([isOwn, choice], index) => {
        if (isOwn) act(one, choice);
        else one.model.others(verbsOf(choice, one.model.value.blocks, `n${index}`), index % 3 > 0);
        if (one.model.value.blocks.length > 0) expect(shown(one)).toEqual(one.model.value.blocks);
        else expect(one.view.state.doc.textContent).toBe("");
      });
    }),
    { numRuns: 150 },
  );
}, 60_000);

test("a letter is one small edit, and nothing else is looked at", () => {
  const one = bench(new MemoryModel(blocksOf("one", "two", "three")));
  select(one.view, "b1", 2);
  type(one.view, "x");
  expect(one.model.done).toEqual([["edit", "b1", [2, "x"]]]);
});

test("a caret stays left of what others insert at it, and does not cross a split", () => {
  const one = bench(new MemoryModel(blocksOf("one", "two", "three")));
  const standing = (): unknown => {
    const { $head } = one.view.state.selection;
    return [$head.node(1).attrs.id, $head.parentOffset];
  };
  select(one.view, "b1", 3);
  one.model.others([["edit", "b1", [3, " more"]]]);
  expect(standing()).toEqual(["b1", 3]);
  one.model.others([["split", "b1", 3, "n1", {}]]);
  expect(standing()).toEqual(["b1", 3]);
  one.model.others([["edit", "b1", ["x"]]]);
  expect(standing()).toEqual(["b1", 4]);
});

test("typing over a selection of several blocks joins what is left", () => {
  const one = bench(new MemoryModel(blocksOf("hello", "gone", "world")));
  const last = findBlock(one.view.state.doc, "b2")?.from ?? 0;
  const { doc, tr } = one.view.state;
  one.view.dispatch(tr.setSelection(TextSelection.create(doc, 3, last + 4)));
  type(one.view, "X");
  expect(one.model.value.blocks).toEqual([{ ...block("b0", "heXld"), length: 5 }]);
  expect(one.model.done.map((verb) => verb[0])).toContain("join");
});

test("many lines that are pasted are one insert behind one split", () => {
  const one = bench(new MemoryModel(blocksOf("start end", "last")));
  select(one.view, "b0", 6);
  const lines = Array.from({ length: 1_000 }, (_, number) => `line ${number}`);
  one.view.pasteText(lines.join("\n"), new Event("paste") as ClipboardEvent);
  expect(one.model.value.blocks).toHaveLength(1_001);
  expect(one.model.done.map((verb) => verb[0])).toEqual(["split", "insert", "edit", "edit"]);
});

test("an empty document shows a block that the model gets with the first letter", () => {
  const one = bench(new MemoryModel([]));
  expect(one.model.done).toEqual([]);
  type(one.view, "a");
  expect(one.model.done[0]?.[0]).toBe("insert");
  expect(shown(one)).toEqual(one.model.value.blocks);
  one.model.others([["remove", [one.model.value.blocks[0]?.id ?? ""]]]);
  expect(one.view.state.doc.textContent).toBe("");
});

test("Control B, I, U, E mark what is selected, and take the mark away", () => {
  const one = bench(new MemoryModel(blocksOf("hello")));
  select(one.view, "b0", 1, 3);
  for (const letter of ["b", "i", "u", "e"]) key(one.view, letter, { ctrlKey: true });
  const marks = { bold: true, italic: true, underline: true, code: true };
  expect(one.model.value.blocks[0]?.content).toEqual(["h", ["el", marks], "lo"]);
  expect(one.model.done[0]).toEqual(["edit", "b0", [1, [2, { bold: true }]]]);
  for (const letter of ["b", "i", "u", "e"]) key(one.view, letter, { ctrlKey: true });
  expect(one.model.value.blocks[0]?.content).toEqual(["hello"]);
});

test("typing goes on in bold, and beside a link without it", () => {
  const marked = blocksOf([["bold", { bold: true }], " ", ["link", { link: "https://a.b/" }]]);
  const one = bench(new MemoryModel(marked));
  select(one.view, "b0", 4);
  type(one.view, "er");
  select(one.view, "b0", 11);
  type(one.view, "s");
  select(one.view, "b0", 9);
  type(one.view, "x");
  expect(one.model.value.blocks[0]?.content).toEqual([
    ["bolder", { bold: true }],
    " ",
    ["lixnk", { link: "https://a.b/" }],
    "s",
  ]);
});

test.each([
  ["**bold** x", [["bold", { bold: true }], " x"]],
  ["a *word* x", ["a ", ["word", { italic: true }], " x"]],
  ["_word_ x", [["word", { italic: true }], " x"]],
  ["a `1 + 1` x", ["a ", ["1 + 1", { code: true }], " x"]],
  ["~~gone~~ x", [["gone", { strike: true }], " x"]],
  ["[a b](https://a.b/) x", [["a b", { link: "https://a.b/" }], " x"]],
  ["[a](javascript:x) x", ["[a](javascript:x) x"]],
  ["snake_case_name 2*3*4", ["snake_case_name 2*3*4"]],
])("%s while typing", (text, content) => {
  const one = bench(new MemoryModel(blocksOf("")));
  select(one.view, "b0", 0);
  type(one.view, text);
  if (text.includes("2*3")) expect(one.view.state.doc.textContent).toContain("snake_case_name");
  else expect(one.model.value.blocks[0]?.content).toEqual(content);
});

test("Control with Home and End goes to the ends of the document, also of what is not drawn", () => {
  const one = bench(new MemoryModel(blocksOf("one", "two", "three")));
  const at = (): unknown[] => {
    const { $anchor, $head } = one.view.state.selection;
    return [
      $anchor.parent.attrs.id,
      $anchor.parentOffset,
      $head.parent.attrs.id,
      $head.parentOffset,
    ];
  };
  select(one.view, "b1", 1);
  key(one.view, "End", { ctrlKey: true });
  expect(at()).toEqual(["b2", 5, "b2", 5]);
  key(one.view, "Home", { ctrlKey: true, shiftKey: true });
  expect(at()).toEqual(["b2", 5, "b0", 0]);
});

test("a slash offers what the block can become, and what is typed behind it chooses", () => {
  const one = bench(new MemoryModel(blocksOf("")));
  select(one.view, "b0", 0);
  type(one.view, "/head");
  expect(one.told.at(-1)).toBe("menu 0");
  key(one.view, "ArrowDown");
  expect(one.view.dom.getAttribute("aria-activedescendant")).toBe("slash-menu-heading-2");
  key(one.view, "Enter");
  expect(one.told.at(-1)).toBe("closed");
  const [first] = one.model.value.blocks;
  expect([first?.attributes, first?.content]).toEqual([{ type: "heading", level: 2 }, []]);
  type(one.view, "and/or /");
  expect(one.told.at(-1)).toBe("menu 0");
  key(one.view, "Escape");
  type(one.view, "quote");
  expect(one.told.at(-1)).toBe("closed");
  expect(one.model.value.blocks[0]?.content).toEqual(["and/or /quote"]);
});

test("a slash in code is a slash, and so is one that nothing begins with", () => {
  const one = bench(new MemoryModel([block("b0", "", "code"), block("b1", "")]));
  select(one.view, "b0", 0);
  type(one.view, "/");
  expect(one.told).toEqual([]);
  select(one.view, "b1", 0);
  type(one.view, "/xyz");
  key(one.view, "Enter");
  expect(one.model.value.blocks).toHaveLength(3);
});

test("code blocks have no marks", () => {
  const one = bench(new MemoryModel([block("b0", "a b", "code")]));
  select(one.view, "b0", 0, 3);
  key(one.view, "b", { ctrlKey: true });
  expect(one.model.done).toEqual([]);
});

test("marks and attributes of other pages survive what is done here", () => {
  const start = [
    {
      ...block("b0", [
        ["ab", { tint: "red" }],
        ["\ufffc", { embed: "p1" }],
      ]),
      attributes: { mood: 1 },
    },
  ];
  const one = bench(new MemoryModel(start));
  select(one.view, "b0", 1);
  key(one.view, "Enter");
  select(one.view, "b0", 0, 1);
  key(one.view, "b", { ctrlKey: true });
  const [first, second] = one.model.value.blocks;
  expect(first?.content).toEqual([["a", { bold: true, tint: "red" }]]);
  expect(second?.content).toEqual([
    ["b", { tint: "red" }],
    ["\ufffc", { embed: "p1" }],
  ]);
  expect([first?.attributes, second?.attributes]).toEqual([{ mood: 1 }, { mood: 1 }]);
});

test("what is told though it is shown already changes nothing, and undo goes on", () => {
  const one = bench(new MemoryModel(blocksOf("one")));
  select(one.view, "b0", 3);
  key(one.view, "Enter");
  type(one.view, "two");
  const { value } = one.model;
  const [, block] = value.blocks;
  if (!block?.content) throw new Error("there is no second block");
  const { id, attributes, content } = block;
  const doc = one.view.state.doc;
  const changes = [["insert", "b0", [{ id, attributes, content }]] as const];
  one.model.onView?.({ changes, before: value, after: value });
  expect(one.view.state.doc).toBe(doc);
  key(one.view, "z", { ctrlKey: true });
  expect(one.view.state.doc.textContent).toBe("one");
});

test("a block whose text is not here is shown as high as it will be, and filled in", () => {
  const one = bench(new MemoryModel([...blocksOf("one"), away("far", 300)]));
  const element = one.view.dom.querySelector<HTMLElement>('[data-block-id="far"]');
  expect(element?.style.getPropertyValue("--length")).toBe("300");
  expect([element?.contentEditable, element?.textContent]).toEqual(["false", "Not loaded yet"]);
  select(one.view, "b0", 2);
  one.model.others([["show", block("far", "here now")]]);
  expect(shown(one)).toEqual(one.model.value.blocks);
  expect(one.view.state.selection.$head.parentOffset).toBe(2);
  one.model.others([["show", away("far", 8)]]);
  expect(shown(one)).toEqual(one.model.value.blocks);
});

test("a block whose text is not here is not taken out: it is loaded first", () => {
  const one = bench(new MemoryModel([...blocksOf("one"), away("far", 30), block("b2", "two")]));
  key(one.view, "a", { ctrlKey: true });
  key(one.view, "Backspace");
  expect([one.model.done, one.model.shown, one.told]).toEqual([[], ["far"], ["not loaded"]]);
  select(one.view, "b2", 0);
  key(one.view, "Backspace");
  expect(one.model.done).toEqual([]);
  key(one.view, "ArrowUp", { altKey: true });
  expect(one.model.done).toEqual([["move", ["b2"], "b0"]]);
});

test("what is not all here is not copied in part", () => {
  const one = bench(new MemoryModel([...blocksOf("one"), away("far", 30)]));
  const copy = (): boolean => {
    const event = new Event("copy", { cancelable: true });
    one.view.someProp("handleDOMEvents", ({ copy: handle }) => {
      handle?.call(one.view.someProp("handleDOMEvents"), one.view, event as ClipboardEvent);
    });
    return event.defaultPrevented;
  };
  select(one.view, "b0", 0, 3);
  expect([copy(), one.model.shown]).toEqual([false, []]);
  key(one.view, "a", { ctrlKey: true });
  expect([copy(), one.model.shown, one.told]).toEqual([true, ["far"], ["not loaded"]]);
});

test("what is not all here is not marked in part", () => {
  const one = bench(new MemoryModel([...blocksOf("one"), away("far", 30)]));
  key(one.view, "a", { ctrlKey: true });
  key(one.view, "b", { ctrlKey: true });
  one.editor.turnInto("heading-1");
  expect([one.model.done, one.model.shown]).toEqual([[], ["far", "far"]]);
});

test("a whole list that is moved is one verb", () => {
  const one = bench(new MemoryModel(blocksOf("one", "two", "three", "four", "five", "six")));
  const { state } = one.view;
  const both = state.doc.slice(5, 5 + 5 + 7);
  const transaction = state.tr.delete(5, 5 + 5 + 7);
  one.view.dispatch(transaction.insert(transaction.doc.content.size, both.content));
  expect(one.model.done).toEqual([["move", ["b1", "b2"], "b5"]]);
});

test("text is put at the end of the document", () => {
  const one = bench(new MemoryModel(blocksOf("one")));
  one.editor.appendText("two\nthree");
  expect(one.view.state.doc.children.map((node) => node.textContent)).toEqual([
    "one",
    "two",
    "three",
  ]);
  expect(one.model.done.map((verb) => verb[0])).toEqual(["insert"]);
});

test("Control K asks for a link, which is set on the selection or changed at the caret", () => {
  const one = bench(new MemoryModel(blocksOf("see here")));
  select(one.view, "b0", 4, 8);
  key(one.view, "k", { ctrlKey: true });
  expect(one.told).toEqual(["link"]);
  one.editor.setLink("https://a.b/");
  expect(one.model.value.blocks[0]?.content).toEqual(["see ", ["here", { link: "https://a.b/" }]]);
  select(one.view, "b0", 6);
  one.editor.setLink("/doc/x");
  expect(one.model.value.blocks[0]?.content).toEqual(["see ", ["here", { link: "/doc/x" }]]);
  one.editor.setLink("javascript:alert(1)");
  one.editor.setLink(null);
  expect(one.model.value.blocks[0]?.content).toEqual(["see here"]);
});

test("brackets at the start of a to-do say whether it is done, as they do in a paragraph", () => {
  const one = bench(new MemoryModel([block("b0", ""), block("b1", "")]));
  for (const [id, words] of [
    ["b0", "[] call"],
    ["b1", "[ ] write"],
  ] as const) {
    select(one.view, id, 0);
    type(one.view, words);
  }
  select(one.view, "b1", 0);
  type(one.view, "[x] ");
  expect(one.model.value.blocks.map(({ attributes, content }) => [attributes, content])).toEqual([
    [{ type: "todo", checked: false }, ["call"]],
    [{ type: "todo", checked: true }, ["write"]],
  ]);
});
