"""Cells are quartered down to where they are not crowded, at once, by count and by bytes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.shared.machine import Machine
from groupcore.shared.places import Cell, PlaceOutline, Thing
from groupcore.shared.places.limits import (
    CELLS_MAX,
    DEPTH_MAX,
    DIVIDED_MAX,
    MERGE_BYTES,
    SPLIT_BYTES,
    SPLITS_MAX,
)
from groupcore.shared.places.refusals import BadPathError
from groupcore.shared.places.splitting import is_crowded, is_lonely, splits
from groupcore.shared.places.squares import ROOT, leaf_at, path_at, quarters
from groupcore.shared.places.thing import size_bytes
from groupcore.shared.testing import World
from tests.groupcore.shared.places.test_place import enter, rest

FORMER_OUTLINE = (
    "93c40856423dc00fb97fee9505cd03e8919293a161010101a76123312f313a31909990a448616c6c9992a172a5"
    "696e6e657292a27230a5696e6e657292a27231a46c65616692a27232a46c65616692a27233a46c65616692a372"
    "3030a46c65616692a3723031a46c65616692a3723032a46c65616692a3723033a46c656166039192a372303196"
    "090000050591a372656400900000"
)
"""What the version packed that could only `divide`: a place quartered twice, with a digest."""
FORMER_CELL = (
    "93c4081c0fd0ebd34400be9503cd03e8919293a161010101a76123312f313a3190dc0012a172a46c6561660391"
    "92a46e6f7465dc0014a46e6f7465a6737469636b79cd028000000000000000a44d696c6ba0c290909090900000"
    "9090909090909090909090900000"
)
"""And a cell with a note."""


def note(number: int, x: int, y: int, text: str = "") -> Thing:
    return Thing(f"t{number}", "sticky", x=x, y=y, text=text)


def heap(count: int, step: int = 1 << 20) -> list[Thing]:
    """Notes in a row of this step, near the origin."""
    return [note(number, step * number, 0) for number in range(count)]


def tree_of(paths: list[str]) -> dict[str, str]:
    outline = PlaceOutline()
    assert outline.split(paths).result()
    return dict(outline.tree)


# --- what is to be quartered ----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1 << 22), st.integers(0, 1 << 22)), min_size=9, max_size=60)
)
def test_behind_splits_no_cell_is_crowded_that_can_be_parted(spots: list[tuple[int, int]]) -> None:
    things = [note(number, *spot) for number, spot in enumerate(spots)]
    paths = splits(ROOT, things, above=8)
    if not paths:
        assert len({path_at(*spot, DEPTH_MAX) for spot in spots}) == 1
        return
    tree = tree_of(paths)
    leaves = Counter(leaf_at(tree, *spot) for spot in spots)
    for path, count in leaves.items():
        smallest = {path_at(*spot, DEPTH_MAX) for spot in spots if leaf_at(tree, *spot) == path}
        assert count <= 8 or len(smallest) == 1


def test_a_bulk_in_a_small_part_of_a_cell_goes_down_at_once() -> None:
    paths = splits(ROOT, heap(20), above=8)
    assert max(map(len, paths)) > 5
    assert paths[0] == ROOT
    for path in paths[1:]:  # each behind the one that it is a quarter of
        assert path[:-1] in paths[: paths.index(path)]


def test_what_lies_at_one_spot_is_left_as_it_is() -> None:
    assert splits(ROOT, [note(number, 5, 5) for number in range(50)], above=8) == []
    mixed = [*heap(20, step=0), note(99, 900_000_000, 0)]
    tree = tree_of(splits(ROOT, mixed, above=8))
    assert len(tree) == 5  # parted from the other one, and no further


def test_few_large_things_are_parted_by_their_bytes() -> None:
    large = [note(number, number << 26, 0, "x" * 9_000) for number in range(16)]
    assert is_crowded(large)
    assert not is_crowded(large[:3])
    tree = tree_of(splits(ROOT, large))
    by_leaf: Counter[str] = Counter()
    for one in large:
        by_leaf[leaf_at(tree, one.x, one.y)] += size_bytes(one)
    assert len(by_leaf) > 1
    assert max(by_leaf.values()) <= SPLIT_BYTES
    assert not is_lonely([large[:4], [], [], []])  # few, and too large to be one cell
    assert is_lonely([heap(3), [], [], []])
    assert MERGE_BYTES * 4 <= SPLIT_BYTES


def test_no_more_cells_are_quartered_at_once_than_one_operation_takes() -> None:
    scattered = [note(n, (n % 64) << 24, (n // 64) << 24) for n in range(2_000)]
    paths = splits(ROOT, scattered, above=1)
    assert len(paths) == SPLITS_MAX
    assert PlaceOutline().split(paths).result()


# --- the outline ----------------------------------------------------------------------------------


def test_t1_a_split_is_done_as_a_whole_or_not_at_all() -> None:
    outline = PlaceOutline()
    assert outline.split([ROOT, "r0", "r03"]).result()
    assert outline.tree_version == 2
    roles = Counter(outline.tree.values())
    assert (roles["inner"], roles["leaf"]) == (3, 10)
    for wrong in ([], ["r1", "r2", "r1"], ["r1", "r20"], ["r1", "x"], ["r1"] * (SPLITS_MAX + 1)):
        before = dict(outline.tree)
        assert not outline.split(wrong).result()
        assert dict(outline.tree) == before
    lowest = path_at(0, 0, DEPTH_MAX)
    way = [lowest[:size] for size in range(1, len(lowest) + 1)]
    assert not PlaceOutline().split(way).result()
    assert PlaceOutline().split(way[:-1]).result()


def test_a_place_has_room_for_the_cells_of_a_million_things_and_no_more() -> None:
    outline, level = PlaceOutline(), [ROOT]
    while level:
        for start in range(0, len(level), SPLITS_MAX):
            outline.split(level[start : start + SPLITS_MAX]).result()
        level = [one for path in level for one in quarters(path) if len(one) < 8]
    assert 5_461 <= len(outline.tree) <= CELLS_MAX
    assert len(outline.tree) > CELLS_MAX - 4 * SPLITS_MAX - 1


def test_divide_does_what_it_did_in_former_versions() -> None:
    outline = PlaceOutline()
    assert outline.divide(ROOT).result()
    assert not outline.divide(ROOT).result()
    level = list(quarters(ROOT))
    while len(outline.tree) + 4 <= DIVIDED_MAX:
        outline.divide(level[0]).result()
        level = [*level[1:], *quarters(level[0])]
    before = len(outline.tree)
    assert not outline.divide(level[0]).result()
    assert len(outline.tree) == before
    assert outline.split(level[:1]).result()


def test_states_of_the_former_version_are_taken() -> None:
    hall, cell = Machine(PlaceOutline(), 1), Machine(Cell(), 1)
    hall.load(bytes.fromhex(FORMER_OUTLINE))
    outline = hall.target
    assert isinstance(outline, PlaceOutline)
    assert (outline.title, outline.tree["r0"], outline.digests["r01"].count) == ("Hall", "inner", 9)
    cell.load(bytes.fromhex(FORMER_CELL))
    assert isinstance(cell.target, Cell)
    assert cell.target.things["note"].text == "Milk"
    assert hall.elders  # while one of them runs, nobody joins


# --- the cells ------------------------------------------------------------------------------------


def test_what_a_quartered_cell_held_goes_straight_to_the_leaves() -> None:
    cell = Cell()
    cell.become(ROOT, 1, "leaf")
    cell.put([note(1, 0, 0), note(2, 900_000_000, 0)]).result()
    below = [path_at(0, 0, depth) for depth in (1, 2)]
    cell.quartered(ROOT, 2, below).result()
    assert set(cell.owes) == {path_at(0, 0, 3), path_at(900_000_000, 0, 1)}
    assert (cell.role, cell.role_version) == ("inner", 2)
    cell.quartered(ROOT, 1, []).result()  # older: nothing
    assert cell.role_version == 2


@pytest.mark.parametrize("below", [["x"], ["r04"], [ROOT + "0" * 15]])
def test_what_is_no_cell_below_is_refused(below: list[str]) -> None:
    cell = Cell()
    cell.become(ROOT, 1, "leaf")
    with pytest.raises(BadPathError):
        cell.quartered(ROOT, 2, below).result()
    other = Cell()
    with pytest.raises(BadPathError):
        other.quartered("r0", 2, ["r1"]).result()


def test_a_bulk_is_handed_over_once_and_nowhere_on_the_way() -> None:
    async def main(world: World) -> None:
        ann = await enter(world, "ann")
        things = [note(n, (n % 5) << 17, (n // 5) << 17) for n in range(25)]
        await ann.put(things)
        await rest(world, ann)
        assert set(ann.screen()) == {one.id for one in things}
        assert ann.outline.tree_version <= 4  # not one for each level
        assert max(map(len, ann.outline.tree)) > 10
        assert {thing.hops for thing in ann.screen().values()} == {1}

    World(seed=198).run(main)
