/**
 * Tables: a rich text that is read as a grid of cells.
 *
 * The text of a block of type `table` holds two kinds of embeds. `cell-KEY` begins a cell of the
 * column KEY, `row-ID` ends a row. Columns stand in the order of their keys, whatever the order of
 * the cells in the text; so a new column is put in where nobody types: right at the start of each
 * row. In the same way a new row goes right behind the end of another. What people type in cells,
 * and what they do to rows and columns, are edits of the text like all others, and merge as those do.
 *
 * Any rich text is a table. The rules, which groupcore/shared/documents/tables.py has as well
 * (docs/vectors/tables.json has cases):
 *   T1  A row that has no cell of a column has an empty one there.
 *   T2  Text before the first cell of a row is of the first column.
 *   T3  Two cells of one column in a row are one cell, with one text behind the other.
 *   T4  Text behind the last end of a row belongs to the last row; without any, all is one row.
 *   T5  A table has COLUMNS_MAX columns and ROWS_MAX rows at most: what is beyond is in the last.
 */

import { EMBED, marksOf, type Rich, RichBuilder, type RichInsert, textOf } from "./rich";
import { codePointLength } from "./text";

export const COLUMNS_MAX = 40;
export const ROWS_MAX = 1_000;
/** Marks a table without any cell has one empty column of this key. */
const ONLY_KEY = "V";
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const MARKER = /^(cell|row)-([A-Za-z0-9_-]+)$/;

/** A table as it is shown; never changed in place. */
export interface Grid {
  /** The keys of the columns, in their order. */
  readonly columns: readonly string[];
  readonly rows: readonly GridRow[];
}

export interface GridRow {
  readonly id: string;
  /** One a column. */
  readonly cells: readonly Rich[];
}

/** A piece of text that belongs to one cell; places are code points of the whole text. */
export interface Piece {
  /** Of the column; null: text before the first cell of its row. */
  readonly key: string | null;
  /** Where it begins, with its marker if it has one. */
  readonly start: number;
  readonly from: number;
  to: number;
  readonly text: RichInsert[];
}

/** Where the parts of a row stand in the text. */
export interface RowPlace {
  readonly id: string;
  readonly start: number;
  /** Of its end marker; -1: the text has none. */
  readonly end: number;
  readonly pieces: readonly Piece[];
}

export interface Layout {
  readonly columns: readonly string[];
  readonly rows: readonly RowPlace[];
  /** Whether text follows the last end of a row (T4), or a row is beyond ROWS_MAX (T5). */
  readonly hasRest: boolean;
}

type Marker = readonly [kind: "cell" | "row", id: string];

/** What the embed of this run says in a table; null: it is a part of a text. */
function markerOf(run: RichInsert): Marker | null {
  const { embed } = marksOf(run);
  const found = typeof embed === "string" ? MARKER.exec(embed) : null;
  return found === null ? null : [found[1] as "cell" | "row", found[2] ?? ""];
}

/** Reads a text from left to right. */
class TableReader {
  readonly rows: RowPlace[] = [];
  hasRest = false;
  private readonly ids = new Set<string>();
  private pieces: Piece[] = [];
  private start = 0;
  private at = 0;

  read(content: Rich): void {
    for (const run of content) {
      const marker = markerOf(run);
      if (marker === null) this.text(run);
      else for (const _ of textOf(run)) this.marker(marker);
    }
    this.finish();
  }

  private text(run: RichInsert): void {
    const length = codePointLength(textOf(run));
    if (this.pieces.length === 0) this.piece(null, this.at);
    const piece = this.pieces.at(-1) as Piece;
    piece.text.push(run);
    piece.to += length;
    this.at += length;
  }

  private marker([kind, id]: Marker): void {
    const isLast = this.rows.length === ROWS_MAX;
    if (kind === "cell") this.piece(id, this.at + 1);
    else if (isLast) this.hasRest = true;
    else this.row(id);
    this.at += 1;
    if (kind === "row" && !isLast) this.start = this.at;
    // Behind an end marker that is passed over no cell is open: its text is of the first column.
    if (kind === "row" && isLast) this.piece(null, this.at);
  }

  private piece(key: string | null, from: number): void {
    this.pieces.push({ key, start: this.at, from, to: from, text: [] });
  }

  private row(id: string): void {
    let unique = id;
    for (let count = 2; this.ids.has(unique); count += 1) unique = `${id}_${count}`;
    this.ids.add(unique);
    this.rows.push({ id: unique, start: this.start, end: this.at, pieces: this.pieces });
    this.pieces = [];
  }

  private finish(): void {
    const { pieces } = this;
    const last = this.rows.at(-1);
    if (last === undefined) this.rows.push({ id: "", start: 0, end: -1, pieces });
    else if (pieces.length > 0) {
      this.hasRest = true;
      this.rows[this.rows.length - 1] = { ...last, pieces: [...last.pieces, ...pieces] };
    }
  }
}

const layouts = new WeakMap<Rich, Layout>();
const grids = new WeakMap<Rich, Grid>();

/** Where rows and cells stand in the text. */
export function layoutOf(content: Rich): Layout {
  const known = layouts.get(content);
  if (known !== undefined) return known;
  const reader = new TableReader();
  reader.read(content);
  const keys = new Set<string>();
  for (const { pieces } of reader.rows)
    for (const { key } of pieces) if (key !== null) keys.add(key);
  const columns = keys.size === 0 ? [ONLY_KEY] : [...keys].sort(byKey).slice(0, COLUMNS_MAX);
  const layout = { columns, rows: reader.rows, hasRest: reader.hasRest };
  layouts.set(content, layout);
  return layout;
}

function byKey(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Which column the piece belongs to, by its place in `columns` (T2, T5). */
export function columnOf(columns: readonly string[], { key }: Piece): number {
  if (key === null) return 0;
  const found = columns.indexOf(key);
  return found < 0 ? columns.length - 1 : found;
}

/** The pieces of one cell, in the order of the text. */
export function piecesOf(layout: Layout, row: RowPlace, column: number): Piece[] {
  return row.pieces.filter((piece) => columnOf(layout.columns, piece) === column);
}

/** The table that this text is. */
export function gridOf(content: Rich): Grid {
  const known = grids.get(content);
  if (known !== undefined) return known;
  const { columns, rows } = layoutOf(content);
  const grid = {
    columns,
    rows: rows.map(({ id, pieces }) => {
      const cells = columns.map(() => new RichBuilder());
      for (const piece of pieces) {
        for (const run of piece.text) cells[columnOf(columns, piece)]?.put(run);
      }
      return { id, cells: cells.map((cell) => cell.finish() as Rich) };
    }),
  };
  grids.set(content, grid);
  return grid;
}

/** The text that is this table. */
export function tableOf({ columns, rows }: Grid): Rich {
  const builder = new RichBuilder();
  for (const row of rows) putRow(builder, columns, row);
  return builder.finish() as Rich;
}

export function putRow(builder: RichBuilder, columns: readonly string[], row: GridRow): void {
  columns.forEach((key, column) => {
    putCell(builder, key, row.cells[column] ?? []);
  });
  if (row.id !== "") builder.insert(EMBED, { embed: `row-${row.id}` });
}

export function putCell(builder: RichBuilder, key: string, content: Rich): void {
  builder.insert(EMBED, { embed: `cell-${key}` });
  for (const run of content) builder.put(run);
}

/** The keys of the columns of a new table. */
export function firstKeys(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const place = Math.floor(((at + 1) * 62 ** 3) / (count + 1));
    return digits(BigInt(place), 3);
  });
}

/** Of so many values, two people hardly take the same at the same time. */
const ROOM = 100_000n;

/** A key for a column between two others; null: at the edge. `draw` gives numbers from 0 to 1. */
export function keyBetween(
  before: string | null,
  behind: string | null,
  draw: () => number,
): string {
  const longest = Math.max(before?.length ?? 0, behind?.length ?? 0);
  for (let length = Math.max(3, longest); ; length += 1) {
    const low = before === null ? 0n : fraction(before, length);
    const high = behind === null ? 62n ** BigInt(length) : fraction(behind, length);
    const gap = high - low;
    if (gap < ROOM && length <= longest + 3) continue;
    if (gap < 2n) throw new RangeError("there is no key between these two");
    // In the middle half, so that room is left on both sides.
    const part = BigInt(Math.floor(draw() * 1_000_000));
    return digits(low + gap / 4n + (gap * part) / 2_000_000n + 1n, length);
  }
}

function digits(value: bigint, length: number): string {
  let result = "";
  for (let rest = value; result.length < length; rest /= 62n) {
    result = (DIGITS[Number(rest % 62n)] ?? "0") + result;
  }
  return result.replace(/0+$/, "") || "0";
}

function fraction(key: string, length: number): bigint {
  let value = 0n;
  for (const sign of key.padEnd(length, "0")) {
    value = value * 62n + BigInt(Math.max(0, DIGITS.indexOf(sign)));
  }
  return value;
}

/** An id for a row: other than those of the rows that others make at the same time. */
export function rowId(draw: () => number): string {
  return digits(BigInt(Math.floor(draw() * 62 ** 6)), 6).padEnd(2, "1");
}
