/**
 * The tools of tables, which come when the first table is shown: most documents have none.
 *
 * Until they are here a table is shown and written in like any text; only cells are not selected,
 * and what is asked of a tool is done as soon as it can be.
 */

import type { Command, EditorState, Plugin, Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { during } from "./doing";

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

/** The event at the text when a tool was asked for that cannot be loaded. */
export const TOOLS_MISSING = "groupcore-tools-missing";

export type TableTools = typeof import("./table-tools");

let tools: TableTools | null = null;
let loading: Promise<TableTools> | null = null;

/** The tools; when they cannot be loaded, the next call tries again. */
export function loadTables(): Promise<TableTools> {
  loading ??= import("./table-tools").then(
    (loaded) => {
      tools = loaded;
      return loaded;
    },
    (error: unknown) => {
      loading = null;
      throw error;
    },
  );
  return loading;
}

/** A command of the tools: done at once, or when they are here and nothing has changed meanwhile. */
export function whenLoaded(command: (tools: TableTools) => Command): Command {
  return (state, dispatch, view) => {
    if (tools !== null) return command(tools)(state, dispatch, view);
    if (dispatch !== undefined && view !== undefined) {
      const done = loadTables().then(
        (loaded) => isAsBefore(view, state) && run(command(loaded), view),
        () => view.dom.dispatchEvent(new Event(TOOLS_MISSING)), // asked for again, it is tried again
      );
      void during(view, done);
    }
    return true;
  };
}

function isAsBefore(view: EditorView, { doc, selection }: EditorState): boolean {
  return !view.isDestroyed && view.state.doc === doc && view.state.selection.eq(selection);
}

function run(command: Command, view: EditorView): void {
  command(view.state, (transaction: Transaction) => view.dispatch(transaction), view);
}

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
