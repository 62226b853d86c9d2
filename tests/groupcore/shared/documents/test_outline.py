"""The outline: where blocks stand that are put behind others, whatever became of those."""

from __future__ import annotations

import pytest

from groupcore.objects.rich_delta import rich
from groupcore.objects.rich_parsing import size_bytes
from groupcore.shared.documents.parts import Seed
from groupcore.shared.documents.seeding import SEED_BYTES, SEEDS_BYTES_MAX, runs_of
from groupcore.shared.testing import World
from tests.groupcore.shared.documents.office import rest, sit_down


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
