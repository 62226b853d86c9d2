"""Judging: an ordered command is read and judged before it is logged, and applied or set aside.

Idea. The order takes any bytes from whoever has the cluster's key. Whether they are a command
follows from the bytes alone: so every node comes to the same verdict at the same place, live and
from its log. Bytes that are no command are **set aside**: they keep their place in the order, and
the log has the reason there instead of the bytes.

A command that can be read and makes the directory raise shows a bug of ours. The directory is
deterministic, so it has done the same part of the command at every node. That command is set aside,
too, and stays in the log: the next life does what this one did. No node ends by what another says.

Source. Decision 0140.

Invariants.
  I1  The verdict on bytes is a function of the bytes.
  I2  What is set aside changes nothing but the place in the order.
  I3  Each place is counted, once in a life; the first `TOLD_MAX` are told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groupcore.errors import WireError
from groupcore.sequencing.commands import Command, decode_command, encode_set_aside
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import Change
from groupcore.sequencing.events import SetAside
from groupcore.sequencing.names import Place
from groupcore.view import Address

if TYPE_CHECKING:
    from groupcore.sequencing.plane import Plane

FAULT = "fault"
"""Why a command is set aside that made the directory raise: a bug."""
TOLD_MAX = 100
"""Commands set aside that a life tells of one by one: who sends more shall not fill logs."""
COUNTER = "set_aside."


def judged(payload: bytes) -> tuple[Command | None, bytes, WireError | None]:
    """The command in these bytes or why there is none (I1), and what is to be logged of it."""
    try:
        return decode_command(payload), payload, None
    except WireError as error:
        return None, encode_set_aside(error), error


def applied(
    directory: Directory, command: Command, by: Address
) -> tuple[list[Change], WireError | None]:
    """What a command changes; with an error it raised, and what it had done by then stays."""
    try:
        return directory.apply(command, by), None
    except Exception as error:  # a bug, at all nodes alike: to end here would end all of them
        kind = type(command).__name__
        return [], WireError(FAULT, f"{kind} raised {type(error).__name__}: {error}")


def set_aside(plane: Plane, by: Address, place: Place, error: WireError) -> None:
    """Count and tell it (I3)."""
    plane.counters[COUNTER + error.reason] += 1
    told = sum(n for name, n in plane.counters.items() if name.startswith(COUNTER))
    if told <= TOLD_MAX:
        plane.events.append(SetAside(by, place, error.reason, str(error)))
