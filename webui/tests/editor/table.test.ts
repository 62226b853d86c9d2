// @vitest-environment jsdom

import fc from "fast-check";
import { Fragment, Slice } from "prosemirror-model";
import { TextSelection } from "prosemirror-state";
import { CellSelection } from "prosemirror-tables";
import type { EditorView } from "prosemirror-view";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { ShownBlock } from "../../src/document/types";
import { serialiseText } from "../../src/editor/copying";
import { readBlocks } from "../../src/editor/html";
import { fitted, parseText } from "../../src/editor/paste";
import { findBlock, toEditorPosition } from "../../src/editor/remote";
import { toBlocks } from "../../src/editor/schema";
import { cellStart } from "../../src/editor/table-nodes";
import { loadTables, TABLE_ACTIONS } from "../../src/editor/tables";
import { applyRich, plainText, type Rich, richLength } from "../../src/shared/rich";
import { firstKeys, type Grid, gridOf, keyBetween, tableOf } from "../../src/shared/table";
import { diffTable, sameTable } from "../../src/shared/table-diff";
import { block, blocksOf, MemoryModel } from "../document-double";
import { type Bench, bench, cleared, key, select, type } from "./bench";

beforeAll(loadTables);
afterEach(cleared);

const rich = (text: string): Rich => (text === "" ? [] : [text]);

function tableBlock(id: string, ...words: readonly (readonly string[])[]): ShownBlock {
  const columns = firstKeys(words[0]?.length ?? 0);
  const rows = words.map((row, at) => ({ id: `r${at}`, cells: row.map(rich) }));
  return block(id, tableOf({ columns, rows }), "table");
}

const wordsOf = (content: Rich | null): string[][] =>
  gridOf(content ?? []).rows.map(({ cells }) => cells.map(plainText));

const contentOf = ({ model }: Bench, id = "t"): Rich =>
  model.value.blocks.find((one) => one.id === id)?.content ?? [];

/** Puts the caret into a cell. */
function into(view: EditorView, row: number, column: number, offset = 0): void {
  const found = findBlock(view.state.doc, "t");
  if (found === null) throw new Error("there is no table");
  const at = found.from + cellStart(found.node, row, column) + offset;
  view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, at)));
}

const small = (): MemoryModel =>
  new MemoryModel([block("b0", "x"), tableBlock("t", ["a", "b"], ["c", "d"]), block("b1", "y")]);

/** The page shows what the model has. */
function isShown({ view, model }: Bench): boolean {
  const shown = toBlocks(view.state.doc);
  return shown.every(({ content }, at) => {
    const other = model.value.blocks[at]?.content ?? null;
    return content === other || sameTable(content ?? [], other ?? []);
  });
}

test("typing in a cell is an edit of that cell alone", () => {
  const on = bench(small());
  into(on.view, 1, 0, 1);
  type(on.view, "!");
  expect(on.model.done).toEqual([["edit", "t", [7, "!"]]]);
  expect(wordsOf(contentOf(on))).toEqual([
    ["a", "b"],
    ["c!", "d"],
  ]);
});

test("Tab goes through the cells, and behind the last one begins a row", () => {
  const on = bench(small());
  into(on.view, 0, 0);
  for (let turn = 0; turn < 4; turn += 1) key(on.view, "Tab");
  type(on.view, "new");
  expect(wordsOf(contentOf(on))).toEqual([
    ["a", "b"],
    ["c", "d"],
    ["new", ""],
  ]);
  key(on.view, "Tab", { shiftKey: true });
  key(on.view, "Enter");
  type(on.view, "z");
  expect(wordsOf(contentOf(on))[1]?.[1]).toContain("z");
});

test("the tools of a table do what they say, and undo takes it back", () => {
  const results = TABLE_ACTIONS.map((action) => {
    const on = bench(small());
    into(on.view, 1, 1);
    on.editor.runTable(action);
    const words = on.model.value.blocks.map(({ id, content }) =>
      id === "t" ? wordsOf(content) : plainText(content ?? []),
    );
    key(on.view, "z", { ctrlKey: true });
    expect(wordsOf(on.model.value.blocks[1]?.content ?? null)).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    return [action, words[1]];
  });
  expect(Object.fromEntries(results)).toEqual({
    rowAbove: [
      ["a", "b"],
      ["", ""],
      ["c", "d"],
    ],
    rowBelow: [
      ["a", "b"],
      ["c", "d"],
      ["", ""],
    ],
    columnLeft: [
      ["a", "", "b"],
      ["c", "", "d"],
    ],
    columnRight: [
      ["a", "b", ""],
      ["c", "d", ""],
    ],
    deleteRow: [["a", "b"]],
    deleteColumn: [["a"], ["c"]],
    toggleHead: [
      ["a", "b"],
      ["c", "d"],
    ],
    deleteTable: "y",
  });
});

test("the first row names the columns until one says it does not", () => {
  const on = bench(small());
  expect(on.view.dom.querySelectorAll("th[scope=col]").length).toBe(2);
  into(on.view, 1, 1);
  on.editor.runTable("toggleHead");
  expect(on.model.done).toEqual([["set", "t", { header: false }]]);
  expect(on.view.dom.querySelectorAll("th").length).toBe(0);
  on.model.others([["set", "t", { header: null }]]);
  expect(on.view.dom.querySelectorAll("th").length).toBe(2);
});

test("others' rows, columns and letters come in with the caret where it was", () => {
  const on = bench(small());
  into(on.view, 1, 1, 1);
  const { columns, rows } = gridOf(contentOf(on));
  const key = keyBetween(columns[0] ?? null, columns[1] ?? null, () => 0.5);
  const wider: Grid = {
    columns: [columns[0] as string, key, columns[1] as string],
    rows: [
      { id: "new", cells: [["n"], [], []] },
      ...rows.map(({ id, cells }) => ({ id, cells: [cells[0] as Rich, ["x"], cells[1] as Rich] })),
    ],
  };
  on.model.others([["edit", "t", diffTable(contentOf(on), tableOf(wider))]]);
  type(on.view, "!");
  expect(wordsOf(contentOf(on))).toEqual([
    ["n", "", ""],
    ["a", "x", "b"],
    ["c", "x", "d!"],
  ]);
  expect(on.view.dom.querySelectorAll("th").length).toBe(3);
  expect(isShown(on)).toBe(true);
});

test("undo of a row that was taken out fits the columns that others have put in", () => {
  const on = bench(small());
  into(on.view, 1, 0);
  on.editor.runTable("deleteRow");
  const { columns, rows } = gridOf(contentOf(on));
  const key_ = keyBetween(columns[0] ?? null, columns[1] ?? null, () => 0.5);
  const wider = {
    columns: [columns[0] as string, key_, columns[1] as string],
    rows: rows.map(({ id, cells }) => ({ id, cells: [cells[0] as Rich, ["x"], cells[1] as Rich] })),
  };
  on.model.others([["edit", "t", diffTable(contentOf(on), tableOf(wider))]]);
  key(on.view, "z", { ctrlKey: true });
  expect(wordsOf(contentOf(on))).toEqual([
    ["a", "x", "b"],
    ["c", "", "d"],
  ]);
  expect(isShown(on)).toBe(true);
});

test("a person and others at once: the page shows what the model has, whatever they do", () => {
  const acts = fc.array(fc.tuple(fc.nat(11), fc.nat(9), fc.nat(9), fc.boolean()), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(acts, (turns) => {
      const on = bench(small());
      for (const [kind, row, column, isOther] of turns) {
        const found = findBlock(on.view.state.doc, "t");
        if (found === null) return;
        const before = contentOf(on);
        const grid = gridOf(before);
        const [r, c] = [row % grid.rows.length, column % grid.columns.length];
        if (!isOther) {
          into(on.view, r, c);
          const action = TABLE_ACTIONS[kind];
          if (kind === 9) key(on.view, "z", { ctrlKey: true });
          else if (action === undefined || action === "deleteTable") type(on.view, "k");
          else on.editor.runTable(action);
        } else {
          // Somebody else cuts anything out of the text, or puts anything in: all of it is a table.
          const at = (row * 7 + column) % (richLength(before) + 1);
          const rest = Math.min(kind % 4, richLength(before) - at);
          const marker: [string, { embed: string }] = [
            "\ufffc",
            { embed: kind % 2 ? "row-q" : "cell-q" },
          ];
          const head = at > 0 ? [at] : [];
          const delta = rest > 0 ? [...head, -rest] : [...head, marker];
          on.model.others([["edit", "t", delta]], kind % 3 > 0);
        }
        const shown = toBlocks(on.view.state.doc).find(({ id }) => id === "t");
        expect(wordsOf(shown?.content ?? null)).toEqual(wordsOf(contentOf(on)));
      }
      expect(isShown(on)).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test("places of carets in cells travel as places in the text", () => {
  const on = bench(small());
  on.view.dom.focus();
  into(on.view, 1, 1, 1);
  const found = findBlock(on.view.state.doc, "t");
  const caret = on.carets.at(-1);
  expect(caret?.block).toBe("t");
  expect(found && toEditorPosition(found, caret?.head ?? 0)).toBe(on.view.state.selection.head);
});

test("a caret in a cell is told anew when others have moved the cell", () => {
  const on = bench(small());
  on.view.dom.focus();
  into(on.view, 1, 1, 1);
  const before = on.carets.at(-1);
  on.model.others([["edit", "t", [["\ufffc", { embed: "cell-0" }]]]]);
  expect(on.carets.at(-1)?.head).toBe((before?.head ?? 0) + 1);
});

test("Backspace at the edges of cells and tables joins nothing with them", () => {
  const on = bench(small());
  into(on.view, 1, 1);
  key(on.view, "Backspace");
  select(on.view, "b1", 0);
  key(on.view, "Backspace");
  expect(on.model.done).toEqual([]);
  expect(on.view.state.selection.$from.depth).toBe(4);
  type(on.view, "!");
  expect(wordsOf(contentOf(on))[1]?.[1]).toBe("d!");
});

test("selected cells are copied for spreadsheets, tables among blocks as Markdown", () => {
  const on = bench(small());
  into(on.view, 0, 0);
  const found = findBlock(on.view.state.doc, "t");
  if (found === null) throw new Error("there is no table");
  const cell = (row: number, column: number): number =>
    found.from + cellStart(found.node, row, column) - 2;
  const { doc } = on.view.state;
  const cells = CellSelection.create(doc, cell(0, 0), cell(1, 1));
  expect(serialiseText(cells.content())).toBe("a\tb\nc\td");
  expect(serialiseText(doc.slice(0, doc.content.size))).toBe(
    "x\n\n| a | b |\n| --- | --- |\n| c | d |\n\ny",
  );
});

test("what is pasted into a cell is its text; rows of a spreadsheet are cells", () => {
  const on = bench(small());
  into(on.view, 1, 1, 1);
  const { state } = on.view;
  const blocks = document.createElement("div");
  blocks.innerHTML = "<h1>one</h1><p>two</p>";
  const slice = parseText("p\tq\nr\ts", state.selection.$from);
  on.view.someProp("handlePaste", (f) => f(on.view, new Event("paste") as ClipboardEvent, slice));
  expect(wordsOf(contentOf(on))).toEqual([
    ["a", "b", ""],
    ["c", "p", "q"],
    ["", "r", "s"],
  ]);
  const lines = new Slice(Fragment.fromArray(readBlocks(blocks)), 1, 1);
  expect(fitted(lines, on.view).content.textBetween(0, 7)).toBe("one\ntwo");
  // Cells that are put elsewhere are of the column where they are now.
  const whole = on.view.state.doc.slice(0, on.view.state.doc.content.size);
  expect(JSON.stringify(fitted(whole, on.view).toJSON())).not.toContain('"r1"');
});

test("tables come in from web pages and spreadsheets; tables of layout do not", () => {
  const read = (html: string): unknown[] => {
    const host = document.createElement("div");
    host.innerHTML = html;
    return readBlocks(host).map((node) =>
      node.type.name === "table"
        ? [
            node.attrs.header,
            ...node.children.map((row) => row.children.map((cell) => cell.textContent)),
          ]
        : node.textContent,
    );
  };
  expect(
    read(
      "<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p><p>2</p></td><td>3</td></tr></table>",
    ),
  ).toEqual([[null, ["a", "b"], ["1\n2", "3"]]]);
  expect(
    read(
      "<table><tr><td colspan=2>w</td></tr><tr><td rowspan=2>a</td><td>b</td></tr><tr><td>c</td></tr></table>",
    ),
  ).toEqual([[false, ["w", ""], ["a", "b"], ["", "c"]]]);
  expect(read("<table><tr><td><p>one</p><p>two</p></td></tr></table>")).toEqual(["one", "two"]);
  const row = `<tr>${"<td>long words in it</td>".repeat(10)}</tr>`;
  const many = read(`<table>${row.repeat(400)}</table>`) as unknown[][];
  expect(many.length).toBeGreaterThan(4);
  expect(many.reduce((sum, one) => sum + one.length - 1, 0)).toBe(400);
});

test("a document with tables survives the way into the editor and back unchanged", () => {
  const on = bench(small());
  expect(toBlocks(on.view.state.doc)).toEqual(on.model.value.blocks);
  select(on.view, "b0", 1);
  type(on.view, "!");
  expect(on.model.done).toEqual([["edit", "b0", [1, "!"]]]);
  expect(applyRich([], contentOf(on))).toEqual(contentOf(on));
  expect(blocksOf("x").length).toBe(1);
});
