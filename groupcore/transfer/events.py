"""The events of state transfer: between the application, STATE_TRANSFER and QUEUE.

State-transfer paper, 3.1 and fig. 4. The paper's STATE_RECEIVED is `SetState` here, since the
application is given it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from groupcore.events import Event
from groupcore.transfer.sources import Intake, StateSink, StateSource
from groupcore.transfer.version import StateVersion
from groupcore.view import Address

TAKEN = "taken"
ALONE = "alone"
NO_STATE = "no_state"
TIMED_OUT = "timed_out"
BUSY = "busy"
OVERFLOW = "overflow"
NO_QUORUM = "no_quorum"
BAD_SINK = "bad_sink"
ENDED = "ended"
OUTCOMES = (TAKEN, ALONE, NO_STATE, TIMED_OUT, BUSY, OVERFLOW, NO_QUORUM, BAD_SINK, ENDED)
"""How a transfer may end: taken; there are no other members; all who were asked have a null state;
too late; another transfer is under way; more was queued than may be; no state has a majority; the
own sink has failed; this life is over."""


# --- the application asks -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ServeState(Event):
    """Whether this member gives its state to others from now on (paper: GET_STATE_EVENTS)."""

    on: bool


@dataclass(frozen=True, slots=True)
class GetState(Event):
    """Take the state from one member, or (`many`) from each.

    `providers` None: one, the oldest that has a state; many, all. `quorum`: many are asked for
    the hash, and the state of their majority is taken. `medium`: one of `MEDIA`.
    """

    providers: tuple[Address, ...] | None = None
    timeout_s: float = 10.0
    many: bool = False
    quorum: bool = False
    sink: StateSink | None = None
    medium: str = "auto"


MEDIA = ("auto", "group", "separate")
"""Through which the state comes: the channel, a connection of its own, or what suits its size."""


@dataclass(frozen=True, slots=True)
class PushState(Event):
    """Give this member's state to these members, whether they have asked for it or not."""

    receivers: tuple[Address, ...]
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class ReturnedState(Event):
    """The application's copy, as it asked for; None: a null state."""

    version: StateVersion
    source: StateSource | None


@dataclass(frozen=True, slots=True)
class SourceReady(Event):
    """The source of this version can be read again."""

    version: StateVersion


@dataclass(frozen=True, slots=True)
class SinkReady(Event):
    """The sink takes more again."""


# --- the application is told --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GetApplicationState(Event):
    """Copy the state here, between the messages before and after this, and return it."""

    version: StateVersion


@dataclass(frozen=True, slots=True)
class SetState(Event):
    """The state is here. It holds everything up to `position` of `epoch`; the rest follows.

    `state` is the state's bytes, None when it went into a sink of the application's own. `states`
    are those of several members (`get_states`), None for a null state. `provider` is who gave
    `state`. What was delivered before in this life is contained in the state.
    """

    version: StateVersion
    epoch: int
    position: int
    provider: Address
    state: bytes | None = None
    states: Mapping[Address, bytes | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GetStateOk(Event):
    """The transfer that was asked for has ended; `outcome` is one of `OUTCOMES`.

    `nulls` have a null state; `dissenters` another state than the majority; `damaged` have sent
    what did not fit its hash, or could not read their copy. `restarts`: how often it began anew,
    `resumes`: how often another provider went on where one had stopped.
    """

    outcome: str
    version: StateVersion | None = None
    size_bytes: int = 0
    nulls: tuple[Address, ...] = ()
    dissenters: tuple[Address, ...] = ()
    damaged: tuple[Address, ...] = ()
    restarts: int = 0
    resumes: int = 0


@dataclass(frozen=True, slots=True)
class StatePushed(Event):
    """The push that was asked for has ended: who has taken the state."""

    taken: tuple[Address, ...]


# --- the queue ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StartQueueing(Event):
    """Hold what is on its way to the application; the state of `version` belongs here."""

    version: StateVersion


@dataclass(frozen=True, slots=True)
class StopQueueing(Event):
    """Let go of what is held, in order, and hold nothing more."""


@dataclass(frozen=True, slots=True)
class QueueOverflow(Event):
    """More is held than may be."""


# --- a connection of its own --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OfferState(Event):
    """Serve this source to `taker` on a connection of its own, from `offset` on."""

    version: StateVersion
    taker: Address
    source: StateSource
    offset: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class StateOffered(Event):
    """It is served there; port 0: it cannot be."""

    version: StateVersion
    taker: Address
    host: str = ""
    port: int = 0
    token: bytes = b""


@dataclass(frozen=True, slots=True)
class FetchState(Event):
    """Fetch the state there into `intake`; then tell `StateFetched`."""

    version: StateVersion
    host: str
    port: int
    token: bytes
    intake: Intake


@dataclass(frozen=True, slots=True)
class StateFetched(Event):
    """The connection has ended; `complete`: with the whole state, and its hash was right."""

    version: StateVersion
    complete: bool


@dataclass(frozen=True, slots=True)
class StopFetching(Event):
    """Give up the connection, if there is one."""

    version: StateVersion
