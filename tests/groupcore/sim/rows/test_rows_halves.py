"""Two voters and a third that learns: who goes on when unicasts between some of them do not arrive.

The first of two is a quorum by itself. Where it is the one that is apart, the others, who are more,
go on by its vote, which goes by multicast where that is the only way (decision 162).
"""

from __future__ import annotations

import pytest

from groupcore.sim.clock import SECOND
from groupcore.sim.trace import Trace
from tests.groupcore.sim.rows.playing import (
    Play,
    longest_silence_s,
    names,
    scenario,
    views_between,
)
from tests.groupcore.thorough import THOROUGH

JOINS_S, PARTED_S, AFTER_S = 1.5, 12.0, 2.5
SETTLED_S = 7.0
"""Whoever has died, and come back, has its last view before unicasts arrive again; 5.1 at most."""
FOUND_S = 3.0
"""Until those who hear one another go on."""
BACK_S = 2.0
"""Until all are one view again, once unicasts arrive."""
TURN_S = 2.1
NOTICED_S = 1.4
"""Before anybody knows that unicasts do not arrive, and after they have not for a while."""
A, B, C = range(3)
Direction = tuple[int, int]
TO_A, OF_A = [(B, A), (C, A)], [(A, B), (A, C)]


class Parted:
    """a and b decide what follows a view in which c still learns, when these directions end."""

    def __init__(self, *directions: Direction, parted_s: float = PARTED_S) -> None:
        length_s = JOINS_S + parted_s + AFTER_S
        self.play = Play(scenario(length_s=length_s, starts_s={C: JOINS_S}))
        self.parted_s = parted_s
        self.nodes = self.play.cluster.nodes
        self.directions = directions
        self.began: list[int] = []
        self.later: list[tuple[float, int, float]] = []
        self.play.lose(self.look)

    def look(self, source: int, target: int, data: bytes) -> bool:
        view = self.nodes[B].view
        if not self.began and view is not None and view.learners:
            clock = self.play.cluster.clock
            self.began.append(clock.now_ns)
            self.filter(True)
            clock.after(round(self.parted_s * SECOND), lambda: self.filter(False))
            for after_s, node, for_s in self.later:
                clock.after(round(after_s * SECOND), self.crash, node, for_s)
        return False

    def filter(self, on: bool) -> None:
        for source, target in self.directions:
            ends = self.nodes[source].socket_address, self.nodes[target].socket_address
            self.play.cluster.network.filter_direct(*ends, on)

    def crashes(self, after_s: float, node: int, for_s: float) -> Parted:
        """Let this node crash so long after unicasts have ended."""
        self.later.append((after_s, node, for_s))
        return self

    def crash(self, node: int, for_s: float) -> None:
        self.nodes[node].crash(keep_all=True)
        self.play.cluster.clock.after(round(for_s * SECOND), self.nodes[node].start)

    def run(self) -> tuple[float, Trace]:
        """When they ended, and what happened."""
        trace = self.play.run().trace
        (began_ns,) = self.began
        return began_ns / SECOND, trace


APART, KINDS = [TO_A, OF_A, TO_A + OF_A], ["deaf", "dumb", "both"]


@pytest.mark.parametrize("directions", APART, ids=KINDS)
def test_row_10_those_who_hear_each_other_go_on_without_the_first_of_two_voters(
    directions: list[Direction],
) -> None:
    began_s, trace = Parted(*directions).run()
    heard_s = began_s + PARTED_S
    for name in "bc":
        assert longest_silence_s(trace, name, began_s, heard_s) <= FOUND_S
    first, *later = (names(view) for view in views_between(trace, began_s + 0.1, heard_s))
    assert first == "bc"
    assert set(later) <= {"bc"}, "c has the state by now, and votes"
    *_, last = views_between(trace, heard_s, heard_s + BACK_S)
    assert sorted(names(last)) == ["a", "b", "c"]


def test_row_10_the_first_of_two_voters_goes_on_where_the_second_is_the_deaf_one() -> None:
    began_s, trace = Parted((A, B), (C, B)).run()
    for name in "ac":
        assert longest_silence_s(trace, name, began_s, began_s + PARTED_S) <= FOUND_S
    assert {names(view) for view in views_between(trace, began_s + 0.1, began_s + PARTED_S)} == {
        "ac"
    }


def test_row_10_the_first_of_two_voters_goes_on_alone_where_they_are_apart_from_each_other() -> (
    None
):
    """a gets nothing of b, and c only of b: of two halves of one each the first is it."""
    began_s, trace = Parted((B, A), (C, A), (A, C), (C, B)).run()
    heard_s = began_s + PARTED_S
    assert {names(view) for view in views_between(trace, began_s + 0.1, heard_s)} == {"a"}
    assert longest_silence_s(trace, "a", began_s, heard_s) <= FOUND_S
    *_, last = views_between(trace, heard_s, heard_s + BACK_S)
    assert sorted(names(last)) == ["a", "b", "c"]


def test_row_10_who_leaves_the_word_takes_it_where_the_other_dies() -> None:
    began_s, trace = Parted(*TO_A).crashes(NOTICED_S, B, PARTED_S).run()
    assert longest_silence_s(trace, "a", began_s, began_s + PARTED_S) <= FOUND_S
    assert {names(view) for view in views_between(trace, began_s + 0.1, began_s + PARTED_S)} == {
        "a"
    }


def test_row_10_who_leaves_the_word_takes_it_after_a_turn_where_nobody_else_does() -> None:
    """Both others die at once: nobody is left who could tell."""
    parted = Parted(*TO_A).crashes(NOTICED_S, B, PARTED_S).crashes(NOTICED_S, C, PARTED_S)
    began_s, trace = parted.run()
    assert longest_silence_s(trace, "a", began_s, began_s + PARTED_S) <= FOUND_S + TURN_S


STEPS = [
    pytest.param(directions, 10 * step, node, id=f"{name}-{10 * step}-{'abc'[node]}")
    for step in range(20)
    for place, (name, directions) in enumerate(zip(KINDS, APART, strict=True))
    for node in (A, B, C)
    if THOROUGH or (step % 2 == place % 2 and node == (step // 2 + place) % 3)
]
"""Milliseconds of an attempt of b, and who dies: of each kind every other step, the nodes by turns,
unless all are asked for."""


@pytest.mark.slow
@pytest.mark.parametrize(("directions", "late_ms", "node"), STEPS)
def test_row_10_whoever_dies_at_whatever_step_the_others_come_to_one_view(
    directions: list[Direction], late_ms: int, node: int
) -> None:
    """A node that crashes in the attempt of b is back before the paths are; `run` has the rest."""
    parted = Parted(*directions, parted_s=SETTLED_S)
    began_s, trace = parted.crashes(NOTICED_S + late_ms / 1000, node, 2.0).run()
    for view in views_between(trace, began_s + 0.1, began_s + SETTLED_S):
        assert names(view) in ("a", "b", "bc", "ab", "abc", "ac")
