"""A node minds its places: cells are open while needed, ticks are sent while things move."""

from __future__ import annotations

from dataclasses import replace

from groupcore.shared.places import Thing
from groupcore.shared.places.minding import SPARE_S, Minding
from groupcore.shared.places.squares import ROOT, leaf_at, quarters
from groupcore.shared.testing import World
from tests.groupcore.shared.places.test_place import FAR, enter, rest

BALL = Thing("ball", "ball", x=10_000_000, y=10_000_000, width=64, height=64)


async def mind(world: World, name: str) -> Minding:
    return Minding(await enter(world, name), world._schedule)


def test_m1_a_cell_that_is_needed_has_its_role_and_stays_open() -> None:
    async def main(world: World) -> None:
        minding = await mind(world, "ann")
        cell = await minding.need(ROOT)
        assert cell.role == "leaf"
        await world.elapse(20 * SPARE_S)
        assert minding.place.cells == {ROOT: cell}

    World(1).run(main)


def test_m2_a_cell_is_closed_when_the_last_needs_it_no_more_and_nothing_is_owed() -> None:
    async def main(world: World) -> None:
        minding = await mind(world, "ann")
        await minding.need(ROOT)
        await minding.need(ROOT)
        minding.release(ROOT)
        await world.elapse(5 * SPARE_S)
        assert ROOT in minding.place.cells
        minding.release(ROOT)
        await world.elapse(5 * SPARE_S)
        assert minding.place.cells == {}
        again = await minding.need(ROOT)  # and opens anew
        assert again.role == "leaf"

    World(2).run(main)


def test_m2_who_comes_back_soon_finds_the_cell_still_open() -> None:
    async def main(world: World) -> None:
        minding = await mind(world, "ann")
        cell = await minding.need(ROOT)
        minding.release(ROOT)
        await world.elapse(1.5 * SPARE_S)  # it was seen spare once
        assert minding.place.cells == {ROOT: cell}
        assert await minding.need(ROOT) is cell
        await world.elapse(5 * SPARE_S)
        assert minding.place.cells == {ROOT: cell}

    World(8).run(main)


def test_m2_cells_that_only_carrying_has_opened_are_closed_behind_it() -> None:
    async def main(world: World) -> None:
        minding, bob = await mind(world, "ann"), await mind(world, "bob")
        await minding.place.outline.divide(ROOT)
        first, second = quarters(ROOT)[:2]
        there = await bob.need(second)  # nodes without disks forget what nobody has open
        async with minding.needing([first]):
            here = leaf_at(minding.place.outline.tree, 0, 0)
            assert here == first
            await minding.place.cells[first].put([Thing("note", "sticky", x=8 * FAR)], second)
            await world.elapse(5 * SPARE_S)
            assert set(minding.place.cells) == {first}
            assert not minding.place.cells[first].owes
        assert "note" in there.things
        await world.elapse(5 * SPARE_S)
        assert minding.place.cells == {}

    World(3).run(main)


def test_m3_ticks_are_sent_while_a_ball_rolls_and_stop_when_it_lies() -> None:
    async def main(world: World) -> None:
        ann, bob = await mind(world, "ann"), await mind(world, "bob")
        cell = await ann.need(ROOT)
        await bob.need(ROOT)
        await cell.put([BALL])
        await world.elapse(5.0)
        assert cell.ticks == 0
        await cell.operate("ball", "kick", [640, 0], "", {})
        await world.elapse(2.0)
        assert 20 <= cell.ticks <= 40  # two nodes, one tick each 50 ms
        await world.elapse(60.0)
        last = cell.ticks
        assert cell.things["ball"].x > BALL.x
        assert not cell.active
        await world.elapse(60.0)
        assert cell.ticks == last

    World(4).run(main)


def test_m3_a_timer_rings_about_when_it_is_due_and_costs_no_ticks_before() -> None:
    async def main(world: World) -> None:
        minding = await mind(world, "ann")
        cell = await minding.need(ROOT)
        await cell.put([replace(BALL, id="clock", kind="timer")])
        await cell.operate("clock", "start", [300_000], "", {})
        await world.elapse(299.0)
        assert cell.ticks == 0
        await world.elapse(2.0)
        assert cell.things["clock"].prop("rings") == 1
        assert cell.ticks <= 3

    World(5).run(main)


def test_where_nothing_is_to_move_by_itself_no_ticks_are_sent() -> None:
    async def main(world: World) -> None:
        minding = Minding(await enter(world, "ann"), world._schedule, ticks=False)
        cell = await minding.need(ROOT)
        await cell.put([BALL])
        await cell.operate("ball", "kick", [640, 0], "", {})
        await world.elapse(2.0)
        assert cell.ticks == 0

    World(7).run(main)


def test_a_place_that_is_minded_no_more_sends_nothing() -> None:
    async def main(world: World) -> None:
        minding = await mind(world, "ann")
        cell = await minding.need(ROOT)
        await cell.put([BALL])
        await cell.operate("ball", "kick", [640, 0], "", {})
        await world.elapse(0.5)
        minding.end()
        minding.place.end()
        last = cell.ticks
        await world.elapse(1.0)
        assert cell.ticks == last
        await rest(world)

    World(6).run(main)
