/**
 * The tools of tables, which come when the first table is shown: most documents have none.
 *
 * Until they are here a table is shown and written in like any text; only cells are not selected,
 * and what is asked of a tool is done as soon as it can be.
 */

import type { Command, Plugin } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { once, whenHere } from "./focused";

export const TABLE_ACTIONS = [
  "rowAbove",
  "rowBelow",
  "columnLeft",
  "columnRight",
  "deleteRow",
  "deleteColumn",
  "toggleHead",
  "deleteTable",
] as const;
export type TableAction = (typeof TABLE_ACTIONS)[number];

export type TableTools = typeof import("./table-tools");

let tools: TableTools | null = null;

export const loadTables = once(
  () => import("./table-tools"),
  (loaded) => {
    tools = loaded;
  },
);

/** A command of the tools: done at once, or when they are here and nothing has changed meanwhile. */
export const whenLoaded = (command: (tools: TableTools) => Command): Command =>
  whenHere(() => tools, loadTables, command);

/** What an editor that is opened now has of the tools. */
export function tablePlugins(): Plugin[] {
  return tools === null ? [] : [tools.tableEditing()];
}

/** Has cells be selected in this editor, as soon as that is loaded. */
export function readyTables(view: EditorView): void {
  const add = ({ tableEditing, tableEditingKey }: TableTools): void => {
    if (view.isDestroyed || tableEditingKey.get(view.state) !== undefined) return;
    const plugins = [...view.state.plugins, tableEditing()];
    view.updateState(view.state.reconfigure({ plugins }));
  };
  if (tools?.tableEditingKey.get(view.state) !== undefined) return;
  loadTables().then(add, () => undefined); // offline: the next table that is shown tries again
}
