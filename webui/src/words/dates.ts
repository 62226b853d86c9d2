/** Days and times as the language of the page has them. */

import { kept } from "./formats";

const days = kept((tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium" }));
const minutes = kept(
  (tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "short" }),
);
const times = kept((tag) => new Intl.DateTimeFormat(tag, { timeStyle: "short" }));
const spans = kept((tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto" }));

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

/** A time of the last day, with the day where that is longer ago. */
export function timeOf(time_ms: number, now_ms: number): string {
  const isToday = new Date(time_ms).toDateString() === new Date(now_ms).toDateString();
  return (isToday ? times() : minutes()).format(time_ms);
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
