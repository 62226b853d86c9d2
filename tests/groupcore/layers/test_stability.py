"""The rules of STABLE, bullet by bullet of the text "pbcast.STABLE protocol"."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.digest import Digest, covers
from groupcore.effects import Effect, Notify, StopTimer
from groupcore.events import Connect, FlushStarted, MuchReceived, Stable
from groupcore.layers.stability import Announce, Report, Stability
from groupcore.view import Address
from tests.groupcore.layers.building import (
    STRANGER,
    A,
    B,
    C,
    bare,
    downs,
    events,
    installed,
    stopped,
    timers,
    told,
)

MINE: Digest = {A: 22, B: 2, C: 19}
"""The text's own example."""


def member(
    delivered: Digest | None = None,
    highest: Digest | None = None,
    members: tuple[Address, ...] = (A, B, C),
) -> Stability:
    mine = MINE if delivered is None else delivered
    layer = Stability(A, Random(1), lambda: mine, lambda: highest or mine, interval_s=0.5)
    layer.on_event(installed(*members), 0.0)
    return layer


def report(
    member: Address, delivered: Digest, highest: Digest | None = None, view: int = 1
) -> Batch:
    return bare(member, Report(view, delivered, highest or delivered))


def hear(layer: Stability, *batches: Batch) -> list[Effect]:
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]


def full_round(layer: Stability, *others: Batch) -> list[Effect]:
    """My own report, the others', and then the announcement's time."""
    layer.on_timer("report", 0.0)
    hear(layer, *others)
    return layer.on_timer("announce", 0.0)


# --- the text's bullets ---------------------------------------------------------------------------


def test_a_digest_holds_the_highest_number_delivered_and_the_highest_seen() -> None:
    # "Every member maintains a digest"; "delivered is always <= the highest seen"
    layer = member(highest={A: 22, B: 5, C: 19})
    (mine,) = told(layer.on_timer("report", 0.0))
    assert mine == Report(1, MINE, {A: 22, B: 5, C: 19})


def test_every_member_multicasts_its_digest_periodically() -> None:
    layer = Stability(A, Random(1), lambda: MINE, lambda: MINE, interval_s=0.5)
    assert timers(layer.on_event(installed(A, B, C), 0.0)) == {"report": 0.5}
    delays = set()
    for _ in range(5):
        effects = layer.on_timer("report", 0.0)
        assert downs(effects) == [bare(A, Report(1, MINE, MINE))]
        delays.add(timers(effects)["report"])
    assert all(0.375 <= delay_s <= 0.625 for delay_s in delays)
    assert len(delays) == 5


def test_the_minimum_of_what_is_heard_is_announced() -> None:  # I2
    # "the minimum of its own seqnos and the seqnos from the other digest becomes the new seqnos"
    layer = member()
    effects = full_round(layer, report(B, {A: 20, B: 4, C: 19}), report(C, {A: 22, B: 3, C: 25}))
    stable = {A: 20, B: 2, C: 19}
    highest = {A: 22, B: 4, C: 25}
    assert downs(effects) == [bare(A, Announce(1, stable, highest))]
    assert events(effects) == [Stable(stable, highest)]
    assert layer.counters()["rounds"] == 1


def test_heard_from_is_initialised_to_all_members_at_every_view() -> None:  # I1
    layer = member()
    layer.on_timer("report", 0.0)
    hear(layer, report(B, MINE))
    layer.on_event(installed(A, B, C, number=2), 0.0)
    assert hear(layer, report(C, MINE, view=2)) == []
    assert layer.on_timer("announce", 0.0) == []


def test_a_member_that_has_been_heard_is_struck_off() -> None:  # I1
    layer = member()
    layer.on_timer("report", 0.0)
    assert hear(layer, report(B, MINE), report(B, MINE)) == []
    assert "announce" in timers(hear(layer, report(C, MINE)))


def test_nothing_is_announced_before_every_member_has_been_heard() -> None:  # I1
    layer = member()
    assert full_round(layer, report(B, MINE)) == []
    silent = member()
    assert hear(silent, report(B, MINE), report(C, MINE)) == []  # my own is missing


def test_the_announcement_is_randomly_staggered() -> None:
    delays = set()
    for seed in range(8):
        layer = Stability(A, Random(seed), lambda: MINE, lambda: MINE)
        layer.on_event(installed(A, B, C), 0.0)
        layer.on_timer("report", 0.0)
        effects = hear(layer, report(B, MINE), report(C, MINE))
        delays.add(timers(effects)["announce"])
    assert len(delays) == 8
    assert all(0 <= delay_s <= 0.05 for delay_s in delays)


def test_an_announcement_that_arrives_cancels_the_own_one_and_ends_the_round() -> None:  # I4
    layer = member()
    layer.on_timer("report", 0.0)
    hear(layer, report(B, MINE), report(C, MINE))
    effects = hear(layer, bare(B, Announce(1, MINE, MINE)))
    assert effects == [StopTimer("announce"), Notify(Stable(MINE, MINE))]
    assert layer.on_timer("announce", 0.0) == []  # even if it was under way
    assert layer.counters()["rounds"] == 1


def test_what_everyone_agreed_on_is_told_so_that_the_history_may_drop_it() -> None:
    layer = member()
    stable = {A: 9, B: 1, C: 3}
    assert events(hear(layer, bare(C, Announce(1, stable, MINE)))) == [Stable(stable, MINE)]


def test_there_is_no_unilateral_action_when_a_member_joins() -> None:  # I3
    # The text's story: A hears B, then sets a digest with C, and must not announce for B.
    layer = member(members=(A, B))
    hear(layer, report(B, {A: 5, B: 5}))
    layer.on_event(installed(A, B, C, number=2), 0.0)
    layer.on_timer("report", 0.0)
    assert layer.on_timer("announce", 0.0) == []
    assert hear(layer, report(C, MINE, view=2)) == []
    assert layer.on_timer("announce", 0.0) == []
    assert "announce" in timers(hear(layer, report(B, MINE, view=2)))


def test_a_digest_with_other_members_makes_no_announcement() -> None:  # I3
    layer = member()
    layer.on_timer("report", 0.0)
    assert hear(layer, report(B, MINE), report(C, MINE, view=2), report(C, MINE, view=0)) == []
    assert layer.on_timer("announce", 0.0) == []


@pytest.mark.parametrize("other", [{A: 5, B: 5}, {A: 5, B: 5, C: 5, STRANGER: 5}, {}])
def test_a_digest_that_does_not_have_exactly_the_same_members_resets_heard_from(
    other: Digest,
) -> None:  # I3
    # "Reset the heard_from list. This will ensure that no stability message is sent"
    layer = member()
    layer.on_timer("report", 0.0)
    hear(layer, report(B, MINE), report(C, MINE))
    assert "announce" in stopped(hear(layer, report(B, other)))
    assert layer.on_timer("announce", 0.0) == []
    assert layer.reports == {}
    assert layer.counters()["other_members"] == 1


def test_an_announcement_for_other_members_is_no_agreement() -> None:  # I3
    assert events(hear(member(), bare(B, Announce(1, {A: 5, B: 5}, MINE)))) == []


def test_a_digest_is_also_multicast_after_a_certain_number_of_bytes() -> None:
    delays = set()
    for seed in range(5):
        layer = Stability(A, Random(seed), lambda: MINE, lambda: MINE)
        assert layer.on_event(MuchReceived(), 0.0) == []  # in no view
        layer.on_event(installed(A, B, C), 0.0)
        delays.add(timers(layer.on_event(MuchReceived(), 0.0))["report"])
        assert layer.on_event(MuchReceived(), 0.0) == []  # it is under way already
        assert told(layer.on_timer("report", 0.0)) == [Report(1, MINE, MINE)]
        assert timers(layer.on_event(MuchReceived(), 0.0))["report"] < 0.05
    assert len(delays) == 5


def test_an_announcement_of_another_view_counts_for_nothing() -> None:  # I3
    layer = member()
    assert hear(layer, bare(B, Announce(2, MINE, MINE)), bare(B, Announce(0, {}, {}))) == []


def test_a_stranger_counts_for_nothing() -> None:
    layer = member(members=(A, B))
    layer.on_timer("report", 0.0)
    assert hear(layer, report(STRANGER, MINE), bare(STRANGER, Announce(1, MINE, MINE))) == []


# --- beside the text ------------------------------------------------------------------------------


digests = st.fixed_dictionaries({member: st.integers(0, 9) for member in (A, B, C)})


@settings(max_examples=50)
@given(digests, digests, digests)
def test_the_announced_digest_never_exceeds_any_report(
    mine: Digest, bs: Digest, cs: Digest
) -> None:  # I2
    layer = member(delivered=mine, highest={A: 99})
    effects = full_round(layer, report(B, bs), report(C, cs))
    (announce,) = told(effects)
    assert isinstance(announce, Announce)
    assert all(covers(each, announce.delivered) for each in (mine, bs, cs))
    assert all(covers(announce.highest, each) for each in (bs, cs, {A: 99}))


def test_the_newest_report_of_a_member_counts() -> None:
    layer = member(delivered={A: 22, B: 2}, members=(A, B))
    effects = full_round(layer, report(B, {A: 1, B: 1}), report(B, {A: 2, B: 2}))
    assert events(effects)[0] == Stable({A: 2, B: 2}, {A: 22, B: 2})


def test_who_has_nothing_new_to_tell_says_nothing() -> None:
    layer = member()
    hear(layer, bare(B, Announce(1, MINE, MINE)))
    effects = layer.on_timer("report", 0.0)
    assert downs(effects) == []
    assert "report" in timers(effects)


def test_who_has_missed_an_announcement_is_told_it_by_whoever_has_nothing_new() -> None:  # I1
    layer = member()
    hear(layer, bare(B, Announce(1, MINE, MINE)))
    assert downs(hear(layer, report(C, MINE))) == [bare(A, Announce(1, MINE, MINE), to=C)]


def test_a_late_report_of_less_than_is_stable_begins_a_round() -> None:
    layer = member()
    hear(layer, bare(B, Announce(1, MINE, MINE)))
    assert hear(layer, report(C, {A: 22, B: 2, C: 18})) == []
    assert list(layer.reports) == [C]


def test_who_knows_of_more_than_it_has_goes_on_reporting() -> None:
    layer = member(highest={A: 22, B: 3, C: 19})
    hear(layer, bare(B, Announce(1, MINE, MINE)))
    assert told(layer.on_timer("report", 0.0))


def test_who_is_alone_or_in_no_view_says_nothing() -> None:
    alone = member(members=(A,))
    assert downs(alone.on_timer("report", 0.0)) == []
    nowhere = Stability(A, Random(1), lambda: MINE, lambda: MINE)
    assert nowhere.on_timer("report", 0.0) == []
    assert hear(nowhere, report(B, MINE)) == []


@pytest.mark.parametrize("event", [FlushStarted(), installed(A, B, C, number=2)])
def test_a_view_change_ends_the_round(event: FlushStarted) -> None:  # I3
    layer = member()
    layer.on_timer("report", 0.0)
    hear(layer, report(B, MINE), report(C, MINE))
    assert stopped(layer.on_event(event, 0.0)) >= {"announce"}
    assert layer.on_timer("announce", 0.0) == []


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []
