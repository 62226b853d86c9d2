// @vitest-environment jsdom

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { spansOf } from "../../src/editor/languages";
import { BLOCK_MAX } from "../../src/editor/lengths";
import { parseText } from "../../src/editor/paste";
import { plainText } from "../../src/shared/rich";
import { block, MemoryModel } from "../document-double";
import { type Bench, bench, cleared, key, select, type } from "./bench";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleared();
  vi.useRealTimers();
});

const code = (text: string, language = "javascript"): MemoryModel => {
  const one = block("b0", text, "code");
  return new MemoryModel([{ ...one, attributes: { type: "code", language } }, block("b1", "x")]);
};

const textOf = ({ model }: Bench): string => plainText(model.value.blocks[0]?.content ?? []);
const coloured = ({ view }: Bench): string[] =>
  [...view.dom.querySelectorAll("pre [class^=hljs]")].map(
    (one) => `${one.className} ${one.textContent}`,
  );

/** All that waits for a moment, and what is loaded by it. */
async function aMoment(): Promise<void> {
  await vi.advanceTimersByTimeAsync(1_000);
  await vi.dynamicImportSettled();
  await vi.advanceTimersByTimeAsync(1_000);
}

test("the words of a language are told apart, of one that is not known nothing is", () => {
  expect(spansOf("let a = 1", "javascript")).toEqual([
    { from: 0, to: 3, kind: "hljs-keyword" },
    { from: 8, to: 9, kind: "hljs-number" },
  ]);
  expect(spansOf("let a = 1", "klingon")).toEqual([]);
});

test("code in sight is coloured, and nothing of it is an edit", async () => {
  const on = bench(code("let a = 1"));
  select(on.view, "b0", 0);
  await aMoment();
  type(on.view, " ");
  await aMoment();
  expect(coloured(on)).toEqual(["hljs-keyword let", "hljs-number 1"]);
  expect(on.model.done).toEqual([["edit", "b0", [" "]]]);
});

test("colours move along with what is typed until they are drawn anew", async () => {
  const on = bench(code("let a = 1"));
  await aMoment();
  select(on.view, "b0", 9);
  type(on.view, "2 // no");
  expect(coloured(on).slice(0, 1)).toEqual(["hljs-keyword let"]);
  await aMoment();
  expect(coloured(on)).toEqual(["hljs-keyword let", "hljs-number 12", "hljs-comment // no"]);
});

test("the language is an attribute of the block, and none is none", async () => {
  const on = bench(code("select 1", ""));
  select(on.view, "b0", 0);
  await aMoment();
  expect(coloured(on)).toEqual([]);
  on.editor.setLanguage("sql");
  await aMoment();
  expect(coloured(on)).toEqual(["hljs-keyword select", "hljs-number 1"]);
  on.editor.setLanguage("");
  expect(on.model.done).toEqual([
    ["set", "b0", { language: "sql" }],
    ["set", "b0", { language: null }],
  ]);
});

test("Tab and Enter keep the lines of code indented, Shift-Tab takes a step back", () => {
  const on = bench(code("a\nb"));
  select(on.view, "b0", 0, 3);
  key(on.view, "Tab");
  expect(textOf(on)).toBe("\ta\n\tb");
  select(on.view, "b0", 5);
  key(on.view, "Enter");
  type(on.view, "c");
  expect(textOf(on)).toBe("\ta\n\tb\n\tc");
  select(on.view, "b0", 0, 8);
  key(on.view, "Tab", { shiftKey: true });
  expect(textOf(on)).toBe("a\nb\nc");
  select(on.view, "b0", 1);
  key(on.view, "Tab");
  expect(textOf(on)).toBe("a\t\nb\nc");
});

test("code of 2,000 lines becomes several blocks of whole lines, and goes by one undo", () => {
  const found = bench(code("first\nlast"));
  const { view, model } = found;
  select(view, "b0", 6);
  const lines = Array.from({ length: 2_000 }, (_, at) => `const name${at} = "😀 ${at}";`);
  const slice = parseText(`${lines.join("\n")}\n`, view.state.selection.$from);
  view.dispatch(view.state.tr.replaceSelection(slice));
  const { blocks } = model.value;
  const texts = blocks.slice(0, -1).map(({ content }) => plainText(content ?? []));
  expect(texts.join("\n")).toBe(`first\n${lines.join("\n")}\nlast`);
  expect(texts.length).toBeGreaterThan(4);
  for (const { length, attributes } of blocks.slice(0, -1)) {
    expect(length).toBeLessThanOrEqual(BLOCK_MAX);
    expect(attributes).toMatchObject({ type: "code", language: "javascript" });
  }
  expect(new Set(blocks.map(({ id }) => id)).size).toBe(blocks.length);
  key(view, "z", { ctrlKey: true });
  expect(model.value.blocks).toHaveLength(2);
  expect(textOf(found)).toBe("first\nlast");
});

test("a paragraph that is too long is divided behind words, or where it has none", () => {
  const { view, model } = bench(new MemoryModel([block("b0", "x")]));
  const words = "seven blue boats ".repeat(1_000);
  view.dispatch(view.state.tr.insertText(words, 1));
  const texts = model.value.blocks.map(({ content }) => plainText(content ?? []));
  expect(texts.join("")).toBe(`${words}x`);
  expect(texts[0]).toMatch(/boats $|blue $|seven $/);
  view.dispatch(view.state.tr.insertText("y".repeat(BLOCK_MAX), 1));
  expect(model.value.blocks.every(({ length }) => length <= BLOCK_MAX)).toBe(true);
  expect(model.value.blocks[0]?.content).toEqual(["y".repeat(BLOCK_MAX)]);
});

test("Enter behind the signs of code makes it code, as a space does", () => {
  const on = bench(new MemoryModel([block("b0", ""), block("b1", "x")]));
  select(on.view, "b0", 0);
  type(on.view, "```python");
  key(on.view, "Enter");
  expect(on.model.value.blocks[0]?.attributes).toMatchObject({ type: "code", language: "python" });
  expect(textOf(on)).toBe("");
  expect(on.model.value.blocks.length).toBe(2);
});

test("three hyphens or asterisks make a line across", () => {
  for (const signs of ["---", "***"]) {
    const on = bench(new MemoryModel([block("b0", ""), block("b1", "x")]));
    select(on.view, "b0", 0);
    for (const sign of signs) type(on.view, sign);
    expect(on.model.value.blocks[0]?.attributes.type).toBe("divider");
    // A space behind them, as behind other signs, is no part of what follows.
    type(on.view, " ");
    expect(on.view.state.doc.child(1).textContent).toBe("x");
    type(on.view, "y");
    type(on.view, " ");
    expect(on.view.state.doc.child(1).textContent).toBe("y x");
    cleared();
  }
});
