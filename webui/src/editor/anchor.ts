/**
 * What one reads, and the line one writes in, stay where they are on the screen while blocks above
 * change, are folded or drawn.
 *
 * Browsers do this themselves as long as little changes; here heights change above with nearly every
 * letter that somebody else writes, and Chromium loses its hold then, others have none. A place is
 * kept as its distance from the start of the page, so that scrolling is no change of it.
 *
 * Invariants.
 *   A1  Between two frames the block that is held moves on the screen by what was scrolled alone.
 *   A2  At the very start of the page nothing is held: what comes above is to be seen.
 */

/** Less than this nobody sees, and heights are fractions. */
const LEAST_PX = 0.5;

export class Anchor {
  private held: Element | null = null;
  private distance_px = 0;
  /** By so much less than it should have been was scrolled: browsers go by whole pixels. */
  private owed_px = 0;

  constructor(private readonly root: HTMLElement) {}

  /**
   * Those from `first` to `last` are in sight: from here on the one with the caret is held, when it
   * is one of them and is written in, else the first that is all in sight.
   */
  take(first: number, last: number, caret: number): void {
    const { children, ownerDocument } = this.root;
    const isWritten = ownerDocument.activeElement === this.root && first <= caret && caret <= last;
    const block = children[isWritten ? caret : Math.min(first + 1, last)] ?? null;
    const isHeld = block !== null && block.getClientRects().length > 0 && this.scrolled() > 0;
    this.held = isHeld ? block : null;
    if (isHeld) this.distance_px = this.distance(block);
  }

  /** Scrolls by as much as the block has moved on the page since. */
  hold(): void {
    const block = this.present();
    // One that is folded, or gone, has no place; the next one is taken when it is known what is in sight.
    if (block === null || block.getClientRects().length === 0) return;
    const moved_px = this.distance(block) - this.distance_px;
    this.distance_px += moved_px;
    this.owed_px += moved_px;
    if (Math.abs(this.owed_px) < LEAST_PX) return;
    const before = this.scrolled();
    this.root.ownerDocument.defaultView?.scrollBy({ top: this.owed_px, behavior: "instant" });
    const rest_px = this.owed_px - (this.scrolled() - before);
    // More than that is the end of the page, beyond which nothing scrolls.
    this.owed_px = Math.abs(rest_px) < 1 ? rest_px : 0;
  }

  /** The block, also where another element shows it now: one whose text has come. */
  private present(): Element | null {
    if (this.held === null || this.held.isConnected) return this.held;
    const id = this.held.getAttribute("data-block-id") ?? "";
    this.held = this.root.querySelector(`[data-block-id="${CSS.escape(id)}"]`);
    return this.held;
  }

  private scrolled(): number {
    return this.root.ownerDocument.defaultView?.scrollY ?? 0;
  }

  private distance(block: Element): number {
    return block.getBoundingClientRect().top + this.scrolled();
  }
}
