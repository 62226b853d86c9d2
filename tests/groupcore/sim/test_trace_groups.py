"""The records of the data plane in a trace."""

from __future__ import annotations

from json import loads

from groupcore.sequencing.names import Process
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import (
    GROUP_EVENTS,
    GroupDelivered,
    GroupMid,
    GroupSent,
    flatten_process,
    group_state_hash,
)
from groupcore.view import Address

P, Q = ("a", 1, 1), ("b", 1, 4)
SENT = GroupSent(1, P, 7, 1, 99)
DELIVERED = GroupDelivered(2, "b", 1, 7, 3, P, 1, 99, (Q,))


def test_a_process_is_written_flat() -> None:
    assert flatten_process(Process(Address("b", 1), 4)) == Q


def test_a_message_has_one_identity_where_it_is_sent_and_where_it_is_delivered() -> None:
    assert SENT.mid == DELIVERED.mid == GroupMid(P, 7, 1)


def test_records_of_groups_are_hashed_counted_and_written_like_the_others() -> None:
    trace = Trace([SENT, DELIVERED])
    assert trace.deliveries() == 1
    assert trace.of(GroupSent) == [SENT]
    assert [loads(line)["ev"] for line in trace.lines()] == ["g-send", "g-dlv"]
    assert trace.hash() == Trace([SENT, DELIVERED]).hash() != Trace([DELIVERED, SENT]).hash()
    assert len(set(GROUP_EVENTS.values())) == len(GROUP_EVENTS)


def test_the_state_of_a_group_depends_on_every_message_and_on_their_order() -> None:
    first, second = (P, 1, 99), (Q, 1, 98)
    hashes = {
        group_state_hash(messages)
        for messages in ([], [first], [second], [first, second], [second, first])
    }
    assert len(hashes) == 5


def test_what_is_computed_of_a_trace_is_computed_once() -> None:
    calls: list[Trace] = []

    def length(trace: Trace) -> int:
        calls.append(trace)
        return len(trace.records)

    trace = Trace([SENT, DELIVERED])
    assert (trace.once(length), trace.once(length), len(calls)) == (2, 2, 1)
