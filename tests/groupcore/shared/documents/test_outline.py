"""The outline: where blocks stand, and what who follows it is told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from groupcore.objects.rich_delta import rich
from groupcore.objects.rich_parsing import size_bytes
from groupcore.shared.access import Right
from groupcore.shared.changes import Change, Changed
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.parts import (
    BlocksKnown,
    BlocksLeft,
    BlocksPlaced,
    Entry,
    OutlineChanged,
    Renamed,
    Seed,
    SeedsPlanted,
    SeedsSown,
)
from groupcore.shared.documents.seeding import SEED_BYTES, SEEDS_BYTES_MAX, runs_of
from groupcore.shared.testing import World
from tests.groupcore.shared.documents.office import Desk, rest, sit_down


def order_behind(*moves: tuple[str, str], deleted: str = "") -> str:
    """Blocks v, w, x, y and z after each of the named is put behind another one."""
    order = ""

    async def main(world: World) -> None:
        nonlocal order
        a = await sit_down(world, "a", keep=True)
        ids = dict(zip("vwxyz", await a.insert("", [rich(one) for one in "vwxyz"]), strict=True))
        names = {block: name for name, block in ids.items()}
        if deleted:
            await a.delete(*(ids[one] for one in deleted))
        for moved, after in moves:
            await a.move([ids[one] for one in moved], ids[after] if after else "")
        await rest(world)
        order = "".join(names[block] for block in a.outline.order)

    World(1).run(main)
    return order


@pytest.mark.parametrize(
    ("moved", "after", "order"),
    [
        ("x", "y", "vwyxz"),
        ("x", "", "xvwyz"),
        ("zv", "w", "wzvxy"),
        ("xz", "x", "vwxzy"),  # behind itself: behind what it stood behind
        ("vz", "v", "vzwxy"),
        ("wxz", "x", "vwxzy"),
        ("vwz", "w", "vwzxy"),
        ("wvz", "w", "wvzxy"),
    ],
)
def test_moved_blocks_stand_behind_what_their_anchor_stands_behind_if_it_moves_too(
    moved: str, after: str, order: str
) -> None:
    assert order_behind((moved, after)) == order


def test_who_is_moved_behind_a_deleted_block_stands_where_that_was() -> None:
    assert order_behind(("z", "x"), deleted="x") == "vwzy"
    assert order_behind(("z", "x"), deleted="wx") == "vzy"
    assert order_behind(("wz", "x"), deleted="x") == "vwzy"


def test_a_message_of_seeds_is_filled_to_its_limit_and_no_further() -> None:
    beside = size_bytes(rich("x" * 1000)) - 1000
    most = SEEDS_BYTES_MAX // 4 - SEED_BYTES - beside
    seeds = [Seed(f"b{at}", (), rich("x" * most)) for at in range(5)]
    assert [len(run) for run in runs_of(seeds)] == [4, 1]
    more = [*seeds[:3], Seed("more", (), rich("x" * (most + 1))), seeds[4]]
    assert [len(run) for run in runs_of(more)] == [3, 2]
    large = Seed("large", (), rich("x" * (SEEDS_BYTES_MAX + 1)))
    assert [len(run) for run in runs_of([large, *seeds[:1]])] == [1, 1]


def told_of(*steps: Callable[[DocumentOutline], Awaitable[object]]) -> list[list[object]]:
    """What who follows an outline is told of each of these changes."""
    told: list[list[object]] = []

    async def follow(changes: AsyncIterator[Change]) -> None:
        async for change in changes:
            if isinstance(change, Changed):
                told.append(list(change.details))

    async def main(world: World) -> None:
        outline = await Desk(world, "a").open(DocumentOutline, "doc/plan")
        world.spawn(follow(outline.changes()))
        for step in steps:
            await step(outline)
            await world.settle()

    World(1).run(main)
    return told


X, Y, Z = (Seed(name, (), rich(name)) for name in "xyz")


def test_who_follows_an_outline_is_told_where_blocks_stand_and_which_are_out() -> None:
    inserted, moved, split, out, back = told_of(
        lambda outline: outline.insert("", [X, Y, Z]),
        lambda outline: outline.move(["z"], "x"),
        lambda outline: outline.admit("x", [("new", "heading", 3), ("y", "heading", 3)]),
        lambda outline: outline.remove(["z", "nobody", "y"], True),
        lambda outline: outline.restore("y"),
    )
    assert inserted == [
        SeedsSown((X, Y, Z)),
        BlocksPlaced("", ("x", "y", "z")),
        OutlineChanged(("x", "y", "z")),
    ]
    assert moved == [BlocksPlaced("x", ("z",)), OutlineChanged(("z",))]
    assert split == [
        BlocksKnown((("new", Entry("heading", 3, live=True)),)),
        BlocksPlaced("x", ("new",)),
        OutlineChanged(("new", "y")),
    ]
    assert out == [BlocksLeft(("z", "y"), True), OutlineChanged(("z", "nobody", "y"))]
    assert back == [
        BlocksKnown((("y", Entry(live=True)),)),
        BlocksPlaced("new", ("y",)),
        OutlineChanged(("y",)),
    ]


def test_who_follows_an_outline_is_told_what_is_known_of_blocks_from_afar() -> None:
    _, woken, planted, planted_asleep, described, titled = told_of(
        lambda outline: outline.insert("", [X, Y]),
        lambda outline: outline.wake(["x", "nobody"]),
        lambda outline: outline.planted(["x"]),
        lambda outline: outline.planted(["x", "y"]),
        lambda outline: outline.describe([("y", "list", 7), ("nobody", "list", 7)]),
        lambda outline: outline.rename("Plan B"),
    )
    x, y = (Entry("paragraph", 1, live=True),) * 2
    assert woken == [BlocksKnown((("x", x),)), OutlineChanged(("x", "nobody"))]
    assert planted == [SeedsPlanted(("x",))]
    assert planted_asleep == [
        BlocksKnown((("y", y),)),
        OutlineChanged(("y",)),
        SeedsPlanted(("x", "y")),
    ]
    assert described == [
        BlocksKnown((("y", Entry("list", 7, live=True)),)),
        OutlineChanged(("y", "nobody")),
    ]
    assert titled == [Renamed("Plan B")]


def test_nodes_do_for_themselves_what_tending_needs_and_no_more_where_somebody_manages() -> None:
    allowed: dict[tuple[str, str], bool] = {}
    versions = []

    async def main(world: World) -> None:
        outline = await Desk(world, "a", "anna").open(DocumentOutline, "doc/plan")
        assert outline.may_call("ben", "insert"), "nobody has claimed it"
        await outline.claim()
        versions.append(outline.rights_version)
        await outline.grant("ben", Right.WRITE)
        versions.append(outline.rights_version)
        await outline.grant("carl", Right.READ)
        await outline.revoke("carl")
        versions.append(outline.rights_version)
        for who in ("", "ben", "carl"):
            for operation in (
                "remove",
                "wake",
                "describe",
                "insert",
                "rename",
                "attend",
                "planted",
            ):
                allowed[who, operation] = outline.may_call(who, operation)

    World(1).run(main)
    assert versions == [1, 2, 4]
    may = {
        who: {name for by, name in allowed if by == who and allowed[by, name]} for who, _ in allowed
    }
    assert may == {
        "": {"remove", "wake", "describe", "attend", "planted"},
        "ben": {"remove", "wake", "describe", "insert", "rename"},
        "carl": set(),
    }
