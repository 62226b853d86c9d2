"""One replica, fed by hand: results from the order, states taken and given, and its ends."""

from __future__ import annotations

import pytest

from groupcore.sequencing.events import (
    Departed,
    Enrolled,
    Joined,
    Released,
    StateInstalled,
    StateWanted,
)
from groupcore.sequencing.names import Process
from groupcore.shared import (
    ClosedError,
    MemberChanged,
    MessageRejected,
    OperationFailed,
    OutcomeUnknownError,
    Replaced,
    ResultLostError,
    SchemaMismatchError,
    SharedObject,
    operation,
)
from groupcore.shared.changes import Change
from groupcore.shared.machine import TIME_STEP_MAX_MS
from groupcore.shared.messages import pack
from groupcore.shared.pending import Pending
from groupcore.shared.replica import HELD_MAX, Replica
from groupcore.shared.verdicts import Call, Verdict
from groupcore.view import Address
from tests.groupcore.shared.ports import GROUP, ME, OTHER, HandPort, begin, calls, feed, run


class Log(SharedObject, check_every=0):
    """Notes down who did what when."""

    lines: list[str]
    gone: list[str]

    @operation
    def note(self, text: str) -> int:
        if text == "bad":
            raise ValueError("no")
        context = self.context
        self.lines.append(f"{context.position} {context.process.node.name} {text}")
        return len(self.lines)

    @operation
    def time(self) -> float:
        return self.context.time_s

    @operation
    def who(self) -> list[str]:
        return [process.node.name for process in self.context.members]

    def on_departed(self, process: Process) -> None:
        self.gone.append(process.node.name)
        self.emit("gone")
        if process.node.name == "cursed":
            raise RuntimeError("cursed")


class Other(SharedObject):
    """Of another shape."""

    count: int = 0


def opened(*others: Process) -> tuple[Replica[Log], HandPort, Log]:
    port = HandPort()
    replica = Replica(Log, port)
    replica.open()
    begin(replica, ME, *others)
    return replica, port, replica.ready.result()


def test_an_object_is_ready_when_its_state_is_here() -> None:
    port = HandPort()
    replica = Replica(Log, port)
    assert (replica.open().done, port.asked) == (False, ["join"])
    with pytest.raises(ClosedError, match="not open yet"):
        replica.target.refresh()
    begin(replica, ME)
    assert replica.ready.result() is replica.target
    assert replica.members == (ME,)


def test_a_call_has_its_result_from_its_messages_place() -> None:  # R1
    replica, port, log = opened(OTHER)
    mine = log.note("mine")
    feed(replica, run(3, OTHER, 1, calls(("note", ["theirs"]))))
    assert not mine.done
    feed(replica, run(4, ME, 1, *port.sent))
    assert mine.result() == 2
    assert log.lines == ["3 b theirs", "4 a mine"]
    assert replica.position == 4


def test_a_run_is_done_message_by_message() -> None:
    replica, port, log = opened()
    pendings = [log.note("one"), log.note("bad"), log.note("two")]
    said = feed(replica, run(2, ME, 1, *port.sent))
    assert [pending.error is None for pending in pendings] == [True, False, True]
    assert log.lines == ["2 a one", "4 a two"]
    assert said == [OperationFailed(GROUP, 3, ME, "note", pendings[1].error)]  # type: ignore[arg-type]
    assert (replica.counters.done, replica.counters.failed) == (3, 1)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xc1",
        pack([1]),
        pack([99, 0, []]),
        pack([1, -(1 << 63) - 0, [["nothing", []]]]),
        calls(("note", [1])),
        calls(("note", ["a"]), ("forged", [])),
        calls(("note", [])),
        pack([1, 0, [["note"]]]),
        pack([1, 0, [["note", ["x"]]] * 1001]),
    ],
)
def test_a_message_that_is_none_of_ours_does_nothing_and_is_told(payload: bytes) -> None:
    replica, _, log = opened(OTHER)
    before = log.lines
    (said,) = feed(replica, run(3, OTHER, 1, payload))
    assert isinstance(said, MessageRejected)
    assert (said.position, said.process, log.lines) == (3, OTHER, before)
    assert (replica.position, replica.counters.rejected) == (3, 1)


def test_what_the_installed_state_has_is_not_done_again() -> None:  # B1
    giver, giver_port, _ = opened(OTHER)
    feed(giver, run(3, OTHER, 1, calls(("note", ["x"]))), StateWanted(5, GROUP))
    ((token, state),) = giver_port.given
    assert token == 5
    taker = Replica(Log, HandPort(OTHER))
    changes = taker.target.changes()
    feed(taker, StateInstalled(GROUP, 3, state), Joined(GROUP, 2, OTHER))
    assert taker.ready.done
    assert taker.members == (ME, OTHER)
    feed(
        taker, run(2, ME, 1, calls(("note", ["y"])), calls(("note", ["y"])), calls(("note", ["z"])))
    )
    assert taker.target.lines == ["3 b x", "4 a z"]
    assert [type(change).__name__ for change in changes.take()] == ["Replaced", "Changed"]
    assert taker.counters.states == 1


def test_a_result_that_a_taken_state_has_swallowed_is_lost_and_said_to_be() -> None:  # R1
    replica, port, log = opened(OTHER)
    first, second = log.note("one"), log.note("two")
    other = Replica(Log, HandPort(OTHER))
    other_port = other.port
    assert isinstance(other_port, HandPort)
    begin(other, ME, OTHER, own=OTHER)
    feed(other, run(3, ME, 1, port.sent[0]), StateWanted(1, GROUP))
    feed(replica, StateInstalled(GROUP, 3, other_port.given[0][1]))
    assert isinstance(first.error, ResultLostError)
    assert not second.done
    feed(replica, run(4, ME, 2, port.sent[1]))
    assert (second.result(), log.lines) == (2, ["3 a one", "4 a two"])


def test_a_state_of_another_class_is_never_installed() -> None:  # B2
    port = HandPort()
    replica = Replica(Other, port)
    begin(replica, ME)
    feed(replica, StateWanted(1, GROUP))
    for state in (port.given[0][1], b"rubbish", pack([0, b"rubbish"]), pack([0, pack([1, 2])])):
        taker = Replica(Log, HandPort(OTHER))
        feed(taker, StateInstalled(GROUP, 1, state), Joined(GROUP, 2, OTHER))
        assert taker.ready.error is not None
        feed(taker, run(3, ME, 1, calls(("note", ["x"]))))
        assert (taker.target.lines, taker.position) == ([], 0)
        with pytest.raises(ClosedError, match="not open"):
            taker.target.note("y")
    mismatch = Replica(Log, HandPort(OTHER))
    feed(mismatch, StateInstalled(GROUP, 1, port.given[0][1]))
    assert isinstance(mismatch.ready.error, SchemaMismatchError)


def test_leaving_ends_what_waits_and_what_follows() -> None:
    replica, port, log = opened(OTHER)
    changes = log.changes()
    pending = log.note("late")
    closed = log.close()
    assert (closed.done, port.asked) == (False, ["join", "leave"])
    feed(replica, Departed(GROUP, 3, ME, gone=False), Released(GROUP))
    assert closed.done
    assert isinstance(pending.error, ClosedError)
    assert log.close().done
    assert [type(change) for change in changes.take()] == [MemberChanged]
    assert changes.ended
    with pytest.raises(ClosedError):
        log.note("x")


def test_members_come_and_go_in_the_order() -> None:
    replica, port, log = opened(OTHER)
    asked = log.who()
    feed(replica, Departed(GROUP, 3, OTHER, gone=True), run(4, ME, 1, *port.sent))
    assert asked.result() == ["a"]
    assert log.gone == ["b"]
    assert log.members == (ME,)


def test_a_hook_that_raises_is_rolled_back_and_told() -> None:
    cursed = Process(Address("cursed", 1), 1)
    replica, _, log = opened(cursed)
    (said,) = feed(replica, Departed(GROUP, 3, cursed, gone=True))
    assert isinstance(said, OperationFailed)
    assert (said.operation, log.gone, log.members) == ("on_departed", [], (ME,))


def test_the_orders_time_is_the_fastest_clocks_and_never_goes_back() -> None:
    replica, port, log = opened(OTHER)
    feed(replica, run(3, OTHER, 1, calls(stamp_ms=2_000_000)))
    first = log.time()
    port.time_s += 5
    second = log.time()
    feed(replica, run(4, OTHER, 2, calls(stamp_ms=1_000_000)), run(5, ME, 1, *port.sent))
    assert (first.result(), second.result()) == (2000.0, 2005.0)


def test_a_mad_clock_puts_the_time_forward_by_a_day_at_most() -> None:
    replica, port, log = opened(OTHER)
    feed(replica, run(3, OTHER, 1, calls(stamp_ms=1_000_000)))
    feed(replica, run(4, OTHER, 2, calls(stamp_ms=1 << 62)))
    asked = log.time()
    feed(replica, run(5, ME, 1, *port.sent))
    assert asked.result() == (1_000_000 + TIME_STEP_MAX_MS) / 1000


def test_refresh_waits_for_its_own_place() -> None:
    replica, port, log = opened(OTHER)
    refreshed = log.refresh()
    feed(replica, run(3, OTHER, 1, calls(("note", ["x"]))))
    assert not refreshed.done
    feed(replica, run(4, ME, 1, *port.sent))
    assert (refreshed.done, log.lines) == (True, ["3 b x"])


def test_followers_are_told_of_members_and_of_a_state_that_was_taken() -> None:
    replica, port, log = opened()
    changes = log.changes()
    feed(replica, Joined(GROUP, 2, OTHER), Departed(GROUP, 3, OTHER, gone=True))
    feed(replica, StateWanted(1, GROUP))
    assert changes.take() == [
        MemberChanged(2, OTHER, True, ()),
        MemberChanged(3, OTHER, False, ("gone",)),
    ]
    feed(replica, StateInstalled(GROUP, 3, port.given[0][1]))
    assert changes.take() == [Replaced(3)]


def test_who_follows_is_told_through_whichever_process_and_whenever_it_began() -> None:  # B3
    replica, _, log = opened(OTHER)
    brother = Process(ME.node, 2)
    other = Replica(Log, HandPort(brother), replica.body)
    early = other.changes(10)
    feed(replica, run(3, OTHER, 1, calls(("note", ["not open there"]))))
    other.open()
    feed(replica, Enrolled(GROUP, 4, brother), Joined(GROUP, 4, brother))
    late, ended = other.changes(10), log.changes()
    feed(replica, run(5, OTHER, 2, calls(("note", ["x"]))))
    assert [len(stream.take()) for stream in (early, late, ended)] == [2, 1, 1]
    ended.end()
    told: list[Change] = []
    replica.watchers.tap = told.append
    feed(replica, run(6, OTHER, 3, calls(("note", ["y"]))))
    assert [len(stream.take()) for stream in (early, late, ended)] == [1, 1, 0]
    assert len(told) == 1
    feed(replica, Departed(GROUP, 7, brother, gone=False))
    feed(replica, run(8, OTHER, 4, calls(("note", ["z"]))))
    assert (early.ended, [len(stream.take()) for stream in (early, late)]) == (True, [1, 1])
    assert len(told) == 3  # the departure and what came behind it


def test_a_process_is_ready_when_its_join_has_its_place_and_its_state_is_here() -> None:
    brother = Process(ME.node, 2)
    replica = Replica(Log, HandPort(brother))
    feed(replica, StateInstalled(GROUP, 0, None), Enrolled(GROUP, 1, ME))
    feed(replica, Joined(GROUP, 2, brother))  # the group is here, so it may be told early
    assert (replica.ready.done, replica.members) == (False, (ME,))
    feed(replica, Enrolled(GROUP, 2, brother))
    assert (replica.ready.done, replica.members) == (True, (ME, brother))


def test_after_an_interruption_calls_wait_and_what_was_under_way_is_unknown() -> None:  # R1
    replica, port, log = opened(OTHER)
    lost = log.note("lost")
    port.become(Process(Address("a", 2), 1))
    replica.interrupt()
    replica.restart()
    assert (port.asked, isinstance(lost.error, OutcomeUnknownError)) == (["join", "join"], True)
    held = log.note("held")
    assert len(port.sent) == 1
    giver = Replica(Log, giver_port := HandPort(OTHER))
    begin(giver, ME, OTHER, own=OTHER)
    theirs = calls(("note", ["theirs"]))
    again = Joined(GROUP, 5, port.process)
    feed(giver, Departed(GROUP, 3, ME, True), run(4, OTHER, 1, theirs), again)
    feed(giver, StateWanted(1, GROUP))
    feed(replica, StateInstalled(GROUP, 5, giver_port.given[0][1]), again)
    feed(replica, run(6, port.process, 2, port.sent[1]))
    assert (held.result(), log.lines, log.gone) == (2, ["4 b theirs", "6 a held"], ["a"])
    assert log.members == (OTHER, port.process)


def test_an_object_that_nobody_else_has_any_more_goes_on_with_what_is_here() -> None:
    replica, port, log = opened(OTHER)
    feed(replica, run(3, OTHER, 1, calls(("note", ["x"]))))
    port.become(Process(Address("a", 2), 1))
    replica.interrupt()
    replica.restart()
    feed(replica, StateInstalled(GROUP, 7, None), Enrolled(GROUP, 8, port.process))
    feed(replica, Joined(GROUP, 8, port.process))
    assert (log.lines, log.gone, log.members) == (["3 b x"], ["a", "b"], (port.process,))


def test_operations_that_wait_for_a_restart_are_bounded_and_end_with_the_object() -> None:
    replica, port, log = opened()
    replica.interrupt()
    replica.restart()
    held = [log.refresh() for _ in range(HELD_MAX)]
    with pytest.raises(ClosedError, match="wait for the object"):
        log.refresh()
    replica.end(ClosedError("over"))
    replica.restart()
    assert {type(pending.error) for pending in held} == {ClosedError}
    assert port.asked == ["join", "join"]


def test_a_node_that_lives_again_is_told_all_from_the_beginning_and_says_so_once() -> None:  # B4
    replica, port, log = opened(OTHER)
    feed(replica, run(3, OTHER, 1, calls(("note", ["x"]))))
    changes = log.changes()
    port.become(Process(Address("a", 2), 1))
    replica.interrupt()
    replica.restart()
    feed(replica, StateInstalled(GROUP, 0, None))
    feed(replica, Joined(GROUP, 1, OTHER), run(2, OTHER, 1, calls(("note", ["y"]))))
    feed(replica, Departed(GROUP, 3, OTHER, gone=True))
    assert changes.take() == [], "what is told from before its JOIN is no news"
    feed(replica, Enrolled(GROUP, 4, port.process), Joined(GROUP, 4, port.process))
    assert (changes.take(), log.lines) == ([Replaced(4)], ["2 b y"])
    assert log.members == (port.process,)


def test_a_numbered_call_is_not_sent_again_to_an_object_that_has_begun_anew() -> None:
    replica, port, _ = opened(OTHER)
    pending: Pending[Verdict] = Pending()
    note = replica.target._shared.prepare("note", ("x",), {})
    replica.order_as([note], Call("ann", 1, 0), pending)
    sent = len(port.sent)
    port.become(Process(Address("a", 2), 1))
    replica.interrupt()
    replica.restart()
    feed(replica, StateInstalled(GROUP, 7, None), Enrolled(GROUP, 8, port.process))
    feed(replica, Joined(GROUP, 8, port.process))
    assert isinstance(pending.error, OutcomeUnknownError)
    assert len(port.sent) == sent
