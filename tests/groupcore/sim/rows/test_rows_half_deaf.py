"""A node that hears one kind of datagram and not the other: multicasts, and no unicasts.

Heartbeats are multicasts, what is sent to a sequencer and what it answers are unicasts. So such a
node is heard by all and hears all, and nothing that somebody asks of it is ever done.
"""

from __future__ import annotations

import pytest

from groupcore.sim.clock import SECOND
from groupcore.sim.fault import NAMES, Fault
from groupcore.sim.trace import Trace
from tests.groupcore.sim.rows.playing import (
    Play,
    fault,
    lived,
    longest_silence_s,
    names,
    play,
    scenario,
    views_between,
)
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
DEAF_S = 12.0
BACK_S = 2.0
"""Until all are one view again, once the first hears."""


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


def first_goes_deaf_while_the_third_learns() -> tuple[float, Trace]:
    """a and b decide what follows a view in which c is still a learner; when a went deaf."""
    scripted = Play(scenario(length_s=20, starts_s={2: BEGIN_S}))
    network, clock = scripted.cluster.network, scripted.cluster.clock
    first, *others = scripted.cluster.nodes
    began: list[int] = []

    def filter_direct(on: bool) -> None:
        for other in others:
            network.filter_direct(other.socket_address, first.socket_address, on)

    def look(source: int, target: int, data: bytes) -> bool:
        view = others[0].view
        if not began and view is not None and view.learners:
            began.append(clock.now_ns)
            filter_direct(True)
            clock.after(round(DEAF_S * SECOND), lambda: filter_direct(False))
        return False

    scripted.lose(look)
    trace = scripted.run().trace
    (began_ns,) = began
    return began_ns / SECOND, trace


def test_row_10_the_first_of_two_voters_goes_on_alone_when_it_is_half_deaf_and_all_come_back() -> (
    None
):
    began_s, trace = first_goes_deaf_while_the_third_learns()
    heard_s = began_s + DEAF_S
    assert [names(view) for view in views_between(trace, began_s + 0.1, heard_s)] == ["a"]
    assert longest_silence_s(trace, "a", began_s, heard_s) < FOUND_S
    *_, last = views_between(trace, heard_s, heard_s + BACK_S)
    assert sorted(names(last)) == ["a", "b", "c"]


@pytest.mark.xfail(
    strict=True,
    reason="a alone is a quorum of the voters a and b, and no vote of another reaches it; b and c "
    "would need its vote, which it could give to what is multicast: see decision 90, Open",
)
def test_row_10_those_who_hear_each_other_go_on_without_the_first_of_two_voters() -> None:
    began_s, trace = first_goes_deaf_while_the_third_learns()
    for name in "bc":
        assert longest_silence_s(trace, name, began_s, began_s + DEAF_S) <= FOUND_S
