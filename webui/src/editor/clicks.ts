/** A click into a block that is not loaded yet: the caret goes where it fell, once the text is here. */

import { Plugin, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { findBlock } from "./remote";

interface Click {
  readonly id: string;
  readonly left: number;
  /** From the block's upper edge. */
  readonly down: number;
}

export function clicksPlugin(): Plugin {
  let click: Click | null = null;
  return new Plugin({
    props: {
      handleDOMEvents: {
        mousedown: (_view, event) => {
          click = clickOn(event);
          return false;
        },
        keydown: () => {
          click = null;
          return false;
        },
      },
    },
    view: () => ({
      update: (view, before) => {
        if (click === null || view.state.doc === before.doc) return;
        const found = findBlock(view.state.doc, click.id);
        if (found?.node.isAtom) return;
        const { left, down } = click;
        click = null;
        if (found !== null) queueMicrotask(() => putCaret(view, found.from, left, down));
      },
    }),
  });
}

function clickOn({ target, clientX, clientY, button }: MouseEvent): Click | null {
  const block = target instanceof Element ? target.closest<HTMLElement>("[data-away]") : null;
  const id = block?.dataset.blockId;
  if (!block || id === undefined || button !== 0) return null;
  return { id, left: clientX, down: clientY - block.getBoundingClientRect().top };
}

/** To the place of the text that is nearest to where the click fell. */
function putCaret(view: EditorView, from: number, left: number, down: number): void {
  if (view.isDestroyed) return;
  const block = view.nodeDOM(from);
  const node = view.state.doc.nodeAt(from);
  if (!(block instanceof HTMLElement) || node === null) return;
  const { top, height } = block.getBoundingClientRect();
  const place = view.posAtCoords({ left, top: top + Math.max(1, Math.min(down, height - 2)) });
  const end = from + node.nodeSize - 1;
  const at = Math.min(Math.max(place?.pos ?? end, from + 1), end);
  const selection = TextSelection.near(view.state.doc.resolve(at), -1);
  view.dispatch(view.state.tr.setSelection(selection));
}
