/**
 * The language of the page, and its catalogue of words: an area for each part of the page.
 *
 * Words are loaded in one language, with the part of the page that says them. How to add words:
 * docs/words.md.
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
/**
 * Which of them come in one file: vite.config.ts. Each is named in what all pages load: the room,
 * the chat and cards name their own.
 */
export const files = import.meta.glob<Area>(["./*/*.ts", "!./*/{cards,room,settings,talk}.ts"], {
  import: "default",
});

let tag = "en";
/** The areas whose code is here. */
const areas = new Map<string, Area>();
/** By area: its words, under way or here. */
const asked = new Map<string, Promise<Area>>();

/** The language in which the page speaks. */
export function language(): Language {
  return languageOf(tag) ?? "en";
}

/** The same as a tag for `Intl`, with the person's country where the browser tells it. */
export function locale(): string {
  return tag;
}

/** The words of an area, to be said once `withWords` has given the part of the page they are in. */
export function area<T extends Area>(name: string): Readonly<T> {
  const words = areas.get(name) ?? {};
  areas.set(name, words);
  return words as T;
}

/**
 * A part of the page, with all words that it says: in the page's language, or in English where
 * those cannot be loaded. `first`: an area whose words are asked for together with the code.
 *
 * Throws what the part throws, or that its words are in no language to be had.
 */
export async function withWords<T>(part: Promise<T>, first?: string): Promise<T> {
  // What comes of it is looked at below.
  if (first !== undefined) ask(first).catch(() => undefined);
  const found = await part;
  await loadWords();
  return found;
}

async function loadWords(): Promise<void> {
  const load = async ([name, words]: [string, Area]): Promise<void> => {
    Object.assign(words, await ask(name));
  };
  await Promise.all([...areas].map(load));
}

function ask(name: string): Promise<Area> {
  const found = asked.get(name) ?? fetched(language(), name);
  asked.set(name, found);
  // What failed is asked for again the next time.
  found.catch(() => asked.delete(name));
  return found;
}

async function fetched(wanted: Language, name: string): Promise<Area> {
  const load = files[`./${wanted}/${name}.ts`];
  if (load === undefined) throw new Error(`there are no words for ${name}`);
  return wanted === "en" ? load() : load().catch(() => fetched("en", name));
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

/** Has the page speak a language: with the words of all areas whose code is here by now. */
export async function loadLanguage(wanted = choose(chosen(), navigator.languages)): Promise<void> {
  tag = wanted;
  asked.clear();
  await loadWords();
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
