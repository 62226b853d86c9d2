"""Markdown import and export."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from groupcore.objects.rich_delta import Run, canonical, inserted, plain, rich
from groupcore.shared.documents.parts import Value
from groupcore.shared.documents.tables import words_of
from server.documents.inline import broken, is_allowed, read_inline, write_inline
from server.documents.making import NewBlock
from server.documents.markdown import export_markdown, import_markdown
from tests.end_to_end.payloads import PAYLOADS

SOURCE = """# The plan

Some *text*
on two lines.

## Steps

- one
  - two
    - three
- [x] done
- [ ] open

1. first
2. second

> quoted

```python
# no heading
x = 1
```

---

| a | b |
|---|---|
"""


def shapes(blocks: list[NewBlock]) -> list[tuple[dict[str, Value], str]]:
    return [(dict(kind), words_of(dict(kind), text)) for kind, text in blocks]


def made(shaped: list[tuple[dict[str, Value], str]]) -> list[NewBlock]:
    return [(tuple(sorted(attributes.items())), rich(text)) for attributes, text in shaped]


def test_the_blocks_of_a_document_are_found() -> None:
    imported = import_markdown(SOURCE)
    assert imported.title == "The plan"
    assert shapes(imported.blocks) == [
        ({"type": "paragraph"}, "Some text on two lines."),
        ({"type": "heading", "level": 2}, "Steps"),
        ({"type": "bullet", "depth": 0}, "one"),
        ({"type": "bullet", "depth": 1}, "two"),
        ({"type": "bullet", "depth": 2}, "three"),
        ({"type": "todo", "depth": 0, "checked": True}, "done"),
        ({"type": "todo", "depth": 0, "checked": False}, "open"),
        ({"type": "numbered", "depth": 0}, "first"),
        ({"type": "numbered", "depth": 0}, "second"),
        ({"type": "quote"}, "quoted"),
        ({"type": "code", "language": "python"}, "# no heading\nx = 1"),
        ({"type": "divider"}, ""),
        ({"type": "table"}, "a\tb"),
    ]


def test_a_document_survives_export_and_import() -> None:
    imported = import_markdown(SOURCE)
    again = import_markdown(export_markdown(imported.title, imported.blocks))
    assert again.title == imported.title
    assert shapes(again.blocks) == shapes(imported.blocks)


def test_a_given_title_wins_and_keeps_the_heading() -> None:
    imported = import_markdown("# Inside\n\ntext", title="Outside")
    assert imported.title == "Outside"
    assert dict(imported.blocks[0][0]) == {"type": "heading", "level": 1}


MARKS = [
    ("plain", [("plain", {})]),
    (
        "**bold** and *italic*",
        [("bold", {"bold": True}), (" and ", {}), ("italic", {"italic": True})],
    ),
    ("~~gone~~", [("gone", {"strike": True})]),
    ("`a * b`", [("a * b", {"code": True})]),
    ("``a ` b``", [("a ` b", {"code": True})]),
    ("***both***", [("both", {"bold": True, "italic": True})]),
    ("**bold *both* bold**", [
        ("bold ", {"bold": True}), ("both", {"bold": True, "italic": True}),
        (" bold", {"bold": True}),
    ]),
    ("[here](http://x.y/z)", [("here", {"link": "http://x.y/z"})]),
    ("[**here**](http://x.y/z)", [("here", {"bold": True, "link": "http://x.y/z"})]),
    ("[a b](<http://x.y/(z>)", [("a b", {"link": "http://x.y/(z"})]),
    ("snake_case and 2 \\* 3", [("snake_case and 2 * 3", {})]),
    ("[other](docs/page.md) ![image](a.png) <b>x</b>", [
        ("[other](docs/page.md) ![image](a.png) <b>x</b>", {}),
    ]),
    ("one\\\n**two**", [("one\n", {}), ("two", {"bold": True})]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "runs"), MARKS)
def test_marks_are_read_and_written(source: str, runs: list[tuple[str, dict[str, Value]]]) -> None:
    [(_, text)] = import_markdown(source, "t").blocks
    assert [(run.text, dict(run.marks)) for run in text] == runs
    written = export_markdown("t", [((("type", "paragraph"),), text)])
    assert import_markdown(written, "t").blocks == [((("type", "paragraph"),), text)]


marks = st.dictionaries(
    st.sampled_from(["bold", "italic", "strike", "code", "link", "underline"]), st.just(True)
).map(lambda found: found | {"link": "http://x.y"} if "link" in found else found)
runs = st.lists(
    st.tuples(st.text("ab *_`~[]()<>&!\\\"'.:/", min_size=1, max_size=6), marks), max_size=5
)


@given(runs)
def test_no_text_is_lost_or_becomes_markup_whatever_its_marks(
    given_runs: list[tuple[str, dict[str, Value]]],
) -> None:
    text = inserted(
        canonical([Run(one, tuple(sorted(found.items()))) for one, found in given_runs])
    )
    assert plain(read_inline(broken(write_inline(text)))) == plain(text)


def test_a_link_that_the_document_defines_is_a_link() -> None:
    [(_, text)] = import_markdown("[here][1]\n\n[1]: https://x.y", "t").blocks
    assert [(run.text, dict(run.marks)) for run in text] == [("here", {"link": "https://x.y"})]


def test_a_title_keeps_what_looks_like_marks() -> None:
    written = export_markdown("a *b* `c`", [])
    assert import_markdown(written).title == "a *b* `c`"


words = st.text("ab#->+*1.)`~[]x=_\\!", min_size=1, max_size=8)
lines = st.lists(words, min_size=1, max_size=4).map(" ".join)
kinds = st.one_of(
    st.just({"type": "paragraph"}),
    st.integers(1, 6).map(lambda level: {"type": "heading", "level": level}),
    st.just({"type": "quote"}),
    st.just({"type": "code"}),
    st.just({"type": "bullet", "depth": 0}),
    st.just({"type": "numbered", "depth": 0}),
    st.booleans().map(lambda checked: {"type": "todo", "depth": 0, "checked": checked}),
)


@given(st.lists(st.tuples(kinds, lines), max_size=5))
def test_text_that_looks_like_markup_does_not_change_the_blocks_of_plain_kinds(
    shaped: list[tuple[dict[str, Value], str]],
) -> None:
    again = import_markdown(export_markdown("T", made(shaped)))
    kept = shapes(again.blocks)
    assert [kind["type"] for kind, _ in kept] == [kind["type"] for kind, _ in shaped]
    assert [text for kind, text in kept if kind["type"] == "paragraph"] == [
        text for kind, text in shaped if kind["type"] == "paragraph"
    ]


@given(st.text(max_size=200))
def test_any_text_can_be_imported_and_exported(source: str) -> None:
    imported = import_markdown(source)
    export_markdown(imported.title, imported.blocks)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("wrapped\nat a column", "wrapped at a column"),
        ("a hard  \nbreak", "a hard\nbreak"),
        ("another\\\nhard one", "another\nhard one"),
        ("| a | b |\n| 1 | 2 |", "| a | b |\n| 1 | 2 |"),
    ],
)
def test_a_line_break_counts_only_when_it_is_meant(source: str, text: str) -> None:
    blocks = import_markdown(source, "t").blocks
    assert [plain(block[1]) for block in blocks] == [text]
    assert [plain(block[1]) for block in import_markdown(export_markdown("t", blocks)).blocks] == [
        text
    ]


LIVE = [*PAYLOADS, "<img src=x onerror=alert(1)//>", "[x](javascript:window.ran=1)", "![x](feed:x)"]


@pytest.mark.parametrize("payload", LIVE)
def test_what_looks_like_html_here_is_none_where_html_is_let_through(payload: str) -> None:
    """Programs that show Markdown would run what here is a text: it goes out escaped."""
    text = " ".join(payload.split())
    assert plain(read_inline(write_inline(rich(text)))) == text
    kinds: list[dict[str, Value]] = [
        {"type": "paragraph"},
        {"type": "heading", "level": 2},
        {"type": "quote"},
        {"type": "todo", "depth": 0, "checked": False},
        {"type": "bullet", "depth": 0},
    ]
    source = export_markdown(text, made([(kind, text) for kind in kinds]))
    written = MarkdownIt("commonmark", {"html": True})
    written.validateLink = lambda url: True  # type: ignore[method-assign]  # others ask nobody
    for token in written.parse(source):
        live = [one for one in token.children or [] if one.type == "html_inline"]
        links = [one for one in token.children or [] if one.type == "link_open"]
        assert token.type != "html_block"
        assert [one.content for one in live] == []
        assert all(is_allowed(str(one.attrs["href"])) for one in links)
    assert [plain(read) for _, read in import_markdown(source).blocks] == [text] * len(kinds)
