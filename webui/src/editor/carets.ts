/** Where others are: their carets with names, and what they have selected. */

import { type EditorState, Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import { colourOf, type Person } from "../people";
import { toEditorPosition } from "./remote";
import { blockType } from "./schema";

export const CARETS = new PluginKey<DecorationSet>("carets");

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
  const places = new Map<string, Person[]>();
  for (const person of people) {
    if (person.block === null) continue;
    const others = places.get(person.block);
    if (others === undefined) places.set(person.block, [person]);
    else others.push(person);
  }
  const result: Decoration[] = [];
  if (places.size === 0) return result;
  state.doc.forEach((node, from) => {
    const here = places.get(String(node.attrs.id));
    if (here === undefined || node.type !== blockType) return;
    for (const person of here) result.push(...draw({ node, from }, person));
  });
  return result;
}

function draw(found: Parameters<typeof toEditorPosition>[0], person: Person): Decoration[] {
  const anchor = toEditorPosition(found, person.anchor);
  const head = toEditorPosition(found, person.head);
  const colour = `person-${colourOf(person.who)}`;
  const key = `${person.who} ${person.name} ${person.block} ${person.head}`;
  const caret = Decoration.widget(head, () => drawCaret(person.name, colour), {
    key,
    side: 1,
    ignoreSelection: true,
  });
  if (anchor === head) return [caret];
  const [from, to] = [Math.min(anchor, head), Math.max(anchor, head)];
  return [Decoration.inline(from, to, { class: `remote-selection ${colour}` }), caret];
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
