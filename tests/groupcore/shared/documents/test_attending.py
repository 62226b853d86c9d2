"""What nodes that are gone left undone in blocks that stand in the outline no more."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any, cast

import pytest

from groupcore.objects.rich_delta import Run, canonical, rich
from groupcore.sequencing.names import Process
from groupcore.shared.documents import Document
from groupcore.shared.documents.attending import Attending
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.outline import LEFT_MAX, DocumentOutline
from groupcore.shared.testing import World
from tests.groupcore.shared.documents.office import rest, sit_down


def run(main: Callable[[World], Coroutine[object, None, None]]) -> None:
    World(1).run(main)


async def joined(world: World, *texts: str) -> tuple[Document, list[str]]:
    """These blocks at node a, each joined to the one before it; the outline has the first only."""
    a = await sit_down(world, "a", keep=True)
    blocks = await a.insert("", [rich(text) for text in texts])
    for block in blocks:
        await a.block(block)
    for block, into in zip(blocks[:0:-1], blocks[-2::-1], strict=True):
        await a.join(block, into=into)
    await rest(world)
    assert list(a.outline.entries) == blocks[:1]
    return a, blocks


async def owing(world: World, a: Document, block: str) -> Block:
    """Node a goes in the moment in which a session of b has written into a joined block late."""
    witness = world.node("b")
    await witness.open(DocumentOutline, "doc/plan")  # in place of the disks: else all is gone
    for known in a.blocks:
        await witness.open(Block, f"doc/plan/{known}")
    late = await witness.open(Block, f"doc/plan/{block}")
    a.tender.ended = True
    await late.edit(0, canonical([3, Run("!")]))
    await world.settle()
    world.crash("a")
    await world.elapse(world.weather.crash_notice_s)
    return late


def test_what_a_block_owes_that_is_in_the_outline_no_more_is_carried_by_who_comes_next() -> None:
    """S1. As after a power cut: nobody has that block open, and only the groups have its text."""

    async def main(world: World) -> None:
        a, [_, second] = await joined(world, "One", "Two")
        late = await owing(world, a, second)
        assert late.owes
        c = await sit_down(world, "c", keep=True)
        await rest(world)
        assert await c.text() == "OneTwo!"
        assert not late.owes
        assert (c.outline.lost, c.outline.looked) == (1, 1)

    run(main)


def test_it_is_carried_through_all_blocks_that_have_been_joined_since() -> None:
    async def main(world: World) -> None:
        a, blocks = await joined(world, "One", "Two", "Thr")
        await owing(world, a, blocks[2])
        c = await sit_down(world, "c", keep=True)
        await rest(world)
        assert await c.text() == "OneTwoThr!"

    run(main)


def test_who_tends_the_document_already_looks_when_another_node_is_gone() -> None:
    async def main(world: World) -> None:
        a, [_, second] = await joined(world, "One", "Two")
        c = await sit_down(world, "c", keep=True)
        await rest(world)
        assert second not in c.blocks
        await owing(world, a, second)
        await rest(world)
        assert await c.text() == "OneTwo!"

    run(main)


def test_who_goes_with_a_word_has_left_nothing_and_nothing_is_looked_for() -> None:
    """S2."""

    async def main(world: World) -> None:
        a, [_, second] = await joined(world, "One", "Two")
        c = await sit_down(world, "c", keep=True)
        await a.close()
        await rest(world)
        assert c.outline.tenders == [c.tender.node]
        assert c.outline.lost == 0
        assert second not in c.blocks

    run(main)


def test_who_goes_while_a_block_owes_does_so_without_a_word() -> None:
    async def main(world: World) -> None:
        a, [_, second] = await joined(world, "One", "Two")
        c = await sit_down(world, "c", keep=True)
        witness = world.node("b")
        witness._process = Process(c.outline.process.node, 9)
        late = await witness.open(Block, f"doc/plan/{second}")
        late.edit(0, canonical([3, Run("!")]))
        while not a.blocks[second].owes:
            await world.elapse(0.001)
        await a.close()
        await rest(world)
        assert c.outline.looked == c.outline.lost == 1
        assert await c.text() == "OneTwo!"

    run(main)


def test_one_node_at_a_time_looks_and_what_one_that_goes_had_begun_is_begun_again() -> None:
    async def main(world: World) -> None:
        a, [_, second] = await joined(world, "One", "Two")
        await owing(world, a, second)
        c = await sit_down(world, "c", keep=False)
        d = await sit_down(world, "d", keep=True)
        c.tender.ended = True  # it is the first, and looks no further
        await rest(world)
        world.crash("c")
        await world.elapse(world.weather.crash_notice_s)
        await rest(world)
        assert d.outline.looked == d.outline.lost == 2
        assert await d.text() == "OneTwo!"

    run(main)


def test_the_last_blocks_are_remembered_that_had_groups_and_those_alone() -> None:
    async def main(world: World) -> None:
        a = await sit_down(world, "a", keep=True)
        blocks = await a.insert("", [rich(str(number)) for number in range(3)])
        await a.block(blocks[0])
        await rest(world)
        await a.delete(*blocks[:2])
        assert a.outline.left == blocks[:1]
        many = [f"m{number}" for number in range(LEFT_MAX)]
        await a.outline.admit("", [(one, "paragraph", 0) for one in many])
        await a.outline.remove(many, joined=True)
        assert a.outline.left == many

    run(main)


@pytest.mark.parametrize(
    ("begun", "lost", "ended", "tenders", "looks"),
    [
        (True, 1, False, ["a", "b"], 1),
        (False, 1, False, ["a", "b"], 0),
        (True, 0, False, ["a", "b"], 0),
        (True, 1, True, ["a", "b"], 0),
        (True, 1, False, ["b", "a"], 0),
        (True, 1, False, [], 0),
    ],
)
def test_who_tends_the_longest_looks_once_for_what_others_have_left_while_it_tends(
    begun: bool, lost: int, ended: bool, tenders: list[str], looks: int
) -> None:
    started: list[object] = []

    def start(coroutine: Coroutine[object, object, None]) -> None:
        started.append(coroutine)
        coroutine.close()

    attending = Attending(
        cast("Any", SimpleNamespace(start=start)),
        cast("DocumentOutline", SimpleNamespace(looked=0, lost=lost, tenders=tenders)),
        cast("Any", SimpleNamespace(ended=ended, node="a")),
        cast("Any", None),
    )
    attending._has_begun = begun
    for _ in range(2):
        attending.look()
    assert len(started) == looks
