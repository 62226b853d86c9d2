"""What a command or a view has changed in the directory; every node acts on its own part of it.

All nodes get the same changes in the same order, because they apply the same commands.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.view import Address


class Change:
    """Base of all changes."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class GroupCreated(Change):
    """Request `request` of `by` has its group; `again`: one of that name was there before."""

    group: GroupId
    name: str
    order: Order
    owner: Address
    by: Address
    request: int
    again: bool


@dataclass(frozen=True, slots=True)
class GroupDeleted(Change):
    """The group and its name are forgotten; its number is never given again."""

    group: GroupId
    by: Address
    request: int


@dataclass(frozen=True, slots=True)
class CommandRefused(Change):
    """Request `request` of `by` has changed nothing; the codes are those of `events.Refused`."""

    by: Address
    request: int
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class EntryAllowed(Change):
    """S2 holds for the component of `group` with `process` in it: its JOIN may be stamped.

    `by` and `request` are those of the `EnterStrict` that asked.
    """

    group: GroupId
    process: Process
    by: Address
    request: int


@dataclass(frozen=True, slots=True)
class MoveBegan(Change):
    """`source` suspends the groups, and says `Moved` once the last of their frames is held."""

    move: int
    groups: tuple[GroupId, ...]
    source: Address
    target: Address
    reason: str


@dataclass(frozen=True, slots=True)
class OwnerMoved(Change):
    """From here on `target` sequences: `groups[i]` in `epochs[i]`, behind number `last[i]`."""

    move: int
    groups: tuple[GroupId, ...]
    source: Address
    target: Address
    epochs: tuple[int, ...]
    last: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MoveCancelled(Change):
    """The move has ended without effect: `source` resumes, if it is alive.

    Where the source is gone, the `StreamEnded` that follows says who has the groups. `asked`:
    somebody has called it off (`CancelMove`); else its source or its target is gone.
    """

    move: int
    groups: tuple[GroupId, ...]
    source: Address
    asked: bool = False


@dataclass(frozen=True, slots=True)
class StreamEnded(Change):
    """The stream of a node that is gone ends with `frame`, which `holder` has.

    `groups[i]` was the node's, and is `owners[i]`'s in `epochs[i]` from here on. Said once for each
    stream, for those without groups as well; for groups that are left `Inherited` follows.
    """

    stream: Address
    frame: int
    holder: Address
    groups: tuple[GroupId, ...]
    owners: tuple[Address, ...]
    epochs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Inherited(Change):
    """More groups of a stream that has ended with `frame`, as in `StreamEnded`."""

    stream: Address
    frame: int
    groups: tuple[GroupId, ...]
    owners: tuple[Address, ...]
    epochs: tuple[int, ...]
