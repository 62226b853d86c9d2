/** What is said of the people in a document. */

import type { Where } from "./where";

const NAMED = 2;

/** Ann; Ann and Bob; Ann, Bob and 3 others. */
export function list(names: readonly string[]): string {
  const named = names.slice(0, NAMED);
  const more = names.length - named.length;
  if (more > 0) return `${named.join(", ")} and ${more === 1 ? "1 other" : `${more} others`}`;
  return named.join(" and ");
}

export function comingAndGoing(
  come: readonly string[],
  gone: readonly string[],
  others: number,
): string {
  const came = come.length > 0 ? [`${list(come)} came.`] : [];
  const left = gone.length > 0 ? [`${list(gone)} left.`] : [];
  return [...came, ...left, howMany(others)].join(" ");
}

export function howMany(others: number): string {
  if (others === 0) return "Nobody else is here.";
  return others === 1 ? "1 other is here." : `${others} others are here.`;
}

/** Where somebody is, in words. */
export function placeWords(where: Where | undefined, isIdle: boolean): string {
  const place = where === undefined ? "Place not shown" : under(where);
  return isIdle ? `${place}, away` : place;
}

function under({ heading, place, of }: Where): string {
  return heading === null ? `Block ${place} of ${of}` : `“${heading}”, block ${place} of ${of}`;
}
