import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import "../src/console/reading";
import { problemText, toldByAddress } from "../src/problem";
import { contentsWords } from "../src/words/contents";
import { agoOf, dayOf, minuteOf } from "../src/words/dates";
import { compare, listed, number } from "../src/words/formats";
import { choose, loadLanguage, withWords } from "../src/words/language";
import { moveWords } from "../src/words/move";
import { problemWords } from "../src/words/problems";

type Said = string | ((...about: unknown[]) => string);
type Area = Readonly<Record<string, Said>>;

const SRC = join(import.meta.dirname, "../src");
const catalogue = import.meta.glob<Area>(["../src/words/{en,de}/*.ts"], {
  eager: true,
  import: "default",
});
const areas = import.meta.glob<Record<string, Area>>("../src/words/*.ts", { eager: true });

function wordsIn(language: string): ReadonlyMap<string, Area> {
  const files = Object.entries(catalogue).filter(([file]) => file.includes(`/${language}/`));
  return new Map(files.map(([file, words]) => [areaOf(file), words]));
}

const areaOf = (file: string): string => file.replace(/^.*\/|\.ts$/g, "");
const english = wordsIn("en");
const german = wordsIn("de");

function sources(): string[] {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf-8" });
  return files.filter((file) => /\.(ts|svelte)$/.test(file) && !file.startsWith("words/"));
}

/** What a word says of numbers 7001, 7002, … that it is about: each as its plain digits. */
function saidOf(word: Said): string {
  if (typeof word === "string") return word;
  const about = Array.from({ length: word.length }, (_, place) => 7001 + place);
  return word(...about).replaceAll(/(\d)[.,’\s](?=\d{3})/g, "$1");
}

function numbersIn(word: Said): string[] {
  return typeof word === "string" ? [] : (saidOf(word).match(/700\d/g) ?? []).sort();
}

test("every area has the same words in both languages", () => {
  expect([...german.keys()].sort()).toEqual([...english.keys()].sort());
  for (const [area, words] of english) {
    expect(Object.keys(german.get(area) ?? {}).sort(), area).toEqual(Object.keys(words).sort());
  }
});

test("a word says all that it is about, in both languages", () => {
  for (const [area, words] of english) {
    for (const [key, word] of Object.entries(words)) {
      const other = german.get(area)?.[key] as Said;
      const about = typeof word === "string" ? 0 : word.length;
      const numbers = Array.from({ length: about }, (_, place) => `${7001 + place}`);
      expect([...new Set(numbersIn(word))], `${area}.${key} in English`).toEqual(numbers);
      expect([...new Set(numbersIn(other))], `${area}.${key} in German`).toEqual(numbers);
    }
  }
});

test("no word is empty, or ends in a space", () => {
  for (const [area, words] of english) {
    for (const [key, word] of [
      ...Object.entries(words),
      ...Object.entries(german.get(area) ?? {}),
    ]) {
      expect(saidOf(word as Said), `${area}.${key}`).toMatch(/^\S.*\S$|^\S$/su);
    }
  }
});

test("a problem is said in the language of the page, in English with the server's detail", async () => {
  expect(problemText("taken", "there is an account")).toBe("There is an account.");
  expect(problemText("nobody_knows", "")).toBe(problemWords.other);
  vi.stubGlobal("document", { documentElement: {} });
  await loadLanguage("de-AT");
  expect(problemText("taken", "there is an account")).toBe(german.get("problems")?.taken);
  expect(problemText("moving", "it moves")).toBe(german.get("faults")?.moving);
  expect(problemText("nobody_knows", "so it is")).toBe("Der Server meldet: So it is.");
  expect(problemText("awaits_nodes", "they wait for a, b", "a, b")).toContain("noch auf: a, b.");
  await loadLanguage("en");
  vi.unstubAllGlobals();
});

test("what stands in an address is never shown, only the words of a code that is known", () => {
  expect(toldByAddress("no_account")).toBe(problemWords.no_account);
  for (const code of ["", "Call 0900 12345", "said", "other", "constructor", "__proto__"])
    expect(toldByAddress(code), code).toBe(problemWords.provider);
});

test("words that cannot be loaded are English until they can; a part brings its own", async () => {
  vi.stubGlobal("document", { documentElement: {} });
  let isGone = true;
  vi.doMock("../src/words/de/move", () => {
    if (isGone) throw new Error("gone");
    return { default: german.get("move") };
  });
  await loadLanguage("de");
  expect(moveWords.handle).toBe(english.get("move")?.handle);
  expect(contentsWords.title).toBe(german.get("contents")?.title);
  isGone = false;
  await loadLanguage("de");
  expect(await withWords(Promise.resolve("the part"), "move")).toBe("the part");
  expect(moveWords.handle).toBe(german.get("move")?.handle);
  await expect(withWords(Promise.reject(new Error("not here")))).rejects.toThrow("not here");
  vi.doUnmock("../src/words/de/move");
  await loadLanguage("en");
  vi.unstubAllGlobals();
});

test("the language is the chosen one, else the first that the browser prefers and we speak", () => {
  expect(choose(null, ["fr-FR", "de-CH", "en-US"])).toBe("de-CH");
  expect(choose("en", ["de-CH", "en-US"])).toBe("en-US");
  expect(choose("en", ["de-CH"])).toBe("en");
  expect(choose("xx", ["fr"])).toBe("en");
});

test("numbers, days and orders are the language's", async () => {
  vi.stubGlobal("document", { documentElement: {} });
  const day = "2026-11-21T10:00:00Z";
  const now_ms = Date.parse("2026-11-21T12:30:00Z");
  await loadLanguage("de-DE");
  expect([number(12345), dayOf(day), agoOf(day, now_ms)]).toEqual([
    "12.345",
    "21.11.2026",
    "vor 2 Stunden",
  ]);
  expect(["Zebra", "Äpfel", "Brief 10", "Brief 2"].sort(compare)).toEqual([
    "Äpfel",
    "Brief 2",
    "Brief 10",
    "Zebra",
  ]);
  expect(listed(["Ann", "Bob", "Eve"])).toBe("Ann, Bob und Eve");
  await loadLanguage("en-GB");
  expect([number(12345), dayOf(day), agoOf(day, now_ms)]).toEqual([
    "12,345",
    "21 Nov 2026",
    "2 hours ago",
  ]);
  expect([agoOf(day, now_ms + 24 * 3_600_000), agoOf("2026-01-01T00:00:00Z", now_ms)]).toEqual([
    "yesterday",
    "1 Jan 2026",
  ]);
  expect([dayOf("never"), minuteOf("never")]).toEqual(["", ""]);
  vi.unstubAllGlobals();
});

test("every word is said somewhere, and none is said that is not there", () => {
  const text = sources()
    .map((file) => readFileSync(join(SRC, file), "utf-8"))
    .join("\n");
  for (const [area, words] of english) {
    const [name = ""] = Object.keys(areas[`../src/words/${area}.ts`] ?? {});
    const said = new Set(
      [...text.matchAll(RegExp(`\\b${name}\\.(\\w+)`, "g"))].map(([, key]) => key),
    );
    // An area whose words are looked up by a code says all of them.
    if (text.includes(`${name}[`) || text.includes(`alsoKnown(${name})`)) continue;
    expect([...said].sort(), name).toEqual(Object.keys(words).sort());
  }
});
