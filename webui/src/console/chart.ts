/** The arithmetic of a chart of lines over time: a scale that people can read, and paths. */

export interface Point {
  readonly at_ms: number;
  readonly value: number;
}

/** The end of a scale for values up to `most`: 1, 2 or 5 times a power of ten. */
export function niceMax(most: number, least = 1): number {
  const wanted = Math.max(most, least);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const factor = [1, 2, 5, 10].find((one) => one * power >= wanted) ?? 10;
  return factor * power;
}

/** The largest of each of `count` parts of the span, so that no peak is lost in few pixels. */
export function peaks(
  points: readonly Point[],
  from_ms: number,
  to_ms: number,
  count: number,
): (number | null)[] {
  const found: (number | null)[] = Array.from({ length: count }, () => null);
  for (const { at_ms, value } of points) {
    const place = Math.floor(((at_ms - from_ms) / (to_ms - from_ms)) * count);
    if (place < 0 || place >= count) continue;
    found[place] = Math.max(found[place] ?? 0, value);
  }
  return found;
}

/** The path of values over the whole width; where there are none for long, it is broken. */
export function pathOf(
  values: readonly (number | null)[],
  width: number,
  height: number,
  max: number,
): string {
  const parts: string[] = [];
  let missing = Number.POSITIVE_INFINITY;
  for (const [place, value] of values.entries()) {
    if (value === null) {
      missing += 1;
      continue;
    }
    const x = (((place + 0.5) / values.length) * width).toFixed(1);
    const y = (height - (Math.min(value, max) / max) * height).toFixed(1);
    parts.push(`${missing > 3 ? "M" : "L"}${x} ${y}`);
    missing = 0;
  }
  return parts.join("");
}
