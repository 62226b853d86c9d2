"""What the calls of the service take: all else is a typed error, and nothing has been done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from groupcore.errors import BadArgumentError, GroupRefusedError
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.service import Service
from groupcore.view import Address
from tests.groupcore.sequencing.world import World

# The calls of a program that nobody has checked the types of.
Call = Callable[[Any, Process, GroupId], object]

PAYLOADS: dict[str, tuple[object, str]] = {
    "one message in place of a list": (b"abc", r"one bytes.*send \[payload\]"),
    "one text": ("abc", r"one str.*send \[payload\]"),
    "nothing": (None, r"payloads is None.*send \[payload\]"),
    "a text": ([b"v1", "text"], r"payloads\[1\] is str.*encode it"),
    "a number": ([1], r"payloads\[0\] is int.*pack it"),
    "a list": ([[1, 2]], r"payloads\[0\] is list.*pack it"),
    "what cannot be packed": ([{1: object()}], r"payloads\[0\] is dict.*pack it"),
    "what may still change": ([bytearray(b"abc")], r"is bytearray.*bytes\(payload\)"),
    "a view of something": ([memoryview(b"abc")], r"is memoryview.*bytes\(payload\)"),
}


class Pair:
    """Two nodes; b sequences the group of the two, and a's process sends there."""

    def __init__(self) -> None:
        self.world = World("ab")
        self.group = self.world.create("g")
        self.first, self.second = self.world.open("a"), self.world.open("b")
        for process in (self.first, self.second):
            self.world.join(process, self.group)
        self.world.run(200)
        self.service: Service = self.world["a"].service

    def given(self) -> list[bytes]:
        """What b's process is given when its neighbour sends, too."""
        neighbour = self.world.open("a")
        self.world.send(neighbour, self.group, b"v2")
        self.world.run(100)
        return self.world["b"].given[self.second, self.group]


@pytest.fixture
def pair() -> Pair:
    return Pair()


@pytest.mark.parametrize("what", PAYLOADS)
def test_a_payload_that_is_no_bytes_is_refused_at_the_call_and_blanks_nobodys(
    pair: Pair, what: str
) -> None:
    payloads, told = PAYLOADS[what]
    with pytest.raises(BadArgumentError, match=told):
        pair.service.send(pair.first, pair.group, payloads, pair.world.now)  # type: ignore[arg-type]
    assert pair.given() == [b"v2"]
    assert pair.service.send(pair.first, pair.group, [b"v3"], pair.world.now) == 1


def test_messages_may_come_in_any_sequence(pair: Pair) -> None:
    pair.service.send(pair.first, pair.group, (b"v0", b"v1"), pair.world.now)
    assert pair.given() == [b"v0", b"v1", b"v2"]
    assert pair.service.send(pair.first, pair.group, [], pair.world.now) == 0


@pytest.mark.parametrize("payload", ["text", 1, None, [b"x"], bytearray(b"x")])
def test_a_volatile_message_is_bytes(pair: Pair, payload: object) -> None:
    with pytest.raises(BadArgumentError, match="a message is bytes"):
        pair.service.send_volatile(pair.first, pair.group, payload, 0.0)  # type: ignore[arg-type]
    assert pair.given() == [b"v2"]


CALLS: dict[str, tuple[Call, str]] = {
    "send to a name": (lambda s, p, g: s.send(p, "g", [b"x"], 0.0), "group is 'g'"),
    "send as a number": (lambda s, p, g: s.send(1, g, [b"x"], 0.0), "process is 1"),
    "send as a list": (lambda s, p, g: s.send([], g, [b"x"], 0.0), "process is"),
    "join a name": (lambda s, p, g: s.join(p, "g", 0.0), "group is 'g'"),
    "join a number below all": (lambda s, p, g: s.join(p, -1, 0.0), "group is -1"),
    "join a number above all": (lambda s, p, g: s.join(p, 1 << 64, 0.0), "group is 18446"),
    "join as a text": (lambda s, p, g: s.join("p", g, 0.0), "process is 'p'"),
    "join as a maybe": (lambda s, p, g: s.join(p, g, 0.0, observes=1), "observes is 1"),
    "leave a list": (lambda s, p, g: s.leave(p, [g], 0.0), "group is"),
    "leave as a text": (lambda s, p, g: s.leave("p", g, 0.0), "process is 'p'"),
    "close a text": (lambda s, p, g: s.close_process("p", 0.0), "process is 'p'"),
    "delete a name": (lambda s, p, g: s.delete("g", 0.0), "group is 'g'"),
    "move to a name": (lambda s, p, g: s.move([g], "b", "plan", 0.0), "target is 'b'"),
    "move to half an address": (
        lambda s, p, g: s.move([g], Address("b", "1"), "plan", 0.0),  # type: ignore[arg-type]
        "not an Address",
    ),
    "move a name": (lambda s, p, g: s.move("g", p.node, "plan", 0.0), r"give \[group\]"),
    "move a number": (lambda s, p, g: s.move(g, p.node, "plan", 0.0), r"give \[group\]"),
    "move too large a number": (lambda s, p, g: s.move([1 << 70], p.node, "", 0.0), "group is"),
    "move for a long reason": (
        lambda s, p, g: s.move([g], p.node, "x" * 65, 0.0),
        "reason has 65 characters",
    ),
    "call off a name": (lambda s, p, g: s.cancel_move("m", 0.0), "move is 'm'"),
    "drain an address": (lambda s, p, g: s.drain(p.node, True, 0.0), "name is Address"),
    "drain a long name": (lambda s, p, g: s.drain("x" * 65, True, 0.0), "name has 65"),
    "drain by a text": (lambda s, p, g: s.drain("b", "yes", 0.0), "on is 'yes'"),
    "a plan that is a dict": (lambda s, p, g: s.run_plan({}, 4, 0.0), "plan is {}"),
    "a plan by nothing at once": (lambda s, p, g: s.run_plan("{}", 0, 0.0), "at_once is 0"),
    "create in no order": (lambda s, p, g: s.create("h", "strict", 0.0), "order is 'strict'"),
}


@pytest.mark.parametrize("what", CALLS)
def test_an_argument_of_another_type_is_told_at_the_call_and_changes_nothing(
    pair: Pair, what: str
) -> None:
    call, told = CALLS[what]
    directory = pair.world["b"].service.plane.directory
    before = directory.fingerprint()
    with pytest.raises(BadArgumentError, match=told):
        call(pair.service, pair.first, pair.group)
    pair.world.turn()
    assert directory.fingerprint() == before
    assert pair.given() == [b"v2"]


def test_one_message_that_is_too_large_refuses_all_that_is_sent_with_it(pair: Pair) -> None:
    limit = pair.service.plane.options.message_bytes_max
    for payloads in ([b"v0", bytes(limit + 1)], [bytes(limit + 1), b"v0"]):
        with pytest.raises(GroupRefusedError) as refused:
            pair.service.send(pair.first, pair.group, payloads, pair.world.now)
        assert refused.value.code == "too_large"
    assert pair.service.send(pair.first, pair.group, [bytes(limit), b"v1"], pair.world.now) == 2
    assert pair.given() == [bytes(limit), b"v1", b"v2"]
