"""Where nodes have disks, no text is forgotten by who gave it before it is on them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from groupcore.objects.rich_delta import Run, canonical, plain, rich
from groupcore.shared.documents import Document
from groupcore.shared.documents.handing import UNBORN
from groupcore.shared.errors import OutcomeUnknownError
from groupcore.shared.pending import Pending
from groupcore.shared.tasks import wait
from groupcore.shared.testing import World
from tests.groupcore.shared.documents.office import rest, sit_down


class Disk:
    """Writes when it is told to."""

    def __init__(self) -> None:
        self._waiting: list[Pending[None]] = []
        self.asked = 0

    async def secure(self) -> None:
        self.asked += 1
        waits: Pending[None] = Pending(wait)
        self._waiting.append(waits)
        await waits

    def fail(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            one.fail(OutcomeUnknownError("the cluster has gone on without this node"))

    def write(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            one.resolve(None)


def run(main: Callable[[World], Coroutine[object, None, None]]) -> None:
    World(1).run(main)


async def two(world: World) -> tuple[Document, Document, Disk]:
    disk = Disk()
    a = await sit_down(world, "a", keep=True, secure=disk.secure)
    b = await sit_down(world, "b", keep=True, secure=disk.secure)
    return a, b, disk


async def begun(world: World) -> tuple[Document, Document, Disk, str]:
    """The same with a block of its own, "milk bread", which is on disk."""
    a, b, disk = await two(world)
    [block] = await a.insert("", [rich("milk bread")])
    await a.block(block)
    await rest(world)
    disk.write()
    await rest(world)
    return a, b, disk, block


def test_a_block_owes_what_was_split_off_until_it_is_on_disk() -> None:
    async def main(world: World) -> None:
        a, b, disk, block = await begun(world)
        found = await a.block(block)
        split = world.spawn(a.split(block, 5))
        await rest(world)
        disk.write()
        await rest(world)
        new = split.result()
        assert plain(b.blocks[new].content) == "bread"
        assert list(found.owes) == [new]
        assert await b.text() == "milk \nbread"
        disk.write()
        await rest(world)
        assert not found.owes
        assert await a.text() == await b.text() == "milk \nbread"

    run(main)


def test_what_a_block_owes_is_carried_once_it_is_on_disk_that_it_does() -> None:
    async def main(world: World) -> None:
        a, b, disk, block = await begun(world)
        found = await a.block(block)
        split = world.spawn(a.split(block, 5))
        await rest(world)
        [new] = found.owes
        assert not split.done
        assert new not in b.outline.entries
        assert new not in b.blocks or b.blocks[new].status == UNBORN
        await a.close()  # who is next does not know whether that is on disk: it sends, and waits
        await rest(world)
        assert new not in b.outline.entries
        disk.write()
        await rest(world)
        assert await b.text() == "milk \nbread"

    run(main)


def test_the_outline_keeps_a_seed_until_its_text_is_on_disk() -> None:
    async def main(world: World) -> None:
        a, b, disk = await two(world)
        [block] = await a.insert("", [rich("seed")])
        await b.write(block, canonical([4, Run("ling")]))
        await rest(world)
        assert list(a.outline.seeds) == [block]
        assert await a.text() == "seedling"
        disk.write()
        await rest(world)
        assert not a.outline.seeds

    run(main)


def test_one_node_alone_waits_for_the_disk_and_another_when_that_one_is_gone() -> None:
    async def main(world: World) -> None:
        a, b, disk, block = await begun(world)
        before = disk.asked
        world.spawn(a.split(block, 5))
        await rest(world)
        assert disk.asked == before + 1
        disk.write()
        await rest(world)
        assert disk.asked == before + 2
        await a.close()
        await rest(world)
        for _ in range(3):
            disk.write()
            await rest(world)
        assert not b.blocks[block].owes

    run(main)


def test_what_was_asked_for_again_while_it_failed_is_done_again() -> None:
    async def main(world: World) -> None:
        a, _, disk = await two(world)
        [block] = await a.insert("", [rich("seed")])
        await a.block(block)
        await rest(world)
        assert disk.asked == 1
        a.tender.wake(block)  # as everything is when the node lives again
        await rest(world)
        disk.fail()
        await rest(world)
        assert disk.asked == 2
        disk.write()
        await rest(world)
        assert not a.outline.seeds

    run(main)


def test_what_nobody_asks_for_again_is_left_when_it_fails() -> None:
    async def main(world: World) -> None:
        a, _, disk = await two(world)
        [block] = await a.insert("", [rich("seed")])
        await a.block(block)
        await rest(world)
        busy = [a.tender.is_busy]  # it waits for a disk
        disk.fail()
        await rest(world)
        assert disk.asked == 1
        busy.append(a.tender.is_busy)
        assert busy == [True, False]
        assert list(a.outline.seeds) == [block]

    run(main)
