"""The shapes of partitions: which directions fail."""

from __future__ import annotations

import pytest

from groupcore.sim.partitions import SHAPES, Pair, directions


def reached(shape: str, chosen: list[int], count: int) -> dict[int, set[int]]:
    """Whom each node reaches both ways."""
    cut: set[Pair] = set(directions(shape, chosen, count))
    return {
        node: {
            other
            for other in range(count)
            if other != node and (node, other) not in cut and (other, node) not in cut
        }
        for node in range(count)
    }


def test_the_deaf_hear_nobody_and_the_mute_are_not_heard() -> None:
    assert directions("deaf", [1], 3) == [(0, 1), (2, 1)]
    assert directions("mute", [1], 3) == [(1, 0), (1, 2)]


def test_a_split_leaves_both_sides_whole() -> None:
    assert reached("split", [0, 1], 5) == {0: {1}, 1: {0}, 2: {3, 4}, 3: {2, 4}, 4: {2, 3}}


def test_a_bridge_is_reached_by_both_sides() -> None:
    assert reached("bridge", [2, 0, 1], 5) == {
        0: {1, 2},
        1: {0, 2},
        2: {0, 1, 3, 4},
        3: {2, 4},
        4: {2, 3},
    }


def test_in_a_ring_of_five_each_sees_another_majority() -> None:
    majorities = {
        frozenset({node, *others}) for node, others in reached("ring", [0, 1, 2, 3, 4], 5).items()
    }
    assert len(majorities) == 5
    assert all(len(majority) == 3 for majority in majorities)


def test_an_unknown_shape_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"'star'.*swizzle"):
        directions("star", [0], 3)


def test_every_shape_names_directions_between_different_nodes() -> None:
    for shape in SHAPES:
        assert all(one != other for one, other in directions(shape, [0, 1], 5))
