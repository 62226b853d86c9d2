"""Streams of frames: what is kept, what is missing, what waits."""

from __future__ import annotations

from groupcore.batch import Batch
from groupcore.sequencing.names import Order, Process
from groupcore.sequencing.record import Record, Run
from groupcore.sequencing.stream import Frame, Stream
from groupcore.view import Address

S = Address("s", 1)


def batch() -> Batch:
    return Batch(S, None)


def test_what_is_missing_is_the_first_gap() -> None:
    stream = Stream(S)
    stream.start(0)
    for number in (1, 2, 5, 6, 9):
        assert stream.take(number, batch())
    assert not stream.take(2, batch())
    assert stream.received == 2
    assert stream.missing == (3, 4)


def test_nothing_of_a_gone_node_is_taken_behind_what_somebody_has() -> None:
    stream = Stream(S)
    stream.start(0)
    for number in (1, 2, 4):
        stream.take(number, batch())
    stream.fence()
    assert not stream.take(3, batch())
    stream.allow(3)
    assert stream.missing == (3, 3)
    assert stream.take(3, batch())
    assert not stream.take(4, batch())
    stream.finish(3)
    assert stream.missing is None


def test_a_run_that_was_early_still_holds_back_what_follows_its_frame() -> None:
    stream = Stream(S)
    stream.start(0)
    record = Record(1, Order.CAUSALLY_TOTAL)
    for number in (1, 2, 3):
        stream.take(number, batch())
        assert stream.next_to_record(3) is not None
        frame = Frame(stream, number, batch(), {})
        run = Run(frame, 0, record, number, 1, 1, 0, Process(S, 1))
        frame.waiting.append(run)
        stream.undelivered[number] = frame
    first = stream.undelivered.pop(1)  # its turn has come in its group, and now it waits for others
    stream.undelivered[1] = first
    stream.advance()
    assert stream.delivered == 0
    assert not stream.settled(1, lambda one: one is record)
    assert stream.settled(1, lambda one: one is not record)
