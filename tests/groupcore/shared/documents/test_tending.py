"""Whose work it is to tend a block, and when it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

import pytest

from groupcore.objects.rich_delta import Run, canonical, rich
from groupcore.sequencing.names import Process
from groupcore.shared.documents import Document, open_document
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.parts import Parcel
from groupcore.shared.documents.tending import Tender
from groupcore.shared.testing import World
from tests.groupcore.shared.documents.office import Desk, rest, sit_down


def run(main: Callable[[World], Coroutine[object, None, None]]) -> None:
    World(1).run(main)


def test_what_a_session_owes_is_carried_by_others_if_its_node_does_not_tend_the_block() -> None:
    async def main(world: World) -> None:
        a = await sit_down(world, "a", keep=True)
        b = await sit_down(world, "b")
        first, second = await a.insert("", [rich("One"), rich("Two")])
        await a.block(first)
        await a.block(second)
        session = world.node("another session of b")
        session._process = Process(b.outline.process.node, 2)
        block = await session.open(Block, f"doc/plan/{second}")
        before = block.version
        await a.join(second, into=first)
        await world.settle()
        assert second not in b.blocks
        await block.edit(before, canonical([3, Run("!")]))
        await rest(world)
        assert await a.text() == "OneTwo!"
        assert not block.owes

    run(main)


def test_who_begins_to_tend_looks_at_all_that_it_has_open() -> None:
    async def main(world: World) -> None:
        a = await open_document(Desk(world, "a"), "plan", tend=False)
        [block] = await a.insert("", [rich("One")])
        desk = Desk(world, "b")
        outline = await desk.open(DocumentOutline, "doc/plan")
        b = Document(desk, "plan", outline, "b", keep=False, copies=1, tend=True)
        found = await b.group(block)
        await rest(world)
        assert found.status == "unborn"
        await b.attending._again()
        await rest(world)
        assert found.status == "open"
        assert not b.outline.seeds

    run(main)


def test_who_keeps_a_document_opens_what_was_planted_though_its_waking_is_lost() -> None:
    """As after a power cut: the block had its text on disk, the outline not that it woke."""

    async def main(world: World) -> None:
        a = await sit_down(world, "a", keep=True)
        [block] = await a.insert("", [rich("One")])
        b = await open_document(Desk(world, "b"), "plan", tend=False)
        found = await b.group(block)
        await found.accept("", block, Parcel(1, "birth", rich("One")))
        await rest(world)
        assert block not in a.blocks
        await b.outline.planted([block])
        await rest(world)
        assert block in a.blocks
        assert a.outline.entries[block].live

    run(main)


@pytest.mark.parametrize(
    ("by", "tend", "carries"),
    [
        ("a", ["a", "b"], True),
        ("a", ["b"], True),
        ("b", ["a", "b"], False),
        ("b", ["b", "a"], False),
        ("gone", ["a", "b"], True),
        ("gone", ["b", "a"], False),
        ("gone", [], False),
    ],
)
def test_who_owes_a_parcel_carries_it_and_the_oldest_where_that_one_tends_the_block_no_more(
    by: str, tend: list[str], carries: bool
) -> None:
    class Tended(Tender):
        def __init__(self) -> None:
            """Nothing else is asked."""

        @property
        def node(self) -> str:
            return "a"

        def _tending(self, block: Block) -> list[str]:
            return tend

    assert Tended()._is_mine(Block(), Parcel(1, "edit", (), by=by)) is carries
