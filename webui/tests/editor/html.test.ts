// @vitest-environment jsdom

import { DOMSerializer, Slice } from "prosemirror-model";
import { expect, test } from "vitest";
import type { ShownBlock } from "../../src/document/types";
import { markdownOf, serialiseText } from "../../src/editor/copying";
import { readBlocks, tamed } from "../../src/editor/html";
import { schema, toBlock, toDoc } from "../../src/editor/schema";
import { block, blocksOf } from "../document-double";

function read(html: string, isPre = false): unknown[] {
  const element = document.implementation.createHTMLDocument("").createElement("div");
  element.innerHTML = tamed(html);
  return readBlocks(element, isPre).map((node) => {
    const { attributes, content } = toBlock(node);
    const { type, ...rest } = attributes;
    return Object.keys(rest).length > 0 ? [type, content, rest] : [type, content];
  });
}

test("a web page becomes blocks with marks", () => {
  const html = `<h2>Head <em>line</em></h2><p>One <b>bold</b>, <i>slanted</i>,
    <code>x = 1</code> and <a href="https://a.b/">a <strong>link</strong></a>.</p>
    <ul><li>first<ul><li>deep</li></ul></li><li><p>second</p></li></ul>
    <ol><li>one</li></ol><blockquote><p>said</p></blockquote><hr>
    <pre><code class="language-js">let a;\n  b</code></pre><div>end<br>of it</div>`;
  const link = { link: "https://a.b/" };
  expect(read(html)).toEqual([
    ["heading", ["Head ", ["line", { italic: true }]], { level: 2 }],
    [
      "paragraph",
      [
        "One ",
        ["bold", { bold: true }],
        ", ",
        ["slanted", { italic: true }],
        ", ",
        ["x = 1", { code: true }],
        " and ",
        ["a ", link],
        ["link", { ...link, bold: true }],
        ".",
      ],
    ],
    ["bullet", ["first"]],
    ["bullet", ["deep"], { depth: 1 }],
    ["bullet", ["second"]],
    ["numbered", ["one"]],
    ["quote", ["said"]],
    ["divider", []],
    ["code", ["let a;\n  b"], { language: "js" }],
    ["paragraph", ["end\nof it"]],
  ]);
});

test("Word's paragraphs become a list, with its styles as marks", () => {
  const item = (level: number, sign: string, text: string): string =>
    `<p class=MsoListParagraph style='text-indent:-18.0pt;mso-list:l0 level${level} lfo1'>` +
    `<![if !supportLists]><span style='mso-list:Ignore'>${sign}<span style='font:7.0pt "Times"'>` +
    `&nbsp;&nbsp; </span></span><![endif]>${text}<o:p></o:p></p>`;
  const html = `<html><head><style>p{color:red}</style></head><body><!--StartFragment-->
    <p class=MsoNormal><b style='mso-bidi-font-weight:normal'>Bold</b> and\n<span
    style='font-style:italic'>slanted</span><o:p></o:p></p>
    ${item(1, "·", "bullet")}${item(2, "o", "deeper")}${item(1, "1.", "number")}
    <p class=MsoNormal><o:p>&nbsp;</o:p></p><!--EndFragment--></body></html>`;
  expect(read(html)).toEqual([
    ["paragraph", [["Bold", { bold: true }], " and ", ["slanted", { italic: true }]]],
    ["bullet", ["bullet"]],
    ["bullet", ["deeper"], { depth: 1 }],
    ["numbered", ["number"]],
  ]);
});

test("Google's clipboard, which wraps all in a bold that is none", () => {
  const html = `<meta charset='utf-8'><b style="font-weight:normal;" id="docs-internal-guid-1">
    <p dir="ltr"><span style="font-weight:400;text-decoration:none;">plain </span><span
    style="font-weight:700;text-decoration:line-through">both</span></p><br><p><a
    href="https://a.b/"><span style="text-decoration:underline">link</span></a></p></b>`;
  expect(read(html)).toEqual([
    ["paragraph", ["plain ", ["both", { bold: true, strike: true }]]],
    ["paragraph", [["link", { link: "https://a.b/" }]]],
  ]);
});

test("checkboxes are to-dos", () => {
  const html = `<ul><li><input type="checkbox" checked> done</li><li><input type="checkbox"> open</li></ul>`;
  expect(read(html)).toEqual([
    ["todo", ["done"], { checked: true }],
    ["todo", ["open"], { checked: false }],
  ]);
});

test("what could do harm is left behind", () => {
  const html = `<script>x</script><style>y</style><img src=x onerror=z><a href="javascript:x">a</a>
    <iframe srcdoc="<b>q</b>"></iframe><svg><text>s</text></svg><p onclick=x style="color:red">p</p>`;
  expect(read(html)).toEqual([
    ["paragraph", ["a"]],
    ["paragraph", ["p"]],
  ]);
  expect(tamed("<p onclick='x' style=y>on style=</p>")).toBe(
    "<p data-off='x' data-style=y>on style=</p>",
  );
});

test("a copy of own blocks is those blocks", () => {
  const start: ShownBlock[] = [
    { ...block("b0", [["Head", { bold: true }]]), attributes: { type: "heading", level: 3 } },
    { ...block("b1", "  two  spaces "), attributes: { type: "bullet", depth: 2 } },
    { ...block("b2", "done"), attributes: { type: "todo", checked: true } },
    { ...block("b3", "a\n\tb"), attributes: { type: "code", language: "py" } },
    block("b4", "", "divider"),
    block("b5", ""),
    block(
      "b6",
      [
        ["see", { link: "/doc/x" }],
        ["it", { code: true, strike: true }],
      ],
      "quote",
    ),
  ];
  const doc = toDoc(start, "blank");
  const host = document.createElement("div");
  host.append(DOMSerializer.fromSchema(schema).serializeFragment(doc.content));
  expect(read(host.innerHTML, true)).toEqual(
    start.map(({ attributes: { type, ...rest }, content }) =>
      Object.keys(rest).length > 0 ? [type, content, rest] : [type, content],
    ),
  );
});

test("several blocks are copied as Markdown, a part of one as its words", () => {
  const start: ShownBlock[] = [
    { ...block("b0", "Head"), attributes: { type: "heading", level: 2 } },
    block("b1", ["a ", ["bold ", { bold: true }], ["it", { italic: true, link: "https://a.b/" }]]),
    block("b2", "one", "numbered"),
    { ...block("b3", "deep"), attributes: { type: "bullet", depth: 1 } },
    block("b4", "two", "numbered"),
    { ...block("b5", "x"), attributes: { type: "todo", checked: true } },
    block("b6", "let a;", "code"),
  ];
  const nodes = toDoc(start, "blank").children;
  expect(markdownOf(nodes)).toBe(
    "## Head\n\na **bold** [*it*](https://a.b/)\n\n1. one\n  - deep\n2. two\n- [x] x\n\n" +
      "```\nlet a;\n```",
  );
  const part = toDoc(blocksOf([["words", { bold: true }]]), "blank").content;
  expect(serialiseText(new Slice(part, 1, 1))).toBe("words");
});
