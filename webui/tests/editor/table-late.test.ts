// @vitest-environment jsdom

/** Its own file, so that the tools of tables are not loaded when the first test begins. */

import { TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { afterEach, expect, test } from "vitest";
import { findBlock } from "../../src/editor/remote";
import { cellStart } from "../../src/editor/table-nodes";
import { loadTables, tablePlugins } from "../../src/editor/tables";
import { plainText } from "../../src/shared/rich";
import { firstKeys, gridOf, tableOf } from "../../src/shared/table";
import { block, MemoryModel } from "../document-double";
import { bench, cleared, key, type } from "./bench";

afterEach(cleared);

const rows = [
  { id: "r0", cells: [["a"], ["b"]] },
  { id: "r1", cells: [["c"], ["d"]] },
];
const table = () => block("t", tableOf({ columns: firstKeys(2), rows }), "table");

function into(view: EditorView, row: number, column: number): void {
  const found = findBlock(view.state.doc, "t");
  if (found === null) throw new Error("there is no table");
  const at = found.from + cellStart(found.node, row, column);
  view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, at)));
}

const gridIn = ({ value }: MemoryModel) =>
  gridOf(value.blocks.find(({ id }) => id === "t")?.content ?? []);
const rowsOf = (model: MemoryModel): number => gridIn(model).rows.length;
const cellsOf = (model: MemoryModel): string[][] =>
  gridIn(model).rows.map(({ cells }) => cells.map(plainText));
const cell = ({ state }: EditorView): string => state.selection.$head.parent.textContent;

test("keys wait for no tools: what is typed behind a Tab is in the next cell", () => {
  const { view, model } = bench(new MemoryModel([block("b0", "x"), table()]));
  expect(tablePlugins()).toEqual([]);
  into(view, 0, 1);
  for (const letter of ["1", "2", "3", "4"]) {
    key(view, "Tab");
    type(view, letter);
  }
  key(view, "Tab", { shiftKey: true });
  type(view, "5");
  expect(cellsOf(model)).toEqual([
    ["a", "b"],
    ["1", "2"],
    ["5", "4"],
  ]);
});

test("before its tools are here a table is written in, and what is asked of them waits", async () => {
  const { view, model, editor } = bench(new MemoryModel([block("b0", "x"), table()]));
  expect(tablePlugins()).toEqual([]);
  const before = view.state.plugins.length;
  into(view, 0, 0);
  type(view, "so ");
  editor.runTable("rowBelow");
  expect(rowsOf(model)).toBe(2);
  await loadTables();
  expect(cell(view)).toBe("so a");
  expect(rowsOf(model)).toBe(3);
  expect(view.state.plugins.length).toBe(before + 1);
  // What was done before they came is taken back as ever.
  key(view, "z", { ctrlKey: true });
  key(view, "z", { ctrlKey: true });
  expect(view.state.doc.textContent).not.toContain("so a");
});

test("an editor that is opened later has the tools at once, and once", async () => {
  const { view } = bench(new MemoryModel([block("b0", "x"), table()]));
  const { length } = view.state.plugins;
  into(view, 0, 0);
  key(view, "Tab");
  expect(cell(view)).toBe("b");
  await loadTables();
  expect(view.state.plugins.length).toBe(length);
});
