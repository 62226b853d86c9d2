"""The rules of DURABILITY: how far the order is on enough disks."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.effects import Effect, StartTimer, StopTimer
from groupcore.events import Connect, FlushStarted, Saved, Synced
from groupcore.layers.durability import REPEATS, Durability, Durable
from groupcore.view import Address, is_quorum
from tests.groupcore.layers.building import (
    STRANGER,
    A,
    B,
    C,
    D,
    E,
    bare,
    downs,
    events,
    installed,
    timers,
)

FIVE = (A, B, C, D, E)


def member(*members: Address, me: Address = A, k: int = 1) -> Durability:
    layer = Durability(me, k)
    layer.on_event(installed(*(members or FIVE)), 0.0)
    return layer


def report(member: Address, position: int, epoch: int = 1) -> Batch:
    return bare(member, Durable(epoch, position))


def hear(layer: Durability, *batches: Batch) -> list[Effect]:
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]


def test_what_a_quorum_has_synced_is_saved() -> None:  # I1
    layer = member()
    assert events(layer.on_event(Synced(1, 9), 0.0)) == []
    assert events(hear(layer, report(B, 5))) == []
    assert events(hear(layer, report(C, 7))) == [Saved(1, 5)]
    assert events(hear(layer, report(D, 8))) == [Saved(1, 7)]
    assert layer.counters() == {"saved": 7, "synced": 9}


def test_k_lost_disks_do_not_lose_what_is_saved() -> None:  # I1
    layer = member(k=3)
    layer.on_event(Synced(1, 9), 0.0)
    assert events(hear(layer, report(B, 9), report(C, 9))) == []
    assert events(hear(layer, report(D, 9))) == [Saved(1, 9)]


def test_a_member_alone_saves_what_it_has_synced() -> None:  # I1
    assert events(member(A).on_event(Synced(1, 4), 0.0)) == [Saved(1, 4)]


def test_of_two_members_both_are_needed_when_one_disk_may_be_lost() -> None:  # I1
    layer = member(A, B)
    assert events(layer.on_event(Synced(1, 4), 0.0)) == []
    assert events(hear(layer, report(B, 4))) == [Saved(1, 4)]


def test_half_without_the_lowest_rank_is_not_enough() -> None:  # I1
    layer = member(B, A, C, D, me=A)
    layer.on_event(Synced(1, 9), 0.0)
    assert events(hear(layer, report(C, 9))) == []
    assert events(hear(layer, report(B, 9))) == [Saved(1, 9)]


def slow_saved(members: tuple[Address, ...], k: int, synced: dict[Address, int]) -> int:
    """The highest position that some large enough quorum has synced."""
    names = tuple(m.name for m in members)
    needed = min(k + 1, len(members))
    best = 0
    for size in range(needed, len(members) + 1):
        for group in combinations(members, size):
            if is_quorum(names, [m.name for m in group]):
                best = max(best, min(synced.get(m, 0) for m in group))
    return best


@settings(max_examples=60)
@given(
    st.integers(1, 5),
    st.integers(0, 5),
    st.lists(st.tuples(st.sampled_from(FIVE), st.integers(1, 9)), max_size=15),
)
def test_saved_is_exactly_what_enough_disks_have_and_grows(
    count: int, k: int, reports: list[tuple[Address, int]]
) -> None:  # I1, I2
    members = FIVE[:count]
    layer = member(*members, k=k)
    synced: dict[Address, int] = {}
    before = 0
    for who, position in reports:
        if who not in members:
            continue
        if who == A:
            effects = layer.on_event(Synced(1, position), 0.0)
        else:
            effects = hear(layer, report(who, position))
        synced[who] = max(synced.get(who, 0), position)
        now = slow_saved(members, k, synced)
        assert events(effects) == ([Saved(1, now)] if now > before else [])
        before = now


def test_a_report_of_another_epoch_counts_for_nothing() -> None:  # I2
    layer = member(A, B, C)
    layer.on_event(Synced(1, 9), 0.0)
    assert events(hear(layer, report(B, 9, epoch=2), report(C, 9, epoch=0))) == []


def test_an_older_report_takes_nothing_back() -> None:  # I2
    layer = member(A, B, C)
    layer.on_event(Synced(1, 9), 0.0)
    assert events(hear(layer, report(B, 9))) == [Saved(1, 9)]
    assert hear(layer, report(B, 3), report(B, 9)) == []
    assert layer.on_event(Synced(1, 5), 0.0) == []


def test_a_stranger_and_a_member_before_the_first_view_count_for_nothing() -> None:
    layer = member(A, B)
    layer.on_event(Synced(1, 9), 0.0)
    assert hear(layer, report(STRANGER, 9)) == []
    early = Durability(A)
    assert hear(early, report(B, 9)) == []
    assert early.on_event(Synced(1, 9), 0.0) == [StartTimer("report", 0)]
    assert early.on_timer("report", 0.0) == []


def test_a_view_decides_whose_disks_count() -> None:  # I1
    layer = member()
    layer.on_event(Synced(1, 9), 0.0)
    assert events(hear(layer, report(B, 9))) == []
    assert events(layer.on_event(installed(A, B, C, number=2), 0.0)) == [Saved(1, 9)]


def test_who_comes_back_into_the_view_is_asked_anew() -> None:  # I1
    layer = member(A, B, C)
    hear(layer, report(B, 9))
    layer.on_event(installed(A, C, D, number=2), 0.0)
    layer.on_event(installed(A, B, E, number=3), 0.0)
    assert events(layer.on_event(Synced(1, 9), 0.0)) == []


def test_what_is_synced_is_told_at_the_end_of_the_turn_and_repeated() -> None:  # I3
    layer = member()
    assert timers(layer.on_event(Synced(1, 9), 0.0)) == {"report": 0}
    delays = []
    for _ in range(REPEATS + 2):
        effects = layer.on_timer("report", 0.0)
        assert downs(effects) == [bare(A, Durable(1, 9))]
        delays.append(timers(effects)["report"])
    assert delays == pytest.approx([0.1] * (REPEATS - 1) + [1.0] * 3)
    layer.on_event(Synced(1, 10), 0.0)
    assert timers(layer.on_timer("report", 0.0)) == {"report": 0.1}


def test_a_view_makes_everybody_report_again() -> None:  # I3
    layer = member()
    layer.on_event(Synced(1, 9), 0.0)
    assert timers(layer.on_event(installed(A, B, number=2), 0.0)) == {"report": 0}
    assert downs(layer.on_timer("report", 0.0)) == [bare(A, Durable(1, 9))]


def test_who_is_alone_reports_to_nobody() -> None:
    layer = member(A)
    layer.on_event(Synced(1, 9), 0.0)
    assert layer.on_timer("report", 0.0) == []


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []


def test_a_member_that_has_stopped_reports_and_counts_nothing_more_in_the_view() -> None:  # I4
    layer = member(A, B, C)
    layer.on_event(Synced(1, 5), 0.0)
    assert layer.on_event(FlushStarted(), 0.0) == [StopTimer("report")]
    assert layer.on_event(Synced(1, 9), 0.0) == []
    assert events(hear(layer, report(B, 9))) == [Saved(1, 5)]
    shown = layer.on_event(installed(A, B, number=2), 0.0)
    assert events(shown) == [Saved(1, 9)]
    (told,) = downs(layer.on_timer("report", 0.0))
    assert told.headers[-1] == Durable(1, 9)
