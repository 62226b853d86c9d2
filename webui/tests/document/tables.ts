/** What random people do to a table: by what the page would do, which is one edit of its text. */

import { plainText, type Rich, type RichDelta } from "../../src/shared/rich";
import { firstKeys, type Grid, gridOf, keyBetween, rowId, tableOf } from "../../src/shared/table";
import { diffTable } from "../../src/shared/table-diff";

/** A table of two rows and columns, with these words in its first cell. */
export function newTable(words: string): Rich {
  const rows = ["a", "b"].map((id, at) => ({ id, cells: [at === 0 ? [words] : [], []] }));
  return tableOf({ columns: firstKeys(2), rows });
}

/** One edit of a table; `erased` is told the letters that it takes out. */
export function tableEdit(
  content: Rich,
  words: string,
  draw: () => number,
  erased: (letters: readonly string[]) => void,
): RichDelta {
  const { columns, rows } = gridOf(content);
  const row = Math.floor(draw() * rows.length);
  const column = Math.floor(draw() * columns.length);
  const chosen = draw();
  let next: Grid;
  if (chosen < 0.5) {
    const cells = (rows[row]?.cells ?? []).map((cell, at) =>
      at === column ? [...plainText(cell), words].join("") : plainText(cell),
    );
    const texts = cells.map((cell) => (cell === "" ? [] : [cell]));
    next = { columns, rows: rows.map((one, at) => (at === row ? { ...one, cells: texts } : one)) };
  } else if (chosen < 0.65) {
    const fresh = { id: rowId(draw), cells: columns.map(() => []) };
    next = { columns, rows: [...rows.slice(0, row), fresh, ...rows.slice(row)] };
  } else if (chosen < 0.8) {
    const key = keyBetween(columns[column - 1] ?? null, columns[column] ?? null, draw);
    next = {
      columns: columns.toSpliced(column, 0, key),
      rows: rows.map(({ id, cells }) => ({ id, cells: cells.toSpliced(column, 0, []) })),
    };
  } else if (chosen < 0.9 && rows.length > 1) {
    erased((rows[row]?.cells ?? []).flatMap((cell) => Array.from(plainText(cell))));
    next = { columns, rows: rows.toSpliced(row, 1) };
  } else if (columns.length > 1) {
    erased(rows.flatMap(({ cells }) => Array.from(plainText(cells[column] ?? []))));
    next = {
      columns: columns.toSpliced(column, 1),
      rows: rows.map(({ id, cells }) => ({ id, cells: cells.toSpliced(column, 1) })),
    };
  } else {
    return [];
  }
  return diffTable(content, tableOf(next));
}

/** The words of all cells. */
export function wordsIn(content: Rich): string {
  return gridOf(content)
    .rows.flatMap(({ cells }) => cells.map(plainText))
    .join("");
}
