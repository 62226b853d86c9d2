/** Which blocks are in sight: told at most once a frame, and only when it has changed. */

/** From so many blocks on, those far from the sight are left out of every look at the page. */
export const LONG_BLOCKS = 200;
/** So many blocks above and below the sight are near; they are marked in steps. */
const NEAR = 100;
const STEP = 50;
/** A browser asks of each block that it may leave out whether it is in sight, for each picture. */
const FAR = "far";

export class Viewport {
  private near: ReadonlySet<Element> | null = null;
  private marked = "";
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
    const first = firstBelow(blocks, 0, 0, "bottom");
    const last = Math.max(first, firstBelow(blocks, height, first, "top") - 1);
    this.mark(blocks, first, last);
    const shown = `${Math.min(first, blocks.length - 1)} ${last} ${blocks.length}`;
    if (shown === this.told) return;
    this.told = shown;
    this.look(Math.min(first, blocks.length - 1), Math.min(last, blocks.length - 1));
  }

  /** Marks the blocks that are far from the sight; what is new anywhere is not. */
  private mark(blocks: HTMLCollection, first: number, last: number): void {
    if (blocks.length <= LONG_BLOCKS && this.near === null) return;
    const from = Math.max(0, Math.floor((first - NEAR) / STEP) * STEP);
    const to = Math.min(blocks.length, Math.ceil((last + NEAR) / STEP) * STEP);
    const marked = `${from} ${to} ${blocks.length}`;
    if (marked === this.marked) return;
    this.marked = marked;
    const near = new Set([...blocks].slice(from, to));
    for (const block of near) block.classList.remove(FAR);
    for (const block of this.near ?? blocks) if (!near.has(block)) block.classList.add(FAR);
    this.near = near;
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

/** The block comes into sight: it is drawn from now on. */
export function isComing(block: Element): void {
  block.classList.remove(FAR);
}

/** The first block from `from` on whose edge is below this height; binary search. */
export function firstBelow(
  blocks: HTMLCollection,
  height: number,
  from: number,
  edge: "top" | "bottom",
): number {
  let low = from;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const place = blocks[middle]?.getBoundingClientRect()[edge] ?? 0;
    if (place <= height) low = middle + 1;
    else high = middle;
  }
  return low;
}
