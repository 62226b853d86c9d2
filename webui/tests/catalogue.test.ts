import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { all as german } from "../src/words/de";

type Said = string | ((...about: unknown[]) => string);
type Area = Readonly<Record<string, Said>>;

const SRC = join(import.meta.dirname, "../src");
const files = import.meta.glob<Record<string, Area>>("../src/words/en/*.ts", { eager: true });
const english = new Map(
  Object.entries(files).map(([file, exported]) => {
    const [name = "", words = {}] = Object.entries(exported)[0] ?? [];
    return [file.replace(/^.*\/|\.ts$/g, ""), { name, words }];
  }),
);

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
  expect(Object.keys(german).sort()).toEqual([...english.keys()].sort());
  for (const [area, { words }] of english) {
    expect(Object.keys(german[area] ?? {}).sort(), area).toEqual(Object.keys(words).sort());
  }
});

test("a word says all that it is about, in both languages", () => {
  for (const [area, { words }] of english) {
    for (const [key, word] of Object.entries(words)) {
      const other = german[area]?.[key] as Said;
      const about = typeof word === "string" ? 0 : word.length;
      const numbers = Array.from({ length: about }, (_, place) => `${7001 + place}`);
      expect([...new Set(numbersIn(word))], `${area}.${key} in English`).toEqual(numbers);
      expect([...new Set(numbersIn(other))], `${area}.${key} in German`).toEqual(numbers);
    }
  }
});

test("no word is empty, or ends in a space", () => {
  for (const [area, { words }] of english) {
    for (const [key, word] of [...Object.entries(words), ...Object.entries(german[area] ?? {})]) {
      expect(saidOf(word as Said), `${area}.${key}`).toMatch(/^\S.*\S$|^\S$/su);
    }
  }
});

test("every word is said somewhere, and none is said that is not there", () => {
  const text = sources()
    .map((file) => readFileSync(join(SRC, file), "utf-8"))
    .join("\n");
  for (const { name, words } of english.values()) {
    const said = new Set(
      [...text.matchAll(RegExp(`\\b${name}\\.(\\w+)`, "g"))].map(([, key]) => key),
    );
    // An area whose words are looked up by a code says all of them.
    if (text.includes(`${name}[`)) continue;
    expect([...said].sort(), name).toEqual(Object.keys(words).sort());
  }
});
