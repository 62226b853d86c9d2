// @vitest-environment jsdom

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { spansOf } from "../../src/editor/languages";
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
