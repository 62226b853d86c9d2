/** What blocks do to the numbers of lists (editor.css), for those that are not laid out. */

const DEPTHS = 9;

/** Of each depth: it counts so many more, or from so many on. */
interface Count {
  readonly isSet: boolean;
  readonly value: number;
}

export type Counts = readonly Count[];

const SAME: Count = { isSet: false, value: 0 };
const NONE: Count = { isSet: true, value: 0 };
export const NOT_COUNTED: Counts = Array.from({ length: DEPTHS }, () => SAME);

/** What these elements of blocks do, one after the other. */
export function countsOf(blocks: readonly Element[]): Counts {
  const counts = [...NOT_COUNTED];
  for (const block of blocks) {
    const type = block.getAttribute("data-type");
    const depth = Number(block.getAttribute("data-depth"));
    if (type === "numbered") {
      const { isSet, value } = counts[depth] ?? SAME;
      counts[depth] = { isSet, value: value + 1 };
      counts.fill(NONE, depth + 1);
    } else if (depth === 0 || (type !== "bullet" && type !== "todo")) {
      counts.fill(NONE);
    }
  }
  return counts;
}

/** What the one does and then the other. */
export function both(first: Counts, then: Counts): Counts {
  return then.map((count, depth) => {
    const before = first[depth] ?? SAME;
    return count.isSet ? count : { ...before, value: before.value + count.value };
  });
}

/** The same as values of `counter-increment` and `counter-set`. */
export function asStyle(counts: Counts): readonly [increment: string, set: string] {
  const named = (isSet: boolean): string => {
    const all = counts.map((count, depth) => ({ ...count, depth }));
    const some = all.filter((count) => count.isSet === isSet && (isSet || count.value > 0));
    return some.map(({ value, depth }) => `n${depth} ${value}`).join(" ") || "none";
  };
  return [named(false), named(true)];
}
