"""What the outline is told of blocks, for those who have them not open."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import cast

import pytest

from groupcore.objects.rich_delta import Format, RichDelta, Run, canonical, rich
from groupcore.shared.documents import Document
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.describing import Describing
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.parts import Entry, Parcel
from groupcore.shared.testing import World
from tests.groupcore.shared.documents.office import rest, sit_down


def run(main: Callable[[World], Coroutine[object, None, None]]) -> None:
    World(1).run(main)


def typed(at: int, text: str) -> RichDelta:
    return canonical([at, Run(text)])


async def three(world: World) -> tuple[Document, Document, list[str]]:
    """Two keepers of a document of three blocks."""
    a, b = await sit_down(world, "a", keep=True), await sit_down(world, "b", keep=True)
    ids = await a.insert("", [rich("one"), rich("two"), rich("three")])
    await rest(world)
    return a, b, ids


def test_the_outline_knows_about_how_long_blocks_are_and_of_what_type() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        block = await a.block(ids[0])
        await a.write(ids[0], typed(0, "x" * 30))
        await rest(world)
        assert b.outline.entries[ids[0]].length == 3
        await b.write(ids[0], typed(0, "x" * 30))
        await block.set({"type": "heading", "level": 1})
        await rest(world)
        entry = b.outline.entries[ids[0]]
        assert (entry.type, entry.length, entry.live) == ("heading", 63, True)

    run(main)


def outline_version(document: Document) -> int:
    """How many messages of the outline have been delivered."""
    return document.outline._shared.caller.position  # type: ignore[attr-defined,no-any-return]


def test_the_outline_moves_once_when_a_heading_changes_whatever_its_length() -> None:
    """Who lists headings that are not open asks anew when the outline has moved."""

    async def main(world: World) -> None:
        a, b, ids = await three(world)
        block = await a.block(ids[0])
        await block.set({"type": "heading", "level": 1})
        await rest(world)
        before = outline_version(b)
        await b.write(ids[0], canonical([-1, Run("X")]))
        await rest(world)
        assert outline_version(b) == before + 1
        await block.set({"type": "heading", "level": 2})
        await rest(world)
        assert outline_version(b) == before + 2
        await block.set({"type": "heading", "level": 2, "align": "left"})
        await a.write(ids[0], canonical([Format(1, (("bold", True),))]))
        await rest(world)
        assert outline_version(b) == before + 2

    run(main)


def test_another_node_tells_of_a_heading_when_the_one_that_did_is_gone() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        await (await a.block(ids[0])).set({"type": "heading", "level": 1})
        await rest(world)
        world.crash("a")
        await world.elapse(1.0)
        before = outline_version(b)
        await (await b.block(ids[0])).set({"type": "heading", "level": 2})
        await rest(world)
        assert outline_version(b) > before

    run(main)


def test_who_writes_in_headings_has_all_told_once_in_a_rest() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        for one in ids[:2]:
            await (await a.block(one)).set({"type": "heading", "level": 1})
        await rest(world)
        for document in (a, b):
            document.tender.describing.rest = partial(world.elapse, 1.0)
        before = outline_version(b)
        for _ in range(8):
            await b.write(ids[0], typed(0, "x"))
            await a.write(ids[1], typed(0, "y"))
            await rest(world)
        # The first letter of all at once, the others together behind the rest.
        assert outline_version(b) == before + 1
        assert b.outline.entries[ids[0]].length == 4
        await world.elapse(1.0)
        await rest(world)
        assert outline_version(b) == before + 2
        assert [b.outline.entries[one].length for one in ids] == [11, 11, 5]
        await world.elapse(5.0)
        assert outline_version(b) == before + 2
        # Behind a rest in which nothing came, what comes is told at once.
        await b.write(ids[0], canonical([-1]))
        await rest(world)
        assert outline_version(b) == before + 3

    run(main)


def test_a_split_of_a_heading_waits_for_no_rest() -> None:
    async def main(world: World) -> None:
        a, b, ids = await three(world)
        await (await a.block(ids[0])).set({"type": "heading", "level": 1})
        await rest(world)
        for document in (a, b):
            document.tender.describing.rest = partial(world.elapse, 60.0)
        await b.write(ids[0], typed(0, "x"))
        await rest(world)
        await b.write(ids[0], typed(0, "x"))
        fresh = await b.split(ids[0], 2)
        await rest(world)
        assert fresh in a.outline.entries

    run(main)


@pytest.mark.parametrize(
    ("known", "length", "told"),
    [
        (0, 40, 0),
        (0, 41, 1),
        (100, 60, 0),
        (100, 59, 1),
        (400, 500, 0),
        (400, 501, 1),
        (400, 299, 1),
    ],
)
def test_a_length_is_told_when_it_is_off_by_forty_and_by_a_quarter(
    known: int, length: int, told: int
) -> None:
    block = Block()
    parcel = Parcel(1, "birth", rich("x" * length), attributes=(("type", "quote"),))
    block.accept("", "b", parcel).result()
    describing = Describing(cast("DocumentOutline", None), {}, lambda _: None)
    news = describing.news("b", block, Entry("quote", known, live=True))
    assert news == (("b", "quote", length) if told else None)
    assert describing.news("b", block, Entry("todo", length)) == ("b", "quote", length)
    assert describing.news("b", block, None) is None


def test_nothing_is_told_of_a_block_that_is_closed_or_not_born() -> None:
    describing = Describing(cast("DocumentOutline", None), {}, lambda _: None)
    entry = Entry("quote", 900, live=True)
    block = Block()
    assert describing.news("b", block, entry) is None
    block.accept("", "b", Parcel(1, "birth", rich("text"))).result()
    assert describing.news("b", block, entry) == ("b", "paragraph", 4)
    block.join("other").result()
    assert describing.news("b", block, entry) is None
