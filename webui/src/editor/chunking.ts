/** To which chunk each block belongs when others have come, gone, moved, or are drawn by other elements. */

/**
 * The chunk of each of the `now` blocks. `old` are those that stood there before, each with its
 * chunk. What has stayed keeps its own, however much lies between two changes; so chunks stay in
 * order. What is new, or has come from elsewhere, has that of the one in whose place it is, else of
 * the one before it, which for the first is `first`; but where that one is folded and the one
 * behind is drawn, it is drawn with that.
 */
export function assigned<Block, Chunk>(
  old: readonly (readonly [Block, Chunk])[],
  now: readonly Block[],
  first: Chunk,
  isDrawn: (chunk: Chunk) => boolean,
): Chunk[] {
  const places = new Map(old.map(([block], place) => [block, place]));
  const known = now.flatMap((block) => places.get(block) ?? []);
  const stayed = new Set(increasing(known));
  let chunk = first;
  let next = 0;
  return now.map((block) => {
    const place = places.get(block);
    if (place !== undefined && stayed.has(place)) {
      next = place + 1;
      chunk = old[place]?.[1] ?? chunk;
      return chunk;
    }
    const behind = old[next]?.[1];
    if (behind === undefined) return chunk;
    const isInPlace = !stayed.has(next);
    if (isInPlace) next += 1;
    if (isInPlace || (isDrawn(behind) && !isDrawn(chunk))) chunk = behind;
    return chunk;
  });
}

/** The most of these numbers that grow from one to the next. */
function increasing(numbers: readonly number[]): number[] {
  // The last one of the runs of each length that ends lowest, and for each number the one before it.
  const ends: number[] = [];
  const before = new Map<number, number | undefined>();
  for (const number of numbers) {
    let low = 0;
    let high = ends.length;
    // As a rule nothing has moved.
    if (high > 0 && (ends[high - 1] as number) < number) low = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as number) < number) low = middle + 1;
      else high = middle;
    }
    before.set(number, ends[low - 1]);
    ends[low] = number;
  }
  const run: number[] = [];
  for (let at = ends.at(-1); at !== undefined; at = before.get(at)) run.push(at);
  return run.reverse();
}
