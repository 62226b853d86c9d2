"""Opening thousands of blocks, some at a time."""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import suppress
from typing import cast

import pytest

from groupcore.shared.documents import Document
from groupcore.shared.documents.opening import OPENING_MAX, Opening
from groupcore.shared.pending import Pending
from groupcore.shared.replica import Replica
from groupcore.shared.tasks import wait
from groupcore.shared.testing import World
from tests.groupcore.shared.documents.office import sit_down


class Desk:
    """Runs coroutines in a world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        async def run() -> None:
            with suppress(RuntimeError):
                await coroutine

        self._world.spawn(run())


def position(document: Document) -> int:
    """How many messages the outline has had."""
    return cast("Replica[object]", document.outline._shared.caller).position


def many(count: int) -> list[str]:
    return [f"b{at}" for at in range(count)]


def test_some_are_opened_at_a_time_and_all_by_and_by() -> None:
    most = 0

    async def main(world: World) -> None:
        under_way = 0

        async def open_one(block: str) -> None:
            nonlocal most, under_way
            under_way += 1
            most = max(most, under_way)
            await world.elapse(0.01)
            under_way -= 1
            done.append(block)

        done: list[str] = []
        opening = Opening(Desk(world), open_one)
        for block in many(3 * OPENING_MAX):
            opening.want(block)
            opening.want(block)
        await world.elapse(1.0)
        assert sorted(done) == sorted(many(3 * OPENING_MAX))

    World(1).run(main)
    assert most == OPENING_MAX


def test_what_somebody_waits_for_comes_before_the_others() -> None:
    async def main(world: World) -> None:
        async def open_one(block: str) -> None:
            await world.elapse(0.01)
            done.append(block)

        done: list[str] = []
        opening = Opening(Desk(world), open_one)
        for block in many(4 * OPENING_MAX):
            opening.want(block)
        last = f"b{4 * OPENING_MAX - 1}"
        await opening.waited(last, Pending(wait))
        assert len(done) <= 2 * OPENING_MAX
        await world.elapse(1.0)
        assert sorted(done) == sorted(many(4 * OPENING_MAX)), "each once"

    World(1).run(main)


def test_a_block_that_cannot_be_opened_stops_no_others() -> None:
    async def main(world: World) -> None:
        async def open_one(block: str) -> None:
            await world.elapse(0.01)
            if block.endswith("0"):
                raise RuntimeError(block)
            done.append(block)

        done: list[str] = []
        desk = Desk(world)
        opening = Opening(desk, open_one)
        bad = opening.waited("b0", Pending(wait))
        for block in many(2 * OPENING_MAX):
            opening.want(block)
        await world.elapse(1.0)
        assert bad.done
        assert len(done) == 2 * OPENING_MAX * 9 // 10

    World(1).run(main)


@pytest.mark.slow
def test_thousands_of_seeds_are_planted_in_few_messages() -> None:
    async def main(world: World) -> None:
        docs = [await sit_down(world, name, keep=True, copies=2) for name in "abc"]
        ids = await docs[0].insert("", [()] * 300)
        await world.elapse(1.0)
        before = position(docs[0])
        docs[0].outline.wake(ids)
        await world.elapse(5.0)
        for doc in docs:
            assert not doc.outline.seeds
            assert sorted(doc.blocks) == sorted(ids)
        after = position(docs[0])
        assert after - before < 60

    World(1).run(main)
