"""What STATE_TRANSFER layers tell each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groupcore.batch import Header
from groupcore.headers import travels
from groupcore.transfer.version import StateVersion
from groupcore.view import Address

STREAM, SEPARATE, AUTO, DIGEST = 0, 1, 2, 3
"""What a RETURN_STATE wants: chunks in the group's channel; a connection of its own; whichever
suits the size; only the size and the hash."""


@travels(70)
@dataclass(slots=True)
class MakeCopy(Header):
    """Initiator to group, in order: `providers` copy their state here, under `version`."""

    kind: ClassVar[str] = "state_transfer.make_copy"
    version: StateVersion
    providers: tuple[Address, ...]


@travels(71)
@dataclass(slots=True)
class Push(Header):
    """Provider to group, in order: I copy my state here; `receivers` take it."""

    kind: ClassVar[str] = "state_transfer.push"
    version: StateVersion
    receivers: tuple[Address, ...]


@travels(72)
@dataclass(slots=True)
class ReturnState(Header):
    """Taker to provider: give me the copy from `offset` on, if its beginning has this hash."""

    kind: ClassVar[str] = "state_transfer.return_state"
    version: StateVersion
    wanted: int
    offset: int
    digest: bytes


@travels(73)
@dataclass(slots=True)
class Chunk(Header):
    """Provider to taker: the body is the state from `offset`; `digest` is the hash up to its end.

    `last`: the state ends at `offset`, the body is empty.
    """

    kind: ClassVar[str] = "state_transfer.chunk"
    version: StateVersion
    offset: int
    digest: bytes
    last: bool


@travels(74)
@dataclass(slots=True)
class Taken(Header):
    """Taker to provider: I have taken everything up to `offset`."""

    kind: ClassVar[str] = "state_transfer.taken"
    version: StateVersion
    offset: int


@travels(75)
@dataclass(slots=True)
class NoState(Header):
    """Provider to taker: a null state, and why."""

    kind: ClassVar[str] = "state_transfer.no_state"
    version: StateVersion
    reason: str


@travels(76)
@dataclass(slots=True)
class Collect(Header):
    """Taker to provider (the paper's GC): I need the copies up to this version no more.

    `taken`: this version is installed here.
    """

    kind: ClassVar[str] = "state_transfer.collect"
    version: StateVersion
    taken: bool


@travels(77)
@dataclass(slots=True)
class Offer(Header):
    """Provider to taker: fetch it there, over TCP, with this token, once."""

    kind: ClassVar[str] = "state_transfer.offer"
    version: StateVersion
    host: str
    port: int
    token: bytes


HEADERS = (MakeCopy, Push, ReturnState, Chunk, Taken, NoState, Collect, Offer)
"""All of them."""
