/** What is said of the people in a document. */

import { listed } from "../words/formats";
import { peopleWords } from "../words/people";
import type { Where } from "./where";

const NAMED = 3;

/** Ann; Ann, Bob and Cy; Ann, Bob and 5 others. */
export function some(names: readonly string[]): string {
  if (names.length <= NAMED) return listed(names);
  const more = names.length - NAMED + 1;
  return listed([...names.slice(0, NAMED - 1), peopleWords.others(more)]);
}

export function comingAndGoing(
  come: readonly string[],
  gone: readonly string[],
  others: number,
): string {
  const came = come.length > 0 ? [peopleWords.came(some(come))] : [];
  const left = gone.length > 0 ? [peopleWords.left(some(gone))] : [];
  return [...came, ...left, peopleWords.howMany(others)].join(" ");
}

/** Where somebody is, in words. */
export function placeWords(where: Where | undefined, isIdle: boolean): string {
  const place = where === undefined ? peopleWords.noPlace : within(where);
  return isIdle ? peopleWords.away(place) : place;
}

function within({ heading, place, of }: Where): string {
  return heading === null ? peopleWords.block(place, of) : peopleWords.under(heading, place, of);
}
