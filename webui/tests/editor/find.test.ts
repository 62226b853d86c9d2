// @vitest-environment jsdom

import type { EditorView } from "prosemirror-view";
import { afterEach, expect, test } from "vitest";
import { DocumentEditor } from "../../src/editor/editor";
import type { Finding } from "../../src/editor/find";
import { Finder } from "../../src/editor/finder";
import { away, block, blocksOf, MemoryModel } from "../document-double";

/** A document that loads a block when it is asked for it. */
class LoadingModel extends MemoryModel {
  constructor(
    blocks: ConstructorParameters<typeof MemoryModel>[0],
    private readonly texts: ReadonlyMap<string, string>,
  ) {
    super(blocks);
  }

  override async show(id: string): Promise<void> {
    await super.show(id);
    const text = this.texts.get(id);
    if (text === undefined) throw new Error("it cannot be had");
    this.others([["show", block(id, text)]]);
  }
}

let open: DocumentEditor | null = null;
afterEach(() => {
  open?.destroy();
  open = null;
});

interface Bench {
  readonly model: MemoryModel;
  readonly editor: DocumentEditor;
  readonly view: EditorView;
  readonly found: Finding[];
}

function bench(model: MemoryModel): Bench {
  const host = document.body.appendChild(document.createElement("div"));
  const found: Finding[] = [];
  const nothing = (): void => undefined;
  open = new DocumentEditor(host, model, {
    edited: nothing,
    caretMoved: nothing,
    viewed: nothing,
    surroundings: nothing,
    linkWanted: nothing,
    notLoaded: nothing,
    offered: nothing,
    found: (finding) => found.push(finding),
  });
  const { view } = open as unknown as { view: EditorView };
  return { model, editor: open, view, found };
}

const standing = ({ found }: Bench): unknown[] => {
  const { matches, current } = found.at(-1) ?? { matches: [], current: -1 };
  return [matches.map(({ block: id, from, to }) => [id, from, to]), current];
};

test("words are found in any case, also in blocks that are not here", () => {
  const one = bench(new MemoryModel([...blocksOf("Milk, milk", "eggs"), away("far", 9)]));
  one.editor.findWith(Finder).look("milk");
  const here = [
    ["b0", 0, 4],
    ["b0", 6, 10],
  ];
  expect(standing(one)).toEqual([here, 0]);
  expect(one.editor.findWith(Finder).isPartial).toBe(true);
  one.editor.findWith(Finder).know(new Map([["far", "more MILK"]]));
  expect(standing(one)).toEqual([[...here, ["far", 5, 9]], 0]);
  one.editor.findWith(Finder).step(-1);
  expect(standing(one)[1]).toBe(2);
  one.editor.findWith(Finder).step(1);
  expect(standing(one)[1]).toBe(0);
  expect(one.view.dom.querySelectorAll(".found").length).toBe(2);
  one.editor.findWith(Finder).end();
  expect(standing(one)).toEqual([[], -1]);
});

test("a place that is known only when the texts have come is brought into sight then", () => {
  const one = bench(new MemoryModel([...blocksOf("bread", "eggs"), away("far", 9)]));
  const brought: unknown[] = [];
  Element.prototype.scrollIntoView = function (this: HTMLElement) {
    brought.push(this.dataset.blockId);
  };
  one.editor.findWith(Finder).look("milk");
  expect(brought).toEqual([]);
  one.editor.findWith(Finder).know(new Map([["far", "more MILK"]]));
  expect(standing(one)).toEqual([[["far", 5, 9]], 0]);
  expect(brought).toEqual(["far"]);
  one.editor.findWith(Finder).know(new Map([["far", "more MILK"]]));
  expect(brought).toEqual(["far"]);
  Reflect.deleteProperty(Element.prototype, "scrollIntoView");
});

test("what looks like a pattern is looked for as it is", () => {
  const one = bench(new MemoryModel(blocksOf("a.c abc [x] (1+1) a\\b")));
  for (const [query, from] of [
    ["a.c", 0],
    ["[x]", 8],
    ["(1+1)", 12],
    ["a\\b", 18],
  ] as const) {
    one.editor.findWith(Finder).look(query);
    expect(standing(one)).toEqual([[["b0", from, from + query.length]], 0]);
  }
});

test("a search follows what is written meanwhile", () => {
  const one = bench(new MemoryModel(blocksOf("one two")));
  one.editor.findWith(Finder).look("two");
  one.model.others([["edit", "b0", ["two "]]]);
  expect(standing(one)[0]).toEqual([
    ["b0", 0, 3],
    ["b0", 8, 11],
  ]);
});

test("one place is replaced, with its marks, and the search goes on to the next", async () => {
  const one = bench(new MemoryModel(blocksOf([["ab", { bold: true }], " ab ab"])));
  one.editor.findWith(Finder).look("ab");
  await one.editor.findWith(Finder).replace("abab");
  expect(one.model.value.blocks[0]?.content).toEqual([["abab", { bold: true }], " ab ab"]);
  expect(standing(one)[1]).toBe(2);
  await one.editor.findWith(Finder).replace("");
  expect(one.model.value.blocks[0]?.content).toEqual([["abab", { bold: true }], "  ab"]);
});

test("all places are replaced, also in blocks that were not here", async () => {
  const texts = new Map([["far", "x and x"]]);
  const one = bench(new LoadingModel([...blocksOf("x", "y"), away("far", 7)], texts));
  one.editor.findWith(Finder).look("x");
  one.editor.findWith(Finder).know(texts);
  expect(await one.editor.findWith(Finder).replaceAll("xx")).toEqual({ places: 3, left: 0 });
  const shown = one.model.value.blocks.map(({ content }) => content);
  expect(shown).toEqual([["xx"], ["y"], ["xx and xx"]]);
});

test("each place is replaced once, however many blocks have to be loaded", async () => {
  const ids = Array.from({ length: 100 }, (_, number) => `far${number}`);
  const texts = new Map(ids.map((id) => [id, "x x"]));
  const start = [...blocksOf("x"), ...ids.map((id) => away(id, 3))];
  const one = bench(new LoadingModel(start, texts));
  one.editor.findWith(Finder).look("x");
  one.editor.findWith(Finder).know(texts);
  expect(await one.editor.findWith(Finder).replaceAll("xyx")).toEqual({ places: 201, left: 0 });
  const shown = new Set(one.model.value.blocks.map(({ content }) => String(content)));
  expect(shown).toEqual(new Set(["xyx", "xyx xyx"]));
});

test("places that cannot be loaded are told, and stay", async () => {
  const one = bench(new LoadingModel([...blocksOf("x"), away("far", 7)], new Map()));
  one.editor.findWith(Finder).look("x");
  one.editor.findWith(Finder).know(new Map([["far", "x"]]));
  expect(await one.editor.findWith(Finder).replaceAll("z")).toEqual({ places: 1, left: 1 });
  expect(one.model.value.blocks[0]?.content).toEqual(["z"]);
});
