"""What comes in as Markdown goes out and in again as the same, with all of its words."""

from __future__ import annotations

import re

import pytest

from groupcore.objects.refusal import TooLargeError
from groupcore.shared.documents.tables import words_of
from server.documents.markdown import Imported, export_markdown, import_markdown

CORPUS: dict[str, str] = {
    # headings
    "headings of six levels": "# a\n\n## two\n\n### three\n\n#### four\n\n##### five\n\n###### six",
    "seven signs are no heading": "####### seven",
    "a heading with closing signs": "## both ##\n\n## one #\n\n### a#",
    "headings by underlines": "First\n=====\n\nSecond\n------\n\nthird of\ntwo lines\n---",
    "an empty heading": "##\n\nbelow",
    "a heading with marks": "## *slanted* `code` [link](https://x.y) **b**",
    "a sign without a blank": "#nohash\n\n\\# escaped",
    # paragraphs and breaks
    "hard breaks of both kinds": "one  \ntwo\\\nthree",
    "a backslash at the end": "ends with\\",
    "lines that are wrapped": "one\ntwo\n   three",
    "blanks at the start": "   three blanks\n\n\ttab is code",
    "tabs inside": "a\tb\t\tc",
    "many empty lines": "a\n\n\n\n\nb",
    # lists
    "lists of both kinds": "- a\n- b\n\n1. one\n2. two\n\n+ plus\n\n* star",
    "a list that starts at seven": "7. seven\n8. eight",
    "numbers with a bracket": "1) one\n2) two",
    "lists with empty items": "- a\n-\n- c\n\n1.\n2. two",
    "a loose list": "- a\n\n- b\n\n- c",
    "paragraphs in an item": "- first\n\n  second\n\n  third\n- next",
    "code in an item": "- item\n\n      code\n\n  ```js\n  fenced\n  ```\n- next",
    "a quote in an item": "- item\n  > quoted\n- next",
    "lists deeper than ours": "".join(f"{'  ' * at}- level{at}\n" for at in range(14)),
    "numbers deeper than ours": "".join(f"{'   ' * at}1. level{at}\n" for at in range(12)),
    "kinds mixed in depth": "- a\n  1. b\n     - c\n       1. d\n- e",
    "a list right behind text": "text\n- item\n- item\n\ntext\n1. one",
    "a number that begins no list": "In\n1986. What a year.",
    "a heading in an item": "- # heading\n- text",
    "a divider in an item": "- a\n- * * *\n- b",
    "lazy lines of an item": "- one\ngoes on\n- two",
    "list signs that are text": "\\- no\n\n\\1. no\n\n1\\. no\n\n-no\n\n1.no",
    "two lists with a comment between": "- a\n\n<!-- -->\n\n- b",
    # tasks
    "tasks": "- [ ] open\n- [x] done\n- [X] also done\n- [y] no task",
    "tasks in depth": "- [ ] a\n  - [x] b\n    - [ ] c",
    "a task with marks": "- [ ] **bold** [link](https://x.y)",
    "tasks without words": "- [ ]\n- [x]",
    "what looks like a task": "[ ] no list\n\n1. [x] numbered",
    # quotes
    "a quote of several paragraphs": "> one\n>\n> two\n\n> other",
    "a quote in a quote": "> out\n> > in\n> > > inner",
    "a lazy quote": "> one\ntwo",
    "a quote with a list": "> - a\n> - b\n>   - c",
    "a quote with code": "> ```\n> code\n> ```",
    "a quote with a heading": "> ## heading\n> text",
    "an empty quote": ">\n\nbelow",
    # code
    "code with fences in it": "````md\n```js\nlet a\n```\n````",
    "code by waves": "~~~python\nx = `1`\n~~~",
    "code that does not end": "```\nopen\n\n# no heading",
    "code with empty lines": "```\n\na\n\n\nb\n\n```",
    "indented code": "    one\n\n      two\n    three",
    "empty code": "```\n```",
    "code with words behind the language": "```python title=x linenos\nprint()\n```",
    "code that looks like all else": "```\n- a\n> b\n# c\n| d |\n|---|\n<!-- -->\n---\n```",
    "spans with backticks": "`` a ` b `` and ``` `` ``` and ` `` `",
    "spans with blanks": "` a ` and `  ` and ` b`",
    "spans beat marks": "*a `*` b* and `**no**` and **a`b**`",
    # marks
    "marks in marks": "***both*** **a *b* c** *a **b** c* ~~gone **bold**~~",
    "marks at odd places": "a*b*c __d__e _f_g **h**i 2*3*4 snake_case_name",
    "marks that do not close": "*a **b ~~c `d [e",
    "marks next to each other": "*a***b** **c***d* ****e****",
    "marks at punctuation": '*(a)* **"b"**c "*d*"e *f*。**g**、',
    "blanks at the edges of marks": "** a ** * b* *c *",
    "stars and lines alone": "* * a\n\n**\n\n__\n\na * b * c",
    "escapes": r"\*a\* \_b\_ \`c\` \[d\] \<e\> \\f \!g \~h \# i \| j \& k",
    "backslashes": "a\\b \\\\ c\\\\\\d C:\\dir\\new",
    "entities": "&amp; &lt;b&gt; &copy; &#35; &#x1F98A; &nope; &amp;amp;",
    # links and images
    "links of all kinds": "[a](https://x.y) <https://u.v> [b](mailto:c@d.e) [f](/g) [h](#i)",
    "links with titles and brackets": '[a](https://x.y "t") [b](<https://x.y/(z) w>) [c\\]](/d)',
    "reference links": "[a][1] [2] [c][] [d]\n\n[1]: https://x.y\n[2]: /z 'title'\n[c]: <#>",
    "references that are nowhere": "[a][nowhere] [b] ![c][d]",
    "links that may not be": "[a](javascript:x) [b](data:y) [c](other.md) [d]()",
    "marks in links": "[**a** *b* `c`](https://x.y) **[d](/e)**",
    "images": "![alt](https://x.y/z.png) [![in](a.png)](https://x.y)",
    "addresses as text": "https://x.y/a_b_c and www.x.y and a@b.c",
    # HTML
    "blocks of HTML": "<div>\n*not slanted*\n</div>\n\n<p>a</p>",
    "HTML in a line": "a <b>b</b> <br> <i class='x'>c</i> <!-- d -->",
    "comments": "a\n\n<!-- of\nseveral lines -->\n\nb",
    "scripts": "<script>\nalert(1)\n\n</script>\n\n<style>p{}</style>",
    "signs that are no HTML": "a < b > c <3 <- -> 1<2",
    # tables
    "a table": "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
    "a table with aligned columns": "| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |",
    "a table without bars at its edges": "a | b\n--|--\n1 | 2",
    "a table with fewer and more cells": "| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 | 4 |",
    "a table with bars in its cells": "| a \\| b | `c\\|d` |\n|---|---|\n| \\| | \\\\\\| |",
    "a table with marks": "| **a** | [b](https://x.y) |\n|---|---|\n| ~~c~~ | `d` |",
    "a table with lines in its cells": "| a<br>b | c |\n|---|---|\n| d<br/>e<BR>f | g |",
    "a table without words": "|  |  |\n|---|---|\n|  |  |",
    "a table whose header is a comment": "| <!-- --> |  |\n|---|---|\n| a | b |",
    "a table of one column": "| a |\n|---|\n| b |",
    "a table between paragraphs": "above\n\n| a |\n|---|\n| b |\n\nbelow",
    "a table right behind text": "above\n| a | b |\n|---|---|\n| 1 | 2 |",
    "a table in a quote": "> | a | b |\n> |---|---|\n> | 1 | 2 | 3 |",
    "a table in an item": "- item\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n- next",
    "two tables": "| a |\n|---|\n| b |\n\n| c |\n|---|\n| d |",
    "what is nearly a table": "| a | b |\n| 1 | 2 |\n\n|---|\n\na | b\n\n\\| a |\n|---|",
    # other
    "dividers of all kinds": "---\n\n***\n\n_ _ _\n\n- - -\n\n----------",
    "letters of all scripts": "日本語 **太字** العربية עברית हिन्दी ไทย 🦊👩‍👩‍👧 é é",
    "spaces that are none": "a\u00a0b\u2003c\u200bd\ufeffe\u2028f",
    "ends of lines of all kinds": "one\r\ntwo\r\n\r\nthree\rfour",
    "a very long line": "word " * 400,
    "nothing": "",
    "blanks alone": " \n\t\n  ",
}


def shape(imported: Imported) -> list[tuple[object, object]]:
    return [(dict(attributes), text) for attributes, text in imported.blocks]


@pytest.mark.parametrize("source", CORPUS.values(), ids=CORPUS)
def test_markdown_goes_out_and_in_again_as_the_same(source: str) -> None:
    first = import_markdown(source, "T")
    written = export_markdown(first.title, first.blocks)
    second = import_markdown(written, "T")
    assert shape(second) == shape(first)
    assert export_markdown(second.title, second.blocks) == written


KEPT = re.compile(r"[^\W\d_]{3,}")
NO_TEXT = {"amp", "copy", "title", "linenos"}
"""Names of entities, titles of links, and what stands behind the language of code."""


@pytest.mark.parametrize("name", CORPUS)
def test_no_word_of_markdown_is_lost(name: str) -> None:
    imported = import_markdown(CORPUS[name], "T")
    parts = [words_of(dict(kind), text) for kind, text in imported.blocks]
    parts += [str(value) for kind, _ in imported.blocks for _, value in kind]
    parts += [str(mark) for _, text in imported.blocks for run in text for _, mark in run.marks]
    found = " ".join(parts)
    assert [
        word for word in KEPT.findall(CORPUS[name]) if word not in found and word not in NO_TEXT
    ] == []


@pytest.mark.parametrize("sign", ["> ", "- ", "1. "])
def test_what_the_parser_would_leave_out_is_refused(sign: str) -> None:
    assert import_markdown(sign * 30 + "deep", "T").blocks
    with pytest.raises(TooLargeError, match="40 deep"):
        import_markdown(sign * 120 + "deeper", "T")
