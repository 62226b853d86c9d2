"""The rules of the stack: who sees what, in which order, and when timers run."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.effects import Down, Effect, Notify, Persist, StartTimer, StopTimer, Up
from groupcore.errors import CompositionError
from groupcore.events import Connect, Found, Leave
from groupcore.layer import Layer
from groupcore.stack import Stack
from tests.groupcore.recorders import (
    A,
    High,
    HighHeader,
    Low,
    LowHeader,
    Middle,
    NobodysHeader,
    Recorder,
    answer,
    message,
    three,
)

# --- the way of a batch ---------------------------------------------------------------------------


def test_what_goes_down_passes_every_layer_that_looks_at_it() -> None:
    log: list[str] = []
    stack = three(log)
    stack.send(message(), 0.0)
    assert log == ["HIGH down", "LOW down"]
    assert stack.take().sends == [message(HighHeader(), LowHeader())]


def test_without_a_layer_that_looks_what_goes_down_is_sent_as_it_is() -> None:
    stack = Stack([Middle([])])
    stack.send(message(), 0.0)
    assert stack.take().sends == [message()]


def test_what_comes_up_goes_to_the_owner_of_its_outermost_header() -> None:
    log: list[str] = []
    stack = three(log)
    stack.receive(message(HighHeader()), 0.0)
    assert log == ["HIGH up"]


def test_what_has_no_header_left_is_delivered() -> None:
    log: list[str] = []
    batch = message(HighHeader(), LowHeader())
    inner = message(HighHeader())
    stack = three(log, low=answer(batch, Up(inner)), high=answer(inner, Up(message())))
    stack.receive(batch, 0.0)
    assert log == ["LOW up", "HIGH up"]
    assert stack.take().deliveries == [message()]
    assert stack.take().deliveries == []


class Turnstile(Recorder):
    """Sees what goes up past it, and lets it through as the test says."""

    name = "TURNSTILE"

    def on_pass(self, batch: Batch, now: float) -> list[Effect]:
        self.log.append("TURNSTILE pass")
        return self.script(batch)


def test_a_layer_that_looks_at_what_passes_decides_whether_it_goes_on() -> None:
    log: list[str] = []
    through = Turnstile(log, lambda b: [Up(b)] if isinstance(b, Batch) and b.count else [])
    stack = Stack([Low(log), through])
    stack.receive(Batch(A, None, (), b"", 1), 0.0)
    stack.receive(Batch(A, None, (), b"", 0), 0.0)
    assert log == ["TURNSTILE pass", "TURNSTILE pass"]
    assert [batch.count for batch in stack.take().deliveries if isinstance(batch, Batch)] == [1]


def test_what_belongs_to_a_layer_below_does_not_pass_those_above() -> None:
    log: list[str] = []
    stack = Stack([Low(log), Turnstile(log)])
    stack.receive(Batch(A, None, (LowHeader(),), b"", 1), 0.0)
    assert log == ["LOW up"]


def test_a_header_that_nobody_owns_is_dropped_and_counted() -> None:
    log: list[str] = []
    stack = three(log)
    stack.receive(message(NobodysHeader()), 0.0)
    assert log == []
    assert stack.counters()["drops.no_such_layer"] == 1


def test_a_header_of_a_lower_layer_above_a_higher_ones_is_dropped_and_counted() -> None:
    # forged nesting must not lead a batch round in the stack
    log: list[str] = []
    batch = message(LowHeader(), HighHeader())
    stack = three(log, high=answer(batch, Up(message(LowHeader()))))
    stack.receive(batch, 0.0)
    assert log == ["HIGH up"]
    assert stack.counters()["drops.header_out_of_place"] == 1
    assert stack.take().deliveries == []


# --- effects --------------------------------------------------------------------------------------


def test_effects_run_depth_first_and_in_order() -> None:
    log: list[str] = []
    batch = message(LowHeader())
    inner = message(HighHeader())
    stack = three(
        log,
        low=answer(batch, Up(inner), Down(message()), Up(inner)),
        high=answer(inner, Down(message())),
    )
    stack.receive(batch, 0.0)
    assert log == ["LOW up", "HIGH up", "LOW down", "HIGH up"]
    assert stack.take().sends == [message(LowHeader()), message()]


def test_an_event_is_told_from_the_lowest_layer_to_the_highest_and_then_delivered_once() -> None:
    log: list[str] = []
    stack = three(log, middle=answer(Connect(), Notify(Found())))
    stack.notify(Connect(), 0.0)
    assert log == [
        *("LOW Connect", "MIDDLE Connect"),
        *("LOW Found", "MIDDLE Found", "HIGH Found"),
        "HIGH Connect",
    ]
    assert stack.take().deliveries == [Found()]


def test_a_layer_is_told_only_of_the_events_that_it_hears() -> None:
    class Picky(High):
        name = "PICKY"
        hears = (Found,)

    log: list[str] = []
    stack = Stack([Low(log), Picky(log)])
    stack.notify(Connect(), 0.0)
    stack.notify(Found(), 0.0)
    assert log == ["LOW Connect", "LOW Found", "PICKY Found"]


def test_the_application_hears_of_an_event_before_what_it_causes() -> None:
    stack = three([], low=answer(Connect(), Notify(Found())), high=answer(Found(), Up(message())))
    stack.notify(Connect(), 0.0)
    assert stack.take().deliveries == [Found(), message()]


def test_what_has_to_be_stored_comes_out_in_order() -> None:
    first, second = Persist(1, b"one"), Persist(2, b"two")
    stack = three([], low=answer(Connect(), first, second))
    stack.notify(Connect(), 0.0)
    assert stack.take().persists == [first, second]


def test_what_is_no_effect_is_a_bug_of_the_layer() -> None:
    stack = three([], low=lambda _: ["nonsense"])  # type: ignore[list-item]
    with pytest.raises(AssertionError, match="not an effect: 'nonsense'"):
        stack.notify(Connect(), 0.0)


# --- timers ---------------------------------------------------------------------------------------


def test_a_timer_runs_when_its_time_has_come() -> None:
    log: list[str] = []
    stack = three(log, high=answer(Connect(), StartTimer("late", 2.0), StartTimer("soon", 1.0)))
    assert stack.next_wake() is None
    stack.notify(Connect(), 10.0)
    log.clear()
    assert stack.next_wake() == 11.0
    stack.wake(10.9)
    assert log == []
    stack.wake(11.0)
    assert log == ["HIGH timer soon at 11.0"]
    assert stack.next_wake() == 12.0
    stack.wake(15.0)
    assert log[1:] == ["HIGH timer late at 15.0"]
    assert stack.next_wake() is None


def test_timers_of_one_name_in_two_layers_are_two() -> None:
    log: list[str] = []
    stack = three(
        log,
        low=answer(Connect(), StartTimer("t", 1.0)),
        high=answer(Connect(), StartTimer("t", 1.0)),
    )
    stack.notify(Connect(), 0.0)
    log.clear()
    stack.wake(1.0)
    assert log == ["LOW timer t at 1.0", "HIGH timer t at 1.0"]


def test_a_timer_that_is_started_again_runs_once_at_the_new_time() -> None:
    log: list[str] = []
    stack = three(log, high=answer(Connect(), StartTimer("t", 1.0), StartTimer("t", 3.0)))
    stack.notify(Connect(), 0.0)
    log.clear()
    assert stack.next_wake() == 3.0
    stack.wake(2.0)
    assert log == []
    stack.wake(3.0)
    stack.wake(9.0)
    assert log == ["HIGH timer t at 3.0"]


def test_a_stopped_timer_does_not_run() -> None:
    log: list[str] = []
    stack = three(
        log,
        high=answer(
            Connect(),
            *(StartTimer("t", 1.0), StartTimer("now", 0)),
            *(StopTimer("t"), StopTimer("now"), StopTimer("never started")),
        ),
    )
    stack.notify(Connect(), 0.0)
    log.clear()
    stack.end_turn(0.0)
    stack.wake(5.0)
    assert log == []
    assert stack.next_wake() is None


def test_a_timer_of_delay_zero_runs_at_the_end_of_the_turn_once() -> None:
    log: list[str] = []
    stack = three(log, low=lambda given: [] if given == "ack" else [StartTimer("ack", 0)])
    stack.receive(message(LowHeader()), 1.0)
    stack.receive(message(LowHeader()), 1.0)
    assert log == ["LOW up", "LOW up"]
    assert stack.next_wake() is None
    stack.end_turn(1.0)
    assert log[2:] == ["LOW timer ack at 1.0"]
    stack.end_turn(1.0)
    assert len(log) == 3


def test_the_newest_start_decides_between_the_end_of_the_turn_and_later() -> None:
    log: list[str] = []
    stack = three(
        log,
        low=answer(Connect(), StartTimer("t", 5.0), StartTimer("t", 0)),
        high=answer(Connect(), StartTimer("t", 0), StartTimer("t", 5.0)),
    )
    stack.notify(Connect(), 0.0)
    log.clear()
    stack.end_turn(0.0)
    assert log == ["LOW timer t at 0.0"]
    stack.wake(5.0)
    assert log[1:] == ["HIGH timer t at 5.0"]


def test_what_an_end_of_turn_timer_causes_belongs_to_the_same_turn() -> None:
    log: list[str] = []
    stack = three(
        log,
        low=answer(Connect(), StartTimer("first", 0)),
        high=answer(Connect(), StartTimer("second", 0)),
        middle=answer(Connect(), StartTimer("other", 0)),
    )
    stack.notify(Connect(), 0.0)
    stack.layers[0].script = answer("first", Notify(Leave()))  # type: ignore[attr-defined]
    stack.layers[1].script = answer(Leave(), StartTimer("third", 0))  # type: ignore[attr-defined]
    log.clear()
    stack.end_turn(0.0)
    assert [line for line in log if "timer" in line] == [
        "LOW timer first at 0.0",
        "MIDDLE timer other at 0.0",
        "HIGH timer second at 0.0",
        "MIDDLE timer third at 0.0",
    ]


def test_a_layer_that_rearms_itself_for_ever_is_a_bug() -> None:
    stack = three([], high=lambda _: [StartTimer("again", 0)])
    stack.notify(Connect(), 0.0)
    with pytest.raises(AssertionError, match="end-of-turn timers never end"):
        stack.end_turn(0.0)


# --- composition ----------------------------------------------------------------------------------


def test_the_counters_carry_the_layers_name() -> None:
    assert three([]).counters() == {"LOW.things": 4}


def test_layers_that_do_not_fit_make_no_stack() -> None:
    with pytest.raises(CompositionError, match="HIGH requires 'ground' from a layer below it"):
        Stack([High([])])


def test_a_layer_without_headers_and_timers_takes_none_and_ignores_events() -> None:
    class Idle(Layer):
        name = "IDLE"

    idle = Idle()
    assert idle.on_event(Connect(), 0.0) == []
    assert idle.counters() == {}
    with pytest.raises(NotImplementedError, match="IDLE owns no headers"):
        idle.on_up(message(), 0.0)
    with pytest.raises(NotImplementedError, match="IDLE starts no timers"):
        idle.on_timer("t", 0.0)
    with pytest.raises(NotImplementedError):
        idle.on_down(message(), 0.0)
    assert idle.body_limit_bytes is None
    assert Stack([idle]).body_limit_bytes is None
