import { expect, test } from "vitest";
import { assigned } from "../../src/editor/chunking";

/** Chunks by their letters, of blocks by their names: `A` of "a1 a2"; those in capitals are drawn. */
function chunks(old: string, now: string, first = "a", drawn = ""): string {
  const words = (text: string): string[] => text.split(" ").filter((word) => word !== "");
  const entries = words(old).map((word): [string, string] => [word, word[0] ?? ""]);
  return assigned(entries, words(now), first, (chunk) => drawn.includes(chunk)).join("");
}

test("what is drawn by another element stays in its chunk, and so does all between two of them", () => {
  expect(chunks("a1 a2 b1 b2 c1 c2", "x a2 b1 b2 c1 y")).toBe("aabbcc");
  expect(chunks("a1 b1 c1", "x y z")).toBe("abc");
});

test("what has gone takes nothing with it, and what has come is with the one before it", () => {
  expect(chunks("a1 a2 b1 b2 c1 c2", "a1 c2")).toBe("ac");
  expect(chunks("a1 a2 b1 b2", "a1 new a2 b1 b2 end")).toBe("aaabbb");
  expect(chunks("", "new")).toBe("a");
  const many = Array.from({ length: 90 }, (_, at) => `b${at}`).join(" ");
  expect(chunks(`${many} c1`, "c1")).toBe("c");
});

test("what comes between one that is folded and one that is drawn is drawn", () => {
  expect(chunks("a1 b1", "a1 new b1", "a", "b")).toBe("abb");
  expect(chunks("a1 b1", "a1 new b1", "a", "a")).toBe("aab");
});

test("of those that are moved the others keep their chunks", () => {
  expect(chunks("a1 a2 b1 b2 c1", "a2 b1 b2 c1 a1")).toBe("abbcc");
  expect(chunks("a1 a2 b1 b2 c1", "c1 a1 a2 b1 b2")).toBe("aaabb");
  expect(chunks("a1 a2 b1 b2 c1 c2", "c1 c2 b1 b2 a1 a2")).toMatch(/^a+b*c*$/);
});
