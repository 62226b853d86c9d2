"""The rules of FLUSH: stop together, say what is held, hold back what is sent meanwhile."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.digest import Digest
from groupcore.effects import Down, Effect, Notify
from groupcore.events import (
    Connect,
    CutAgreed,
    CutDelivered,
    FetchCut,
    Flushed,
    FlushRequested,
    FlushStarted,
)
from groupcore.layers.flush import REPEAT_S, Flush, Ok, Start
from groupcore.layers.sequencer import Forward
from groupcore.membership.ballots import Ballot
from groupcore.view import Address
from tests.groupcore.layers.building import (
    STRANGER,
    A,
    B,
    C,
    D,
    bare,
    downs,
    events,
    headed,
    installed,
    message,
    stopped,
    timers,
    told,
)

FIRST, SECOND = Ballot(1, B), Ballot(2, C)
MINE = Ballot(1, A)


class Below:
    """What NAKACK and the order would say."""

    def __init__(self) -> None:
        self.digest: Digest = {A: 3, B: 5}
        self.delivered: Digest = {A: 3, B: 4}
        self.position = 7


def idle(below: Below | None = None) -> Flush:
    """A layer in no view."""
    world = below or Below()
    return Flush(A, lambda: world.digest, lambda: world.delivered, lambda: world.position)


def member(below: Below | None = None) -> Flush:
    """A in the open view 1 [A B C]."""
    layer = idle(below)
    layer.on_event(installed(A, B, C), 0.0)
    layer.on_timer("open", 0.0)
    return layer


def run(layer: Flush, effects: list[Effect]) -> list[Effect]:
    """The pump tells this layer its own events, as it tells all."""
    for effect in effects:
        if isinstance(effect, Notify):
            run(layer, layer.on_event(effect.event, 0.0))
    return effects


def hear(layer: Flush, sender: Address, header: Start | Ok) -> list[Effect]:
    return run(layer, layer.on_up(bare(sender, header), 0.0))


def stopping(below: Below | None = None) -> Flush:
    """B has stopped it."""
    layer = member(below)
    hear(layer, B, Start(1, FIRST))
    layer.on_timer("answer", 0.0)
    return layer


def request(layer: Flush, *members: Address, ballot: Ballot = MINE) -> list[Effect]:
    return run(layer, layer.on_event(FlushRequested(1, ballot, members), 0.0))


# --- stopping -------------------------------------------------------------------------------------


def test_a_start_stops_the_member_which_answers_when_all_its_layers_have_stopped() -> None:  # I1
    below = Below()
    layer = member(below)
    effects = hear(layer, B, Start(1, FIRST))
    assert events(effects) == [FlushStarted()]
    assert downs(effects) == []
    assert timers(effects) == {"answer": 0}
    below.digest = {A: 3, B: 6}  # the rest of the turn
    answer = Ok(1, FIRST, {A: 3, B: 6}, 7, {A: 3, B: 4}, {}, 0)
    assert downs(layer.on_timer("answer", 0.0)) == [bare(A, answer, to=B)]


def test_who_has_stopped_stays_so_and_answers_again() -> None:  # I2
    layer = stopping()
    effects = hear(layer, B, Start(1, FIRST))
    assert events(effects) == []
    assert told(layer.on_timer("answer", 0.0)) == [
        Ok(1, FIRST, {A: 3, B: 5}, 7, {A: 3, B: 4}, {}, 0)
    ]
    assert layer.counters()["restarts"] == 0
    assert layer.is_holding


def test_another_proposer_starts_the_flush_again_under_a_higher_ballot() -> None:  # I2
    layer = stopping()
    assert events(hear(layer, C, Start(1, SECOND))) == []
    assert downs(layer.on_timer("answer", 0.0)) == [
        bare(A, Ok(1, SECOND, {A: 3, B: 5}, 7, {A: 3, B: 4}, {}, 0), to=C)
    ]
    assert layer.counters()["restarts"] == 1
    assert layer.counters()["flushes"] == 1


@pytest.mark.parametrize(
    ("sender", "start"),
    [
        (B, Start(1, FIRST)),  # lower than what has been answered
        (C, Start(2, Ballot(3, C))),  # another view
        (B, Start(1, Ballot(3, C))),  # in another's name
        (STRANGER, Start(1, Ballot(3, C))),
    ],
)
def test_a_lower_or_foreign_start_is_counted_and_changes_nothing(
    sender: Address, start: Start
) -> None:  # I3
    layer = member()
    hear(layer, C, Start(1, SECOND))
    assert hear(layer, sender, start) == []
    assert layer.counters()["ignored"] == 1
    assert told(layer.on_timer("answer", 0.0)) == [
        Ok(1, SECOND, {A: 3, B: 5}, 7, {A: 3, B: 4}, {}, 0)
    ]


def test_who_is_in_no_view_cannot_be_stopped() -> None:  # I3
    layer = idle()
    assert hear(layer, B, Start(0, FIRST)) == []
    assert layer.counters()["ignored"] == 1


def test_who_was_stopped_by_a_proposal_has_its_start_answered_too() -> None:  # I2
    layer = member()
    layer.on_event(FlushStarted(), 0.0)
    assert events(hear(layer, B, Start(1, FIRST))) == []
    assert layer.counters()["restarts"] == 0
    assert told(layer.on_timer("answer", 0.0)) == [
        Ok(1, FIRST, {A: 3, B: 5}, 7, {A: 3, B: 4}, {}, 0)
    ]


def test_a_new_view_ends_the_flush_before_it_was_answered() -> None:
    layer = member()
    hear(layer, B, Start(1, FIRST))
    assert "answer" in stopped(layer.on_event(installed(A, B, number=2), 0.0))
    assert layer.on_timer("answer", 0.0) == []


# --- the initiator --------------------------------------------------------------------------------


def test_the_initiator_stops_the_others_and_itself() -> None:
    layer = member()
    effects = request(layer, A, B, C)
    assert downs(effects) == [bare(A, Start(1, MINE), to=B), bare(A, Start(1, MINE), to=C)]
    assert events(effects) == [FlushStarted()]
    assert timers(effects) == {"answer": 0, "repeat": REPEAT_S}
    assert events(layer.on_timer("answer", 0.0)) == [
        Flushed(A, MINE, {A: 3, B: 5}, 7, {A: 3, B: 4})
    ]


def test_an_initiator_that_is_in_no_view_stops_those_who_are() -> None:
    layer = idle()
    assert told(request(layer, B)) == [Start(1, MINE)]
    assert events(hear(layer, B, Ok(1, MINE, {B: 1}, 2, {}, {}, 0))) == [
        Flushed(B, MINE, {B: 1}, 2)
    ]


def test_an_answer_completes_a_vote_once() -> None:
    layer = member()
    request(layer, A, B, C)
    answer = Ok(1, MINE, {B: 4}, 9, {}, {}, 0)
    assert events(hear(layer, B, answer)) == [Flushed(B, MINE, {B: 4}, 9)]
    assert hear(layer, B, answer) == []
    assert layer.counters()["ignored"] == 1


@pytest.mark.parametrize(
    ("sender", "answer"),
    [
        (D, Ok(1, MINE, {}, 0, {}, {}, 0)),
        (B, Ok(2, MINE, {}, 0, {}, {}, 0)),
        (B, Ok(1, FIRST, {}, 0, {}, {}, 0)),
    ],
)
def test_an_answer_that_was_not_asked_for_changes_nothing(sender: Address, answer: Ok) -> None:
    layer = member()
    request(layer, A, B, C)
    assert hear(layer, sender, answer) == []
    assert layer.counters()["ignored"] == 1


def test_a_start_is_repeated_until_it_is_answered() -> None:  # I4
    layer = member()
    request(layer, A, B, C)
    layer.on_timer("answer", 0.0)
    hear(layer, B, Ok(1, MINE, {}, 0, {}, {}, 0))
    effects = layer.on_timer("repeat", 0.05)
    assert downs(effects) == [bare(A, Start(1, MINE), to=C)]
    assert timers(effects) == {"repeat": REPEAT_S}
    assert layer.counters()["repeats"] == 1
    hear(layer, C, Ok(1, MINE, {}, 0, {}, {}, 0))
    assert layer.on_timer("repeat", 0.1) == []


def test_who_is_added_is_asked_and_the_others_are_not_asked_again() -> None:
    layer = member()
    request(layer, A, B)
    hear(layer, B, Ok(1, MINE, {}, 0, {}, {}, 0))
    assert downs(request(layer, A, B, C)) == [bare(A, Start(1, MINE), to=C)]
    layer.on_timer("answer", 0.0)
    assert list(layer.missing) == [C]


def test_an_initiator_that_gives_up_asks_nobody_any_more() -> None:  # I4
    layer = member()
    request(layer, A, B, C)
    assert stopped(request(layer)) == {"repeat"}
    assert layer.on_timer("repeat", 0.05) == []
    assert hear(layer, B, Ok(1, MINE, {}, 0, {}, {}, 0)) == []
    assert layer.is_holding  # those who have stopped stay so


def test_a_second_attempt_asks_everybody_anew() -> None:
    layer = member()
    request(layer, A, B)
    request(layer)
    again = Ballot(2, A)
    assert told(request(layer, A, B, ballot=again)) == [Start(1, again)]
    assert events(layer.on_timer("answer", 0.0)) == [
        Flushed(A, again, {A: 3, B: 5}, 7, {A: 3, B: 4})
    ]


# --- holding back ---------------------------------------------------------------------------------


def test_in_an_open_view_everything_goes_down() -> None:
    batch = message(A)
    assert member().on_down(batch, 0.0) == [Down(batch)]


def test_what_is_sent_before_the_first_view_waits_for_it() -> None:  # I5
    layer = idle()
    early, late = message(A, "early"), message(A, "late")
    assert layer.on_down(early, 0.0) == []
    assert timers(layer.on_event(installed(A, B), 0.0)) == {"open": 0}
    assert layer.on_down(late, 0.0) == []  # not every layer knows the view yet
    assert layer.counters()["waiting"] == 2
    assert layer.on_timer("open", 0.0) == [Down(early), Down(late)]
    assert layer.counters()["waiting"] == 0


def test_what_is_sent_in_a_flush_goes_out_in_the_next_view_in_its_order() -> None:  # I5
    layer = stopping()
    one, two, three = (message(A, text) for text in ("one", "two", "three"))
    assert layer.on_down(one, 0.0) == []
    for event in (FetchCut(), CutAgreed(), CutDelivered()):
        assert layer.on_event(event, 0.0) == []
    assert layer.on_down(two, 0.0) == []
    layer.on_event(installed(A, B, number=2), 0.0)
    assert layer.on_down(three, 0.0) == []
    assert layer.on_timer("open", 0.0) == [Down(one), Down(two), Down(three)]
    assert layer.on_down(one, 0.0) == [Down(one)]


def test_unicasts_and_what_layers_tell_each_other_pass_in_a_flush() -> None:  # I5
    layer = stopping()
    for batch in (message(A, to=B), bare(A, Start(1, MINE))):
        assert layer.on_down(batch, 0.0) == [Down(batch)]


def test_a_view_that_is_stopped_in_the_turn_in_which_it_begins_is_not_opened() -> None:  # I5
    layer = stopping()
    layer.on_down(message(A), 0.0)
    layer.on_event(installed(A, B, C, number=2), 0.0)
    hear(layer, B, Start(2, FIRST))
    assert layer.on_timer("open", 0.0) == []
    assert layer.counters()["waiting"] == 1
    layer.on_event(installed(A, B, C, number=3), 0.0)
    assert downs(layer.on_timer("open", 0.0)) == [message(A)]


# --- the rest -------------------------------------------------------------------------------------


def test_a_header_of_another_layer_is_a_bug_of_the_stack() -> None:
    with pytest.raises(AssertionError, match="not a header of FLUSH"):
        member().on_up(headed(B, Forward(1, 1)), 0.0)


def test_events_of_others_are_ignored() -> None:
    assert member().on_event(Connect(), 0.0) == []


def test_a_batch_that_is_held_back_is_the_same_when_it_goes_out() -> None:
    layer = idle()
    batch = headed(A, Forward(1, 1))
    layer.on_down(batch, 0.0)
    layer.on_event(installed(A, B), 0.0)
    (effect,) = layer.on_timer("open", 0.0)
    assert isinstance(effect, Down)
    assert isinstance(effect.batch, Batch)
    assert effect.batch is batch


# --- the data plane -------------------------------------------------------------------------------


def with_streams(asked: list[int]) -> Flush:
    """A in the open view 1, with a data plane that notes of which view it is asked."""
    world = Below()

    def streams(view: int) -> Digest:
        asked.append(view)
        return {C: 8}

    ask = (lambda: world.digest, lambda: world.delivered, lambda: world.position)
    layer = Flush(A, *ask, streams)
    layer.on_event(installed(A, B, C), 0.0)
    layer.on_timer("open", 0.0)
    return layer


def test_a_data_plane_stops_with_the_answer_and_not_before() -> None:
    asked: list[int] = []
    layer = with_streams(asked)
    hear(layer, B, Start(1, FIRST))
    assert asked == []
    (answer,) = told(layer.on_timer("answer", 0.0))
    assert isinstance(answer, Ok)
    assert (asked, answer.streams) == ([1], {C: 8})


def test_what_of_the_streams_the_order_knows_is_told_as_of_the_position_that_is_told() -> None:
    layer = with_streams([])
    layer.known = lambda position: {C: position}
    hear(layer, B, Start(1, FIRST))
    (answer,) = told(layer.on_timer("answer", 0.0))
    assert isinstance(answer, Ok)
    assert (answer.position, answer.known) == (7, {C: 7})
    run(layer, layer.on_event(FlushRequested(1, MINE, (A, B)), 0.0))
    (theirs,) = events(hear(layer, B, Ok(1, MINE, {}, 0, {}, {C: 9}, 0, {C: 5})))
    assert theirs == Flushed(B, MINE, {}, 0, {}, {C: 9}, known={C: 5})


def test_the_initiator_tells_how_far_each_has_the_streams() -> None:
    asked: list[int] = []
    layer = with_streams(asked)
    run(layer, layer.on_event(FlushRequested(1, MINE, (A, B)), 0.0))
    mine = events(layer.on_timer("answer", 0.0))
    assert mine == [Flushed(A, MINE, {A: 3, B: 5}, 7, {A: 3, B: 4}, {C: 8})]
    theirs = events(hear(layer, B, Ok(1, MINE, {}, 0, {}, {C: 9}, 0)))
    assert theirs == [Flushed(B, MINE, {}, 0, {}, {C: 9})]


def test_a_start_and_an_answer_go_to_all_where_unicasts_do_not_arrive() -> None:
    layer = member()
    layer.way_to = lambda member, proposer: None if (member, proposer) == (B, A) else member
    assert bare(A, Start(1, MINE)) in downs(request(layer, A, B, C))
    layer = member()
    layer.way_to = lambda member, proposer: None if (member, proposer) == (B, B) else member
    hear(layer, B, Start(1, FIRST))
    (answer,) = downs(layer.on_timer("answer", 0.0))
    assert answer.destination is None
