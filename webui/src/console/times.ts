/** Times to the second, as the language of the page has them. */

import { locale } from "../words/language";

/** Day and time of day, with seconds; of Unix time in ms. */
export function momentOf(at_ms: number): string {
  const format = new Intl.DateTimeFormat(locale(), { dateStyle: "short", timeStyle: "medium" });
  return format.format(new Date(at_ms));
}

/** Time of day to the millisecond; of Unix time in ms. */
export function instantOf(at_ms: number): string {
  const format = new Intl.DateTimeFormat(locale(), {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
  });
  return format.format(new Date(at_ms));
}
