"""Commands survive the wire, and bytes that are none are refused."""

from __future__ import annotations

import pytest

from groupcore.errors import WireError
from groupcore.sequencing.commands import (
    COMMANDS,
    PREFIX,
    Arrived,
    CancelMove,
    Command,
    CreateGroup,
    DeleteGroup,
    Drain,
    EndStream,
    EnterStrict,
    ExitStrict,
    Inherit,
    LoadSample,
    Move,
    Moved,
    ObserveStrict,
    ReportLoad,
    ReportTies,
    Tell,
    Tie,
    decode_command,
    encode_command,
)
from groupcore.sequencing.names import Process
from groupcore.view import Address

A = Address("a", 1)
EXAMPLES: list[Command] = [
    CreateGroup(1, "prices", 1),
    DeleteGroup(2, 7),
    EnterStrict(3, 7, Process(A, 4)),
    ExitStrict(7, Process(A, 4)),
    ObserveStrict(6, 7, Process(A, 4)),
    Move(4, (7, 8), A, "load"),
    Moved(1, (7, 8), (100, 0)),
    CancelMove(5, 1),
    EndStream(A, 1000, Address("b", 2), 3),
    ReportLoad(1500, (LoadSample(7, 10, 1000, 3, {"a": 9, "b": 1}),)),
    Drain(6, "a", True),
    Inherit((7, 8)),
    ReportTies((Tie(7, 8, 120), Tie(7, 9, 1))),
    Tell("keys", b"\x00"),
    Arrived(),
]


@pytest.mark.parametrize("command", EXAMPLES, ids=lambda command: type(command).__name__)
def test_a_command_survives_the_wire(command: Command) -> None:
    packed = encode_command(command)
    assert packed.startswith(PREFIX)
    assert decode_command(packed) == command


def test_every_command_has_an_example() -> None:
    assert {type(command) for command in EXAMPLES} == set(COMMANDS.values())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x93",
        b"\x92\x63\x90",
        b"\x92\x01\x90",
        b"\x92\x02\x92\xff\x01",
        b"\x80",
        b"\x92\x03\x93\x01\x07\xc0",
    ],
)
def test_what_is_no_command_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        decode_command(PREFIX + body)
