/** Where in a document people are: under which heading, and in the how-manieth part of it. */

import type { ShownBlock } from "../document/types";
import type { Person } from "../people";
import { textOf } from "../shared/rich";

export interface Where {
  /** The heading above; null: there is none, or its text is not here. */
  readonly heading: string | null;
  /** The block, counted from 1, of so many. */
  readonly place: number;
  readonly of: number;
}

const HEADING_MAX = 60;

/** Where these people are, by session; who shows no place is left out. One look at all blocks. */
export function whereAll(
  blocks: readonly ShownBlock[],
  people: readonly Person[],
): ReadonlyMap<string, Where> {
  const wanted = new Map<string, string[]>();
  for (const { who, block, view } of people) {
    const at = block ?? view;
    if (at === null) continue;
    wanted.set(at, [...(wanted.get(at) ?? []), who]);
  }
  const found = new Map<string, Where>();
  let heading: string | null = null;
  for (let index = 0; index < blocks.length && wanted.size > 0; index += 1) {
    const block = blocks[index] as ShownBlock;
    if (block.attributes.type === "heading") heading = headingOf(block);
    const here = wanted.get(block.id);
    if (here === undefined) continue;
    wanted.delete(block.id);
    for (const who of here) found.set(who, { heading, place: index + 1, of: blocks.length });
  }
  return found;
}

function headingOf({ content }: ShownBlock): string | null {
  const text = (content ?? []).map((item) => textOf(item)).join("");
  const clean = text.replace(/\s+/g, " ").trim();
  if (clean === "") return null;
  const letters = [...clean];
  return letters.length > HEADING_MAX ? `${letters.slice(0, HEADING_MAX).join("")}…` : clean;
}
