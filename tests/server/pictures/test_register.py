"""Which pictures there are: what is put in stays, what no block names goes after its time."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

import pytest

from groupcore.shared.testing import BAD_WEATHER, World
from server.errors import BadMessageError
from server.pictures.register import NAME, Kept, Pictures

PNG = Kept("image/png", 40, 30, 600)
ONE, TWO = "1" * 64, "2" * 64
ROOM = 1000
DAY_S = 600.0
KEEP_S = 30 * DAY_S


def desk(main: Callable[[World, Pictures, Pictures], Coroutine[object, None, None]]) -> None:
    """Run a program with the list at two nodes; the replicas are equal in the end."""

    async def begin(world: World) -> None:
        at = [await world.node(name).open(Pictures, NAME) for name in "ab"]
        await main(world, at[0], at[1])
        await world.settle()
        world.assert_equal(NAME)

    World(1, BAD_WEATHER).run(begin)


async def sweep(pictures: Pictures, named: set[str], number: int | None = None) -> list[str]:
    """As a node does it."""
    again, idle = pictures.news("plan", named, KEEP_S)
    seen = pictures.number if number is None else number
    return await pictures.looked("plan", again, idle, seen, KEEP_S)


def test_a_picture_belongs_to_the_documents_that_it_was_put_into() -> None:
    async def main(world: World, here: Pictures, there: Pictures) -> None:
        await here.put("plan", ONE, PNG, ROOM)
        await there.refresh()
        assert there.of("plan", ONE) == PNG
        assert there.of("notes", ONE) is None
        await there.copy("plan", "notes", ONE)
        assert there.of("notes", ONE) == PNG
        assert there.bytes_kept == 600

    desk(main)


def test_what_a_document_has_not_cannot_be_copied_from_it() -> None:
    async def main(world: World, here: Pictures, there: Pictures) -> None:
        await here.put("plan", ONE, PNG, ROOM)
        with pytest.raises(BadMessageError) as caught:
            await here.copy("notes", "diary", ONE)
        assert caught.value.code == "no_such_picture"

    desk(main)


def test_all_pictures_together_are_as_large_as_settings_allow() -> None:
    """P3: two at the same time do not both get in."""

    async def main(world: World, here: Pictures, there: Pictures) -> None:
        both = [here.put("plan", ONE, PNG, ROOM), there.put("plan", TWO, PNG, ROOM)]
        codes = []
        for one in both:
            try:
                await one
            except BadMessageError as error:
                codes.append(error.code)
        assert codes == ["no_room"]
        assert here.bytes_kept == 600
        await here.put("notes", next(iter(here.kept)), PNG, ROOM)

    desk(main)


def test_what_no_block_names_goes_after_its_time_and_not_before() -> None:
    async def main(world: World, here: Pictures, there: Pictures) -> None:
        await here.put("plan", ONE, PNG, ROOM)
        assert await sweep(here, set()) == []
        await world.elapse(KEEP_S - DAY_S)
        assert await sweep(here, set()) == []
        await world.elapse(2 * DAY_S)
        assert await sweep(here, set()) == [ONE]
        assert (here.kept, here.uses, here.bytes_kept) == ({}, {}, 0)

    desk(main)


def test_a_picture_that_is_named_again_has_its_whole_time_again() -> None:
    async def main(world: World, here: Pictures, there: Pictures) -> None:
        await here.put("plan", ONE, PNG, ROOM)
        await sweep(here, set())
        await world.elapse(KEEP_S - DAY_S)
        await sweep(here, {ONE})
        await sweep(here, set())
        await world.elapse(2 * DAY_S)
        assert await sweep(here, set()) == []

    desk(main)


def test_a_picture_that_is_put_in_while_a_sweep_looks_is_not_let_go() -> None:
    """P2."""

    async def main(world: World, here: Pictures, there: Pictures) -> None:
        await here.put("plan", ONE, PNG, ROOM)
        await sweep(here, set())
        await world.elapse(KEEP_S + DAY_S)
        number = here.number
        again, idle = here.news("plan", set(), KEEP_S)
        assert idle == [ONE]
        await there.put("plan", ONE, PNG, ROOM)
        assert await here.looked("plan", again, idle, number, KEEP_S) == []
        assert here.of("plan", ONE) == PNG

    desk(main)


def test_a_picture_of_two_documents_stays_with_the_other() -> None:
    async def main(world: World, here: Pictures, there: Pictures) -> None:
        await here.put("plan", ONE, PNG, ROOM)
        await here.put("notes", ONE, PNG, ROOM)
        await sweep(here, set())
        await world.elapse(KEEP_S + DAY_S)
        assert await sweep(here, set()) == [ONE]
        assert here.of("plan", ONE) is None
        assert here.of("notes", ONE) == PNG

    desk(main)


@pytest.mark.parametrize(("doc", "name"), [("../plan", ONE), ("plan", "../secret")])
def test_names_that_are_none_are_refused(doc: str, name: str) -> None:
    async def main(world: World, here: Pictures, there: Pictures) -> None:
        with pytest.raises(Exception, match="named by its hash"):
            await here.put(doc, name, PNG, ROOM)
        assert not here.kept

    desk(main)
