/** The headings of a document: of blocks that are here, and as a node told them of the others. */

import type { Attributes, ShownBlock } from "../document/types";
import { plainText } from "../shared/rich";

export interface Heading {
  readonly id: string;
  /** 1 to 6, as deep as it is shown: the first one of all is at the margin. */
  readonly level: number;
  /** Null: not known yet. Empty: nobody has written it yet. */
  readonly text: string | null;
}

/** What a node said of a heading. */
export interface Told {
  readonly level: number;
  readonly text: string;
}

const LEVELS = 6;

const isHeading = ({ attributes }: ShownBlock): boolean => attributes.type === "heading";

/** The level that a block's attributes say; 1 where they say none. */
export function levelOf({ level }: Attributes): number {
  return typeof level === "number" ? Math.min(LEVELS, Math.max(1, Math.trunc(level))) : 1;
}

/** All headings, in their order. */
export function headingsOf(
  blocks: readonly ShownBlock[],
  told: ReadonlyMap<string, Told>,
): readonly Heading[] {
  return blocks.filter(isHeading).map(({ id, attributes, content }) => {
    if (content !== null) {
      return { id, level: levelOf(attributes), text: line(plainText(content)) };
    }
    const known = told.get(id);
    return { id, level: known?.level ?? 1, text: known === undefined ? null : line(known.text) };
  });
}

/** Whether some heading is not here. */
export function hasFar(blocks: readonly ShownBlock[]): boolean {
  return blocks.some((block) => block.content === null && isHeading(block));
}

/** The heading under which a block stands; null: it stands above them all. */
export function headingAbove(blocks: readonly ShownBlock[], block: string | null): string | null {
  let found: string | null = null;
  for (const one of blocks) {
    if (isHeading(one)) found = one.id;
    if (one.id === block) return found;
  }
  return null;
}

function line(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
