"""Condition S2's table of overlaps, against a model that counts everything anew."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.overlap import Overlap
from groupcore.view import Address

NODES = [Address(name, 1) for name in "ab"]
P, Q, R, S = PROCESSES = [Process(node, number) for node in NODES for number in (1, 2)]
GROUPS = range(1, 6)
Sets = dict[GroupId, set[Process]]

steps = st.lists(
    st.tuples(
        st.sampled_from(["enter", "exit"]), st.sampled_from(PROCESSES), st.sampled_from(GROUPS)
    )
    | st.tuples(st.sampled_from(["delete"]), st.just(P), st.sampled_from(GROUPS))
    | st.tuples(st.sampled_from(["lose"]), st.sampled_from(PROCESSES), st.just(1)),
    max_size=40,
)


def obvious_component(sets: Sets, group: GroupId) -> tuple[GroupId, ...]:
    """The transitive closure of `two or more common processes`, from the definition."""
    found = {group}
    while True:
        more = {
            other
            for one in found
            for other in sets
            if len(sets.get(one, set()) & sets[other]) >= 2 and other != one
        }
        if more <= found:
            return tuple(sorted(found))
        found |= more


def play(overlap: Overlap, sets: Sets, step: tuple[str, Process, GroupId]) -> None:
    verb, process, group = step
    match verb:
        case "enter":
            assert overlap.enter(process, group) == (process not in sets[group])
            sets[group].add(process)
        case "exit":
            assert overlap.exit(process, group) == (process in sets[group])
            sets[group].discard(process)
        case "delete":
            overlap.delete(group)
            sets[group].clear()
        case _:
            overlap.keep_nodes([node for node in NODES if node != process.node])
            for members in sets.values():
                members -= {other for other in members if other.node == process.node}


@given(steps)
def test_the_table_says_what_the_definition_says(
    given_steps: list[tuple[str, Process, int]],
) -> None:
    overlap, sets = Overlap(), {group: set[Process]() for group in GROUPS}
    for step in given_steps:
        play(overlap, sets, step)
        for group in GROUPS:
            assert overlap.component(group) == obvious_component(sets, group)
            assert overlap.members(group) == sorted(sets[group])
        for one, two in combinations(GROUPS, 2):
            assert (
                overlap.common(one, two) == overlap.common(two, one) == len(sets[one] & sets[two])
            )
    for process in PROCESSES:
        assert overlap.groups_of(process) == [g for g in GROUPS if process in sets[g]]
    components = {obvious_component(sets, group) for group in GROUPS}
    assert overlap.components() == sorted(c for c in components if len(c) > 1)


@pytest.mark.parametrize("seed", range(20))
def test_components_that_fuse_and_split_again_are_what_the_definition_says(seed: int) -> None:
    """Long histories over few groups: every component is asked for before and after each step."""
    random, overlap = Random(seed), Overlap()
    sets = {group: set[Process]() for group in GROUPS}
    splits = 0
    for _ in range(60):
        before = {obvious_component(sets, group) for group in GROUPS}
        process, group = random.choice(PROCESSES), random.choice(GROUPS)
        play(overlap, sets, ("exit" if process in sets[group] else "enter", process, group))
        after = {obvious_component(sets, group) for group in GROUPS}
        splits += len(after) > len(before)
        assert {overlap.component(group) for group in GROUPS} == after
    assert splits


@given(steps)
def test_entering_all_entries_anew_makes_an_equal_table(
    given_steps: list[tuple[str, Process, int]],
) -> None:
    overlap, sets = Overlap(), {group: set[Process]() for group in GROUPS}
    for step in given_steps:
        play(overlap, sets, step)
    again = Overlap()
    for process, groups in reversed(overlap.entries()):
        for group, request in groups:
            again.enter(process, group, request)
    assert again.entries() == overlap.entries()
    assert again.components() == overlap.components()


def table(*entries: tuple[GroupId, str]) -> Overlap:
    """Groups with their processes, each a letter."""
    overlap = Overlap()
    for group, letters in entries:
        for letter in letters:
            overlap.enter(Process(NODES[0], ord(letter)), group)
    return overlap


def test_one_common_process_does_not_make_groups_intersect_strongly() -> None:
    assert table((1, "pq"), (2, "qr")).component(1) == (1,)


def test_two_common_processes_make_groups_strongly_intersecting() -> None:
    assert table((1, "pqr"), (2, "qrs")).component(1) == (1, 2)


def test_strong_intersection_is_closed_transitively() -> None:
    assert table((1, "pq"), (2, "pqrs"), (3, "rs"), (4, "s")).component(3) == (1, 2, 3)


def test_one_join_can_make_several_pairs_intersect_strongly() -> None:
    # the paper's footnote 2
    overlap = table((1, "pq"), (2, "pr"), (3, "qr"))
    assert overlap.components() == []
    overlap.enter(Process(NODES[0], ord("p")), 3)
    assert overlap.components() == [(1, 2, 3)]


def test_a_component_splits_when_a_process_leaves() -> None:
    overlap = table((1, "pq"), (2, "pqrs"), (3, "rs"))
    assert overlap.component(1) == (1, 2, 3)
    overlap.exit(Process(NODES[0], ord("q")), 2)
    assert overlap.component(1) == (1,)
    assert overlap.component(2) == (2, 3)


def test_an_unknown_group_is_a_component_of_its_own() -> None:
    assert Overlap().component(9) == (9,)
    assert Overlap().members(9) == []
