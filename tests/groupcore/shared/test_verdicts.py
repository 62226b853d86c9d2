"""Clients' numbered calls: done once, answered alike, in the state and bounded."""

from __future__ import annotations

from enum import Enum

import pytest

from groupcore.objects.refusal import BaseTooOldError
from groupcore.sequencing.events import Joined, StateInstalled, StateWanted
from groupcore.shared import MisfitError, OutcomeUnknownError, SharedObject, operation
from groupcore.shared.messages import decode, encode_operate, pack
from groupcore.shared.pending import Pending
from groupcore.shared.plain import plain, who
from groupcore.shared.replica import Replica
from groupcore.shared.types import HeldError
from groupcore.shared.verdicts import (
    CLIENTS_MAX,
    DIFFERS,
    LOST,
    NUMBERS_MAX,
    RESULT_BYTES_MAX,
    SKIPPED,
    Call,
    Verdict,
    Verdicts,
    code_of,
    content_of,
    verdict_on,
)
from tests.groupcore.shared.ports import GROUP, ME, OTHER, HandPort, begin, feed, run

CONTENT = content_of([("add", [1])])


class Tally(SharedObject, check_every=0):
    """Counts what it does."""

    total: int = 0

    @operation
    def add(self, by: int) -> int:
        if by < 0:
            raise ValueError("less than nothing")
        self.total += by
        return self.total


def opened() -> tuple[Replica[Tally], HandPort, Tally]:
    port = HandPort()
    replica = Replica(Tally, port)
    replica.open()
    begin(replica, ME, OTHER)
    return replica, port, replica.ready.result()


def numbered(number: int, by: int = 1, answered: int = 0) -> bytes:
    return encode_operate(0, [("add", [by])], "", Call("page", number, answered))


def ask(replica: Replica[Tally], number: int) -> Pending[Verdict]:
    pending: Pending[Verdict] = Pending()
    spec = replica.target._shared.declaration.operations["add"]
    replica.order_as([(spec, [1])], Call("page", number, 0), pending)
    return pending


def test_a_number_is_done_once_and_answered_alike() -> None:  # V1, V2
    replica, port, tally = opened()
    first = ask(replica, 1)
    feed(replica, run(3, OTHER, 1, numbered(1)))  # it came through another node already
    feed(replica, run(4, ME, 1, *port.sent))
    assert (tally.total, first.result()) == (1, Verdict([1]))
    second = ask(replica, 2)
    feed(replica, run(5, ME, 2, port.sent[1]))
    assert (tally.total, second.result()) == (2, Verdict([2]))


def test_another_call_under_a_number_that_was_used_is_refused_at_all_replicas() -> None:  # V3
    replica, _, tally = opened()
    taker = Replica(Tally, HandPort(OTHER))
    taker.open()
    begin(taker, ME, OTHER, own=OTHER)
    for one in (replica, taker):
        feed(one, run(3, OTHER, 1, numbered(1), numbered(1, 7), numbered(2), numbered(2)))
    assert (tally.total, taker.target.total) == (2, 2)
    assert replica.packed() == taker.packed()
    for one in (replica, taker):
        machine = one.body.machine
        same, other = content_of([("add", [1])]), content_of([("add", [7])])
        assert machine.verdicts.find(Call("page", 1, 0), same) == Verdict([1])
        assert machine.verdicts.find(Call("page", 1, 0), other) == DIFFERS


def test_what_a_taken_state_says_of_another_call_is_not_given_for_this_one() -> None:  # V3
    replica, port, _ = opened()
    pending = ask(replica, 1)
    giver = Replica(Tally, giver_port := HandPort(OTHER))
    begin(giver, ME, OTHER, own=OTHER)
    feed(giver, run(3, OTHER, 1, numbered(1, 9)), run(4, ME, 1, port.sent[0]))
    feed(giver, StateWanted(1, GROUP))
    feed(replica, StateInstalled(GROUP, 4, giver_port.given[0][1]))
    assert pending.result() == DIFFERS


def test_verdicts_of_a_former_version_are_taken_and_go_on() -> None:
    former = [["page", 2, 0, [[1, [1], ""], [2, [], "value"]]]]
    verdicts = Verdicts.from_wire(former)
    assert verdicts.find(Call("page", 1, 0), CONTENT) == Verdict([1]), "of what, it does not say"
    assert verdicts.to_wire() == former, "replicas of both versions have one state"
    verdicts.note(Call("page", 3, 0), Verdict([3]), CONTENT)
    again = Verdicts.from_wire(verdicts.to_wire())
    assert again.find(Call("page", 3, 0), CONTENT) == Verdict([3])
    assert again.find(Call("page", 3, 0), content_of([])) == DIFFERS


def test_a_refusal_has_used_its_number_up() -> None:
    replica, _, tally = opened()
    feed(replica, run(3, OTHER, 1, numbered(1, -1), numbered(1, 5)))
    assert tally.total == 0
    assert replica.body.machine.verdicts.of("page") == {1: Verdict([], "value")}


def test_verdicts_are_a_part_of_the_state() -> None:
    replica, port, _ = opened()
    feed(replica, run(3, OTHER, 1, numbered(1), numbered(2, -1)), StateWanted(1, GROUP))
    taker = Replica(Tally, HandPort(OTHER))
    state = port.given[0][1]
    feed(taker, StateInstalled(GROUP, 4, state), Joined(GROUP, 2, OTHER))
    feed(taker, run(5, OTHER, 3, numbered(1), numbered(2)))
    feed(replica, run(5, OTHER, 3, numbered(1), numbered(2)))
    assert taker.target.total == 1
    assert taker.packed() == replica.packed()
    assert taker.body.machine.birth == replica.body.machine.birth != ""


def test_behind_an_interruption_numbered_calls_are_sent_again() -> None:
    replica, port, tally = opened()
    pending, plain_call = ask(replica, 1), tally.add(10)
    replica.interrupt()
    replica.restart()
    later = tally.add(100)
    assert isinstance(plain_call.error, OutcomeUnknownError)
    feed(replica, Joined(GROUP, 1, ME))
    assert [decode(one).calls for one in port.sent[2:]] == [[("add", [1])], [("add", [100])]]  # type: ignore[union-attr]
    feed(replica, run(3, ME, 3, *port.sent[2:]))
    assert (pending.result(), later.result()) == (Verdict([1]), 101)


def test_what_a_taken_state_has_done_is_answered_from_it() -> None:
    replica, port, _ = opened()
    pending = ask(replica, 1)
    giver = Replica(Tally, giver_port := HandPort(OTHER))
    begin(giver, ME, OTHER, own=OTHER)
    feed(giver, run(3, ME, 1, port.sent[0]), StateWanted(1, GROUP))
    feed(replica, StateInstalled(GROUP, 3, giver_port.given[0][1]))
    assert pending.result() == Verdict([1])


def test_what_is_kept_is_bounded() -> None:
    verdicts = Verdicts()
    for number in range(1, 2 * NUMBERS_MAX):
        verdicts.note(Call("page", number, 0), Verdict([number]), CONTENT)
    assert len(verdicts.of("page")) == NUMBERS_MAX
    assert verdicts.find(Call("page", 1, 0), CONTENT) == LOST
    assert verdicts.find(Call("page", 2 * NUMBERS_MAX, 0), CONTENT) is None
    verdicts.note(Call("page", 1000, 998), Verdict([1]), CONTENT)
    assert list(verdicts.of("page")) == [1000]
    assert verdicts.find(Call("page", 999, 998), CONTENT) == SKIPPED
    assert verdicts.find(Call("page", 998, 997), CONTENT) == LOST
    for number in range(CLIENTS_MAX):
        verdicts.note(Call(f"client {number}", 1, 0), Verdict([]), CONTENT)
    assert verdicts.of("page") == {}
    verdicts.note(Call("big", 1, 0), Verdict(["x" * RESULT_BYTES_MAX]), CONTENT)
    assert verdicts.of("big") == {1: LOST}
    copied = Verdicts.from_wire(verdicts.to_wire())
    assert copied.to_wire() == verdicts.to_wire()


@pytest.mark.parametrize("wire", [[1], [[1]], [["a", 1, 0, [[1]]]], None])
def test_what_are_no_verdicts_is_refused(wire: object) -> None:
    with pytest.raises(MisfitError):
        Verdicts.from_wire(wire)


@pytest.mark.parametrize(
    "tail",
    [
        ["", "page", 0, 0],
        ["", "page", 1, 1],
        ["", "page", 1, -1],
        ["", "", 1, 0],
        ["", "x" * 65, 1, 0],
    ],
)
def test_a_number_that_is_none_is_a_misfit(tail: list[object]) -> None:
    with pytest.raises(MisfitError):
        decode(pack([1, 0, [["add", [1]]], *tail]))


class Colour(Enum):
    RED = 1


def test_values_have_a_plain_form_and_errors_a_word() -> None:
    assert plain({"a": (1, Colour.RED), 2: {3}}) == [["a", [1, "RED"]], [2, [3]]]
    assert plain(ME) == who(ME) == "a#1/1"
    with pytest.raises(MisfitError):
        plain(object())
    assert verdict_on([object()], None) == LOST
    assert code_of(HeldError(ME)) == "held"
    assert code_of(BaseTooOldError("x")) == "base_too_old"
    assert code_of(KeyError("x")) == "key"
    assert code_of(OutcomeUnknownError("x")) == "outcome_unknown"
