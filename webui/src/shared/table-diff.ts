/** What leads from one table to another, as one edit of its text; and places in tables. */

import {
  applyRich,
  EMBED,
  isFormat,
  isInsert,
  type Rich,
  RichBuilder,
  type RichDelta,
  type RichFormat,
  sameRich,
  span,
} from "./rich";
import { diffRich } from "./rich-diff";
import {
  type Grid,
  type GridRow,
  gridOf,
  type Layout,
  layoutOf,
  type Piece,
  piecesOf,
  putCell,
  putRow,
  type RowPlace,
  tableOf,
} from "./table";

/** What tells rows of one name apart, behind it. */
const NUMBERS = /(_\d+)+$/;

/** A place in a table: in code points of the cell's text. */
export interface TablePlace {
  readonly row: number;
  readonly column: number;
  readonly offset: number;
}

/** Whether both texts are the same table to a person. */
export function sameTable(one: Rich, other: Rich): boolean {
  return sameRich(one, other) || sameGrid(gridOf(one), gridOf(other));
}

export function sameGrid(one: Grid, other: Grid): boolean {
  if (one.columns.length !== other.columns.length || one.rows.length !== other.rows.length)
    return false;
  if (!one.columns.every((key, at) => key === other.columns[at])) return false;
  return one.rows.every(({ id, cells }, at) => {
    const row = other.rows[at];
    if (row === undefined || row.id !== id) return false;
    return cells.every((cell, column) => sameRich(cell, row.cells[column] ?? []));
  });
}

/** The place in the text of a table. */
export function placeInText(content: Rich, { row, column, offset }: TablePlace): number {
  const layout = layoutOf(content);
  const found = layout.rows[row];
  if (found === undefined) return 0;
  const pieces = piecesOf(layout, found, column);
  return pieces.length === 0 ? found.start : inPieces(pieces, offset);
}

function inPieces(pieces: readonly Piece[], offset: number): number {
  let left = offset;
  for (const { from, to } of pieces) {
    if (left <= to - from) return from + left;
    left -= to - from;
  }
  return pieces.at(-1)?.to ?? 0;
}

/** The cell that a place in the text is in, and where in it. */
export function placeInTable(content: Rich, place: number): TablePlace {
  const layout = layoutOf(content);
  let row = layout.rows.findIndex(({ end }) => place <= end);
  if (row < 0) row = layout.rows.length - 1;
  const pieces = layout.rows[row]?.pieces ?? [];
  const piece = pieces.findLast(({ from }) => from <= place) ?? pieces[0];
  if (piece === undefined) return { row, column: 0, offset: 0 };
  const column = layout.columns.findIndex((_, at) =>
    piecesOf(layout, layout.rows[row] as RowPlace, at).includes(piece),
  );
  let offset = Math.min(Math.max(0, place - piece.from), piece.to - piece.from);
  for (const one of piecesOf(layout, layout.rows[row] as RowPlace, column)) {
    if (one === piece) break;
    offset += one.to - one.from;
  }
  return { row, column, offset };
}

/** Where the caret is behind the edit, for `diffRich`: `offset` in UTF-16 units of the cell. */
export type TableCaret = TablePlace;

/** The edit that makes the one table the other, and touches nothing that is in both. */
export function diffTable(before: Rich, after: Rich, caret?: TableCaret): RichDelta {
  const layout = layoutOf(before);
  const grid = gridOf(after);
  if (sameGrid(gridOf(before), grid)) return [];
  const isNameless = grid.rows.some(({ id }) => id === "");
  if (isNameless && !hasOneRow(layout)) return diffRich(before, tableOf(grid));
  const delta = new TableDiffer(layout, gridOf(before), grid, caret).delta();
  // Text that no page writes may have places that two cells lay claim to: then all of it is edited.
  const leadsThere = sameGrid(unnumbered(gridOf(applyRich(delta, before))), unnumbered(grid));
  return leadsThere ? delta : diffRich(before, tableOf(grid));
}

/**
 * Rows of one name, as joined tables have them, are told apart by numbers, which the text has not:
 * when the first of them goes, the second one has another number, and is the same row.
 */
function unnumbered({ columns, rows }: Grid): Grid {
  const named = rows.map(({ id, cells }) => ({ id: id.replace(NUMBERS, ""), cells }));
  return { columns, rows: named };
}

/** Whether the text has no end of a row: all of it is one (T4). */
function hasOneRow({ rows }: Layout): boolean {
  return rows.length === 1 && rows[0]?.end === -1;
}

interface Operation {
  readonly at: number;
  readonly item: number | RichFormat | Rich;
}

class TableDiffer {
  private readonly operations: Operation[] = [];
  private readonly shown = new Set<string>();

  constructor(
    private readonly layout: Layout,
    private readonly old: Grid,
    private readonly grid: Grid,
    private readonly caret: TableCaret | undefined,
  ) {}

  delta(): RichDelta {
    const places = new Map(this.layout.rows.map((row, at) => [row.id, at]));
    const [first] = this.grid.rows;
    // The one row that had no end is the first one now, and gets an end.
    if (hasOneRow(this.layout) && first !== undefined) places.set(first.id, 0);
    const kept = keptRows(this.grid.rows, places);
    const stays = new Set(kept.values());
    this.layout.rows.forEach((row, at) => {
      if (!stays.has(at)) this.removeRow(row);
    });
    let behind = 0;
    this.grid.rows.forEach((row, at) => {
      const place = kept.get(row.id);
      const known = place === undefined ? undefined : this.layout.rows[place];
      if (known === undefined) this.insertRow(behind, row);
      else {
        this.row(known, place as number, at);
        behind = this.ended(known, row.id, at);
      }
    });
    this.showAll(kept);
    return this.finish();
  }

  private removeRow(row: RowPlace): void {
    this.remove(row.start, row.end + 1);
    for (const { start, to } of row.pieces) if (start > row.end) this.remove(start, to);
  }

  /** Where a row behind this one is put in; what follows its end gets into the row (T4). */
  private ended({ end, pieces }: RowPlace, id: string, at: number): number {
    const last = pieces.at(-1)?.to ?? 0;
    const isLast = at === this.grid.rows.length - 1;
    if (end >= 0 && (isLast || last <= end)) return end + 1;
    if (end < 0 && isLast && id === "") return last;
    if (end >= 0) this.remove(end, end + 1);
    const marker: Rich = [[EMBED, { embed: `row-${id === "" ? "0" : id}` }]];
    this.operations.push({ at: last, item: marker });
    return last;
  }

  private insertRow(at: number, row: GridRow): void {
    const builder = new RichBuilder();
    putRow(builder, this.grid.columns, row);
    for (const key of this.grid.columns) this.shown.add(key);
    this.operations.push({ at, item: builder.finish() as Rich });
  }

  private remove(from: number, to: number): void {
    if (to > from) this.operations.push({ at: from, item: from - to });
  }

  /** A row that is in both. */
  private row(place: RowPlace, oldRow: number, newRow: number): void {
    const { grid, layout } = this;
    const row = grid.rows[newRow] as GridRow;
    const [was = ""] = layout.columns;
    // What stands in no cell would be of another column: it gets a cell of its own.
    const isOther = was !== grid.columns[0] && grid.columns.includes(was);
    const loose = isOther ? place.pieces.filter((piece) => piece.key === null) : [];
    const free = loose.length > 0 ? place.start : freePlace(place);
    layout.columns.forEach((key, column) => {
      if (grid.columns.includes(key)) return;
      for (const { start, to } of piecesOf(layout, place, column)) this.remove(start, to);
    });
    const pieces = grid.columns.map((key) => {
      const known = layout.columns.indexOf(key);
      return known < 0 ? [] : piecesOf(layout, place, known);
    });
    const edit = (): void => {
      const { caret } = this;
      grid.columns.forEach((key, column) => {
        const isAt = caret?.row === newRow && caret.column === column;
        const cell = this.old.rows[oldRow]?.cells[layout.columns.indexOf(key)] ?? [];
        const delta = diffRich(cell, row.cells[column] ?? [], isAt ? caret.offset : undefined);
        if (pieces[column]?.length !== 0) this.edit(pieces[column] ?? [], delta);
      });
    };
    // At one place comes first what is of the cell before: new cells go behind what has none.
    if (loose.length === 0) edit();
    grid.columns.forEach((key, column) => {
      const content = row.cells[column] ?? [];
      const isNew = !layout.columns.includes(key) || content.length > 0;
      if (pieces[column]?.some((one) => one.key === key)) this.shown.add(key);
      if (pieces[column]?.length === 0 && isNew) this.insertCell(free, key, content);
    });
    if (loose.length === 0) return;
    for (const { start } of loose) this.insertCell(start, was, []);
    edit();
  }

  private insertCell(at: number, key: string, content: Rich): void {
    const builder = new RichBuilder();
    putCell(builder, key, content);
    this.shown.add(key);
    this.operations.push({ at, item: builder.finish() as Rich });
  }

  /** An edit of a cell's text, in the pieces of it. */
  private edit(pieces: readonly Piece[], delta: RichDelta): void {
    let offset = 0;
    for (const item of delta) {
      if (isInsert(item)) {
        this.operations.push({ at: inPieces(pieces, offset), item: [item] });
        continue;
      }
      if (isFormat(item) || item < 0) this.spread(pieces, offset, item);
      offset += span(item);
    }
  }

  private spread(pieces: readonly Piece[], offset: number, item: number | RichFormat): void {
    let start = 0;
    for (const { from, to } of pieces) {
      const first = Math.max(offset, start);
      const last = Math.min(offset + span(item), start + to - from);
      const count = last - first;
      const at = from + first - start;
      if (count > 0) this.operations.push({ at, item: isFormat(item) ? [count, item[1]] : -count });
      start += to - from;
    }
  }

  /** A column of which no row has a cell any more is kept by one in the first row (T1). */
  private showAll(kept: ReadonlyMap<string, number>): void {
    const first = this.grid.rows.find(({ id }) => kept.has(id));
    const place = first && this.layout.rows[kept.get(first.id) as number];
    if (place === undefined) return;
    for (const key of this.grid.columns)
      if (!this.shown.has(key)) this.insertCell(freePlace(place), key, []);
  }

  private finish(): RichDelta {
    const builder = new RichBuilder();
    let position = 0;
    const sorted = this.operations
      .map((operation, order) => ({ ...operation, order }))
      .sort((one, other) => one.at - other.at || one.order - other.order);
    for (const { at, item } of sorted) {
      if (at > position) builder.retain(at - position);
      position = Math.max(position, at);
      if (isText(item)) for (const run of item) builder.put(run);
      else {
        builder.put(item);
        position += span(item);
      }
    }
    return builder.finish();
  }
}

/** Where a new cell of the row goes: right at its start, but behind what stands before its cells. */
function freePlace({ start, pieces }: RowPlace): number {
  const [first] = pieces;
  return first?.key === null ? first.to : start;
}

function isText(item: number | RichFormat | Rich): item is Rich {
  return typeof item !== "number" && typeof item[0] !== "number";
}

/** The rows that stand in the same order in both, by id; the places they had. */
function keptRows(
  rows: readonly GridRow[],
  places: ReadonlyMap<string, number>,
): Map<string, number> {
  const kept = new Map<string, number>();
  let last = -1;
  for (const { id } of rows) {
    const place = places.get(id);
    if (place === undefined || place <= last) continue;
    kept.set(id, place);
    last = place;
  }
  return kept;
}
