"""Markdown import and export."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.frames import Json
from server.markdown import export_markdown, import_markdown
from server.operations import Block

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


def shapes(blocks: list[Block]) -> list[tuple[dict[str, Json], str]]:
    return [(attributes, text) for _, attributes, text in blocks]


def test_the_blocks_of_a_document_are_found() -> None:
    imported = import_markdown(SOURCE)
    assert imported.title == "The plan"
    assert shapes(imported.blocks) == [
        ({"kind": "paragraph"}, "Some *text* on two lines."),
        ({"kind": "heading", "level": 2}, "Steps"),
        ({"kind": "bullet", "depth": 0}, "one"),
        ({"kind": "bullet", "depth": 1}, "two"),
        ({"kind": "bullet", "depth": 2}, "three"),
        ({"kind": "todo", "depth": 0, "checked": True}, "done"),
        ({"kind": "todo", "depth": 0, "checked": False}, "open"),
        ({"kind": "numbered", "depth": 0}, "first"),
        ({"kind": "numbered", "depth": 0}, "second"),
        ({"kind": "quote"}, "quoted"),
        ({"kind": "code", "language": "python"}, "# no heading\nx = 1"),
        ({"kind": "divider"}, ""),
        ({"kind": "paragraph"}, "| a | b |\n|---|---|"),
    ]


def test_a_document_survives_export_and_import() -> None:
    imported = import_markdown(SOURCE)
    again = import_markdown(export_markdown(imported.title, imported.blocks))
    assert again.title == imported.title
    assert shapes(again.blocks) == shapes(imported.blocks)


def test_a_given_title_wins_and_keeps_the_heading() -> None:
    imported = import_markdown("# Inside\n\ntext", title="Outside")
    assert imported.title == "Outside"
    assert imported.blocks[0][1] == {"kind": "heading", "level": 1}


def test_block_ids_are_unique() -> None:
    ids = [block_id for block_id, _, _ in import_markdown(SOURCE).blocks]
    assert len(set(ids)) == len(ids)


words = st.text("ab#->+*1.)`~[]x=_\\!", min_size=1, max_size=8)
lines = st.lists(words, min_size=1, max_size=4).map(" ".join)
kinds = st.one_of(
    st.just({"kind": "paragraph"}),
    st.integers(1, 6).map(lambda level: {"kind": "heading", "level": level}),
    st.just({"kind": "quote"}),
    st.just({"kind": "code"}),
    st.just({"kind": "bullet", "depth": 0}),
    st.just({"kind": "numbered", "depth": 0}),
    st.booleans().map(lambda checked: {"kind": "todo", "depth": 0, "checked": checked}),
)


@given(st.lists(st.tuples(kinds, lines), max_size=5))
def test_text_that_looks_like_markup_does_not_change_the_blocks_of_plain_kinds(
    shaped: list[tuple[dict[str, Json], str]],
) -> None:
    blocks: list[Block] = [(f"b{n}", kind, text) for n, (kind, text) in enumerate(shaped)]
    again = import_markdown(export_markdown("T", blocks))
    kept = shapes(again.blocks)
    assert [kind["kind"] for kind, _ in kept] == [kind["kind"] for kind, _ in shaped]
    assert [text for kind, text in kept if kind["kind"] == "paragraph"] == [
        text for kind, text in shaped if kind["kind"] == "paragraph"
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
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
    ],
)
def test_a_line_break_counts_only_when_it_is_meant(source: str, text: str) -> None:
    blocks = import_markdown(source, "t").blocks
    assert [block[2] for block in blocks] == [text]
    assert [block[2] for block in import_markdown(export_markdown("t", blocks)).blocks] == [text]
