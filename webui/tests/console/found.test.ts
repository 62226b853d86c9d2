// @vitest-environment jsdom
import { expect, test } from "vitest";
import { foundText } from "../../src/console/found";
import german from "../../src/words/de/found";
import { FORMS } from "../../src/words/found-forms";
import { loadLanguage } from "../../src/words/language";

/** A sentence of a form, and what it is about: every number another one, every name another one. */
function sentenceOf(form: string): { says: string; about: string[] } {
  const places = form.match(/%[ds]/g) ?? [];
  const about = places.map((place, at) => (place === "%d" ? `${at + 1}` : `n${at + 1}`));
  const parts = form.split(/%[ds]/);
  return { says: parts.map((part, at) => part + (about[at] ?? "")).join(""), about };
}

test.each(Object.entries(FORMS))(
  "what an audit says of the kind %s has German words",
  async (kind, form) => {
    await loadLanguage("de");
    const word: unknown = german[kind as keyof typeof german];
    const { says, about } = sentenceOf(form);
    const text = foundText(says);
    expect(text).toBe(typeof word === "function" ? word(...about) : word);
    for (const one of about) expect(text).toContain(one);
    await loadLanguage("en");
  },
);

test("names with anything in them are told as they are, large numbers as people read them", async () => {
  await loadLanguage("en");
  expect(foundText("a.b (c)#1 was given this behind its LEAVE")).toContain("a.b (c)#1");
  expect(foundText("number 12345 is given behind number 7")).toBe(
    "Number 12,345 is given behind number 7.",
  );
});

test("a sentence of no kind that is known is not told anew", () => {
  expect(foundText("something else is wrong")).toBe(null);
  expect(foundText("")).toBe(null);
});
