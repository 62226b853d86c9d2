// @vitest-environment jsdom

import { afterEach, expect, test } from "vitest";
import { away, block, blocksOf, MemoryModel } from "../document-double";
import { bench, cleared, key, select } from "./bench";

afterEach(cleared);

const setUp = () => {
  const on = bench(new MemoryModel([...blocksOf("first"), away("far", 20)]));
  const target = on.view.dom.querySelector("[data-away]");
  const click = (left: number): void => {
    on.view.posAtCoords = () => null;
    target?.dispatchEvent(new MouseEvent("mousedown", { clientX: left, bubbles: true }));
    // Nothing is drawn here: a pixel is a place.
    on.view.posAtCoords = () => ({ pos: left, inside: -1 });
  };
  return { ...on, click };
};

test("a click into a block that is not loaded puts the caret there when it is", async () => {
  const on = setUp();
  on.click(12);
  on.model.others([["show", block("far", "some words here")]]);
  await Promise.resolve();
  expect(on.view.state.selection.$head.parent.attrs.id).toBe("far");
  expect(on.view.state.selection.head).toBe(12);
});

test("a click beyond the text goes to its end, and whoever has typed since stays there", async () => {
  const on = setUp();
  on.click(99);
  on.model.others([["show", block("far", "words")]]);
  await Promise.resolve();
  expect(on.view.state.selection.$head.parentOffset).toBe(5);
  const other = setUp();
  other.click(12);
  select(other.view, "b0", 2);
  const { dom } = other.view;
  dom.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }));
  key(other.view, "a");
  other.model.others([["show", block("far", "words")]]);
  await Promise.resolve();
  expect(other.view.state.selection.$head.parent.attrs.id).toBe("b0");
});
