// @vitest-environment jsdom

/**
 * What is done before the code that names letters has come, which the first focus asks for: it is named
 * all the same, as of when it was done.
 */

import { expect, test, vi } from "vitest";
import { loadReader } from "../../src/editor/clipboard";
import { plainText } from "../../src/shared/rich";
import { blocksOf, MemoryModel } from "../document-double";
import { Clipboard, cut, paste } from "./clipboard-double";
import { type Bench, bench, select, type } from "./opened";

vi.stubGlobal("DataTransfer", Clipboard);
vi.stubGlobal(
  "ClipboardEvent",
  class extends Event {
    readonly clipboardData: unknown;
    constructor(kind: string, { clipboardData, ...how }: EventInit & { clipboardData: unknown }) {
      super(kind, how);
      this.clipboardData = clipboardData;
    }
  },
);

const textsOf = ({ model }: Bench): string[] =>
  model.value.blocks.map(({ content }) => plainText(content ?? []));

const lettersOf = ({ model }: Bench) => model.done.filter(([kind]) => kind === "letters");

test("a cut, what is typed behind it, and a paste", async () => {
  const ann = bench(new MemoryModel(blocksOf("one two three", "four")));
  select(ann.view, "b0", 4, 8);
  const clipboard = cut(ann);
  expect([textsOf(ann), clipboard.getData("text/plain")]).toEqual([["one three", "four"], "two "]);
  type(ann.view, "X");
  select(ann.view, "b1", 0);
  paste(ann, clipboard);
  expect([textsOf(ann), lettersOf(ann)]).toEqual([["one Xthree", "four"], []]);
  await loadReader();
  await vi.waitFor(() => expect(textsOf(ann)).toEqual(["one Xthree", "two four"]));
  expect(lettersOf(ann)).toEqual([["letters", "b0", 0, 4, 4, "b1", 0, false]]);
});

test("a cut that is taken back by then: what is pasted is a copy", async () => {
  vi.resetModules(); // nothing is loaded again
  const { bench, key, select } = await import("./opened");
  const { loadReader } = await import("../../src/editor/clipboard");
  const ann = bench(new MemoryModel(blocksOf("one two three", "four")));
  select(ann.view, "b0", 4, 8);
  const clipboard = cut(ann);
  await loadReader();
  key(ann.view, "z", { ctrlKey: true });
  expect(textsOf(ann)).toEqual(["one two three", "four"]);
  const named = lettersOf(ann).length;
  select(ann.view, "b1", 0);
  paste(ann, clipboard);
  expect(textsOf(ann)).toEqual(["one two three", "two four"]);
  expect(lettersOf(ann).slice(named)).toEqual([]);
});
