// @vitest-environment jsdom
import { expect, test } from "vitest";
import { bind, Text } from "../../src/client";
import { edited, FakeHost, snapshot } from "./host";

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

test("a field shows the text, types into it, and keeps its caret where it stood", async () => {
  const host = new FakeHost();
  const text = new Text(host, "it", "Text");
  text.hear(snapshot({ text: "ab", version: 0, recent: null }));
  const field = document.createElement("textarea");
  const part = bind(text, field);
  expect(field.value).toBe("ab");
  field.setSelectionRange(1, 1);
  // Two changes at once: the caret is moved by both.
  text.hear(edited(2, "you", 1, ["xx"]));
  text.hear(edited(3, "you", 2, ["yy"]));
  await settled();
  expect([field.value, field.selectionStart]).toEqual(["yyxxab", 5]);
  field.value = "yyxxaXb";
  field.setSelectionRange(6, 6);
  field.dispatchEvent(new Event("input"));
  expect(host.calls()).toEqual([[1, 0, ["edit", [2, [5, "X"]]]]]);
  text.hear(edited(4, "me", 3, [5, "X"]));
  await settled();
  expect([field.value, field.selectionStart, text.value]).toEqual(["yyxxaXb", 6, "yyxxaXb"]);
  part();
  text.hear(edited(5, "you", 4, ["z"]));
  await settled();
  expect(field.value).toBe("yyxxaXb");
});
