"""What a program may want to know of its shared objects, beside their changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from groupcore.sequencing.names import GroupId, Process


class SharedEvent:
    """Base of all events of shared objects."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class OperationFailed(SharedEvent):
    """`operation` raised `error` at `position`, so the message of `process` did nothing.

    Said at every replica; the caller gets the exception as its result. `on_joined` and
    `on_departed` count as operations here.
    """

    group: GroupId
    position: int
    process: Process
    operation: str
    error: Exception


@dataclass(frozen=True, slots=True)
class OperationDenied(SharedEvent):
    """`principal` was not allowed to call `operation` at `position`, so the message did nothing.

    Said at every replica; the caller gets ForbiddenError as its result.
    """

    group: GroupId
    position: int
    process: Process
    principal: str
    operation: str


@dataclass(frozen=True, slots=True)
class MessageRejected(SharedEvent):
    """A message was no operation of this class with fitting arguments, so it did nothing.

    Its sender runs another version of the program, or is none of ours.
    """

    group: GroupId
    position: int
    process: Process
    detail: str


@dataclass(frozen=True, slots=True)
class Diverged(SharedEvent):
    """The replica of `process`'s node has another state than this one: a bug in the class.

    They were equal behind `position - 1`, and parted at `position`: the message of `caller` with
    this `operation` (the first of it in a transaction) is not deterministic. `operation` is empty
    where it could not be found: then they parted somewhere between `last_equal` (0: not known)
    and `position`.
    """

    group: GroupId
    process: Process
    position: int
    last_equal: int
    operation: str
    arguments: Mapping[str, object]
    caller: Process | None
