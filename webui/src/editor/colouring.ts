/** Colours in code come with the first block of code that names its language, near the sight. */

import { Plugin } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { attributeOf, blockType, typeOf } from "./schema";

/** So many blocks above and below the sight, too. */
const MARGIN = 5;

type Highlight = typeof import("./highlight");

const sights = new WeakMap<EditorView, readonly [first: number, last: number]>();
const coloured = new WeakMap<EditorView, Highlight>();

export function colouringPlugin(): Plugin {
  return new Plugin({
    view: () => ({
      update: (view, before) => {
        if (view.state.doc !== before.doc) colourSoon(view);
      },
    }),
  });
}

/** The blocks from this one to that one are in sight. */
export function lookAtCode(view: EditorView, first: number, last: number): void {
  sights.set(view, [first, last]);
  coloured.get(view)?.lookAtCode(view, first, last);
  colourSoon(view);
}

function colourSoon(view: EditorView): void {
  if (coloured.has(view)) return;
  const [first, last] = sights.get(view) ?? [0, 0];
  const near = view.state.doc.children.slice(Math.max(0, first - MARGIN), last + MARGIN + 1);
  const isCode = near.some(
    (node) =>
      node.type === blockType && typeOf(node) === "code" && attributeOf(node, "language") !== "",
  );
  if (isCode) void import("./highlight").then((loaded) => begin(view, loaded), nothing);
}

function nothing(): void {
  return; // offline: with the next change it is tried again
}

function begin(view: EditorView, loaded: Highlight): void {
  if (view.isDestroyed || coloured.has(view)) return;
  coloured.set(view, loaded);
  const plugins = [...view.state.plugins, loaded.highlightPlugin()];
  view.updateState(view.state.reconfigure({ plugins }));
  loaded.lookAtCode(view, ...(sights.get(view) ?? [0, 0]));
}
