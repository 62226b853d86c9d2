/** Where others are drawn; how, comes with the first of them. */

import { Plugin, PluginKey } from "prosemirror-state";
import { DecorationSet } from "prosemirror-view";

type Drawing = typeof import("./carets");

export const CARETS = new PluginKey<DecorationSet>("carets");

/** What is drawn goes along with the text until it is drawn elsewhere. */
export function caretsPlugin(): Plugin<DecorationSet> {
  return new Plugin<DecorationSet>({
    key: CARETS,
    state: {
      init: () => DecorationSet.empty,
      apply: (transaction, set) =>
        transaction.getMeta(CARETS) ?? set.map(transaction.mapping, transaction.doc),
    },
    props: { decorations: (state) => CARETS.getState(state) },
  });
}

export let drawing: Drawing | null = null;

export async function loadDrawing(): Promise<void> {
  drawing ??= await import("./carets");
}
