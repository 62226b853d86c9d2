/**
 * Which blocks are in sight: told at most once a frame, and only when it has changed. Of a long
 * document those near the sight and the caret are drawn, and the others folded.
 */

import type { Changed } from "./changed";
import { firstBelow, foldsOf, LONG_BLOCKS } from "./folding";
import type { Folds, Measure, Range } from "./folds";

/** What comes into sight when others are drawn is drawn, too: so often in one frame. */
const ROUNDS = 3;

/** What is asked of the document. */
export interface Sight {
  /** The blocks from the one index to the other are in sight. */
  readonly look: (first: number, last: number) => void;
  /** The indices of the blocks in which what is selected begins and ends. */
  readonly selected: () => Range;
  /** How many letters the block of this index has. */
  readonly letters: (index: number) => number;
}

export class Viewport {
  private frame = 0;
  private told = "";
  /** None as long as the document is short. */
  private folds: Folds | null = null;
  private measure: Measure;
  private readonly observer: ResizeObserver | null;
  private readonly onScroll = (): void => this.later();

  /** `root` has one element a block. */
  constructor(
    private readonly root: HTMLElement,
    private readonly sight: Sight,
  ) {
    const { defaultView } = root.ownerDocument;
    const { letters } = sight;
    this.measure = { line_px: 24, lettersOnLine: 80, letters };
    // Before anything is laid out.
    this.arrange(0, 0);
    defaultView?.addEventListener("scroll", this.onScroll, { passive: true, capture: true });
    this.observer =
      typeof ResizeObserver === "undefined" ? null : new ResizeObserver(() => this.size());
    this.observer?.observe(root);
    this.later();
  }

  /** What is in sight may be others now. */
  later(): void {
    const { defaultView } = this.root.ownerDocument;
    if (this.frame !== 0 || defaultView === null) return;
    this.frame = defaultView.requestAnimationFrame(() => {
      this.frame = 0;
      this.tell();
    });
  }

  /** Other blocks are there, and their elements. */
  changed(changed: Changed): void {
    this.folds?.changed(changed);
    this.later();
  }

  /** These are drawn at once: browsers edit, and show the caret, only in what is. */
  unfold(...indices: readonly number[]): void {
    for (const index of indices) this.folds?.openAt(index);
  }

  stop(): void {
    const { defaultView } = this.root.ownerDocument;
    if (this.frame !== 0) defaultView?.cancelAnimationFrame(this.frame);
    defaultView?.removeEventListener("scroll", this.onScroll, { capture: true });
    this.observer?.disconnect();
  }

  private tell(): void {
    const { children, ownerDocument } = this.root;
    if (children.length === 0) return;
    const height = ownerDocument.defaultView?.innerHeight ?? 0;
    let [first, last] = [0, 0];
    this.folds?.anchor.hold();
    for (let round = 0; round < ROUNDS; round += 1) {
      first = this.indexAt(0);
      last = Math.max(first, this.indexAt(height));
      if (!this.arrange(first, last)) break;
      this.folds?.anchor.hold();
    }
    this.folds?.anchor.take(first, last, this.sight.selected()[1]);
    const shown = `${first} ${last} ${children.length}`;
    if (shown === this.told) return;
    this.told = shown;
    this.sight.look(first, last);
  }

  private indexAt(y: number): number {
    const { children } = this.root;
    return this.folds?.indexAt(y) ?? Math.min(firstBelow(children, y), children.length - 1);
  }

  private arrange(first: number, last: number): boolean {
    const isLong = this.root.children.length > LONG_BLOCKS;
    if (isLong) this.folds ??= foldsOf(this.root, () => this.later());
    return this.folds?.arrange(first, last, this.sight.selected(), this.measure) ?? false;
  }

  /** How high lines are and how many letters go on one, for the height of what is not drawn. */
  private size(): void {
    const size = Number.parseFloat(getComputedStyle(this.root).fontSize);
    const lettersOnLine = Math.max(
      10,
      Math.floor(this.root.clientWidth / Math.max(1, size * 0.48)),
    );
    if (lettersOnLine !== this.measure.lettersOnLine) {
      this.measure = { ...this.measure, line_px: size * 1.6, lettersOnLine };
      this.root.style.setProperty("--letters", String(lettersOnLine));
      this.folds?.forget();
    }
    // Before it is painted.
    this.folds?.anchor.hold();
    this.later();
  }
}
