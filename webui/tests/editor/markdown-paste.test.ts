// @vitest-environment jsdom

import { expect, test } from "vitest";
import { loadReader } from "../../src/editor/clipboard";
import { htmlOf } from "../../src/editor/markdown-html";
import { pasteMarkdown } from "../../src/editor/markdown-paste";
import { block, MemoryModel } from "../document-double";
import { type Bench, bench, key, select } from "./bench";

await loadReader();

/** Type and text of each block, with its signs. */
function shown(on: Bench): unknown[] {
  return on.model.value.blocks.map(({ attributes, content }) => [attributes.type, content]);
}

function pasted(text: string): Bench {
  const on = bench(new MemoryModel([block("b0", "")]));
  select(on.view, "b0", 0);
  expect(pasteMarkdown(on.view, new Event("paste") as ClipboardEvent, text)).toBe(true);
  return on;
}

const NOTES = `# Notes

Some **bold** and *slanted* words, \`a*b*c\`, [a link](https://example.org/a_b_c).

- one
  - two
- [x] done

1. first

> said

\`\`\`python
# no heading
print("<b>")
\`\`\`

---

| a | b |
| --- | --- |
| c \\| d | e |`;

test("Markdown becomes blocks", () => {
  const on = pasted(NOTES);
  const types = on.model.value.blocks.map(({ attributes }) => attributes.type);
  expect(types.slice(0, 8)).toEqual([
    "heading",
    "paragraph",
    "bullet",
    "bullet",
    "todo",
    "numbered",
    "quote",
    "code",
  ]);
  expect(types).toContain("divider");
  expect(types).toContain("table");
  const [, words, one, two, done, , , code] = on.model.value.blocks;
  expect(words?.content).toEqual([
    "Some ",
    ["bold", { bold: true }],
    " and ",
    ["slanted", { italic: true }],
    " words, ",
    ["a*b*c", { code: true }],
    ", ",
    ["a link", { link: "https://example.org/a_b_c" }],
    ".",
  ]);
  expect([one?.attributes.depth ?? 0, two?.attributes.depth]).toEqual([0, 1]);
  expect(done?.attributes.checked).toBe(true);
  expect(code?.content).toEqual(['# no heading\nprint("<b>")']);
  expect(code?.attributes.language).toBe("python");
});

test("it begins a block of its own in an empty paragraph, and goes on with words that are there", () => {
  for (const [before, type] of [
    ["", "heading"],
    ["words ", "paragraph"],
  ] as const) {
    const on = bench(
      new MemoryModel([block("b0", "above"), block("b1", before), block("b2", "x")]),
    );
    select(on.view, "b1", before.length);
    pasteMarkdown(on.view, new Event("paste") as ClipboardEvent, "# Title\n\n- one\n- two");
    const types = on.model.value.blocks.map(({ attributes }) => attributes.type);
    expect(types).toEqual(["paragraph", type, "bullet", "bullet", "paragraph"]);
  }
});

test("one undo gives the text as it was pasted, the next takes it out", () => {
  const on = pasted("# Title\n\n- one\n- two");
  expect(shown(on)).toHaveLength(3);
  key(on.view, "z", { ctrlKey: true });
  expect(shown(on).map((one) => (one as [string, unknown])[1])).toEqual([
    ["# Title"],
    ["- one"],
    ["- two"],
  ]);
  key(on.view, "z", { ctrlKey: true });
  expect(shown(on)).toHaveLength(1);
  expect(on.view.state.doc.textContent).toBe("");
});

test.each([
  ["one line", "# not a heading"],
  ["one item", "- only one\n\nand prose"],
  [
    "prose with an asterisk",
    "2 * 3 * 4\nand *this* too\n* a footnote, and a long text below it\nmore\nmore",
  ],
  ["a script", "# comment\nls -la\n# another\ncd /tmp"],
  ["code", "#include <stdio.h>\n\n# define X\n\nint main() {\n}"],
  ["Python", "# a comment\n\nimport os\n\nclass A:\n    pass"],
  ["numbers in a text", "1. it was cold\nwhich nobody had said\nand so they went\nhome"],
  ["a pipe", "cat a | grep b\ncat c | grep d"],
])("%s stays as it is", (_name, text) => {
  expect(htmlOf(text)).toBeNull();
});

test("what is HTML in it stays text", () => {
  const on = pasted(
    '# <img src=x onerror=alert(1)>\n\n[a](javascript:alert(1)) <b>c</b> "d" [e"f](https://a.b/"onx)',
  );
  expect(on.view.state.doc.textContent).toContain("<img src=x onerror=alert(1)>");
  expect(on.view.state.doc.textContent).toContain("<b>c</b>");
  expect(JSON.stringify(shown(on))).not.toContain('"link":"javascript');
});
