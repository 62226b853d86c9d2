"""The rules of QUEUE: what waits, for how long, and in which order it is let go."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.early import OVERHEAD_BYTES
from groupcore.effects import Effect, Tell, Up
from groupcore.events import (
    Congested,
    Event,
    Excluded,
    Left,
    PrimaryLost,
    PrimaryRegained,
    Refused,
    Saved,
)
from groupcore.layers.durability import Durable
from groupcore.layers.queue import Queue
from groupcore.transfer.events import QueueOverflow, SetState, StartQueueing, StopQueueing
from groupcore.transfer.version import StateVersion
from tests.groupcore.layers.building import A, B, bare, events, installed, message, ups

FIRST, SECOND = StateVersion(1, 1, A), StateVersion(1, 2, A)


def state(version: StateVersion = FIRST) -> SetState:
    return SetState(version, 1, 1, B, b"state")


def passed(queue: Queue, *batches: Batch) -> list[Effect]:
    return [effect for batch in batches for effect in queue.on_pass(batch, 0.0)]


def tells(effects: list[Effect]) -> list[Event]:
    return [effect.event for effect in effects if isinstance(effect, Tell)]


def queueing(version: StateVersion = FIRST, bytes_max: int = 1 << 20) -> Queue:
    queue = Queue(bytes_max)
    assert queue.on_event(StartQueueing(version), 0.0) == []
    return queue


def test_without_queueing_everything_passes() -> None:
    queue = Queue()
    one = message(A)
    assert ups(passed(queue, one)) == [one]
    assert tells(queue.on_tell(Saved(1, 1), 0.0)) == [Saved(1, 1)]


def test_messages_are_replayed_in_order_before_anything_newer() -> None:
    # I1
    queue = queueing()
    one, two = message(A, "one"), message(B, "two", to=A)
    assert passed(queue, one, two) == []
    assert tells(queue.on_tell(state(), 0.0)) == [state()]
    assert ups(queue.on_event(StopQueueing(), 0.0)) == [one, two]
    assert ups(passed(queue, one)) == [one]
    assert queue.counters() == {"held": 2, "overflows": 0, "held_bytes": 0}


def test_when_the_transfer_fails_everything_is_replayed() -> None:
    # I1
    queue = queueing()
    queue.on_event(StartQueueing(SECOND), 0.0)
    one = message(A)
    passed(queue, one)
    assert ups(queue.on_event(StopQueueing(), 0.0)) == [one]


def test_what_a_later_state_contains_is_given_before_it() -> None:
    # I2, I4
    queue = queueing()
    one, two = message(A, "one"), message(A, "two")
    assert queue.on_tell(installed(A, B), 0.0) == []
    passed(queue, one)
    queue.on_event(StartQueueing(SECOND), 0.0)
    assert queue.on_tell(installed(A, number=2), 0.0) == []
    passed(queue, two)
    told = queue.on_tell(state(SECOND), 0.0)
    assert told == [Tell(installed(A, B)), Up(one), Tell(state(SECOND))]
    assert queue.on_event(StopQueueing(), 0.0) == [Tell(installed(A, number=2)), Up(two)]


def test_a_state_whose_place_was_not_marked_is_a_bug_below() -> None:
    queue = queueing()
    with pytest.raises(AssertionError, match="no place was marked"):
        queue.on_tell(state(SECOND), 0.0)


@pytest.mark.parametrize("event", [installed(A), PrimaryLost(), PrimaryRegained(), Saved(1, 1)])
def test_what_has_a_place_in_the_order_keeps_it(event: Event) -> None:
    # I4
    queue = queueing()
    one, two = message(A, "one"), message(A, "two")
    passed(queue, one)
    assert queue.on_tell(event, 0.0) == []
    passed(queue, two)
    effects = queue.on_event(StopQueueing(), 0.0)
    assert ups(effects) == [one, two]
    assert effects[1] == Tell(event)


@pytest.mark.parametrize("event", [Excluded("gone"), Left(), Refused("id_in_use", "")])
def test_the_end_of_a_life_waits_for_nobody(event: Event) -> None:
    # I4
    queue = queueing()
    passed(queue, message(A))
    assert tells(queue.on_tell(event, 0.0)) == [event]
    assert queue.on_event(event, 0.0) == []
    assert queue.held_bytes == 0
    assert queue.on_event(StopQueueing(), 0.0) == []


def test_what_has_no_place_passes() -> None:
    queue = queueing()
    assert tells(queue.on_tell(Congested(True), 0.0)) == [Congested(True)]


def test_what_is_for_a_layer_above_is_not_held() -> None:
    queue = queueing()
    report = bare(B, Durable(1, 1))
    assert ups(passed(queue, report)) == [report]


def test_who_reaches_the_bound_is_told_once_and_nothing_is_lost() -> None:
    # I3
    one, two, three = (message(A, text) for text in ("one", "two", "three"))
    queue = queueing(bytes_max=one.size_bytes + OVERHEAD_BYTES)
    assert events(passed(queue, one)) == []
    assert events(passed(queue, two)) == [QueueOverflow()]
    assert events(passed(queue, three)) == []
    assert ups(queue.on_event(StopQueueing(), 0.0)) == [one, two, three]
    assert queue.held_bytes == 0
