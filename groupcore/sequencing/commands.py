"""What is said in the control plane's order: each command changes the directory at every node.

A command is one ordered message. Who sent it is the transport's to say; a command that does not
apply any more when its turn comes changes nothing, everywhere alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from msgpack import Packer, unpackb
from msgpack.exceptions import UnpackException

from groupcore.errors import WireError
from groupcore.sequencing.names import SEQNO_MAX, GroupId, Process
from groupcore.view import Address
from groupcore.wire import decode_value, encode_value

PREFIX = b"\xc1"
"""First byte of every command: one that no msgpack value begins with, so that an application may
send ordered messages of its own beside them."""


class Command:
    """Base of all commands."""

    __slots__ = ()
    code: ClassVar[int]


@dataclass(frozen=True, slots=True)
class CreateGroup(Command):
    """CREATE-GROUP: a new group, or the one of that name.

    `order` is an `Order`. `name` empty: a group without one. `request` is its sender's own number,
    by which it knows the answer.
    """

    code: ClassVar[int] = 1
    request: int
    name: str
    order: int


@dataclass(frozen=True, slots=True)
class DeleteGroup(Command):
    """Forget a group and its name."""

    code: ClassVar[int] = 2
    request: int
    group: GroupId


@dataclass(frozen=True, slots=True)
class EnterStrict(Command):
    """A process is about to join a `strict` group: its overlaps count from here on (S2)."""

    code: ClassVar[int] = 3
    request: int
    group: GroupId
    process: Process


@dataclass(frozen=True, slots=True)
class ExitStrict(Command):
    """A process has left a `strict` group: its own node says so, once it has delivered the LEAVE.

    Not sooner: the group may part from its component now, and what it has been sent before LEAVE
    must have been delivered to the process by then, or two processes could disagree about it.
    """

    code: ClassVar[int] = 4
    group: GroupId
    process: Process


@dataclass(frozen=True, slots=True)
class ObserveStrict(Command):
    """A process is about to join a `strict` group as an observer: its overlaps never count (S2).

    What is an observer's is what a causally-total group promises; `ExitStrict` ends it, too.
    """

    code: ClassVar[int] = 14
    request: int
    group: GroupId
    process: Process


@dataclass(frozen=True, slots=True)
class Move(Command):
    """Migrate groups to `target`; `reason`: strict, load, locality, ties, drain, plan."""

    code: ClassVar[int] = 5
    request: int
    groups: tuple[GroupId, ...]
    target: Address
    reason: str


@dataclass(frozen=True, slots=True)
class Moved(Command):
    """The source of move `move` has stopped, its frames are held; `last[i]` is groups[i]'s number.

    The groups are those of the move, in the directory's order for it.
    """

    code: ClassVar[int] = 6
    move: int
    groups: tuple[GroupId, ...]
    last: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CancelMove(Command):
    """Call a move off that has not come to `Moved`."""

    code: ClassVar[int] = 7
    request: int
    move: int


@dataclass(frozen=True, slots=True)
class EndStream(Command):
    """The stream of a node that is gone ends with `frame`, which `holder` has; said in `view`."""

    code: ClassVar[int] = 8
    stream: Address
    frame: int
    holder: Address
    view: int


@dataclass(frozen=True, slots=True)
class LoadSample:
    """One group's load at its sequencer, per second; `senders` has messages/s by node name."""

    group: GroupId
    messages: int
    bytes: int
    fan_out: int
    senders: dict[str, int]


@dataclass(frozen=True, slots=True)
class ReportLoad(Command):
    """What a sequencer carries: how long requests wait there, and the groups that are sent to.

    A group that is left out is idle.
    """

    code: ClassVar[int] = 9
    queue_delay_us: int
    samples: tuple[LoadSample, ...]


@dataclass(frozen=True, slots=True)
class Tie:
    """How often processes of a node write to two groups in turn, `group` < `other`.

    `rate`: in thousandths of a turn a second.
    """

    group: GroupId
    other: GroupId
    rate: int


@dataclass(frozen=True, slots=True)
class ReportTies(Command):
    """The groups between which processes of its sender take turns; none any more when empty."""

    code: ClassVar[int] = 11
    ties: tuple[Tie, ...]


@dataclass(frozen=True, slots=True)
class Drain(Command):
    """Node `name` shall sequence nothing any more (`on`), or may again."""

    code: ClassVar[int] = 10
    request: int
    name: str
    on: bool


@dataclass(frozen=True, slots=True)
class Inherit(Command):
    """Give these groups, whose sequencer's stream has ended, to others; the next portion if none.

    Groups of which that is not so (any more) are left out.
    """

    code: ClassVar[int] = 12
    groups: tuple[GroupId, ...]


@dataclass(frozen=True, slots=True)
class Tell(Command):
    """What the nodes' programs say to each other: told to all of them here in the order.

    The directory is not concerned. `topic` says whose it is.
    """

    code: ClassVar[int] = 13
    topic: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Arrived(Command):
    """Its sender, which joined without the state, has it now: it may be given groups."""

    code: ClassVar[int] = 15


COMMANDS: dict[int, type[Command]] = {
    command.code: command
    for command in (
        CreateGroup,
        DeleteGroup,
        EnterStrict,
        ExitStrict,
        Move,
        Moved,
        CancelMove,
        EndStream,
        ReportLoad,
        Drain,
        ReportTies,
        Inherit,
        Tell,
        ObserveStrict,
        Arrived,
    )
}

SET_ASIDE = 0
"""Code of no command: stands in logs for one that was set aside; `encode_set_aside`."""
REASON = "[a-z_]{1,40}"
DETAIL_MAX = 120
"""Most characters of why a command was set aside."""

_packer = Packer(use_bin_type=True, autoreset=True)


def encode_command(command: Command) -> bytes:
    """The ordered message that says this."""
    packed: bytes = _packer.pack([command.code, encode_value(command, type(command))])
    return PREFIX + packed


def decode_command(payload: bytes) -> Command:
    """The command in an ordered message that begins with PREFIX.

    WireError, whose reason is a word for a counter, for all other bytes: it depends on nothing but
    these, so all nodes say the same of them.
    """
    try:
        value = unpackb(payload[1:], raw=False, max_ext_len=0, max_map_len=0)
    except (UnpackException, ValueError, TypeError, RecursionError) as error:
        raise WireError("bad_command", str(error)[:80]) from None
    if type(value) is not list or len(value) != 2 or type(value[0]) is not int:
        raise WireError("bad_command", "not [code, fields]")
    code, fields = value
    if code == SET_ASIDE:
        raise WireError(*_reason_in(fields))
    if code not in COMMANDS:
        raise WireError("unknown_command", f"there is no command {code}")
    command: Command = decode_value(fields, COMMANDS[code])
    _check_numbers(command)
    return command


def encode_set_aside(error: WireError) -> bytes:
    """What stands in a log in the place of a command that was set aside: only why it was."""
    packed: bytes = _packer.pack([SET_ASIDE, [error.reason, str(error)[:DETAIL_MAX]]])
    return PREFIX + packed


def _reason_in(fields: object) -> tuple[str, str]:
    match fields:
        case [str(reason), str(detail)] if re.fullmatch(REASON, reason):
            return reason, detail[:DETAIL_MAX]
        case _:
            return "bad_command", "nothing is set aside like this"


def _check_numbers(command: Command) -> None:
    """Who goes on behind a number has to be able to write the next ones."""
    numbers: tuple[int, ...] = ()
    if isinstance(command, Moved):
        numbers = command.last
    elif isinstance(command, EndStream):
        numbers = (command.frame,)
    if max(numbers, default=0) > SEQNO_MAX:
        raise WireError("bad_command", "a number that no group or stream comes to")
