"""Components of overlap, and whose leaving parts them, against slow obvious versions."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from groupcore.sequencing.names import Process
from groupcore.view import Address
from server.console.overlap import (
    HALL_PROCESSES,
    OBSERVED_MIN,
    SHARE,
    Newest,
    Overlap,
    find_overlap,
)
from server.console.parting import Parting, partings


def process(number: int) -> Process:
    return Process(Address("n", 1), number)


def people(*numbers: int) -> frozenset[Process]:
    return frozenset(map(process, numbers))


def groups_of(found: Overlap) -> list[tuple[int, ...]]:
    return [one.groups for one in found.components]


memberships = st.dictionaries(
    st.integers(1, 12), st.frozensets(st.integers(1, 6), max_size=5).map(lambda one: people(*one))
)


def hang_together(members: dict[int, frozenset[Process]]) -> set[tuple[int, ...]]:
    """All components, by trying everything."""
    left, found = set(members), set()
    while left:
        reached = {left.pop()}
        while more := {
            other
            for other in left
            if any(len(members[other] & members[one]) > 1 for one in reached)
        }:
            reached |= more
            left -= more
        found.add(tuple(sorted(reached)))
    return found


@given(memberships)
def test_components_are_what_hangs_together_by_two_processes(
    members: dict[int, frozenset[Process]],
) -> None:
    found = groups_of(find_overlap(members, []))
    assert set(found) == {one for one in hang_together(members) if len(one) > 1}
    assert found == sorted(found, key=lambda one: (-len(one), one))


@given(memberships.filter(lambda members: 0 < len(members) < 9))
def test_a_parting_is_what_comes_apart_without_one(
    members: dict[int, frozenset[Process]],
) -> None:
    # Only of what hangs together, as units are.
    largest = max(hang_together(members), key=len)
    unit = {group: members[group] for group in largest}
    wanted = []
    for one in {process for who in unit.values() for process in who}:
        parts = hang_together({group: who - {one} for group, who in unit.items()})
        if len(parts) > 1:
            wanted.append(Parting(one, len(parts), max(map(len, parts))))
    found = partings(unit)
    assert found is not None
    assert sorted(found) == sorted(wanted)
    assert [one.largest for one in found] == sorted(one.largest for one in found)


def test_what_s2_binds_is_in_one_component_whoever_is_in_it() -> None:
    found = find_overlap({1: people(), 2: people(5)}, [(1, 2, 3)])
    assert groups_of(found) == [(1, 2, 3)]
    (one,) = found.components
    assert (one.units, one.bound) == (((1, 2, 3),), 3)
    assert found.of(2) == one
    assert found.of(9).groups == (9,)


def test_who_is_in_nearly_everything_is_an_observer_and_joins_nothing() -> None:
    count = OBSERVED_MIN + 2
    pairs = {group: people(1, 2, 2 * group + 1, 2 * group + 2) for group in range(1, count + 1)}
    found = find_overlap(pairs, [])
    assert dict(found.observers) == {process(1): count, process(2): count}
    assert found.components == ()


def test_a_group_in_which_very_many_are_is_a_hall_and_joins_nothing() -> None:
    everybody = people(*range(HALL_PROCESSES + 1))
    found = find_overlap({1: everybody, 2: people(1, 2), 3: people(3, 4)}, [])
    assert dict(found.halls) == {1: HALL_PROCESSES + 1}
    assert found.components == ()
    bound = find_overlap({1: everybody, 2: people(1, 2)}, [(1, 2)])
    assert groups_of(bound) == [(1, 2)]


def test_what_is_too_much_to_compare_is_said() -> None:
    members = {group: people(*combinations_of(group)) for group in range(1, 600)}
    found = find_overlap(members, [])
    assert found.left_out > 0
    assert found.left_out < len(members)


def combinations_of(seed: int) -> list[int]:
    """Fifty processes that no other group has."""
    return [seed * 100 + each for each in range(50)]


def test_too_large_a_unit_is_not_looked_into() -> None:
    pairs = combinations(range(17), 2)
    assert partings({number: people(0, 99, *pair) for number, pair in enumerate(pairs)}) is None


async def test_what_takes_long_is_looked_for_a_tenth_of_the_time() -> None:
    now_s, looks = 100.0, 0

    async def look() -> Overlap:
        nonlocal now_s, looks
        now_s, looks = now_s + 2.0, looks + 1
        return find_overlap({}, [])

    newest = Newest(lambda: now_s)
    await newest.of(look)
    now_s += 2.0 * SHARE - 0.1
    await newest.of(look)
    assert looks == 1
    now_s += 0.2
    await newest.of(look)
    assert looks == 2
