/** Numbers, counts, days and orders as the language of the page has them. */

import { locale } from "./language";

/** Made once they are wanted: then the language is known. */
function kept<T>(make: (locale: string) => T): () => T {
  let made: { readonly of: string; readonly what: T } | null = null;
  return () => {
    if (made?.of !== locale()) made = { of: locale(), what: make(locale()) };
    return made.what;
  };
}

const numbers = kept((tag) => new Intl.NumberFormat(tag));
const plurals = kept((tag) => new Intl.PluralRules(tag));
const lists = kept((tag) => new Intl.ListFormat(tag));
const titles = kept((tag) => new Intl.Collator(tag, { numeric: true }));
const days = kept((tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium" }));
const minutes = kept(
  (tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short" }),
);
const spans = kept((tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto" }));

export function number(value: number): string {
  return numbers().format(value);
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

/** A day of the API in the person's own way; "" when it is none. */
export function dayOf(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.valueOf()) ? "" : days().format(date);
}

/** Day and minute. */
export function minuteOf(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.valueOf()) ? "" : minutes().format(date);
}

const UNITS = [
  ["minute", 60],
  ["hour", 60 * 60],
  ["day", 24 * 60 * 60],
] as const;

/** "5 minutes ago", "yesterday"; the day itself from a week on. */
export function agoOf(time: string, now_ms: number): string {
  const past_s = (now_ms - new Date(time).valueOf()) / 1_000;
  if (Number.isNaN(past_s) || past_s >= 7 * 24 * 60 * 60) return dayOf(time);
  const [unit, size_s] = UNITS.findLast(([, size_s]) => past_s >= size_s) ?? ["minute", 60];
  return spans().format(-Math.floor(Math.max(0, past_s) / size_s), unit);
}
