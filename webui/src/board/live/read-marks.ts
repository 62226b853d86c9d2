/** Up to where the person has read the chats of places, kept in this browser. */

const KEY = "groupcore.talk";
/** Places beyond these, the ones read longest ago, are forgotten. */
const PLACES_MAX = 200;

/** The number of the last remark that was read; 0: none was. */
export function readUpTo(place: string): number {
  return marks().find(([one]) => one === place)?.[1] ?? 0;
}

export function markRead(place: string, number: number): void {
  const others = marks().filter(([one]) => one !== place);
  const kept = [...others.slice(1 - PLACES_MAX), [place, number]];
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing shows all as new the next time.
  }
}

function marks(): (readonly [place: string, number: number])[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isMark) : [];
  } catch {
    return [];
  }
}

function isMark(value: unknown): value is readonly [string, number] {
  return Array.isArray(value) && typeof value[0] === "string" && Number.isSafeInteger(value[1]);
}
