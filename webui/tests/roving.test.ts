// @vitest-environment jsdom

import { beforeEach, expect, test } from "vitest";
import { holdFocus } from "../src/account/hold-focus";
import { arrive, begin, moved } from "../src/arrival";
import { roving } from "../src/roving";

const toolbar = document.createElement("div");
let tools: HTMLButtonElement[] = [];

const places = (): number[] => tools.map((tool) => tool.tabIndex);
const press = (key: string, more: KeyboardEventInit = {}): boolean =>
  (document.activeElement as HTMLElement).dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
  );

beforeEach(() => {
  tools = Array.from({ length: 4 }, () => document.createElement("button"));
  toolbar.replaceChildren(...tools);
  document.body.replaceChildren(toolbar);
});

test("a toolbar is one stop, and arrows go through the tools that can be used", () => {
  const undo = roving(toolbar);
  const [first, second, third, last] = tools as [
    HTMLButtonElement,
    HTMLButtonElement,
    HTMLButtonElement,
    HTMLButtonElement,
  ];
  second.disabled = true;
  expect(places()).toEqual([0, -1, -1, -1]);
  first.focus();
  expect(press("ArrowRight")).toBe(false);
  expect(document.activeElement).toBe(third);
  expect(places()).toEqual([-1, -1, 0, -1]);
  press("End");
  expect(document.activeElement).toBe(last);
  press("ArrowRight");
  expect(document.activeElement).toBe(first);
  press("ArrowLeft");
  expect(document.activeElement).toBe(last);
  expect(press("ArrowLeft", { ctrlKey: true })).toBe(true);
  undo();
  press("Home");
  expect(document.activeElement).toBe(last);
});

test("when the tool at the stop is switched off or goes, the first one is the stop", async () => {
  const undo = roving(toolbar);
  tools[2]?.focus();
  const [, , third] = tools;
  if (third !== undefined) third.disabled = true;
  await new Promise((done) => setTimeout(done));
  expect(places()).toEqual([0, -1, -1, -1]);
  tools[0]?.remove();
  await new Promise((done) => setTimeout(done));
  expect(tools[1]?.tabIndex).toBe(0);
  undo();
});

test("the focus goes to the main part of a page that a link led to, and only then", () => {
  const main = document.createElement("main");
  const field = document.createElement("input");
  main.append(field);
  document.body.replaceChildren(main);
  arrive(main);
  expect(document.activeElement).toBe(document.body);
  moved();
  arrive(main);
  expect(document.activeElement).toBe(main);
  main.blur();
  arrive(main);
  expect(document.activeElement).toBe(document.body);
  moved();
  field.value = "Untitled";
  begin(field);
  arrive(main);
  expect(document.activeElement).toBe(field);
  expect([field.selectionStart, field.selectionEnd]).toEqual([0, 8]);
});

test("what is put at another place has the focus again behind it, unless something else has", () => {
  const [first, second] = tools as [HTMLButtonElement, HTMLButtonElement];
  first.focus();
  let giveBack = holdFocus();
  toolbar.append(first);
  expect(document.activeElement).toBe(document.body);
  giveBack();
  expect(document.activeElement).toBe(first);
  giveBack = holdFocus();
  second.focus();
  giveBack();
  expect(document.activeElement).toBe(second);
  giveBack = holdFocus();
  second.remove();
  giveBack();
  expect(document.activeElement).toBe(document.body);
});
