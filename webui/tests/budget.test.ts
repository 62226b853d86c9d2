import { beforeAll, expect, test } from "vitest";
import { type BuiltFile, buildPage, loadedWith, sizeOf } from "./loaded";

/** In bytes after gzip, in English: all that is loaded before a person does anything. */
const HOME_MAX = 60_000;
const DOCUMENT_MAX = 170_000;

const HOME = "/src/pages/Home.svelte";
const DOCUMENT = "/src/pages/DocumentPage.svelte";

let files: BuiltFile[];
beforeAll(async () => {
  files = await buildPage();
}, 60_000);

/** The sizes, largest first: what to look at when there is too much. */
function listOf(loaded: readonly BuiltFile[]): string {
  const rows = [...loaded].sort((one, other) => other.bytes - one.bytes);
  return rows.map(({ name, bytes }) => `${bytes} ${name}`).join("\n");
}

function expectWithin(loaded: readonly BuiltFile[], bytes: number): void {
  expect(sizeOf(loaded), listOf(loaded)).toBeLessThanOrEqual(bytes);
}

test("the list of documents loads at most 60 KB", () => {
  expectWithin(loadedWith(files, [HOME]), HOME_MAX);
});

test("a document loads at most 170 KB", () => {
  expectWithin(loadedWith(files, [DOCUMENT]), DOCUMENT_MAX);
});

test("what is over its budget is told with the files that make it so", () => {
  const loaded = loadedWith(files, [DOCUMENT]);
  expect(() => expectWithin(loaded, sizeOf(loaded) - 1)).toThrow(/\d+ assets\/DocumentPage-/);
  // A module that is in no file is no page of nothing.
  expect(() => loadedWith(files, ["/src/pages/Nothing.svelte"])).toThrow("Nothing.svelte");
});

test("what few documents need comes later: tables' tools, languages, sharing, undo", () => {
  const names = loadedWith(files, [DOCUMENT]).flatMap(({ modules }) => modules);
  const late =
    /prosemirror-tables|table-tools|editor\/html|highlight\.js|ShareDialog|Inspector|Home\.svelte|src\/undo\//;
  expect(names.filter((name) => late.test(name))).toEqual([]);
  expect(names.some((name) => name.endsWith(DOCUMENT))).toBe(true);
});
