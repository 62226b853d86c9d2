import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  applyRich,
  canonicalRich,
  plainText,
  type Rich,
  type RichDelta,
  richLength,
  transformRich,
} from "../../src/shared/rich";
import {
  COLUMNS_MAX,
  firstKeys,
  type Grid,
  gridOf,
  keyBetween,
  ROWS_MAX,
  rowId,
  tableOf,
} from "../../src/shared/table";
import { diffTable, placeInTable, placeInText, sameTable } from "../../src/shared/table-diff";
import { chanceOf } from "../document/fuzz";

type Words = readonly (readonly string[])[];

const rich = (text: string): Rich => (text === "" ? [] : [text]);

function table(...words: Words): Rich {
  const columns = firstKeys(words[0]?.length ?? 0);
  return tableOf({
    columns,
    rows: words.map((row, at) => ({ id: `r${at}`, cells: row.map(rich) })),
  });
}

const wordsOf = (content: Rich): string[][] =>
  gridOf(content).rows.map(({ cells }) => cells.map(plainText));

const marker = (id: string): [string, { embed: string }] => ["\ufffc", { embed: id }];

const random = fc.array(
  fc.oneof(
    fc.constantFrom("a", "b", "😀", "x\ny"),
    fc.constantFrom("cell-1", "cell-2", "cell-3", "row-a", "row-b").map(marker),
    fc.constant<[string, { bold: true }]>(["c", { bold: true }]),
  ),
  { maxLength: 14 },
);
const texts = random.map((items) => canonicalRich(items) as Rich);

/** What a person does to a table, by what the page would do. */
interface Act {
  readonly kind: number;
  readonly row: number;
  readonly column: number;
  readonly at: number;
  readonly seed: number;
}
const acts = fc.record({
  kind: fc.nat(99),
  row: fc.nat(9),
  column: fc.nat(9),
  at: fc.nat(9),
  seed: fc.nat(),
});

function done(content: Rich, act: Act, letter: string): RichDelta {
  const { columns, rows } = gridOf(content);
  const draw = chanceOf(act.seed);
  const row = act.row % rows.length;
  const column = act.column % columns.length;
  let next: Grid = { columns, rows };
  if (act.kind < 50) {
    next = {
      columns,
      rows: rows.map(({ id, cells }, place) => ({
        id,
        cells: cells.map((cell, one) => {
          if (place !== row || one !== column) return cell;
          const at = act.at % (richLength(cell) + 1);
          return applyRich(canonicalRich([at, letter]), cell);
        }),
      })),
    };
  } else if (act.kind < 62) {
    const fresh = { id: rowId(draw), cells: columns.map(() => []) };
    next = { columns, rows: [...rows.slice(0, row), fresh, ...rows.slice(row)] };
  } else if (act.kind < 74) {
    const key = keyBetween(columns[column - 1] ?? null, columns[column] ?? null, draw);
    const put = <T>(some: readonly T[], one: T): T[] => [
      ...some.slice(0, column),
      one,
      ...some.slice(column),
    ];
    next = {
      columns: put(columns, key),
      rows: rows.map(({ id, cells }) => ({ id, cells: put(cells, []) })),
    };
  } else if (act.kind < 86 && rows.length > 1) {
    next = { columns, rows: rows.filter((_, place) => place !== row) };
  } else if (columns.length > 1) {
    const rest = <T>(some: readonly T[]): T[] => some.filter((_, place) => place !== column);
    next = {
      columns: rest(columns),
      rows: rows.map(({ id, cells }) => ({ id, cells: rest(cells) })),
    };
  }
  return diffTable(content, tableOf(next));
}

interface Case {
  readonly what: string;
  readonly text: Rich;
  readonly columns: string[];
  readonly rows: { readonly id: string; readonly cells: Rich[] }[];
}

const path = new URL("../../../docs/vectors/tables.json", import.meta.url);
const { tables } = JSON.parse(readFileSync(path, "utf-8")) as { tables: Case[] };

test.each(tables)("$what", ({ text, columns, rows }) => {
  expect(gridOf(text)).toEqual({ columns, rows });
});

test("a grid written as a text reads back as that grid", () => {
  const content = table(["a", "b"], ["c", ""]);
  expect(wordsOf(content)).toEqual([
    ["a", "b"],
    ["c", ""],
  ]);
  expect(tableOf(gridOf(content))).toEqual(content);
});

test("any text is a table, and the edit to another table makes it that table", () => {
  fc.assert(
    fc.property(texts, texts, (before, target) => {
      // What is wanted is a table as the page writes it.
      const after = tableOf(gridOf(target));
      const result = applyRich(diffTable(before, after), before);
      expect(wordsOf(result)).toEqual(wordsOf(after));
      expect(sameTable(result, after)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("of rows of one name, as joined tables have them, one goes or is edited without the others", () => {
  const keys = firstKeys(1);
  const row = (id: string, text: string) => ({ id, cells: [rich(text)] });
  const [first, second] = ["one", "two"].map((text) =>
    tableOf({ columns: keys, rows: [row("a", text), row("b", `${text} b`)] }),
  );
  const joined = canonicalRich([...(first ?? []), ...(second ?? [])]) as Rich;
  const { rows } = gridOf(joined);
  expect(rows.map(({ id }) => id)).toEqual(["a", "b", "a_2", "b_2"]);
  const left = tableOf({ columns: keys, rows: rows.slice(1) });
  expect(diffTable(joined, left)).toEqual([-5]); // a cell, three letters, the end of the row
  const edited = rows.slice(1).map((one) => (one.id === "a_2" ? row("a_2", "two!") : one));
  expect(diffTable(joined, tableOf({ columns: keys, rows: edited }))).toEqual([-5, 11, "!"]);
});

test("an edit of a text that no page writes leads to the table that is wanted", () => {
  const cell = (key: string): Rich => [["\uFFFC", { embed: `cell-${key}` }]];
  const row = (id: string): Rich => [["\uFFFC", { embed: `row-${id}` }]];
  const before: Rich = [["c", { bold: true }], ...row("b"), ["c", { bold: true }], ...cell("1")];
  const target: Rich = [
    ["c", { bold: true }],
    ...row("b"),
    ...cell("1"),
    ...cell("3"),
    ...row("a"),
  ];
  const after = tableOf(gridOf(target));
  expect(wordsOf(applyRich(diffTable(before, after), before))).toEqual(wordsOf(after));
});

test("people who edit a table at once see one table, and no letter is lost or in two cells", () => {
  fc.assert(
    fc.property(
      fc.array(acts, { minLength: 1, maxLength: 6 }),
      fc.array(acts, { maxLength: 6 }),
      (ones, twos) => {
        let base = table(["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]);
        ones.forEach((one, turn) => {
          const two = twos[turn];
          const mine = done(base, one, "X");
          const theirs = two === undefined ? [] : done(base, two, "Y");
          const left = applyRich(transformRich(theirs, mine, true), applyRich(mine, base));
          const right = applyRich(transformRich(mine, theirs, false), applyRich(theirs, base));
          expect(left).toEqual(right);
          const count = (text: Rich, letter: string): number =>
            plainText(text).split(letter).length - 1;
          for (const [letter, delta] of [
            ["X", mine],
            ["Y", theirs],
          ] as const) {
            const typed = count(delta.filter((item) => typeof item === "string") as Rich, letter);
            if (typed > 0) expect(wordsOf(left).flat().join("")).toContain(letter);
          }
          base = left;
        });
      },
    ),
    { numRuns: 300 },
  );
});

test("a row and a column at the same time: the new row has an empty cell in the new column", () => {
  const base = table(["a", "b"], ["c", "d"]);
  const { columns, rows } = gridOf(base);
  const row = { id: "new", cells: [["e"], ["f"]] };
  const addRow = diffTable(
    base,
    tableOf({ columns, rows: [rows[0] as never, row, rows[1] as never] }),
  );
  const key = keyBetween(columns[0] ?? null, columns[1] ?? null, () => 0.5);
  const wider = rows.map(({ id, cells }) => ({
    id,
    cells: [cells[0] as Rich, ["x"], cells[1] as Rich],
  }));
  const addColumn = diffTable(
    base,
    tableOf({ columns: [columns[0] as string, key, columns[1] as string], rows: wider }),
  );
  for (const isFirst of [true, false]) {
    const [one, two] = isFirst ? [addRow, addColumn] : [addColumn, addRow];
    const merged = applyRich(transformRich(two, one, true), applyRich(one, base));
    expect(wordsOf(merged)[0]).toEqual(["a", "x", "b"]);
    expect(wordsOf(merged)[1]?.filter((cell) => cell !== "x" && cell !== "xx")).toContain("e");
    expect(wordsOf(merged).flat().join("").split("").sort().join("")).toBe("abcdefxx");
  }
});

test("typing at the edge of a cell stays in it, whoever adds a column or a row there", () => {
  const base = table(["a", "b"], ["c", "d"]);
  const grid = gridOf(base);
  const type = (row: number, column: number): RichDelta => {
    const rows = grid.rows.map(({ id, cells }, at) => ({
      id,
      cells: cells.map((cell, one) =>
        at === row && one === column ? [`${plainText(cell)}!`] : cell,
      ),
    }));
    return diffTable(base, tableOf({ ...grid, rows }));
  };
  const key = keyBetween(grid.columns[0] ?? null, grid.columns[1] ?? null, () => 0.5);
  const addColumn = diffTable(
    base,
    tableOf({
      columns: [grid.columns[0] as string, key, grid.columns[1] as string],
      rows: grid.rows.map(({ id, cells }) => ({
        id,
        cells: [cells[0] as Rich, [], cells[1] as Rich],
      })),
    }),
  );
  const addRow = diffTable(
    base,
    tableOf({
      ...grid,
      rows: [grid.rows[0] as never, { id: "new", cells: [[], []] }, grid.rows[1] as never],
    }),
  );
  for (const first of [true, false]) {
    const merge = (mine: RichDelta, other: RichDelta): string[][] =>
      wordsOf(applyRich(transformRich(mine, other, first), applyRich(other, base)));
    expect(merge(type(0, 0), addColumn)).toEqual([
      ["a!", "", "b"],
      ["c", "", "d"],
    ]);
    expect(merge(type(0, 1), addRow)).toEqual([
      ["a", "b!"],
      ["", ""],
      ["c", "d"],
    ]);
    expect(merge(type(1, 0), addRow)).toEqual([
      ["a", "b"],
      ["", ""],
      ["c!", "d"],
    ]);
  }
});

test("T5: a table of no end is shown with a bounded number of cells, and all of its text", () => {
  const many = Array.from({ length: COLUMNS_MAX + 5 }, (_, at) => [
    marker(`cell-${1000 + at}`),
    "c",
  ]);
  const wide = gridOf(canonicalRich([...many.flat(), marker("row-r")]) as Rich);
  expect(wide.columns.length).toBe(COLUMNS_MAX);
  expect(wide.rows[0]?.cells.map(plainText).join("")).toHaveLength(COLUMNS_MAX + 5);
  const long = Array.from({ length: ROWS_MAX + 5 }, (_, at) => [
    marker("cell-1"),
    "c",
    marker(`row-${at}`),
  ]);
  const tall = gridOf(canonicalRich(long.flat()) as Rich);
  expect(tall.rows.length).toBe(ROWS_MAX);
  expect(plainText(tall.rows.at(-1)?.cells[0] ?? [])).toBe("cccccc");
});

test("places in a table and in its text are the same place", () => {
  fc.assert(
    fc.property(texts, fc.nat(20), (content, place) => {
      const { row, column, offset } = placeInTable(content, place % (richLength(content) + 1));
      expect(offset).toBeLessThanOrEqual(
        richLength(gridOf(content).rows[row]?.cells[column] ?? []),
      );
      const there = placeInText(content, { row, column, offset });
      expect(placeInTable(content, there)).toEqual({ row, column, offset });
    }),
  );
});

test("a key between two stands between them, also after many, and two people get others", () => {
  const draw = chanceOf(7);
  let keys = firstKeys(3);
  for (let turn = 0; turn < 300; turn += 1) {
    const at = Math.floor(draw() * (keys.length + 1)) % 3;
    const key = keyBetween(keys[at - 1] ?? null, keys[at] ?? null, draw);
    keys = [...keys.slice(0, at), key, ...keys.slice(at)];
  }
  expect(keys).toEqual([...keys].sort());
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyBetween(null, null, () => 0.1)).not.toBe(keyBetween(null, null, () => 0.2));
});
