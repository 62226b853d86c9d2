/** What a node says of headings that are not here. */

import { ask, fields } from "../api";

/** The headings of a document, by their ids. */
export async function blockHeadings(
  id: string,
): Promise<ReadonlyMap<string, { readonly level: number; readonly text: string }>> {
  const { blocks } = await ask(`/api/v1/documents/${encodeURIComponent(id)}`);
  const list = Array.isArray(blocks) ? blocks.map(fields) : [];
  const headings = list.filter(({ type }) => type === "heading");
  return new Map(
    headings.map((block) => [
      String(block.id),
      { level: Number(block.level ?? 1), text: String(block.text ?? "") },
    ]),
  );
}
