import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { LANGUAGES } from "../src/words/language";
import { areasOf, type BuiltFile, buildPage, loadedWith, sizeOf } from "./loaded";

/** In bytes after gzip, in each language: all that is loaded before a person does anything. */
const HOME_MAX = 60_000;
const DOCUMENT_MAX = 170_000;
const CONSOLE_MAX = 90_000;
const PLACE_MAX = 120_000;
/** Beside what the board has loaded. */
const ROOM_MAX = 230_000;

const HOME = "/src/pages/Home.svelte";
const DOCUMENT = "/src/pages/DocumentPage.svelte";
const CONSOLE = "/src/console/Console.svelte";
const PLACE = "/src/pages/PlacePage.svelte";
const ROOM = "/src/room/page/RoomFace.svelte";
/** One is shown at a time. */
const PARTS = ["Overview", "Groups", "Group", "Overlap", "Component", "Migrations", "Plans"].concat(
  ["Plan", "Nodes", "NodePage", "Sessions", "Order", "Violation", "Operations"],
);

let files: BuiltFile[];
beforeAll(async () => {
  files = await buildPage();
}, 180_000);

/** The sizes, largest first: what to look at when there is too much. */
function listOf(loaded: readonly BuiltFile[]): string {
  const rows = [...loaded].sort((one, other) => other.bytes - one.bytes);
  return rows.map(({ name, bytes }) => `${bytes} ${name}`).join("\n");
}

function expectWithin(loaded: readonly BuiltFile[], bytes: number): void {
  expect(sizeOf(loaded), listOf(loaded)).toBeLessThanOrEqual(bytes);
}

test.each(LANGUAGES)("the list of documents loads at most 60 KB, in %s", (language) => {
  expectWithin(loadedWith(files, [HOME], language), HOME_MAX);
});

test.each(LANGUAGES)("a document loads at most 170 KB, in %s", (language) => {
  expectWithin(loadedWith(files, [DOCUMENT], language), DOCUMENT_MAX);
});

test.each(LANGUAGES)(
  "a board loads at most 120 KB, and nothing of the editor, in %s",
  (language) => {
    const loaded = loadedWith(files, [PLACE], language);
    expectWithin(loaded, PLACE_MAX);
    const names = loaded.flatMap(({ modules }) => modules);
    expect(
      names.filter((name) => /prosemirror|src\/editor\/|src\/files\/(?!paths)/.test(name)),
    ).toEqual([]);
    const others = loadedWith(files, [HOME, DOCUMENT], language).flatMap(({ modules }) => modules);
    expect(others.filter((name) => /src\/board\/|perfect-freehand/.test(name))).toEqual([]);
  },
);

test.each(LANGUAGES)(
  "the room loads at most 230 KB more than the board, which has nothing of it, in %s",
  (language) => {
    const before = new Set(loadedWith(files, [PLACE], language));
    const loaded = loadedWith(files, [PLACE, ROOM], language);
    expectWithin(
      loaded.filter((file) => !before.has(file)),
      ROOM_MAX,
    );
    const pages = loadedWith(files, [HOME, DOCUMENT, PLACE], language);
    const names = pages.flatMap(({ modules }) => modules);
    expect(names.filter((name) => /src\/room\/|\/three\//.test(name))).toEqual([]);
  },
);

test.each(LANGUAGES)("each part of the console loads at most 90 KB, in %s", (language) => {
  for (const part of PARTS) {
    const loaded = loadedWith(files, [CONSOLE, `/src/console/${part}.svelte`], language);
    expectWithin(loaded, CONSOLE_MAX);
  }
});

test.each(LANGUAGES)("only the words in use are loaded, once their page is, in %s", (language) => {
  const modules = loadedWith(files, [DOCUMENT], language).flatMap((file) => file.modules);
  const words = modules.filter((name) => /\/words\/\w+\/\w+\.ts$/.test(name));
  expect(words.length).toBeGreaterThan(5);
  const others = words.filter((name) => !name.includes(`/words/${language}/`));
  expect(others).toEqual([]);
  expect(words.filter((name) => /account|home|inspector/.test(name))).toEqual([]);
});

test("a part of the page comes with its words, whoever loads it", () => {
  const src = join(import.meta.dirname, "../src");
  const names = readdirSync(src, { recursive: true, encoding: "utf-8" });
  const sources = names.filter((name) => /\.(ts|svelte)$/.test(name));
  const loaders = sources.flatMap((name) => {
    const source = readFileSync(join(src, name), "utf-8");
    const parts = [...source.matchAll(/(?:(\w+) = \(\) => )?(\w+\()?import\("([^"]+\.svelte)"\)/g)];
    return parts.map(([, loader, call, part]) => {
      const isByLazy = loader !== undefined && source.includes(`load={${loader}}`);
      return { part, isWhole: call === "withWords(" || isByLazy };
    });
  });
  expect(loaders.length).toBeGreaterThan(10);
  expect(loaders.filter(({ isWhole }) => !isWhole)).toEqual([]);
  // What has no component to wait says the words of the page that it is in.
  const here = new Set(areasOf(loadedWith(files, [DOCUMENT], "en")));
  const late = [
    "editor/table-tools.ts",
    "editor/html.ts",
    "editor/languages.ts",
    "undo/history.ts",
  ];
  const said = areasOf(loadedWith(files, [DOCUMENT, ...late], "en"));
  expect(said.filter((area) => !here.has(area))).toEqual([]);
});

test("what is over its budget is told with the files that make it so", () => {
  const loaded = loadedWith(files, [DOCUMENT], "en");
  expect(() => expectWithin(loaded, sizeOf(loaded) - 1)).toThrow(/\d+ assets\/DocumentPage-/);
  // A module that is in no file is no page of nothing.
  expect(() => loadedWith(files, ["/src/pages/Nothing.svelte"], "en")).toThrow("Nothing.svelte");
});

test("what few documents need comes later: tables' tools, languages, sharing, undo, sending pictures", () => {
  const names = loadedWith(files, [DOCUMENT], "en").flatMap(({ modules }) => modules);
  const late =
    /prosemirror-tables|table-tools|editor\/html|highlight\.js|ShareDialog|Inspector|Home\.svelte|src\/undo\/|pictures\/uploads/;
  expect(names.filter((name) => late.test(name))).toEqual([]);
  expect(names.some((name) => name.endsWith(DOCUMENT))).toBe(true);
});
