/** Numbers, counts and orders as the language of the page has them. */

import { locale } from "./language";

/** Made once they are wanted: then the language is known. */
export function kept<T>(make: (locale: string) => T): () => T {
  let made: { readonly of: string; readonly what: T } | null = null;
  return () => {
    if (made?.of !== locale()) made = { of: locale(), what: make(locale()) };
    return made.what;
  };
}

const numbers = kept((tag) => new Intl.NumberFormat(tag));
const percents = kept(
  (tag) => new Intl.NumberFormat(tag, { style: "percent", maximumFractionDigits: 2 }),
);
const plurals = kept((tag) => new Intl.PluralRules(tag));
const lists = kept((tag) => new Intl.ListFormat(tag));
const titles = kept((tag) => new Intl.Collator(tag, { numeric: true }));

export function number(value: number): string {
  return numbers().format(value);
}

/** A share as percent, rounded down: 100 % means all of it. */
export function share(part: number): string {
  return percents().format(Math.floor(part * 10_000) / 10_000);
}

/** A size in KiB as files are named by theirs. */
export function sizeOf(kib: number): string {
  return kib < 1024 ? `${number(kib)} KB` : `${number(kib / 1024)} MB`;
}

/** The text for this many: of one, or of another number of them. */
export function plural(count: number, one: string, other: string): string {
  return plurals().select(count) === "one" ? one : other;
}

/** "A, B and C". */
export function listed(names: readonly string[]): string {
  return lists().format(names);
}

/** The order of titles and names: 2 before 10. */
export function compare(one: string, other: string): number {
  return titles().compare(one, other);
}
