"""Each request of a node is answered once, by what happens or by the end of the node's life."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from groupcore.errors import ChannelClosedError, GroupRefusedError
from groupcore.host import Requests
from groupcore.sequencing.events import (
    Congestion,
    Created,
    Deleted,
    Departed,
    Joined,
    Refused,
    ServiceEvent,
)
from groupcore.sequencing.names import Order, Process
from groupcore.shared.tasks import Schedule, wait
from groupcore.view import Address

GROUP = 7
ANN = Process(Address("a", 1), 1)
BOB = Process(Address("a", 1), 2)


def refusal(error: Exception | None) -> str:
    assert isinstance(error, GroupRefusedError)
    return error.code


async def told_why(requests: Requests) -> str:
    """Why what was sent was not saved."""
    with pytest.raises(ChannelClosedError) as told:
        await requests.unsaved.none_left()
    return str(told.value)


JOINS: dict[str, tuple[ServiceEvent, str | int]] = {
    "joined": (Joined(GROUP, 5, ANN), 5),
    "departed": (Departed(GROUP, 5, ANN, gone=False), "left"),
    "deleted": (Deleted(GROUP, 0), "unknown_group"),
    "refused": (Refused(1, "draining", "no"), "draining"),
}


@pytest.mark.parametrize("name", JOINS)
def test_a_join_is_answered_once_whichever_event_ends_it(name: str) -> None:  # A1
    event, outcome = JOINS[name]
    requests = Requests(wait)
    joined, other = requests.join(1, ANN, GROUP), requests.join(2, BOB, GROUP + 1)
    requests.settle(event)
    requests.settle(event)  # a second answer finds nobody
    assert (joined.result() if joined.error is None else refusal(joined.error)) == outcome
    assert not other.done
    assert list(requests.joining) == [(BOB, GROUP + 1)]


def test_a_departure_of_the_past_ends_no_join() -> None:  # A1
    requests = Requests(wait)
    joined = requests.join(1, ANN, GROUP)
    requests.settle(Departed(GROUP, 5, ANN, gone=False, past=True))
    assert not joined.done


def test_the_end_of_the_life_answers_all_that_waits() -> None:  # A1
    runtime, requests = Schedule(Random(1)), Requests(wait)
    created, joined = requests.answer(1), requests.join(2, ANN, GROUP)
    requests.unsaved.sent(ANN, GROUP, 3)
    requests.settle(Congestion(True))
    saved, room = runtime.spawn(told_why(requests)), runtime.spawn(requests.room())
    runtime.advance(1.0)
    requests.end("left", "the node is gone")
    runtime.advance(2.0)
    assert [refusal(one.error) for one in (created, joined)] == ["left", "left"]
    assert saved.result() == "the node is gone"
    assert (room.error, room.done, requests.is_quiet) == (None, True, True)
    for event in (Created(1, GROUP, Order.CAUSALLY_TOTAL, False), Joined(GROUP, 5, ANN)):
        requests.settle(event)  # of the former life: nobody waits


def test_who_asks_for_room_waits_while_the_node_is_congested() -> None:
    runtime, requests = Schedule(Random(1)), Requests(wait)
    states: list[bool] = []
    for on in (False, True, False):
        requests.settle(Congestion(on))
        room = runtime.spawn(requests.room())
        runtime.advance(runtime.now_s + 1.0)
        states.append(room.done)
        requests.settle(Congestion(False))
        runtime.advance(runtime.now_s + 1.0)
        assert room.done
    assert states == [True, False, True]


def test_a_coroutine_that_gave_up_does_not_stop_the_answer() -> None:
    requests = Requests(wait)
    answered: list[Callable[[], None]] = []
    joined = requests.join(1, ANN, GROUP)
    waiting = joined.__await__()
    next(waiting)
    waiting.close()  # who waited was cancelled
    joined.when_done(lambda: answered.append(lambda: None))
    requests.settle(Joined(GROUP, 9, ANN))
    assert (joined.result(), len(answered)) == (9, 1)
