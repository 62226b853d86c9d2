/** Where others are: their carets with names, and what they have selected. */

import { type EditorState, Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import type { Person } from "../protocol/messages";
import { toEditorPosition } from "./remote";

export const CARETS = new PluginKey<DecorationSet>("carets");

/** How many colours there are (see styles/base.css). */
const COLOURS = 8;

/** The colour of a person, the same in every tab: a small hash of the session's id. */
export function colourOf(who: string): number {
  let hash = 0;
  for (const unit of who) hash = (hash * 31 + (unit.codePointAt(0) ?? 0)) >>> 0;
  return hash % COLOURS;
}

/** The plugin that draws people; given with `setMeta(CARETS, people)`, moved along otherwise. */
export function caretsPlugin(): Plugin<DecorationSet> {
  return new Plugin<DecorationSet>({
    key: CARETS,
    state: {
      init: () => DecorationSet.empty,
      apply: (transaction, shown, _before, state) => {
        const people = transaction.getMeta(CARETS) as readonly Person[] | undefined;
        if (people === undefined) return shown.map(transaction.mapping, transaction.doc);
        return DecorationSet.create(state.doc, decorations(state, people));
      },
    },
    props: { decorations: (state) => CARETS.getState(state) },
  });
}

function decorations(state: EditorState, people: readonly Person[]): Decoration[] {
  const result: Decoration[] = [];
  for (const person of people) {
    if (person.block === null) continue;
    const anchor = toEditorPosition(state.doc, person.block, person.anchor);
    const head = toEditorPosition(state.doc, person.block, person.head);
    if (anchor === null || head === null) continue;
    const colour = `person-${colourOf(person.who)}`;
    if (anchor !== head) {
      const [from, to] = [Math.min(anchor, head), Math.max(anchor, head)];
      result.push(Decoration.inline(from, to, { class: `remote-selection ${colour}` }));
    }
    const key = `${person.who} ${person.name} ${person.block} ${person.head}`;
    const draw = (): HTMLElement => drawCaret(person.name, colour);
    result.push(Decoration.widget(head, draw, { key, side: 1, ignoreSelection: true }));
  }
  return result;
}

function drawCaret(name: string, colour: string): HTMLElement {
  const caret = document.createElement("span");
  caret.className = `remote-caret ${colour}`;
  caret.dataset.testid = "remote-caret";
  // CSS shows the name: a text in the page could be taken for the document's when the browser
  // itself edits around it.
  caret.dataset.name = name;
  caret.setAttribute("aria-hidden", "true");
  return caret;
}
