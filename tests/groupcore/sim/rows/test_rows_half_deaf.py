"""A node that hears one kind of datagram and not the other: multicasts, and no unicasts.

Heartbeats are multicasts, what is sent to a sequencer and what it answers are unicasts. So such a
node is heard by all and hears all, and nothing that somebody asks of it is ever done.
"""

from __future__ import annotations

import pytest

from groupcore.sim.fault import NAMES, Fault
from tests.groupcore.sim.rows.playing import fault, lived, play, views_between
from tests.groupcore.sim.rows.playing_groups import (
    GroupPlay,
    delivered_by_all,
    longest_gap_s,
    members,
    moves,
    traffic,
)

ALL = "a0 b0 c0"
FOUND_S = 3.0
"""Until a node that is half deaf is excluded and its groups have other sequencers."""
BEGIN_S, END_S = 3.0, 15.0


def sequenced_by(who: str, *faults: Fault) -> GroupPlay:
    """A group that this node sequences, and the others' traffic in it."""
    places = [(f"{name}0", 0) for name in "abc" if name != who]
    return GroupPlay(
        members({0: ALL}),
        moves(1.6, who, 0),
        traffic(2.5, END_S - 1, 0.04, places),
        groups=1,
        faults=faults,
        length_s=END_S,
    )


@pytest.mark.parametrize("who", ["a", "b"])
def test_row_10_the_groups_of_a_sequencer_that_hears_no_unicasts_go_on_elsewhere(who: str) -> None:
    deaf = fault(BEGIN_S, "filter-direct", "abc".index(who), for_s=END_S)
    verdict = sequenced_by(who, deaf).run()
    other = "b" if who == "a" else "a"
    assert longest_gap_s(verdict, other, 2.5, END_S - 1) <= FOUND_S
    delivered_by_all(verdict, *(name for name in "abc" if name != who))


@pytest.mark.parametrize(("sender", "out"), [("c", "c"), ("a", "b")])
def test_row_10_of_a_pair_in_which_one_path_is_broken_the_younger_goes(
    sender: str, out: str
) -> None:
    """What one node sends to the sequencer b alone is lost: it would wait for ever."""
    running = sequenced_by(
        "b", fault(BEGIN_S, "filter-direct", NAMES.index(sender), 1, for_s=END_S)
    )
    verdict = running.run()
    stay = [name for name in "abc" if name != out]
    assert max(longest_gap_s(verdict, name, 2.5, END_S - 1) for name in stay) <= FOUND_S
    (excluded,) = lived(verdict.trace, "excluded")
    assert excluded.n == out
    delivered_by_all(verdict, *stay)


@pytest.mark.parametrize("nodes", [(0,), (1,), (0, 1), (1, 0), (2, 1)])
def test_row_10_who_is_half_deaf_does_not_come_and_go(nodes: tuple[int, ...]) -> None:
    verdict = play(fault(3, "filter-direct", *nodes, for_s=20), length_s=24)
    assert len(views_between(verdict.trace, 3, 22)) == 1
    assert len(views_between(verdict.trace, 22, 30)) == 1
