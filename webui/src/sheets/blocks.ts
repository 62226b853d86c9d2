/** The blocks of a document as cards draw them. */

import type { CardBlock } from "../board/model/card";
import type { ShownBlock } from "../document/types";
import type { Rich } from "../shared/rich";

/** Letters of one block: no card has room for more. */
const TEXT_MAX = 2_000;
const ROWS_MAX = 20;
const HASH = /^[0-9a-f]{64}$/;
const KINDS: Readonly<Record<string, CardBlock["kind"]>> = {
  heading: "heading",
  bullet: "bullet",
  numbered: "numbered",
  todo: "todo",
  quote: "quote",
  code: "code",
  divider: "divider",
  table: "table",
  image: "picture",
};

const known = new WeakMap<ShownBlock, CardBlock>();

/** `sign`: what stands before it. Of one block it is the same value as long as it is drawn the same. */
function blockOf(document: string, block: ShownBlock, sign: string): CardBlock {
  const before = known.get(block);
  if (before?.sign === sign) return before;
  const { attributes, content } = block;
  const kind = KINDS[String(attributes.type)] ?? "text";
  const picture = String(attributes.picture ?? "");
  const isPicture = kind === "picture" && HASH.test(picture);
  const isTable = kind === "table" && content !== null;
  const text = content === null || isTable ? "" : wordsOf(content).slice(0, TEXT_MAX);
  const made: CardBlock = {
    kind,
    text: kind === "picture" ? text || String(attributes.alt ?? "").slice(0, TEXT_MAX) : text,
    level: wholeOf(attributes[kind === "heading" ? "level" : "depth"], kind === "heading" ? 1 : 0),
    sign,
    isDone: attributes.checked === true,
    rows: isTable ? rowsOf(content) : [],
    picture: isPicture ? `${document}/${picture}` : "",
    shape: shapeOf(attributes.width, attributes.height),
  };
  known.set(block, made);
  return made;
}

function wordsOf(content: Rich): string {
  return content.map((run) => (typeof run === "string" ? run : run[0])).join("");
}

/**
 * The cells of a table, row by row, as shared/table.ts reads them (T1 to T4), in words. It stands here
 * anew, as a card draws the words alone: what the editor's file gives away changes all of that.
 */
function rowsOf(content: Rich): string[][] {
  const rows: Map<string, string>[] = [new Map()];
  let key: string | null = null;
  for (const run of content) {
    const [text, embed] =
      typeof run === "string" ? [run, ""] : [run[0], String(run[1].embed ?? "")];
    const [, kind, id = ""] = /^(cell|row)-([A-Za-z0-9_-]+)$/.exec(embed) ?? [];
    if (kind === "cell") key = id;
    else if (kind === "row") {
      key = null;
      rows.push(new Map());
    }
    const row = rows.at(-1);
    const at = key ?? "";
    if (kind !== "row") row?.set(at, (row.get(at) ?? "") + (kind === "cell" ? "" : text));
  }
  if (rows.length > 1 && rows.at(-1)?.size === 0) rows.pop();
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))].sort(byCode);
  // T2: what stands before the first cell is of the first column.
  const keys = columns.filter((one) => one !== "");
  return rows.slice(0, ROWS_MAX).map((row) => {
    const first = row.get("") ?? "";
    const cells = (keys.length > 0 ? keys : [""]).map((one) =>
      one === "" ? "" : (row.get(one) ?? ""),
    );
    return cells.map((cell, at) => (at === 0 ? first + cell : cell).slice(0, TEXT_MAX));
  });
}

function byCode(one: string, other: string): number {
  return one < other ? -1 : 1;
}

function wholeOf(value: unknown, fallback: number): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : fallback;
}

function shapeOf(width: unknown, height: unknown): number {
  const shape = Number(height) / Number(width);
  return Number.isFinite(shape) && shape > 0 ? Math.min(20, shape) : 0.5;
}

/** These blocks, with the numbers of their lists: as the editor counts (editor/numbering.ts). */
export function blocksOf(document: string, blocks: readonly ShownBlock[]): CardBlock[] {
  const counts: number[] = [];
  return blocks.map((block) => {
    const { type } = block.attributes;
    const depth = wholeOf(block.attributes.depth, 0);
    if (type === "numbered") {
      counts.length = depth + 1;
      counts[depth] = (counts[depth] ?? 0) + 1;
      return blockOf(document, block, `${counts[depth]}.`);
    }
    if (depth === 0 || (type !== "bullet" && type !== "todo")) counts.length = 0;
    return blockOf(document, block, type === "bullet" ? "•" : "");
  });
}
