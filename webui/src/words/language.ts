/**
 * The language of the page, and its catalogue of words: an area for each part of the page.
 *
 * English comes with the code that says it; another language is one file, loaded before the page
 * is drawn. How to add words: docs/words.md.
 */

export type Language = "en" | "de";
/** Each as it calls itself. */
export const NAMES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };
export const LANGUAGES: readonly Language[] = ["en", "de"];

/** A text, or what makes one of what it is about. */
type Word = string | ((...about: never[]) => string);
type Area = Readonly<Record<string, Word>>;
/** The words of an area in another language: the same names, about the same things. */
export type Translation<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] };

const KEY = "groupcore.language";
const loaders: Readonly<Partial<Record<Language, () => Promise<{ all: Record<string, Area> }>>>> = {
  de: () => import("./de"),
};

let tag = "en";
let translated: Readonly<Record<string, Area>> = {};
const areas: { readonly name: string; readonly english: Area; readonly words: Area }[] = [];

/** The language in which the page speaks. */
export function language(): Language {
  return languageOf(tag) ?? "en";
}

/** The same as a tag for `Intl`, with the person's country where the browser tells it. */
export function locale(): string {
  return tag;
}

/** The words of an area: in English, and in the language of the page once that is loaded. */
export function area<T extends Area>(name: string, english: T): T {
  const words = { ...english, ...translated[name] };
  areas.push({ name, english, words });
  return words;
}

function languageOf(wanted: string): Language | undefined {
  const short = wanted.toLowerCase().split("-")[0];
  return LANGUAGES.find((one) => one === short);
}

/** The tag to speak by: what was chosen here, else the first that the browser prefers and we know. */
export function choose(chosen: string | null, preferred: readonly string[]): string {
  const known = preferred.filter((one) => languageOf(one) !== undefined);
  const own = chosen === null ? undefined : languageOf(chosen);
  if (own === undefined) return known[0] ?? "en";
  return known.find((one) => languageOf(one) === own) ?? own;
}

/** Loads the words of the page's language; English when they cannot be loaded. */
export async function loadLanguage(wanted = choose(chosen(), navigator.languages)): Promise<void> {
  tag = wanted;
  try {
    translated = (await loaders[language()]?.())?.all ?? {};
  } catch {
    tag = "en";
  }
  for (const { name, english, words } of areas) Object.assign(words, english, translated[name]);
  document.documentElement.lang = language();
}

/** Keeps the choice in this browser, and shows the page anew in that language. */
export function speak(wanted: Language): void {
  try {
    localStorage.setItem(KEY, wanted);
  } catch {
    // A browser that keeps nothing speaks as it prefers.
    return;
  }
  location.reload();
}

function chosen(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
