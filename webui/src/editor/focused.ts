/** Loads what a person needs who has turned to the text, and commands of it. */

import type { Command, EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { during } from "./doing";

export type Focused = typeof import("../undo/history") & typeof import("./moving");

/** The event at the text when something was asked for that cannot be loaded. */
export const TOOLS_MISSING = "groupcore-tools-missing";

/** Null: it is not here yet. */
export let focused: Focused | null = null;

/** When it cannot be loaded, the next call tries again. */
export const loadFocused = once(
  async (): Promise<Focused> => {
    const [history, moving] = await Promise.all([import("../undo/history"), import("./moving")]);
    return { ...history, ...moving };
  },
  (module) => {
    focused = module;
  },
);

/** Loads something once; after a failure the next call tries again. */
export function once<T>(load: () => Promise<T>, isHere: (loaded: T) => void): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= load().then(
      (loaded) => {
        isHere(loaded);
        return loaded;
      },
      (error: unknown) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  };
}

/**
 * A command that is done at once, or as soon as its code is here, if nothing has changed meanwhile;
 * `isAnywhere`: the caret may have.
 */
export function whenHere<T>(
  here: () => T | null,
  load: () => Promise<T>,
  command: (loaded: T) => Command,
  isAnywhere?: boolean,
): Command {
  return (state, dispatch, view) => {
    const loaded = here();
    if (loaded !== null) return command(loaded)(state, dispatch, view);
    if (dispatch !== undefined && view !== undefined) {
      const done = load().then(
        (code) =>
          isAsBefore(view, state, isAnywhere) && command(code)(view.state, view.dispatch, view),
        () => view.dom.dispatchEvent(new Event(TOOLS_MISSING)), // asked for again, it is tried again
      );
      void during(view, done);
    }
    return true;
  };
}

function isAsBefore(view: EditorView, was: EditorState, isAnywhere?: boolean): boolean {
  const { doc, selection } = view.state;
  return !view.isDestroyed && doc === was.doc && (isAnywhere || selection.eq(was.selection));
}

export const whenFocused = (command: (code: Focused) => Command, isAnywhere?: boolean): Command =>
  whenHere(() => focused, loadFocused, command, isAnywhere);
