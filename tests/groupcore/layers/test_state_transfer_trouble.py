"""The rules of STATE_TRANSFER when providers are lost, time runs out, and answers do not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from groupcore.batch import Batch
from groupcore.events import BadInput
from groupcore.transfer import events
from groupcore.transfer.events import (
    ReturnedState,
)
from groupcore.transfer.headers import (
    Chunk,
    Collect,
    MakeCopy,
    NoState,
    Offer,
    Push,
    ReturnState,
    Taken,
)
from groupcore.transfer.sources import BytesSource, MemorySink
from groupcore.transfer.version import StateVersion
from groupcore.view import Address
from tests.groupcore.layers.building import STRANGER
from tests.groupcore.layers.transfers import SMALL, Member, World, behind

# --- trouble --------------------------------------------------------------------------------------


def lose(w: World, how: str) -> None:
    """The provider a goes, in one way or another."""
    if how == "leaves":
        w.crash("a")
        w.install("bcd")
    else:
        w.crash("a")
        w.wait(1.5 * SMALL.silence_s)
    w.wait(3 * SMALL.silence_s)


@pytest.mark.parametrize("how", ["leaves", "falls silent"])
@pytest.mark.parametrize("chunks", range(8))
def test_when_a_provider_dies_at_any_chunk_another_one_gives_the_state(
    how: str, chunks: int
) -> None:
    # I7
    w = behind("abcd")
    w.get_state("d")
    w.deliver("a")
    w.deliver("d")
    for _ in range(chunks):
        w.pass_on("d", "a")
        w.pass_on("a", "d", 1)
    w.send("b", b"four ")
    lose(w, how)
    assert w["d"].outcome == events.TAKEN
    assert w.whole("d") == w.whole("b") == b"one two three four "
    assert len(w["d"].states) == 1


@pytest.mark.parametrize("how", ["leaves", "falls silent"])
def test_with_two_copies_another_provider_goes_on_exactly_there(how: str) -> None:
    # I7
    w = behind("abcd", copies=2)
    w.get_state("d")
    w.deliver("a")
    w.deliver("d")
    for _ in range(2):
        w.pass_on("d", "a")
        w.pass_on("a", "d", 1)
    w.send("c", b"four ")
    lose(w, how)
    (result,) = w["d"].results
    assert (result.outcome, result.resumes, result.restarts) == (events.TAKEN, 1, 0)
    assert w["b"].number("given_bytes") == len(b"one two three ") - 2 * SMALL.chunk_bytes
    assert w["d"].states[0].position == 3
    assert w.whole("d") == b"one two three four "


def test_a_provider_whose_copy_begins_otherwise_gives_it_from_the_beginning() -> None:
    # I7
    w = behind("abcd", copies=2)
    w["b"].state = [b"eins zwei drei "]
    w.get_state("d")
    w.deliver("a")
    w.deliver("d")
    w.pass_on("d", "a")
    w.pass_on("a", "d", 1)
    lose(w, "leaves")
    assert w["d"].states[0].state == b"eins zwei drei "
    assert w["d"].results[0].restarts == 1


def test_without_a_copy_of_this_version_one_of_a_later_place_is_taken() -> None:
    # I7
    w = behind("abcd")
    w.get_state("d")
    w.deliver("a")
    w.deliver("d")
    w.pass_on("d", "a")
    w.pass_on("a", "d", 1)
    w.send("b", b"four ")
    lose(w, "leaves")
    (state,) = w["d"].states
    assert (state.state, state.position) == (b"one two three four ", 4)
    assert [item for item in w["d"].seen if item == b"four " or item is state] == [b"four ", state]


def test_a_provider_that_could_not_be_reached_is_asked_again() -> None:
    w = behind("ab")
    w.get_state("b")
    w.dead.add("a")
    w.deliver("b")
    w.pass_on("b", "a")
    w.wait(1.2 * SMALL.silence_s)
    w.dead.discard("a")
    w.wait(4 * SMALL.silence_s)
    assert w["b"].outcome == events.TAKEN


def test_a_chunk_that_does_not_fit_its_hash_is_not_used_and_another_provider_goes_on() -> None:
    # I5, I7
    w = behind("abcd", copies=2)
    w.get_state("d")
    w.deliver("a")
    w.deliver("d")
    w.pass_on("d", "a")
    w.pass_on("a", "d", 1)
    damaged = w.chunks("a", "d")[0]
    damaged.body = bytes(len(damaged.body))
    w.wait(1.0)
    (result,) = w["d"].results
    assert result.damaged == (w["a"].address,)
    assert result.resumes == 1
    assert w.whole("d") == b"one two three "
    assert w["d"].number("damaged") == 1
    assert BadInput(w["a"].address, "STATE_TRANSFER.damaged") in w["d"].seen


def test_a_source_that_cannot_be_read_is_told_as_damaged() -> None:
    # I7
    class Broken(BytesSource):
        def read(self, offset: int, size: int) -> bytes:
            if offset:
                raise OSError("unreadable")
            return super().read(offset, size)

    w = behind()
    w["a"].source = lambda: Broken(b"one two three ")  # type: ignore[method-assign]
    w.get_state("c")
    w.settle()
    assert w["c"].results[0].damaged == (w["a"].address,)
    assert w["c"].states[0].provider == w["b"].address


def test_a_sink_that_fails_ends_the_transfer_and_what_was_queued_comes() -> None:
    # I8
    class Full(MemorySink):
        def write(self, data: bytes) -> bool:
            raise OSError("no space")

    w = behind()
    w.get_state("c", sink=Full())
    w.send("a", b"four ")
    w.settle()
    assert w["c"].outcome == events.BAD_SINK
    assert w.whole("c") == b"one two three four "
    assert w["a"].number("kept") == 0


def test_a_transfer_that_takes_too_long_ends_and_what_was_queued_comes() -> None:
    # I8
    w = behind("ab")
    w.get_state("b", timeout_s=0.5)
    w.deliver("b")
    w.crash("a")
    w.send("a", b"four ")
    w.wait(1.0)
    assert w["b"].outcome == events.TIMED_OUT
    assert w.whole("b") == b"one two three four "
    assert not w["b"].queue.queueing


def test_a_make_copy_that_comes_after_the_time_out_is_collected_at_once() -> None:
    # I4
    w = behind()
    w.get_state("c", timeout_s=0.0)
    w.now = 1.0
    w["c"].stack.wake(1.0)
    w.end_turn(w["c"])
    w.settle()
    assert w["c"].outcome == events.TIMED_OUT
    assert w["a"].number("kept") == 0


def test_when_the_queue_overflows_the_transfer_fails_and_nothing_is_lost() -> None:
    # I8
    w = World("ab", SMALL, queue_bytes_max=1000)
    w.get_state("b")
    w.deliver("b")
    for number in range(5):
        w.send("a", b"%d " % number)
        w.deliver("b")
    w.settle()
    assert w["b"].outcome == events.OVERFLOW
    assert w.whole("b") == b"0 1 2 3 4 "


def test_when_the_order_begins_anew_so_does_the_transfer() -> None:
    # I7
    w = behind()
    w.get_state("c")
    w.deliver("a")
    w.deliver("c")
    w.pass_on("c", "a")
    w.pass_on("a", "c", 1)
    w.install("abc", recovered=True, epoch=2)
    assert w["a"].number("kept") == 0
    w.settle()
    assert w["c"].outcome == events.TAKEN
    assert w["c"].states[0].epoch == 2


# --- bad input ------------------------------------------------------------------------------------


def put(w: World, to: Member, sender: Address, header: object, body: bytes = b"") -> None:
    """A header comes to a member, out of the blue."""
    to.stack.receive(Batch(sender, to.address, (header,), body), w.now)  # type: ignore[arg-type]
    w.end_turn(to)


def mid_transfer() -> tuple[World, StateVersion]:
    w = behind("abcd")
    w.get_state("d")
    w.deliver("a")
    w.deliver("d")
    return w, StateVersion(1, 1, w["d"].address)


def test_answers_that_do_not_fit_are_counted_and_change_nothing() -> None:
    # I5
    w, version = mid_transfer()
    other = replace(version, counter=7)
    a, b, d = w["a"], w["b"], w["d"]
    answers = [
        (a.address, Chunk(other, 0, b"", False)),  # another version
        (b.address, Chunk(version, 0, b"", False)),  # somebody else
        (a.address, Chunk(version, 400, b"", False)),  # another place
        (b.address, NoState(version, "null")),
        (b.address, Offer(version, "127.0.0.1", 1, b"")),
        (a.address, NoState(other, "null")),
    ]
    for sender, header in answers:
        put(w, d, sender, header, b"data")
    assert d.number("refused_answers") == len(answers)
    w.settle()
    assert w.whole("d") == b"one two three "
    w_again = d.number("refused_answers")
    put(w, d, a.address, Chunk(version, 0, b"", True))
    assert d.number("refused_answers") == w_again + 1


def test_a_provider_that_answers_twice_is_counted_and_changes_nothing() -> None:
    # I5
    w, _ = mid_transfer()
    w.pass_on("d", "a")
    twice = w.chunks("a", "d")[0]
    w.pass_on("a", "d", 1)
    before = w["d"].number("refused_answers")
    put(w, w["d"], twice.sender, twice.headers[0], twice.body)
    assert w["d"].number("refused_answers") == before + 1
    w.settle()
    assert w.whole("d") == b"one two three "


def test_an_application_that_returns_a_copy_twice_changes_nothing() -> None:
    # I5
    w, version = mid_transfer()
    w.tell("a", ReturnedState(version, BytesSource(b"other")))
    w.settle()
    assert w.whole("d") == b"one two three "
    assert w["a"].number("refused") == 1


def test_what_others_ask_for_or_collect_is_refused() -> None:
    # I5
    w, version = mid_transfer()
    a, b = w["a"], w["b"]
    put(w, a, b.address, ReturnState(version, 0, 0, b""))
    put(w, a, b.address, Taken(version, 4))
    put(w, a, b.address, Collect(version, False))
    put(w, a, b.address, ReturnState(replace(version, counter=9), 0, 0, b""))
    assert a.number("refused") == 3
    assert a.number("kept") == 1
    w.settle()
    assert w.whole("d") == b"one two three "


def test_a_stranger_and_one_who_claims_to_be_someone_else_are_refused() -> None:
    # I5
    w = behind()
    a, b = w["a"], w["b"]
    put(w, a, STRANGER, MakeCopy(StateVersion(1, 1, STRANGER), (a.address,)))
    forged = StateVersion(1, 1, w["c"].address)
    for header in (MakeCopy(forged, (a.address,)), Push(forged, (a.address,))):
        a.stack.receive(Batch(b.address, None, (header,), position=4), 0.0)
    unordered = MakeCopy(StateVersion(1, 1, b.address), (a.address,))
    put(w, a, b.address, unordered)
    assert a.number("strangers") == 4
    assert a.number("copies") == 0


def test_who_asks_for_too_many_copies_gets_a_null_state() -> None:
    w = behind()
    for counter in range(1, 40):
        version = StateVersion(1, counter, w["c"].address)
        w.multicast(Batch(w["c"].address, None, (MakeCopy(version, (w["a"].address,)),)))
    w.deliver("a")
    assert w["a"].number("kept") == 32
    assert w["a"].number("nulls") == 7
