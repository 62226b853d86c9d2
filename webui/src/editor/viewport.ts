/** Which blocks are in sight: told at most once a frame, and only when it has changed. */

export class Viewport {
  private frame = 0;
  private told = "";
  private readonly observer: ResizeObserver | null;
  private readonly onScroll = (): void => this.later();

  /** `root` has one element a block. */
  constructor(
    private readonly root: HTMLElement,
    private readonly look: (first: number, last: number) => void,
  ) {
    const { defaultView } = root.ownerDocument;
    defaultView?.addEventListener("scroll", this.onScroll, { passive: true, capture: true });
    this.observer =
      typeof ResizeObserver === "undefined" ? null : new ResizeObserver(() => this.measure());
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

  stop(): void {
    const { defaultView } = this.root.ownerDocument;
    if (this.frame !== 0) defaultView?.cancelAnimationFrame(this.frame);
    defaultView?.removeEventListener("scroll", this.onScroll, { capture: true });
    this.observer?.disconnect();
  }

  private tell(): void {
    const blocks = this.root.children;
    if (blocks.length === 0) return;
    const height = this.root.ownerDocument.defaultView?.innerHeight ?? 0;
    const first = firstBelow(blocks, 0, 0);
    const last = Math.max(first, firstBelow(blocks, height, first) - 1);
    const shown = `${Math.min(first, blocks.length - 1)} ${last} ${blocks.length}`;
    if (shown === this.told) return;
    this.told = shown;
    this.look(Math.min(first, blocks.length - 1), Math.min(last, blocks.length - 1));
  }

  /** How many letters go on a line, for the height of what is not drawn. */
  private measure(): void {
    const style = getComputedStyle(this.root);
    const letter = Number.parseFloat(style.fontSize) * 0.48;
    const letters = Math.max(10, Math.floor(this.root.clientWidth / Math.max(1, letter)));
    this.root.style.setProperty("--letters", String(letters));
    this.later();
  }
}

/** The first block from `from` on whose lower edge is below this height; binary search. */
function firstBelow(blocks: HTMLCollection, height: number, from: number): number {
  let low = from;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const box = blocks[middle]?.getBoundingClientRect();
    const edge = height === 0 ? (box?.bottom ?? 0) : (box?.top ?? 0);
    if (edge <= height) low = middle + 1;
    else high = middle;
  }
  return low;
}
