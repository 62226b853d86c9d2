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

function press(key: string, more: KeyboardEventInit = {}) {
  return actOf(new KeyboardEvent("keydown", { key, ...more }));
}

test("no page's key is a letter or a sign alone, which cannot be switched off", () => {
  for (let code = 32; code < 127; code += 1) {
    const key = String.fromCharCode(code);
    for (const shiftKey of [false, true]) expect(press(key, { shiftKey }), key).toBeNull();
  }
});

test("a page's key does what it says", () => {
  expect(press("f", { ctrlKey: true })).toBe("find");
  expect(press("f", { metaKey: true })).toBe("find");
  expect(press("f", { ctrlKey: true, shiftKey: true })).toBeNull();
  expect(press("/", { ctrlKey: true })).toBe("help");
  expect(press("/", { ctrlKey: true, shiftKey: true })).toBe("help"); // above the 7
  expect(press("i", { ctrlKey: true, altKey: true })).toBe("inspect");
  expect(press("^", { ctrlKey: true, altKey: true, code: "KeyI" })).toBe("inspect");
  expect(press("ø", { ctrlKey: true, altKey: true, code: "KeyO" })).toBe("contents");
  expect(press("i", { ctrlKey: true })).toBeNull();
});
