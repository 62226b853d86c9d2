"""A place at several nodes: cells divide and unite, nodes die, and one takes back what one did."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import TypeVar

import pytest

from groupcore.sequencing.names import Process
from groupcore.shared.access import Right
from groupcore.shared.errors import ForbiddenError
from groupcore.shared.places import Edit, Place, Thing, open_place
from groupcore.shared.places.interest import View
from groupcore.shared.places.own_changes import OwnChanges, Step, Wish, wish_for
from groupcore.shared.places.refusals import NoSuchThingError, ThingHeldError
from groupcore.shared.places.squares import Box
from groupcore.shared.testing import BAD_WEATHER, Weather, World

T = TypeVar("T")
FAR = 100_000_000
WEATHERS = [None, BAD_WEATHER]


class Desk:
    """A node of a world, as what a place needs."""

    def __init__(self, world: World, name: str, principal: str = "") -> None:
        self.world = world
        self.node = world.node(name, principal)

    @property
    def process(self) -> Process:
        return self.node.process

    def open(self, kind: type[T], name: str) -> Awaitable[T]:
        return self.node.open(kind, name)

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        self.world.spawn(coroutine)


async def enter(world: World, name: str) -> Place:
    return await open_place(Desk(world, name), "hall", split_above=8, merge_below=3)


async def rest(world: World, *places: Place) -> None:
    """Let everybody do what is left to do, with all cells open."""
    for _ in range(20):
        for place in places:
            place.want(place.outline.tree)
        await world.settle()
        await world.elapse(0.05)


def many(count: int) -> list[Thing]:
    return [Thing(f"t{n}", "sticky", x=n * FAR // 4, y=n * FAR // 7) for n in range(count)]


@pytest.mark.parametrize("weather", WEATHERS)
def test_a_crowded_cell_is_quartered_and_lonely_ones_unite_and_things_go_along(
    weather: Weather | None,
) -> None:  # T1, P1
    async def main(world: World) -> None:
        ann, bob = await enter(world, "ann"), await enter(world, "bob")
        await ann.put(many(12))
        await rest(world, ann, bob)
        assert len(ann.cells) > 4
        assert ann.outline.tree["r"] == "inner"
        assert set(bob.screen()) == {f"t{n}" for n in range(12)}
        assert sum(one.count for one in ann.outline.digests.values()) >= 9
        await bob.delete([f"t{n}" for n in range(11)])
        await rest(world, ann, bob)
        assert [path for path, role in ann.outline.tree.items() if role == "leaf"] == ["r"]
        assert set(ann.screen()) == {"t11"}
        for path in ann.cells:
            world.assert_equal(ann.name_of(path))

    World(seed=3, weather=weather).run(main)


@pytest.mark.parametrize("weather", WEATHERS)
def test_things_of_several_cells_move_together_and_are_taken_back(
    weather: Weather | None,
) -> None:  # J1
    async def main(world: World) -> None:
        ann, bob = await enter(world, "ann"), await enter(world, "bob")
        await ann.put(many(12))
        await rest(world, ann, bob)
        await bob.change([Edit("t1", (("x", -5 * FAR),)), Edit("t11", (("y", -5 * FAR),))])
        await rest(world, ann, bob)
        assert (ann.screen()["t1"].x, ann.screen()["t11"].y) == (-5 * FAR, -5 * FAR)
        await ann.cells[ann.where("t2")].grab(["t2"], "ann")
        with pytest.raises(ThingHeldError):
            await bob.change([Edit("t2", (("x", 1),)), Edit("t11", (("y", 1),))])
        await rest(world, ann, bob)
        assert ann.screen()["t11"].y == -5 * FAR
        await bob.undo()
        await rest(world, ann, bob)
        assert (ann.screen()["t1"].x, ann.screen()["t11"].y) == (FAR // 4, 11 * FAR // 7)
        await bob.redo()
        await rest(world, ann, bob)
        assert ann.screen()["t1"].x == -5 * FAR
        assert all(not cell.joints and not cell.outcomes for cell in ann.cells.values())

    World(seed=4, weather=weather).run(main)


def test_what_a_node_that_died_owed_is_carried_by_another_one() -> None:
    async def main(world: World) -> None:
        ann, bob = await enter(world, "ann"), await enter(world, "bob")
        await ann.put(many(12))
        await rest(world, ann, bob)
        path = ann.where("t1")
        ann.carrier.ended = True  # it dies before it carries what it owes
        await ann.cells[path].change([Edit("t1", (("x", -5 * FAR),))])
        assert ann.cells[path].owes
        world.crash("ann")
        await world.elapse(1)
        await rest(world, bob)
        assert bob.screen()["t1"].x == -5 * FAR
        assert not any(cell.owes for cell in bob.cells.values())

    World(seed=5).run(main)


def test_who_looks_elsewhere_leaves_what_is_not_seen() -> None:
    async def main(world: World) -> None:
        ann = await enter(world, "ann")
        await ann.put(many(12))
        await rest(world, ann)
        leaves = [path for path, role in ann.outline.tree.items() if role == "leaf"]
        view = View(Box(-5 * FAR, -5 * FAR, -4 * FAR, -4 * FAR))
        for _ in range(5):
            ann.want(ann.look(view, ann.cells).needed)
            await world.elapse(0.2)
        assert 0 < len(ann.cells) < len(leaves)
        with pytest.raises(NoSuchThingError):
            await ann.change([Edit("t1", (("x", 1),))])

    World(seed=6).run(main)


def test_the_cells_follow_the_access_list() -> None:
    async def main(world: World) -> None:
        ann = await enter(world, "keeper")
        await ann.put(many(2))
        owner = await world.node("owner", "ann").open(type(ann.outline), "place/hall")
        await owner.claim()
        await rest(world, ann)
        stranger = world.node("stranger", "eve")
        with pytest.raises(ForbiddenError):
            await stranger.open(type(ann.cells["r"]), ann.name_of("r"))
        await owner.grant("eve", Right.WRITE)
        await rest(world, ann)
        cell = await stranger.open(type(ann.cells["r"]), ann.name_of("r"))
        await cell.change([Edit("t1", (("text", "eve"),))])
        with pytest.raises(ForbiddenError):
            await cell.tick(1)

    World(seed=7).run(main)


# --- undo -----------------------------------------------------------------------------------------

OLD = Thing("a", "sticky", text="old", style=(("colour", "red"),))
NEW = Thing("a", "sticky", x=5, text="new", version=1)


def test_what_others_did_since_then_stays() -> None:
    own = OwnChanges()
    own.note(Step((OLD,), (NEW,)))
    wish = own.undo({"a": NEW})
    assert wish is not None
    (edit,) = wish.edits
    assert dict(edit.changes) == {"x": 0, "text": "old", "style.colour": "red"}
    assert dict(edit.expected) == {"x": 5, "text": "new", "style.colour": None}
    again = own.redo({"a": OLD})
    assert again is not None
    assert dict(again.edits[0].changes) == {"x": 5, "text": "new", "style.colour": None}
    assert own.redo({}) is None


def test_what_was_put_is_deleted_if_nobody_touched_it_and_what_was_deleted_comes_back() -> None:
    put, deleted = Step((), (NEW,)), Step((NEW,), ())
    assert wish_for(put.inverse, {"a": NEW}) == Wish(deletions=(("a", 1),))
    (back,) = wish_for(deleted.inverse, {}).puts
    assert (back.id, back.hops) == ("a", NEW.hops + 1)
    assert wish_for(deleted.inverse, {"a": OLD}) == Wish()
    assert wish_for(put.inverse, {}) == Wish()


@pytest.mark.parametrize("weather", WEATHERS)
def test_what_is_handed_over_just_now_can_be_changed_and_deleted(weather: Weather | None) -> None:
    async def main(world: World) -> None:
        ann, bob = await enter(world, "ann"), await enter(world, "bob")
        await ann.put(many(12))
        bob.want(["r"])
        await world.settle()
        for number in range(8):  # while the cell is quartered, and its quarters are
            await bob.change([Edit(f"t{number}", (("text", "seen"),))])
        await bob.delete(["t8", "t9"])
        await rest(world, ann, bob)
        screen = ann.screen()
        assert {one for one, thing in screen.items() if thing.text} == {f"t{n}" for n in range(8)}
        assert set(screen) == {f"t{n}" for n in (*range(8), 10, 11)}
        with pytest.raises(NoSuchThingError):
            await bob.change([Edit("t8", (("text", "gone"),))])

    World(seed=11, weather=weather).run(main)


def test_what_was_put_or_deleted_is_undone_and_redone_as_often_as_one_likes() -> None:
    async def main(world: World) -> None:
        ann = await enter(world, "ann")
        await ann.put([Thing("note", "sticky", text="Milk")])
        for _ in range(3):
            assert await ann.undo()
            assert ann.screen() == {}
            assert await ann.redo()
            assert ann.screen()["note"].text == "Milk"
        await ann.delete(["note"])
        for _ in range(3):
            assert await ann.undo()
            assert ann.screen()["note"].text == "Milk"
            assert await ann.redo()
            assert ann.screen() == {}

    World(seed=12).run(main)


def test_what_one_has_put_and_changed_to_and_fro_is_taken_away_by_undo() -> None:
    async def main(world: World) -> None:
        ann = await enter(world, "ann")
        await ann.put([Thing("note", "sticky", text="Milk")])
        await ann.change([Edit("note", (("text", "Bread"),))])
        assert await ann.undo()
        assert await ann.undo()
        assert ann.screen() == {}

    World(seed=13).run(main)
