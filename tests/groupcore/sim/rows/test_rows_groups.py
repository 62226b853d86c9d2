"""Rows 22 to 31 of the fault matrix: sequencers that die, groups that move, causes and effects."""

from __future__ import annotations

from itertools import product

import pytest

from groupcore.sequencing.commands import Move, Moved
from groupcore.sequencing.events import Congestion
from groupcore.sequencing.names import Order
from groupcore.sim.clock import SECOND
from groupcore.sim.network import NetworkOptions
from groupcore.sim.run import Verdict
from groupcore.sim.trace_groups import (
    GroupDelivered,
    GroupEnd,
    GroupMid,
    GroupOwned,
    GroupSent,
    GroupStamped,
)
from tests.groupcore.sim.rows.playing_groups import (
    GroupPlay,
    delays_s,
    join,
    leave,
    members,
    moves,
    percentile,
    send,
    traffic,
)

ALL = "a0 b0 c0"
PLACES = [("a0", 0), ("b0", 0), ("c0", 0)]


def stamps(verdict: Verdict, name: str, first_s: float, last_s: float) -> list[GroupStamped]:
    """What a node numbered in that time."""
    return [
        record
        for record in verdict.trace.of(GroupStamped)
        if record.n == name and first_s * SECOND <= record.t < last_s * SECOND
    ]


def longest_gap_s(verdict: Verdict, name: str, first_s: float, last_s: float) -> float:
    """The longest time in which a node delivered no message of any group."""
    times = [first_s]
    times += [
        record.t / SECOND
        for record in verdict.trace.of(GroupDelivered)
        if record.n == name and first_s <= record.t / SECOND <= last_s
    ]
    return max(after - before for before, after in zip(times, [*times[1:], last_s], strict=True))


def delivered_by_all(verdict: Verdict, *names: str) -> None:
    """Every message of these nodes' processes was delivered at each of these nodes that has it."""
    sent = {r.mid for r in verdict.trace.of(GroupSent) if r.process[0] in names}
    for name in names:
        groups = {end.group for end in verdict.trace.of(GroupEnd) if end.n == name}
        here = {r.mid for r in verdict.trace.of(GroupDelivered) if r.n == name}
        assert {mid for mid in sent if mid.group in groups} <= here


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


# --- 28 to 30: groups that move -----------------------------------------------------------------


def owners(play: GroupPlay, groups: int) -> set[str]:
    """Who sequences these groups, as node a knows it."""
    return {play.owner(group) for group in range(groups)}


def test_row_28_groups_that_become_strongly_intersecting_get_one_sequencer() -> None:
    """Two processes that are in one group each join the other's, at once (the paper's race)."""
    before: set[str] = set()
    play = GroupPlay(
        members({0: "a0 b0", 1: "a1 c0"}),
        moves(1.6, "a", 0),
        moves(1.6, "b", 1, by="b"),
        traffic(2.5, 4.0, 0.01, [("a0", 0), ("a1", 1), ("b0", 0), ("c0", 1)]),
        join(3.0, "b0", 1),
        join(3.0, "c0", 0),
        order=Order.STRICT,
    )
    play.at(2.9, lambda: before.update(owners(play, 2)))
    verdict = play.run()
    assert before == {"a", "b"}
    assert len(owners(play, 2)) == 1
    common = [r for r in verdict.trace.of(GroupDelivered) if len({p[0] for p in r.to}) == 1]
    assert common


def test_row_28_several_pairs_become_strongly_intersecting_by_one_join() -> None:
    """The paper's footnote 2: G1 = {p, q}, G2 = {p, r}, G = {q, r}, and p joins G."""
    play = GroupPlay(
        members({0: "a0 b0", 1: "a0 c0", 2: "b0 c0"}),
        moves(1.6, "a", 0),
        moves(1.6, "b", 1),
        moves(1.6, "c", 2),
        traffic(2.5, 4.0, 0.01, [("a0", 0), ("a0", 1), ("b0", 2), ("c0", 2), ("b0", 0)]),
        join(3.0, "a0", 2),
        groups=3,
        order=Order.STRICT,
    )
    before: set[str] = set()
    play.at(2.9, lambda: before.update(owners(play, 3)))
    play.run()
    assert before == {"a", "b", "c"}
    assert len(owners(play, 3)) == 1


def test_row_28_leaving_lets_groups_part_again() -> None:
    play = GroupPlay(
        members({0: "a0 b0", 1: "a0 b0"}),
        traffic(2.0, 5.0, 0.01, [("a0", 0), ("b0", 1)]),
        leave(3.0, "b0", 1),
        moves(3.5, "b", 0),
        moves(3.6, "c", 1),
        order=Order.STRICT,
    )
    together: set[str] = set()
    play.at(2.9, lambda: together.update(owners(play, 2)))
    play.run()
    assert len(together) == 1
    assert owners(play, 2) == {"b", "c"}


STEPS = (
    ("asked", Move, "c"),
    ("ordered", Move, "a"),
    ("ordered", Move, "b"),
    ("asked", Moved, "a"),
    ("ordered", Moved, "a"),
    ("ordered", Moved, "b"),
)
"""A migration from a to b that c has asked for: what happens where."""
QUICK = ((STEPS[1], "a"), (STEPS[3], "a"), (STEPS[5], "b"), (STEPS[5], "a"))
DEATHS = [
    pytest.param(*death, marks=() if death in QUICK else pytest.mark.slow)
    for death in product(STEPS, "abc")
]
CUTS = [pytest.param(step, marks=() if step == STEPS[3] else pytest.mark.slow) for step in STEPS]


def migration() -> GroupPlay:
    """It begins at 3 s, under traffic."""
    return GroupPlay(
        members({0: ALL, 1: ALL}),
        moves(1.6, "a", 0, 1),
        moves(3.0, "b", 0, 1, by="c"),
        traffic(2.6, 4.6, 0.01, [*PLACES, ("a0", 1), ("b0", 1), ("c0", 1)]),
        length_s=5.0,
    )


@pytest.mark.parametrize(("step", "victim"), DEATHS)
def test_row_29_one_owner_is_left_whoever_dies_at_whichever_step_of_a_migration(
    step: tuple[str, type[Move] | type[Moved], str], victim: str
) -> None:
    play = migration()
    happened, kind, where = step
    play.on_command(2.9, happened, kind, where, play.crash(victim))
    verdict = play.run()
    survivors = [name for name in "abc" if name != victim]
    delivered_by_all(verdict, *survivors)
    assert longest_gap_s(verdict, survivors[0], 2.6, 4.6) <= 2


@pytest.mark.parametrize("step", CUTS)
def test_row_29_a_migration_ends_though_source_and_target_are_cut_off_from_each_other(
    step: tuple[str, type[Move] | type[Moved], str],
) -> None:
    play = migration()
    for ends in ("ab", "ba"):
        play.on_command(2.9, *step, play.cut(ends[0], ends[1], 0.3))
    verdict = play.run()
    delivered_by_all(verdict, "a", "b", "c")
    assert len(owners(play, 2)) == 1


def test_row_30_a_storm_of_migrations_pauses_a_group_for_50_ms_at_most() -> None:
    """Twenty a second, over chains of intersections; nothing is lost, order is kept."""
    chains = {0: "a0 b0", 1: "b0 c0", 2: "c0 a1", 3: "a1 b1"}
    places = [(p, group) for group, ps in chains.items() for p in ps.split()]
    storm = [moves(2.0 + n * 0.05, "abc"[n % 3], n % 4, by="abc"[(n + 1) % 3]) for n in range(60)]
    play = GroupPlay(
        members(chains), traffic(1.8, 5.0, 0.005, places), storm, groups=4, length_s=6.0
    )
    verdict = play.run()
    assert len(verdict.trace.of(GroupOwned)) > 40
    assert percentile(list(delays_s(verdict).values()), 99) <= 0.05


def test_row_30_a_storm_of_migrations_of_strict_chains_keeps_their_order() -> None:
    chains = {0: "a0 b0", 1: "a0 b0 c0", 2: "b0 c0 a1", 3: "c0 a1"}
    places = [(p, group) for group, ps in chains.items() for p in ps.split()]
    storm = [
        moves(2.0 + n * 0.05, "abc"[n % 3], *range(4), by="abc"[(n + 1) % 3]) for n in range(60)
    ]
    play = GroupPlay(
        members(chains),
        traffic(1.8, 5.0, 0.01, places),
        storm,
        groups=4,
        order=Order.STRICT,
        length_s=6.0,
    )
    verdict = play.run()
    assert len(verdict.trace.of(GroupOwned)) > 40
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
