"""Objects out of what a log holds: at the end, at a number, at a time; held against live copies."""

from __future__ import annotations

import pytest

from groupcore.sequencing.names import Process
from groupcore.sequencing.record import JOINED, LEFT
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import Check, Verify, encode, encode_operate, pack
from groupcore.shared.object import SharedObject
from groupcore.shared.plain import process_of, who
from groupcore.shared.rebuilding import (
    Logged,
    LoggedState,
    Rebuilt,
    from_row,
    rebuild,
    time_ms_of,
    to_row,
)
from groupcore.shared.types import Counter
from groupcore.view import Address

WHO = Process(Address("a/b#1", 0xFEDCBA987654), 2)
MINUTE_MS = 60_000


def kind_of(name: str) -> type[SharedObject] | None:
    return Counter if name == "visits" else None


def logged(position: int, payload: bytes | None, what: int = JOINED) -> Logged:
    return Logged(7, "visits", 1, position, WHO, position, payload, what)


def add(position: int, minute: int) -> Logged:
    return logged(position, encode_operate(minute * MINUTE_MS, [("add", [10])]))


ENTRIES = [logged(1, None), add(2, 1), add(3, 2), logged(4, b"\xc1"), add(5, 3)]


def made(*entries: Logged | LoggedState, **until: int | None) -> Rebuilt:
    (one,) = rebuild(entries, kind_of, lambda name: True, **until)
    return one


def value(one: Rebuilt) -> object:
    return one.fields()["value"]


def test_an_object_is_as_it_was_at_the_end_at_a_number_and_at_a_time() -> None:
    assert value(made(*ENTRIES)) == 30
    assert made(*ENTRIES).fields_json() == '{"value": 30}'
    assert value(made(*ENTRIES, position_max=4)) == 20
    assert value(made(*ENTRIES, time_ms_max=MINUTE_MS)) == 10
    assert made(*ENTRIES, position_max=1).machine.position == 1


def test_what_is_given_a_number_again_was_lost_the_first_time() -> None:
    other = logged(3, encode_operate(2 * MINUTE_MS, [("add", [1])]))
    assert value(made(*ENTRIES, other)) == 21


def test_it_goes_on_from_an_archived_state() -> None:
    machine = Machine(Counter(), 7)
    for one in ENTRIES[:2]:
        joined = one.what == JOINED
        machine.apply(Entry(one.position, one.process, one.number, one.payload, joined))
    state = LoggedState(7, "visits", 2, pack([1, machine.packed()]))
    assert value(made(state, *ENTRIES)) == 30
    assert "begins behind that" in made(state, position_max=1).problem


@pytest.mark.parametrize("state", [b"\xc1", pack([1]), pack([1, b"no object"])])
def test_what_is_no_state_is_said(state: bytes) -> None:
    assert made(LoggedState(7, "visits", 2, state), *ENTRIES).problem


def test_numbers_that_the_log_lacks_are_named() -> None:
    assert made(ENTRIES[0], ENTRIES[2]).problem == "the log lacks numbers 2 to 2"


def test_what_live_replicas_say_of_their_states_is_compared() -> None:
    asked = logged(6, encode(Verify(True)))
    first = made(*ENTRIES, asked)
    assert (first.problem, first.machine.position, first.agreed) == ("", 6, 0)
    checks = [
        logged(7, encode(Check(6, first.hashes[6]))),
        logged(8, encode(Check(6, bytes(8)))),
        logged(9, encode(Check(5, bytes(8)))),  # of a place that nobody was asked about
    ]
    both = made(*ENTRIES, asked, *checks)
    assert (both.agreed, both.differed) == (1, [(who(WHO), 6)])


def test_what_is_not_wanted_has_no_name_or_no_state_is_left_out() -> None:
    nameless = ENTRIES[0]._replace(name="", group=8)
    other = ENTRIES[0]._replace(name="presence", group=9)
    assert not list(rebuild(ENTRIES, kind_of, lambda name: False))
    (one,) = rebuild([nameless, other, *ENTRIES], kind_of, lambda name: True)
    assert one.name == "visits"


def test_rows_of_an_export_say_the_same() -> None:
    left, state = logged(6, None, LEFT), LoggedState(7, "visits", 2, None)
    said: list[Logged | LoggedState] = [*ENTRIES, left, state]
    for one in said:
        assert from_row(to_row(3, one)) == one
    with pytest.raises(ValueError, match="invalid literal"):
        from_row((0, 7, "visits", 1, 1, "nobody", 1, 0, None))


def test_processes_are_read_as_they_are_written() -> None:
    assert process_of(who(WHO)) == WHO


def test_times_are_utc_where_they_do_not_say() -> None:
    assert time_ms_of("1970-01-01T00:01") == time_ms_of("1970-01-01T01:01+01:00") == MINUTE_MS
