"""The trace: its hash, its lines, and what checkers ask it for."""

from __future__ import annotations

from json import loads

from groupcore.sim.trace import Delivered, Mid, Sent, Trace, Viewed
from groupcore.view import Address

A = Address("a", 1)


def small() -> Trace:
    mid = Mid("a", 1, 1)
    return Trace(
        [
            Viewed(1, "a", 1, 1, 1, 77, (A,), None, 0, True, 0, 0, False, ()),
            Sent(2, "a", 1, mid, 99, None),
            Delivered(3, "a", 1, 1, 1, mid, 99, 1),
        ]
    )


def test_equal_traces_have_equal_hashes_and_any_change_alters_it() -> None:
    changed = small()
    changed.add(Sent(4, "a", 1, Mid("a", 1, 2), 1, None))
    assert small().hash() == small().hash() != changed.hash()


def test_the_lines_are_json_objects_that_name_the_event() -> None:
    assert [loads(line)["ev"] for line in small().lines()] == ["view", "send", "dlv"]


def test_a_history_holds_the_views_and_deliveries_of_one_process_in_order() -> None:
    trace = small()
    assert trace.histories() == {("a", 1): [trace.records[0], trace.records[2]]}
    assert trace.places() == {Mid("a", 1, 1): (1, 1)}
    assert trace.deliveries() == 1
