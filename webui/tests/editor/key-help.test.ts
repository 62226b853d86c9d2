// @vitest-environment jsdom

import { expect, test } from "vitest";
import { keys } from "../../src/editor/commands";
import { helpKeys, keyHelp, keyName } from "../../src/editor/key-help";
import { actOf, pageKeys } from "../../src/pages/shortcuts";

test("the list of keys has all that are bound, and no others", () => {
  const ofEditor = ["Mod-k", "Mod-z", "Mod-Shift-z", "Mod-y"];
  const bound = [...Object.keys(keys), ...ofEditor, ...pageKeys];
  expect([...helpKeys].sort()).toEqual(bound.sort());
});

test("keys that do the same stand together, by the names that keyboards have", () => {
  const lines = keyHelp(false).flatMap((section) => section.lines);
  expect(lines.find(({ says }) => says.startsWith("Redo"))?.keys).toEqual([
    "Ctrl+Shift+Z",
    "Ctrl+Y",
  ]);
  expect(keyName("Mod-Alt-1", true)).toBe("⌘ ⌥ 1");
  expect(keyName("Alt-ArrowUp", false)).toBe("Alt+↑");
});

function press(key: string, more: KeyboardEventInit = {}, target: EventTarget = document.body) {
  const event = new KeyboardEvent("keydown", { key, ...more });
  Object.defineProperty(event, "target", { value: target });
  return actOf(event);
}

test("a page's key does what it says, and a letter is a letter where one writes", () => {
  expect(press("f", { ctrlKey: true })).toBe("find");
  expect(press("f", { metaKey: true })).toBe("find");
  expect(press("f", { ctrlKey: true, shiftKey: true })).toBeNull();
  expect(press("/", { ctrlKey: true })).toBe("help");
  expect(press("/", { ctrlKey: true, shiftKey: true })).toBe("help"); // above the 7
  expect(press("?", { shiftKey: true })).toBe("help");
  expect(press("?", { shiftKey: true }, document.createElement("textarea"))).toBeNull();
  expect(press("i", { ctrlKey: true, altKey: true })).toBe("inspect");
  expect(press("^", { ctrlKey: true, altKey: true, code: "KeyI" })).toBe("inspect");
  expect(press("ø", { ctrlKey: true, altKey: true, code: "KeyO" })).toBe("contents");
  expect(press("i", { ctrlKey: true })).toBeNull();
});
