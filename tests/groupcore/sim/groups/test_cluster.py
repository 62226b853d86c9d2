"""Simulated nodes that host processes: what they do, what is noted, and what the world spares."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.sequencing.names import Order
from groupcore.sim.clock import SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.groups.messages import Content, compose, read
from groupcore.sim.groups.replica import Replica, decode
from groupcore.sim.groups.scenario import CLOSE, DRAIN, Act
from groupcore.sim.network import NetworkOptions
from groupcore.sim.run import Undecided
from groupcore.sim.trace import Happened
from groupcore.sim.trace_groups import (
    GroupClosed,
    GroupDelivered,
    GroupEnd,
    GroupJoined,
    GroupLeft,
    GroupOwned,
    GroupReleased,
    GroupSent,
    GroupStamped,
    GroupState,
)
from tests.groupcore.sim.rows.playing_groups import (
    SEQUENCING,
    GroupPlay,
    join,
    leave,
    members,
    moves,
    send,
    traffic,
)

BOTH = {0: "a0 b0", 1: "b0 c0"}


def quiet(*acts: Act | list[Act]) -> GroupPlay:
    """Two groups, three nodes, and nothing that goes wrong."""
    return GroupPlay(members(BOTH), *acts, length_s=4.0)


def test_members_are_given_what_is_sent_to_their_groups_and_nobody_else_is() -> None:
    stranger = [send(2.0, "c1", 0), send(2.1, "c1", 0)]  # it finds the group by its name
    verdict = quiet(send(2.0, "a0", 0, count=3), send(2.0, "c0", 1), *stranger).run()
    given = {
        (record.process[0], record.number, process[0])
        for record in verdict.trace.of(GroupDelivered)
        for process in record.to
        if record.t < 4 * SECOND and record.group == 1
    }
    assert given == {("a", n, to) for n in (1, 2, 3) for to in "ab"} | {
        ("c", n, to) for n in (1, 2) for to in "ab"
    }
    assert {end.n for end in verdict.trace.of(GroupEnd) if end.group == 1} == {"a", "b"}


def test_every_number_is_noted_where_it_is_given_with_its_epoch() -> None:
    verdict = quiet(traffic(2.0, 3.5, 0.05, [("a0", 0)]), moves(2.5, "c", 0)).run()
    stamps = [record for record in verdict.trace.of(GroupStamped) if record.group == 1]
    assert [record.seqno for record in stamps] == list(range(1, len(stamps) + 1))
    owned = [(r.epoch, r.floor) for r in verdict.trace.of(GroupOwned) if r.group == 1]
    assert [epoch for epoch, _ in owned] == [1, 2]
    assert all(stamp.n == "c" for stamp in stamps if stamp.seqno > owned[1][1])


def test_a_message_that_is_to_be_answered_is_answered_in_another_group_by_one_member() -> None:
    verdict = quiet(send(2.0, "a0", 0, depth=3)).run()
    sent = [(r.process[0], r.group) for r in verdict.trace.of(GroupSent) if r.t < 4 * SECOND]
    assert len(sent) == 4
    assert len(set(sent)) > 1


def test_who_comes_back_after_a_crash_is_in_its_groups_again() -> None:
    crash = Fault(2 * SECOND, "crash", (1,), SECOND // 2)
    play = GroupPlay(members(BOTH), traffic(2.0, 4.0, 0.05, [("a0", 0), ("c0", 1)]), faults=[crash])
    verdict = play.run()
    joined = {(r.process[:2], r.group) for r in verdict.trace.of(GroupJoined) if r.n == "b"}
    assert {(("b", 200), 1), (("b", 200), 2)} <= joined
    assert {r.n for r in verdict.trace.of(GroupState) if r.inc == 200} == {"b"}


def test_a_process_that_leaves_lets_the_state_go_and_one_that_is_closed_is_followed() -> None:
    close = Act(round(2.5 * SECOND), CLOSE, 1, 0)
    verdict = quiet(leave(2.0, "c0", 1), close).run()
    assert [r.process for r in verdict.trace.of(GroupClosed)] == [("b", 100, 1)]
    assert ("c", 2) in {(r.n, r.group) for r in verdict.trace.of(GroupReleased)}
    left = {r.process for r in verdict.trace.of(GroupLeft)}
    assert {("c", 100, 1), ("b", 100, 1)} <= left
    assert ("b", 100, 3) in {r.process for r in verdict.trace.of(GroupJoined)}


def test_a_state_that_nobody_has_begins_anew() -> None:
    verdict = quiet(leave(2.0, "a0", 0), leave(2.0, "b0", 0), join(3.0, "c1", 0)).run()
    anew = [r for r in verdict.trace.of(GroupState) if r.group == 1 and r.anew]
    assert [r.n for r in anew] == ["a", "c"] or [r.n for r in anew] == ["b", "c"]


def test_an_operator_drains_a_node() -> None:
    play = quiet(Act(2 * SECOND, DRAIN, 0, target=1), moves(3.0, "b", 0))
    play.run()
    assert play.owner(0) != "b"


def test_a_schedule_does_the_same_when_it_is_run_again() -> None:
    network = NetworkOptions(loss=0.2, duplicate=0.2, tail=0.05, tail_mean_ms=50)
    crash = Fault(2 * SECOND, "crash", (1,), SECOND // 2)

    def once(seed: int) -> str:
        play = GroupPlay(
            members(BOTH), traffic(2.0, 3.0, 0.05, [("a0", 0)]), faults=[crash], network=network
        )
        scenario = replace(play.scenario, seed=seed)
        return SEQUENCING.play(scenario).trace.hash()

    assert once(7) == once(7)
    assert once(8) != once(7)


def test_the_memory_of_the_last_that_remember_is_spared() -> None:
    crashes = [Fault(2 * SECOND + n, "crash", (n,), SECOND) for n in range(3)]
    play = GroupPlay(members(BOTH), faults=crashes)
    verdict = play.run()
    spared = [r.detail for r in verdict.trace.of(Happened) if r.what == "spared"]
    assert spared == ["the memory of b", "the memory of c"]


def test_a_node_that_forgot_comes_back_only_when_the_others_have_gone_on_without_it() -> None:
    play = GroupPlay(members(BOTH), faults=[Fault(2 * SECOND, "crash", (2,), SECOND // 100)])
    verdict = play.run()
    (again,) = [r.t for r in verdict.trace.lives if (r.n, r.what) == ("c", "start")][1:]
    assert again > min(view.t for view in verdict.trace.views if view.number == 2)


def test_nothing_is_judged_behind_a_view_that_could_not_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play = GroupPlay(members(BOTH), traffic(1.5, 3.0, 0.05, [("a0", 0)]))

    def lose() -> None:
        raise Undecided("the newest view is no quorum without a life that was over")

    verdict = play.at(2.5, lose).run()
    assert verdict.simulated_s == 2.5
    assert verdict.trace.records[-1] == Happened(
        2_500_000_000, "undecided", "the newest view is no quorum without a life that was over"
    )


def test_what_a_message_says_can_be_read_and_garbage_is_from_nobody() -> None:
    play = quiet()
    process = play.cluster.make_service(
        play.node("a").address, play.cluster.fault_random
    ).open_process()
    payload = compose(process, 3, 4, 1, 100)
    assert len(payload) >= 100
    assert read(payload) == Content((*process.node, process.number), 3, 4, 1)
    for garbage in (b"", b"\xc1", b"\x93\x01\x02\x03", b"\xff" * 40):
        assert read(garbage).process == ("?", 0, 0)


def test_a_replica_travels() -> None:
    replica = Replica(5, [(("a", 1, 1), 1, 77), (("b", 1, 2), 1, 78)], {("a", 1, 1)})
    assert decode(replica.encode()) == replica
    assert decode(replica.encode()).fingerprint() == replica.fingerprint()
    assert Replica().fingerprint() != replica.fingerprint()


def test_fifo_groups_promise_nothing_across_groups() -> None:
    play = GroupPlay(
        members(BOTH), traffic(1.5, 3.0, 0.05, [("a0", 0), ("c0", 1)]), order=Order.FIFO
    )
    assert play.run().deliveries > 30
