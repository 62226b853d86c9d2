/**
 * The blocks with the caret's ends are drawn at once, not when the browser finds them in sight.
 *
 * Blocks out of sight are left out of the layout (`content-visibility`), new ones for a frame.
 * Chromium does not move the caret behind what is typed there: text would come out reversed on
 * a page that is slower than its typist.
 */

import { type EditorState, Plugin } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";

export function drawnPlugin(): Plugin {
  return new Plugin({ props: { decorations: drawn } });
}

function drawn({ doc, selection }: EditorState): DecorationSet {
  const places = [selection.$anchor, selection.$head].filter(({ depth }) => depth > 0);
  const blocks = new Set(places.map((place) => place.before(1)));
  return DecorationSet.create(
    doc,
    [...blocks].map((from) =>
      Decoration.node(from, from + (doc.nodeAt(from)?.nodeSize ?? 0), { class: "drawn" }),
    ),
  );
}
