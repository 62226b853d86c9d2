// @vitest-environment jsdom

import { expect, test, vi } from "vitest";
import { Viewport } from "../../src/editor/viewport";

const HEIGHT = 20;

/** Blocks of one height; the page is scrolled so that the block `top` is at its upper edge. */
function page(count: number): { root: HTMLElement; scroll: (top: number) => void } {
  const root = document.body.appendChild(document.createElement("div"));
  let first = 0;
  for (let at = 0; at < count; at += 1) {
    const block = root.appendChild(document.createElement("p"));
    block.getBoundingClientRect = () => new DOMRect(0, (at - first) * HEIGHT, 100, HEIGHT);
  }
  const scroll = (top: number): void => {
    first = top;
    window.dispatchEvent(new Event("scroll"));
    vi.advanceTimersByTime(50);
  };
  return { root, scroll };
}

const far = (root: HTMLElement): number[] =>
  [...root.children].flatMap((block, at) => (block.classList.contains("far") ? [at] : []));

test("of a long document the blocks far from the sight are left out, until it comes near", () => {
  vi.useFakeTimers();
  const { root, scroll } = page(400);
  const looks: [number, number][] = [];
  const viewport = new Viewport(root, (first, last) => looks.push([first, last]));
  vi.advanceTimersByTime(50);
  const last = looks.at(-1)?.[1] ?? 0;
  expect(far(root).length).toBeGreaterThan(200);
  expect(far(root)[0]).toBeGreaterThan(last + 99);
  scroll(300);
  expect(looks.at(-1)?.[0]).toBe(300);
  expect(far(root)).toContain(0);
  expect(far(root).filter((at) => at >= 200)).toEqual([]);
  // What is put in is drawn at once.
  root.prepend(document.createElement("p"));
  expect(root.firstElementChild?.className).toBe("");
  viewport.stop();
  vi.useRealTimers();
});

test("of a short document nothing is left out", () => {
  vi.useFakeTimers();
  const { root, scroll } = page(150);
  const viewport = new Viewport(root, () => undefined);
  scroll(100);
  expect(far(root)).toEqual([]);
  viewport.stop();
  vi.useRealTimers();
});
