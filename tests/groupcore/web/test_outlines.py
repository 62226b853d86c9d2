"""A page's calls on an outline, as the client sends them, at a real node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groupcore.shared.types import Outline
from tests.groupcore.web.gateways import Site, node_of, pages
from tests.groupcore.web.outline_verbs import BLOCKS, outline_verbs
from tests.groupcore.web.tabs import Tab

pytestmark = pytest.mark.slow

CASES: list[dict[str, Any]] = outline_verbs()["cases"]  # type: ignore[assignment]
AFTER: list[tuple[str, Callable[[list[str], dict[str, str]], bool]]] = [
    ("insert", lambda ids, _: len(ids) == 4 and ids[0] == "A" and ids[2:] == ["B", "C"]),
    ("insert", lambda ids, _: len(ids) == 4 and ids[1:] == ["A", "B", "C"]),
    ("write", lambda _, texts: texts["A"] == "😀ée"),
    ("write", lambda _, texts: texts["A"] == "one"),
    ("write", lambda _, texts: texts["C"] == "a😀end"),
    ("set", lambda ids, _: ids == ["A", "B", "C"]),
    ("move", lambda ids, _: ids == ["C", "A", "B"]),
    ("move", lambda ids, _: ids == ["B", "C", "A"]),
    ("delete", lambda ids, _: ids == ["A", "C"]),
    ("split", lambda ids, texts: (ids[1], texts["A"], texts["n"]) == ("n", "😀", "one")),
    ("join", lambda ids, texts: (ids, texts["C"]) == (["A", "C"], "a😀two")),
    ("rename", lambda ids, _: ids == ["A", "B", "C"]),
]
"""What each of the shared cases does, in their order."""


async def opened(site: Site) -> tuple[Tab, Outline]:
    """An outline as in the cases, open at a page and at the node."""
    (gateway,) = await site.start("a")
    outline = await node_of(gateway).open(Outline, "o")
    changes = [["title", "Plan"]]
    changes += [["insert", *row] for row in _inserts()]  # type: ignore[list-item]
    (ann,) = await pages(gateway, 1)
    await ann.open("Outline", "o")
    for number, change in enumerate(changes, 1):
        call: list[object] = ["submit", [number - 1, [change]]]
        assert (await ann.call("o", number, call))["results"] == [number]
    assert [list(block) for block in outline.blocks()] == BLOCKS
    return ann, outline


def _inserts() -> list[list[object]]:
    found: list[list[object]] = []
    for row in BLOCKS:
        after = found[-1][0] if found else None
        found.append([row[0], after, row[1], row[2]])
    return found


@pytest.mark.parametrize("number", range(len(CASES)))
async def test_what_a_verb_sends_does_what_the_verb_says(site: Site, number: int) -> None:
    ann, outline = await opened(site)
    assert [one["verb"] for one in CASES] == [verb for verb, _ in AFTER]
    operation, arguments = CASES[number]["call"]
    base, *rest = arguments
    assert base == 5
    ann.say("call", name="o", n=5, answered=4, calls=[[operation, [outline.version, *rest]]])
    change = await ann.hears("changes", name="o")
    assert len((await ann.hears("result", n=5))["results"]) == 1
    blocks = outline.blocks()
    texts = {block: text for block, _, text in blocks}
    assert AFTER[number][1]([block for block, _, _ in blocks], texts), blocks
    (item,) = change["items"]
    assert item[3][0][0] == outline.version == 5
    if operation == "submit":
        assert [one[0] for one in item[3][0][1]] == [rest[0][0][0]]


async def test_what_does_nothing_is_answered_and_told_as_nothing(site: Site) -> None:
    ann, outline = await opened(site)
    before = outline.blocks()
    for number, change in (
        (5, ["move", "B", "A", "A"]),
        (6, ["text", "A", []]),
        (7, ["set", "A", {}]),
    ):
        assert (await ann.call("o", number, ["submit", [4, [change]]]))["results"] == [4]
    assert (outline.version, outline.blocks()) == (4, before)
    ann.say("call", name="o", n=8, answered=7, calls=[["submit", [4, [["delete", "z", None]]]]])
    assert (await ann.hears("error", n=8))["code"] == "no_such_block"
