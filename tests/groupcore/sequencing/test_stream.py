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


def take(stream: Stream, number: int) -> bool:
    """A frame has come that names nothing."""
    new = stream.take(number, batch())
    stream.received = stream.taken
    return new


def test_what_is_missing_is_the_first_gap() -> None:
    stream = Stream(S)
    stream.start(0)
    for number in (1, 2, 5, 6, 9):
        assert take(stream, number)
    assert not take(stream, 2)
    assert stream.received == 2
    assert stream.missing == (3, 4)


def test_a_frame_that_comes_twice_is_kept_and_counted_once_behind_a_gap_too() -> None:
    stream = Stream(S)
    stream.start(0)
    assert take(stream, 3)
    kept = stream.kept_bytes
    assert not take(stream, 3)
    assert stream.kept_bytes == kept > 0
    assert take(stream, 1)
    assert not take(stream, 1)
    assert stream.kept_bytes == 2 * kept


def test_nothing_of_a_gone_node_is_taken_behind_what_somebody_has() -> None:
    stream = Stream(S)
    stream.start(0)
    for number in (1, 2, 4):
        take(stream, number)
    stream.fence()
    assert not take(stream, 3)
    stream.allow(3)
    assert stream.missing == (3, 3)
    assert take(stream, 3)
    assert not take(stream, 4)
    stream.finish(3)
    assert stream.missing is None


def test_a_run_that_was_early_still_holds_back_what_follows_its_frame() -> None:
    stream = Stream(S)
    stream.start(0)
    record = Record(1, Order.CAUSALLY_TOTAL)
    for number in (1, 2, 3):
        take(stream, number)
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


def test_what_has_come_from_behind_the_end_is_dropped() -> None:
    stream = Stream(S)
    stream.start(0)
    for number in (1, 2, 3, 5):
        take(stream, number)
    stream.finish(2)
    assert (stream.received, stream.missing) == (2, None)
    assert [number for number, _ in stream.kept(1, 9)] == [1, 2]
    assert not take(stream, 3)


def test_a_cut_opens_a_stream_that_has_been_fenced_up_to_there() -> None:
    stream = Stream(S)
    stream.start(0)
    take(stream, 1)
    stream.fence()
    stream.want(3)
    assert stream.missing == (2, 3)
    assert take(stream, 3)
    assert not take(stream, 4)
    going_on = Stream(S)
    going_on.start(0)
    going_on.want(3)
    assert going_on.missing == (1, 3)
    assert take(going_on, 4)


def test_what_a_state_contains_is_recorded_and_its_frames_are_still_asked_for() -> None:
    stream = Stream(S)
    stream.start(4)
    take(stream, 5)
    take(stream, 9)
    stream.resume(8)
    assert (stream.received, stream.recorded, stream.delivered) == (5, 8, 8)
    assert stream.missing == (6, 8)
    assert stream.next_to_record(9) is None
    for number in (6, 7, 8):
        take(stream, number)
    assert stream.next_to_record(9) is not None
    assert stream.recorded == 9
