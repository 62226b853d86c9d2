"""Rows 22 to 27 and 31 of the fault matrix: sequencers that die, causes and effects."""

from __future__ import annotations

import pytest

from groupcore.sequencing.events import Congestion
from groupcore.sim.clock import SECOND
from groupcore.sim.network import NetworkOptions
from groupcore.sim.trace_groups import (
    GroupDelivered,
    GroupMid,
    GroupSent,
)
from tests.groupcore.sim.rows.playing_groups import (
    GroupPlay,
    delivered_by_all,
    longest_gap_s,
    members,
    moves,
    send,
    stamps,
    traffic,
)

ALL = "a0 b0 c0"
PLACES = [("a0", 0), ("b0", 0), ("c0", 0)]


# --- 22 to 27: the sequencer --------------------------------------------------------------------


@pytest.mark.parametrize("reached", ["", "b", pytest.param("c", marks=pytest.mark.slow)])
def test_row_22_what_a_dying_sequencer_had_numbered_has_one_value_or_is_numbered_again(
    reached: str,
) -> None:
    """It dies between stamp and send, or when one member has got it."""
    play = GroupPlay(
        members({0: ALL}), moves(1.6, "a", 0), traffic(2.5, 5.0, 0.02, PLACES), groups=1
    )
    for other in "bc":
        if other != reached:
            play.at(3.0, play.cut("a", other, 1.0))
    play.at(3.06, play.crash("a"))
    verdict = play.run()
    assert stamps(verdict, "a", 3.0, 3.06)
    delivered_by_all(verdict, "b", "c")
    assert longest_gap_s(verdict, "b", 2.5, 5.0) <= 2.5


def test_row_23_frames_of_an_old_sequencer_that_come_late_change_nothing() -> None:
    play = GroupPlay(
        members({0: ALL}), moves(1.6, "a", 0), traffic(2.5, 5.0, 0.02, PLACES), groups=1, length_s=7
    )
    play.at(2.8, play.cut("a", "c", 4.0, "jam"))
    play.at(3.0, play.crash("a", back_s=2.0))
    verdict = play.run()
    assert stamps(verdict, "a", 2.8, 3.0)
    delivered_by_all(verdict, "b", "c")


def test_row_23_a_paused_sequencer_that_wakes_up_numbers_nothing_any_more() -> None:
    play = GroupPlay(
        members({0: ALL}), moves(1.6, "a", 0), traffic(2.5, 7.0, 0.02, PLACES), groups=1, length_s=8
    )
    play.at(3.0, play.node("a").pause).at(6.5, play.node("a").resume)
    first = play.node("a").address
    verdict = play.run()
    assert not [r for r in stamps(verdict, "a", 6.0, 9.0) if r.inc == first.incarnation]
    delivered_by_all(verdict, "b", "c")


def test_row_24_a_new_sequencer_that_has_seen_less_begins_behind_what_others_have() -> None:
    groups = range(8)
    places = [(process, group) for group in groups for process in ("a0", "b0", "c0")]
    play = GroupPlay(
        members(dict.fromkeys(groups, ALL)),
        moves(1.6, "a", *groups),
        traffic(2.0, 5.0, 0.01, places),
        groups=8,
    )
    play.at(2.7, play.cut("a", "c", 1.0)).at(3.0, play.crash("a"))
    verdict = play.run()
    assert stamps(verdict, "a", 2.7, 3.0)
    assert stamps(verdict, "c", 3.0, 6.0), "no group has gone to the node that had seen less"
    delivered_by_all(verdict, "b", "c")


def test_row_25_and_26_what_is_sent_again_keeps_its_number_and_its_place() -> None:
    play = GroupPlay(
        members({0: ALL}),
        moves(1.6, "a", 0),
        traffic(2.0, 3.0, 0.01, PLACES),
        traffic(3.0, 5.0, 0.002, [("b0", 0)]),
        groups=1,
    )
    # b sends, a numbers it and c gets it, but b does not hear of it before a is gone.
    play.at(2.9, play.cut("a", "b", 1.5)).at(3.1, play.crash("a"))
    verdict = play.run()
    assert [r for r in stamps(verdict, "a", 2.9, 3.1) if r.process[0] == "b"]
    delivered_by_all(verdict, "b", "c")


def test_row_26_what_is_sent_again_and_what_is_new_keep_the_order_of_their_sender() -> None:
    """Requests are lost for 0.1 s again and again, and a group moves, while its sender goes on."""
    play = GroupPlay(
        members({0: ALL, 1: "b0 c0"}),
        moves(1.6, "a", 0, 1),
        traffic(2.0, 5.0, 0.002, [("b0", 0), ("b0", 1), ("b0", 0)]),
        *(moves(2.25 + n * 0.2, "ca"[n % 2], 0) for n in range(13)),
        length_s=7.0,
    )
    for number in range(14):
        play.at(2.1 + number * 0.2, play.cut("b", "ac"[number % 2], 0.1))
    verdict = play.run()
    sender = play.cluster.hosts[1].life
    assert sender is not None
    assert sender.service.counters()["sequencing.resent"] > 20
    sent = [r.mid for r in verdict.trace.of(GroupSent)]
    b0 = sent[0].process
    for group in (play.cluster.ids[0], play.cluster.ids[1]):
        mine = [mid for mid in sent if (mid.group, mid.process) == (group, b0)]
        assert len(mine) >= 500
        for name in "abc" if group == play.cluster.ids[0] else "bc":
            told = [r.mid for r in verdict.trace.of(GroupDelivered) if r.n == name]
            assert [mid for mid in told if (mid.group, mid.process) == (group, b0)] == mine


def test_row_27_under_ten_times_the_load_processes_are_told_to_wait_and_nothing_is_lost() -> None:
    bursts = [send(2.0 + n * 0.01, "b0", 0, count=10, size_bytes=5_000) for n in range(50)]
    play = GroupPlay(
        members({0: ALL}),
        moves(1.6, "a", 0),
        bursts,
        groups=1,
        network=NetworkOptions(rate=1_250_000),
    )
    said = play.heard(Congestion, "b")
    verdict = play.run()
    assert [event.on for event in said][:2] == [True, False]
    assert len({view.number for view in verdict.trace.views}) == 1
    delivered_by_all(verdict, "a", "b", "c")


# --- 31: causes and effects -----------------------------------------------------------------------


def test_row_31_an_effect_in_another_group_waits_for_its_cause_at_common_members() -> None:
    """A cause in group 0 is slow on its way to c; its effect in group 1 is quick."""
    play = GroupPlay(
        members({0: "a0 b0 c0", 1: "b0 c0 c1"}),
        moves(1.6, "a", 0),
        moves(1.6, "b", 1),
        *(send(2.0 + n * 0.1, "a0", 0, depth=1) for n in range(30)),
    )
    play.at(1.9, play.cut("a", "c", 4.0, "slow", 0.3))
    verdict = play.run()
    sent = {r.mid: r.t for r in verdict.trace.of(GroupSent)}
    effects = [mid for mid in sent if mid.process[0] == "b"]
    assert len(effects) >= 5


def test_row_31_nobody_waits_for_a_message_of_a_group_that_it_is_not_in() -> None:
    """c1 is in the effect's group only, and the cause never gets to its node while that matters."""
    play = GroupPlay(
        members({0: "a0 b0", 1: "b0 c0"}),
        moves(1.6, "a", 0),
        moves(1.6, "b", 1),
        *(send(2.0 + n * 0.1, "a0", 0, depth=1) for n in range(20)),
        length_s=5.0,
    )
    play.at(1.95, play.cut("a", "c", 2.0))
    verdict = play.run()
    sent = {r.mid: r.t for r in verdict.trace.of(GroupSent)}
    waits: dict[GroupMid, float] = {
        r.mid: (r.t - sent[r.mid]) / SECOND
        for r in verdict.trace.of(GroupDelivered)
        if r.n == "c" and r.process[0] == "b" and 2.0 < sent[r.mid] / SECOND < 3.9
    }
    assert waits
    assert max(waits.values()) <= 0.1
