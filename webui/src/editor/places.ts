/** Brings places of the document into sight, also such as are not loaded yet. */

import type { EditorView } from "prosemirror-view";
import { unfold } from "./folding";
import { findBlock, toEditorPosition } from "./remote";

/** Where somebody is: the first block in their sight, and their caret. */
export interface Place {
  readonly view: string | null;
  readonly block: string | null;
  readonly head: number;
}

/** What is drawn for the first time has another height than was thought: so often it is put right. */
const FRAMES = 12;
/** Within so many pixels of where it is to be, a block is there. */
const NEAR_PX = 2;
/** What stands above and below the text. */
const ABOVE_PX = 120;
const BELOW_PX = 60;

export class Places {
  private round = 0;

  constructor(
    private readonly view: EditorView,
    private readonly load: (block: string) => Promise<void>,
  ) {}

  /** Their first block to the upper edge, and their caret into sight. */
  visit(place: Place): void {
    this.round += 1;
    const { round } = this;
    this.settle(place, round, FRAMES);
    const needed = place.block ?? place.view;
    if (needed === null) return;
    void this.load(needed).then(
      () => round === this.round && this.settle(place, round, FRAMES),
      () => undefined, // it is gone: what stands in its place is as good
    );
  }

  /** The person goes a way of their own. */
  stop(): void {
    this.round += 1;
  }

  private settle(place: Place, round: number, frames: number): void {
    if (round !== this.round || this.view.isDestroyed || frames === 0) return;
    const window = this.view.dom.ownerDocument.defaultView;
    const by = this.missing(place);
    if (window === null || by === null) return;
    if (Math.abs(by) > NEAR_PX) window.scrollBy({ top: by, behavior: "instant" });
    window.requestAnimationFrame(() => this.settle(place, round, frames - 1));
  }

  /** By how much to scroll; null: there is no such place. */
  private missing({ view, block, head }: Place): number | null {
    const first = view === null ? null : this.element(view);
    const by = first === null ? null : first.getBoundingClientRect().top;
    const caret = block === null ? null : this.caretBox(block, head);
    if (caret === null) return by;
    const height = this.view.dom.ownerDocument.defaultView?.innerHeight ?? 0;
    const top = caret.top - (by ?? 0);
    const bottom = caret.bottom - (by ?? 0);
    if (top >= ABOVE_PX && bottom <= height - BELOW_PX) return by ?? 0;
    return caret.top - height / 2;
  }

  private element(block: string): Element | null {
    const found = this.view.dom.querySelector(`[data-block-id="${CSS.escape(block)}"]`);
    if (found !== null) unfold(found);
    return found;
  }

  private caretBox(block: string, head: number): { top: number; bottom: number } | null {
    const found = findBlock(this.view.state.doc, block);
    if (found === null) return null;
    const element = this.element(block);
    if (found.node.isAtom) return element?.getBoundingClientRect() ?? null;
    return this.view.coordsAtPos(toEditorPosition(found, head));
  }
}
