// @vitest-environment jsdom

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadFolds, unfold } from "../../src/editor/folding";
import { boxOf } from "../../src/editor/folds";
import { type Sight, Viewport } from "../../src/editor/viewport";

const HEIGHT = 20;
const LETTERS = 10;

interface Page {
  readonly root: HTMLElement;
  readonly layout: Layout;
  readonly looks: (readonly [number, number])[];
  readonly viewport: Viewport;
  /** Scrolls so far down, and lets a frame pass. */
  readonly scroll: (top: number) => void;
  /** The indices of those that are laid out, but for what stands for others. */
  readonly drawn: () => number[];
  readonly height: () => number;
}

let open: Page | null = null;

await loadFolds();

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  open?.viewport.stop();
  open?.root.remove();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const isGap = (block: Element): boolean => block.className.includes("gap");
const isFar = (block: Element): boolean => block.className.includes("far");

function heightOf(block: HTMLElement): number {
  if (isGap(block)) return Number.parseFloat(block.style.getPropertyValue("--gap"));
  return isFar(block) ? 0 : Number(block.dataset.height ?? HEIGHT);
}

/** Lays the blocks out as long.css has it, when something has changed and it is asked where one is. */
class Layout {
  top = 0;
  private places: Map<Element, number> | null = null;

  constructor(private readonly root: HTMLElement) {}

  block(): HTMLElement {
    const block = document.createElement("p");
    block.dataset.type = "paragraph";
    block.dataset.depth = "0";
    for (const name of ["add", "remove", "toggle"] as const) {
      const act = block.classList[name].bind(block.classList) as (...words: unknown[]) => boolean;
      block.classList[name] = (...words: unknown[]) => {
        this.places = null;
        return act(...words);
      };
    }
    block.getBoundingClientRect = () => {
      if (isFar(block) && !isGap(block)) return new DOMRect();
      return new DOMRect(0, (this.laidOut().get(block) ?? 0) - this.top, 100, heightOf(block));
    };
    block.getClientRects = () =>
      (isFar(block) && !isGap(block)
        ? []
        : [block.getBoundingClientRect()]) as unknown as DOMRectList;
    return block;
  }

  put(act: () => void): void {
    act();
    this.places = null;
  }

  private laidOut(): Map<Element, number> {
    if (this.places !== null) return this.places;
    const places = new Map<Element, number>();
    let y = 0;
    for (const block of [...this.root.children] as HTMLElement[]) {
      places.set(block, y);
      y += heightOf(block);
    }
    this.places = places;
    return places;
  }
}

function page(count: number, selected: Sight["selected"] = () => [0, 0]): Page {
  const root = document.body.appendChild(document.createElement("div"));
  const layout = new Layout(root);
  root.append(...Array.from({ length: count }, () => layout.block()));
  vi.stubGlobal("scrollBy", ({ top }: ScrollToOptions) => {
    layout.top += top ?? 0;
  });
  vi.spyOn(window, "scrollY", "get").mockImplementation(() => layout.top);
  const looks: [number, number][] = [];
  const viewport = new Viewport(root, {
    look: (first, last) => looks.push([first, last]),
    selected,
    letters: () => LETTERS,
  });
  const scroll = (to: number): void => {
    layout.top = to;
    window.dispatchEvent(new Event("scroll"));
    vi.advanceTimersByTime(50);
  };
  const drawn = (): number[] =>
    [...root.children].flatMap((block, at) => (isFar(block) ? [] : [at]));
  const height = (): number =>
    ([...root.children] as HTMLElement[]).reduce((sum, block) => sum + heightOf(block), 0);
  open = { root, layout, looks, viewport, scroll, drawn, height };
  return open;
}

test("of a long document only what is near the sight is laid out, however long it is", () => {
  for (const count of [600, 1_200]) {
    const { root, scroll, drawn, looks, height, viewport } = page(count);
    scroll(0);
    expect(drawn().length).toBeLessThan(250);
    expect(root.querySelectorAll(".gap")).toHaveLength(1);
    scroll(height() / 2);
    const [first, last] = looks.at(-1) ?? [0, 0];
    expect(first).toBeGreaterThan(count * 0.4);
    expect(last - first).toBeLessThan(60);
    const near = drawn().filter((at) => at > 100);
    expect(near.length).toBeLessThan(300);
    expect(near).toEqual(expect.arrayContaining([first - 40, first, last, last + 40]));
    expect(near).toHaveLength((near.at(-1) ?? 0) - (near[0] ?? 0) + 1);
    viewport.stop();
    root.remove();
  }
});

test("what stands for others is as high as they were when they were drawn", () => {
  const { scroll, height, drawn } = page(600);
  for (let top = 0; top < height(); top += 1_500) scroll(top);
  scroll(0);
  expect(drawn()).not.toContain(550);
  expect(height()).toBe(600 * HEIGHT);
});

test("of a short document nothing is left out", () => {
  const { drawn, scroll } = page(150);
  scroll(1_000);
  expect(drawn()).toHaveLength(150);
});

test("where the caret is, and beside it, is drawn: at once when it comes there", () => {
  let caret = 0;
  const { drawn, scroll, viewport } = page(1_000, () => [caret, 10]);
  scroll(0);
  caret = 700;
  viewport.unfold(700);
  expect(drawn()).toContain(700);
  scroll(0);
  expect(drawn()).toEqual(expect.arrayContaining([5, 675, 700, 725]));
  expect(drawn()).not.toContain(500);
});

test("what is wanted is drawn, and until then is where those stand that it is folded with", () => {
  const { root, scroll, drawn } = page(1_000);
  scroll(0);
  const block = root.children[500] as HTMLElement;
  expect(block.getBoundingClientRect().height).toBe(0);
  expect(boxOf(block)).toEqual(root.querySelector(".gap")?.getBoundingClientRect());
  unfold(block);
  expect(drawn()).toContain(500);
  expect(block.getBoundingClientRect().top).toBeGreaterThan(5_000);
});

test("what is put in where nothing is drawn is folded too, and what was there before stays so", () => {
  const { root, layout, scroll, drawn, viewport } = page(1_000);
  scroll(0);
  const fresh = Array.from({ length: 300 }, () => layout.block());
  layout.put(() => root.children[600]?.after(...fresh));
  viewport.changed({ from: 601, oldTo: 601, newTo: 901, position: 0 });
  scroll(0);
  expect(Math.max(...drawn())).toBeLessThan(250);
  layout.put(() => {
    for (const block of fresh.slice(0, 299)) block.remove();
  });
  viewport.changed({ from: 601, oldTo: 900, newTo: 601, position: 0 });
  scroll(0);
  expect(root.children).toHaveLength(1_001);
  expect(Math.max(...drawn())).toBeLessThan(250);
  expect(root.querySelectorAll(".gap")).toHaveLength(1);
});

test("what is written behind the last one that is drawn is drawn", () => {
  const { root, layout, scroll, drawn, viewport } = page(1_000);
  scroll(0);
  const end = Math.max(...drawn());
  const fresh = layout.block();
  layout.put(() => root.children[end]?.after(fresh));
  viewport.changed({ from: end + 1, oldTo: end + 1, newTo: end + 2, position: 0 });
  expect(drawn()).toContain(end + 1);
});

test("an editor that draws all blocks anew has the far ones folded again", () => {
  const { root, layout, scroll, drawn } = page(1_000);
  scroll(0);
  layout.put(() => root.replaceChildren(...Array.from({ length: 1_000 }, () => layout.block())));
  scroll(0);
  expect(drawn().length).toBeLessThan(250);
});

/** Blocks become so much higher, as those do in which others write. */
function grow({ root, layout, viewport }: Page, indices: readonly number[], by: number): void {
  layout.put(() => {
    for (const at of indices) {
      const block = root.children[at] as HTMLElement;
      block.dataset.height = String(Number(block.dataset.height ?? HEIGHT) + by);
    }
  });
  for (const at of indices)
    viewport.changed({ from: at, oldTo: at + 1, newTo: at + 1, position: 0 });
  vi.advanceTimersByTime(50);
}

test("what one reads stays where it is while others write above, in what is drawn and what is not", () => {
  const shown = page(1_000);
  const { root, layout, scroll, looks, drawn } = shown;
  scroll(0);
  scroll(10_000);
  const [first] = looks.at(-1) ?? [0, 0];
  const block = root.children[first + 3] as HTMLElement;
  const before = block.getBoundingClientRect().top;
  expect(drawn()).toContain(first - 20);
  expect(drawn()).not.toContain(first - 150);
  grow(shown, [first - 150, first - 130, first - 20, first - 1], 60);
  expect(block.getBoundingClientRect().top).toBe(before);
  // Also where one goes on from there, and what stood for others is drawn.
  scroll(layout.top - 3_000);
  const now = looks.at(-1)?.[0] ?? 0;
  const next = root.children[now + 3] as HTMLElement;
  const then = next.getBoundingClientRect().top;
  grow(shown, [5, now - 20], 60);
  expect(next.getBoundingClientRect().top).toBe(then);
});

test("the line one writes in stays where it is, and at the start of the page nothing is held", () => {
  let caret = 0;
  const shown = page(1_000, () => [caret, caret]);
  const { root, layout, scroll, looks } = shown;
  root.tabIndex = 0;
  root.focus();
  scroll(10_000);
  const [first] = looks.at(-1) ?? [0, 0];
  caret = first + 12;
  scroll(10_000);
  const line = root.children[caret] as HTMLElement;
  const before = line.getBoundingClientRect().top;
  grow(shown, [first + 2, first + 3], 60);
  expect(line.getBoundingClientRect().top).toBe(before);
  scroll(0);
  grow(shown, [0], 60);
  expect(layout.top).toBe(0);
});

test("what changes where nothing is drawn is as high as it was, and as the letters are more", () => {
  const { root, scroll, height, drawn, viewport } = page(600);
  for (let top = 0; top < height(); top += 1_500) scroll(top);
  scroll(0);
  expect(drawn()).not.toContain(550);
  viewport.changed({ from: 550, oldTo: 551, newTo: 551, position: 0 });
  scroll(0);
  expect(height()).toBe(600 * HEIGHT);
  viewport.changed({ from: 560, oldTo: 561, newTo: 561, position: 0 });
  unfold(root.children[300] as HTMLElement);
  expect(height()).toBe(600 * HEIGHT);
});

test("what stands for others is as high when it is another element, at once", () => {
  const { root, layout, scroll, height, viewport } = page(1_000);
  scroll(0);
  const before = height();
  const gap = root.querySelector(".gap") as HTMLElement;
  const index = [...root.children].indexOf(gap);
  layout.put(() => gap.replaceWith(layout.block()));
  viewport.changed({ from: index, oldTo: index + 1, newTo: index + 1, position: 0 });
  expect(height()).toBe(before);
});

test("what is in sight stays drawn, and the page as high, when far blocks on both sides are other elements", () => {
  const { root, layout, scroll, looks, drawn, height, viewport } = page(1_000);
  scroll(0);
  scroll(10_000);
  const [first] = looks.at(-1) ?? [0, 0];
  const [before, high] = [drawn(), height()];
  layout.put(() => {
    for (const at of [first - 150, first + 300]) root.children[at]?.replaceWith(layout.block());
  });
  const [from, to] = [first - 150, first + 301];
  viewport.changed({ from, oldTo: to, newTo: to, position: 0 });
  expect(drawn()).toEqual(before);
  expect(height()).toBe(high);
});
