"""The rules of RESILIENCE: delivered only when a quorum of the view holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.effects import Down, Effect, Up
from groupcore.events import Acknowledged, Connect, CutAgreed, FlushStarted
from groupcore.layers.resilience import Held, Mark, Resilience
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
    headed,
    installed,
    message,
    stopped,
    timers,
    told,
    ups,
)

FIVE = (A, B, C, D, E)


def member(me: Address = B, members: tuple[Address, ...] = FIVE) -> Resilience:
    layer = Resilience(me)
    layer.on_event(installed(*members), 0.0)
    return layer


def cast(sender: Address, number: int, held: int = 0, view: int = 1) -> Batch:
    """A sender's multicast as NAKACK hands it over, with the mark that it carries."""
    return headed(sender, Mark(view, held), text=f"{sender.name}{number}")


def plain(sender: Address, *numbers: int) -> list[Batch]:
    return [message(sender, f"{sender.name}{number}") for number in numbers]


def hear(layer: Resilience, *batches: Batch) -> list[Effect]:
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]


# --- receivers ------------------------------------------------------------------------------------


def test_in_a_view_of_five_a_batch_waits_until_its_sender_says_that_a_quorum_holds_it() -> None:
    layer = member()  # I1
    assert ups(hear(layer, cast(A, 1), cast(A, 2))) == []
    assert layer.counters() == {"waiting": 2}
    assert ups(hear(layer, cast(A, 3, held=2))) == plain(A, 1, 2)  # I2
    assert ups(hear(layer, bare(A, Held(1, 3, False)))) == plain(A, 3)
    assert layer.counters() == {"waiting": 0}


@pytest.mark.parametrize("members", [(A, B), (A, B, C), (A, B, C, D)])
def test_where_sender_and_receiver_are_a_quorum_a_batch_is_delivered_at_once(
    members: tuple[Address, ...],
) -> None:  # I1
    assert ups(hear(member(B, members), cast(A, 1))) == plain(A, 1)


def test_where_sender_and_receiver_are_half_without_the_lowest_rank_they_wait() -> None:  # I1
    assert ups(hear(member(C, (A, B, C, D)), cast(D, 1))) == []


def slept(now: float = 5.0) -> tuple[Resilience, list[Effect]]:
    """A member of three that was awake at 0, and finds a batch when it wakes up."""
    layer = member(B, (A, B, C))
    assert timers(layer.on_timer("awake", 0.0)) == {"awake": pytest.approx(0.1)}
    return layer, layer.on_up(cast(A, 1), now)


def test_a_member_that_has_slept_does_not_take_a_batch_as_still_held_by_its_sender() -> None:
    layer, effects = slept()  # I5
    assert ups(effects) == []
    assert timers(effects) == {"ask": 0.03}
    assert ups(layer.on_up(bare(A, Held(1, 1, False)), 5.1)) == plain(A, 1)


def test_a_member_that_slept_is_wary_until_it_has_been_awake_for_a_while() -> None:
    layer, _ = slept()  # I5
    for tick in range(1, 6):
        layer.on_timer("awake", 5.0 + tick / 10)
    assert ups(layer.on_up(cast(A, 2), 5.55)) == []
    assert ups(layer.on_up(cast(A, 3), 5.65)) == plain(A, 1, 2, 3)


def test_a_timer_that_comes_late_shows_that_a_member_has_slept() -> None:
    layer = member(B, (A, B, C))  # I5
    layer.on_timer("awake", 0.0)
    layer.on_timer("awake", 5.0)
    assert ups(layer.on_up(cast(A, 1), 5.0)) == []


def test_a_short_delay_is_no_sleep() -> None:
    _, effects = slept(now=0.29)  # I5
    assert ups(effects) == plain(A, 1)


def test_where_no_pair_is_a_quorum_nobody_watches_for_sleep() -> None:
    assert "awake" not in timers(member().on_event(installed(*FIVE, number=2), 0.0))
    assert "awake" in timers(member().on_event(installed(A, B, number=2), 0.0))


def test_the_mark_of_one_sender_says_nothing_of_another() -> None:  # I1
    layer = member()
    hear(layer, cast(A, 1), cast(C, 1))
    assert ups(hear(layer, bare(A, Held(1, 1, False)))) == plain(A, 1)
    assert layer.counters() == {"waiting": 1}


def test_a_mark_never_goes_back() -> None:
    layer = member()
    hear(layer, cast(A, 1), bare(A, Held(1, 2, False)))
    assert ups(hear(layer, cast(A, 2, held=0))) == plain(A, 2)


@pytest.mark.parametrize("view", [0, 2])
def test_a_mark_of_another_view_counts_for_nothing(view: int) -> None:  # I1
    layer = member()
    assert ups(hear(layer, cast(A, 1, held=9, view=view), bare(A, Held(view, 9, True)))) == []


def test_a_stranger_counts_for_nothing() -> None:
    assert hear(member(), cast(STRANGER, 1), bare(STRANGER, Held(1, 1, True))) == []


def test_a_mark_that_does_not_come_is_asked_for_until_it_comes() -> None:  # I3
    layer = member()
    assert timers(hear(layer, cast(A, 1), cast(C, 1))) == {"ask": 0.03}
    for _ in range(2):
        effects = layer.on_timer("ask", 0.0)
        assert downs(effects) == [bare(B, Held(1, 0, True), to=A), bare(B, Held(1, 0, True), to=C)]
        assert timers(effects) == {"ask": 0.03}
    hear(layer, bare(A, Held(1, 1, False)), bare(C, Held(1, 1, False)))
    assert layer.on_timer("ask", 0.0) == []
    assert timers(hear(layer, cast(A, 2))) == {"ask": 0.03}


def test_nothing_is_asked_for_when_nothing_waits_and_once_when_something_does() -> None:  # I3
    assert timers(hear(member(B, (A, B)), cast(A, 1))) == {}
    layer = member()
    assert timers(hear(layer, cast(A, 1))) == {"ask": 0.03}
    assert timers(hear(layer, cast(A, 2))) == {}


def test_who_is_asked_answers_with_its_mark() -> None:  # I3
    layer = member(A)
    own(layer, 2)
    acknowledge(layer, {B: 2, C: 1})
    assert downs(hear(layer, bare(D, Held(1, 0, True)))) == [bare(A, Held(1, 1, False), to=D)]
    assert downs(hear(layer, bare(D, Held(1, 0, False)))) == []


# --- the sender -----------------------------------------------------------------------------------


def own(layer: Resilience, count: int) -> list[Effect]:
    """NAKACK hands over what this member has multicast itself."""
    first = layer.streams[layer.me].received + 1
    return hear(layer, *(cast(layer.me, number) for number in range(first, first + count)))


def acknowledge(layer: Resilience, received: dict[Address, int]) -> list[Effect]:
    return [
        effect
        for member, number in received.items()
        for effect in layer.on_event(Acknowledged(member, number), 0.0)
    ]


def test_the_senders_own_batch_waits_for_a_quorum_like_everybody_elses() -> None:  # I1
    layer = member(A)
    assert ups(own(layer, 1)) == []
    assert ups(acknowledge(layer, {B: 1})) == []
    assert ups(acknowledge(layer, {C: 1})) == plain(A, 1)


def test_who_is_a_quorum_alone_delivers_at_once() -> None:  # I1
    assert ups(own(member(A, (A,)), 1)) == plain(A, 1)
    assert ups(own(member(A, (A, B)), 1)) == plain(A, 1)
    assert ups(own(member(B, (A, B)), 1)) == []


def test_every_multicast_carries_how_far_a_quorum_holds_the_former() -> None:
    layer = member(A)
    first, second = message(A, "one"), message(A, "two")
    assert layer.on_down(first, 0.0) == [Down(first.with_header(Mark(1, 0)))]
    own(layer, 1)
    acknowledge(layer, {B: 1, C: 1})
    assert layer.on_down(second, 0.0) == [Down(second.with_header(Mark(1, 1)))]


def test_a_mark_goes_out_alone_at_the_end_of_the_turn_when_nothing_carried_it() -> None:  # I3
    layer = member(A)
    own(layer, 1)
    assert timers(acknowledge(layer, {B: 1, C: 1}))["mark"] == 0
    assert downs(layer.on_timer("mark", 0.0)) == [bare(A, Held(1, 1, False))]
    assert layer.on_timer("mark", 0.0) == []


def test_a_mark_that_a_multicast_has_carried_does_not_go_out_again() -> None:
    layer = member(A)
    own(layer, 1)
    acknowledge(layer, {B: 1, C: 1})
    layer.on_down(message(A), 0.0)
    assert layer.on_timer("mark", 0.0) == []


def test_where_some_receiver_cannot_tell_for_itself_a_mark_goes_out() -> None:
    layer = member(B, (A, B, C, D))  # B and C are a half without the lowest rank
    own(layer, 1)
    assert timers(acknowledge(layer, {A: 1}))["mark"] == 0


def test_an_acknowledgement_that_changes_nothing_causes_nothing() -> None:
    layer = member(A)
    own(layer, 1)
    acknowledge(layer, {B: 1, C: 1})
    assert acknowledge(layer, {D: 1}) == []


def test_unicasts_and_unreliable_multicasts_pass_as_they_are() -> None:
    layer = member()
    for batch in (message(B, to=A), bare(B, Held(1, 0, False))):
        assert layer.on_down(batch, 0.0) == [Down(batch)]


def test_what_is_sent_before_the_first_view_carries_a_mark_that_counts_for_nothing() -> None:
    layer = Resilience(A)
    assert told(layer.on_down(message(A), 0.0)) == [Mark(0, 0)]
    assert layer.on_timer("ask", 0.0) == []
    assert layer.on_timer("mark", 0.0) == []


def slow_held(
    members: tuple[Address, ...], me: Address, received: int, acks: dict[Address, int]
) -> int:
    """The highest number that some quorum, the sender in it, holds."""
    names = tuple(m.name for m in members)
    holds = {m: acks.get(m, 0) for m in members} | {me: received}
    best = 0
    for size in range(1, len(members) + 1):
        for group in combinations(members, size):
            if me in group and is_quorum(names, [m.name for m in group]):
                best = max(best, min(holds[m] for m in group))
    return best


@settings(max_examples=60)
@given(
    st.integers(1, 5),
    st.data(),
    st.lists(st.tuples(st.sampled_from(FIVE), st.integers(1, 4)), max_size=12),
)
def test_the_sender_delivers_exactly_what_a_quorum_holds(
    count: int, data: st.DataObject, acks: list[tuple[Address, int]]
) -> None:  # I1
    members = FIVE[:count]
    me = data.draw(st.sampled_from(members))
    layer = member(me, members)
    delivered = ups(own(layer, 4))
    best: dict[Address, int] = {}
    for other, number in acks:
        if other not in members or other == me:
            continue
        best[other] = max(best.get(other, 0), number)
        delivered += ups(acknowledge(layer, {other: best[other]}))
        assert delivered == plain(me, *range(1, slow_held(members, me, 4, best) + 1))


# --- view change ----------------------------------------------------------------------------------


def frozen() -> Resilience:
    layer = member()
    hear(layer, cast(A, 1), cast(A, 2), cast(C, 1), cast(C, 2), cast(A, 3))
    layer.on_event(FlushStarted(), 0.0)
    return layer


def test_after_the_flush_has_started_nothing_is_delivered() -> None:  # I4
    layer = frozen()
    assert hear(layer, bare(A, Held(1, 9, True)), cast(A, 4, held=9)) == []
    assert layer.on_event(Acknowledged(A, 1), 0.0) == []
    assert layer.on_timer("ask", 0.0) == []
    assert layer.on_timer("mark", 0.0) == []


def test_the_flush_stops_asking_and_telling() -> None:  # I4
    assert stopped(member().on_event(FlushStarted(), 0.0)) == {"ask", "mark"}


def test_what_the_cut_contains_is_delivered_sender_by_sender_in_rank_order() -> None:  # I1, I2, I4
    effects = frozen().on_event(CutAgreed({A: 2, C: 1}), 0.0)
    assert effects == [Up(batch) for batch in (*plain(A, 1, 2), *plain(C, 1))]


def test_what_the_cut_does_not_contain_is_never_delivered() -> None:  # I1
    layer = frozen()
    assert layer.on_event(CutAgreed({C: 0}), 0.0) == []
    layer.on_event(installed(*FIVE, number=2), 0.0)
    assert layer.counters() == {"waiting": 0}
    assert ups(hear(layer, bare(A, Held(2, 9, False)))) == []


def test_a_view_begins_at_zero() -> None:
    layer = member(A)
    own(layer, 2)
    acknowledge(layer, {B: 2, C: 2})
    assert stopped(layer.on_event(installed(*FIVE, number=2), 0.0)) == {"ask", "mark"}
    assert told(layer.on_down(message(A), 0.0)) == [Mark(2, 0)]
    assert ups(hear(layer, cast(A, 1, view=2))) == []
    assert ups(acknowledge(layer, {B: 1})) == []


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []


# --- a whole view ---------------------------------------------------------------------------------


@dataclass
class Play:
    """Five members; what one tells another may be lost, and is asked for."""

    layers: dict[Address, Resilience] = field(
        default_factory=lambda: {me: member(me) for me in FIVE}
    )
    delivered: dict[Address, list[Batch]] = field(default_factory=lambda: {m: [] for m in FIVE})

    def run(self, me: Address, effects: list[Effect], lost: set[Address]) -> None:
        self.delivered[me] += ups(effects)
        for batch in downs(effects):
            for other in FIVE if batch.destination is None else (batch.destination,):
                if other != me and other not in lost:
                    self.run(other, self.layers[other].on_up(batch, 0.0), set())


@given(st.sets(st.sampled_from([B, C, D, E])))
def test_a_batch_that_a_quorum_holds_is_delivered_everywhere_though_marks_are_lost(
    lost: set[Address],
) -> None:  # I3
    play = Play()
    for me, layer in play.layers.items():
        play.run(me, layer.on_up(cast(A, 1), 0.0), set())
    for other in (B, C):
        play.run(A, play.layers[A].on_event(Acknowledged(other, 1), 0.0), set())
    play.run(A, play.layers[A].on_timer("mark", 0.0), lost)
    for me in sorted(lost):
        assert play.delivered[me] == []
        play.run(me, play.layers[me].on_timer("ask", 0.0), set())
    assert all(got == plain(A, 1) for got in play.delivered.values())


def test_where_every_receiver_can_tell_for_itself_no_mark_goes_out() -> None:
    layer = member(A, (A, B, C))
    own(layer, 1)
    assert "mark" not in timers(acknowledge(layer, {B: 1}))
