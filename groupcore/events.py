"""What layers tell each other and the application, apart from messages.

Each event is a statement about something that has happened, or a request by the application.
`Notify` carries it to every layer; a layer ignores what does not concern it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from groupcore.digest import Digest
from groupcore.membership.ballots import Ballot
from groupcore.order_state import OrderState
from groupcore.view import Address, View


class Event:
    """Base of all events."""

    __slots__ = ()


# --- the application asks -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Connect(Event):
    """Join the group or form it.

    `epoch` and `position` say what the application's own storage holds: everything up to that
    place in the order of that epoch (0, 0: nothing).
    """

    epoch: int = 0
    position: int = 0


@dataclass(frozen=True, slots=True)
class Leave(Event):
    """Leave the group gracefully: finish what is in flight, then go (SEQUENCER: stop())."""


@dataclass(frozen=True, slots=True)
class Synced(Event):
    """The application has everything up to this position safely on disk."""

    epoch: int
    position: int


@dataclass(frozen=True, slots=True)
class Persisted(Event):
    """The record of the `Persist` effect with this token is on disk."""

    token: int


@dataclass(frozen=True, slots=True)
class WaiverGiven(Event):
    """An operator has the cluster go on without the votes of these nodes.

    They are not needed for what follows the view of this lineage and number; it holds for 3 s.
    """

    lineage: int
    number: int
    names: tuple[str, ...]


# --- membership tells ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ViewInstalled(Event):
    """A new view; everything of the former one that counts has been delivered before this.

    `fresh` says that this member did not live through the former view: what was ordered up to
    `position` it must take from one of `holders` (none: nothing exists yet, or its own storage
    holds exactly that). `position` is the place of the last ordered message before the view, in
    `view.epoch`. `recovered`: the view begins its epoch: it was formed from disk, or by a component
    alone, or by a merge. `voters`: whose votes decided it, a quorum of its predecessor. `merged`:
    the views that it joins, that of the merge's leader first (MergeView); what becomes of their
    states the application decides. `streams`: up to where each stream of the data plane is here at
    all who have lived through the former view; nothing behind that was delivered in it.
    """

    view: View
    previous: View | None = None
    fresh: bool = False
    holders: tuple[Address, ...] = ()
    position: int = 0
    recovered: bool = False
    order_state: OrderState | None = None
    voters: tuple[Address, ...] = ()
    merged: tuple[View, ...] = ()
    streams: Digest = field(default_factory=dict)

    @property
    def lacking(self) -> tuple[Address, ...]:
        """The members that have to take the state from others; the same at all members."""
        if not self.holders:
            return ()
        return tuple(member for member in self.view.members if member not in self.holders)


@dataclass(frozen=True, slots=True)
class PrimaryLost(Event):
    """No quorum can be reached: ordered sends wait, what is here may be stale."""


@dataclass(frozen=True, slots=True)
class PrimaryRegained(Event):
    """The view change that took long has ended, or was not needed."""


@dataclass(frozen=True, slots=True)
class Excluded(Event):
    """The primary view goes on without this member; only a new incarnation may come back."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refused(Event):
    """This member may not join; `code`: `id_in_use`, `foreign_cluster`, `gone_on_without`,
    `mixed_logs`. Or it may not stay: `cloned`."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Left(Event):
    """The leave has ended, with a view of the others or without an answer; close the stack."""


# --- view change, between membership, the flush and the reliable layers --------------------------


@dataclass(frozen=True, slots=True)
class FlushRequested(Event):
    """Stop these members of view `view` under this ballot; nobody (any more): it is over.

    Each request replaces the one before it; of the same ballot it names whoever has been added.
    """

    view: int
    ballot: Ballot
    participants: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class Flushed(Event):
    """`member` has stopped; it holds `digest` and has delivered up to `position`, finally.

    `delivered` is the part of the digest that it has delivered; `streams`: up to where it has
    acknowledged each stream of the data plane, finally too. `synced`: no further than that has it
    told anybody that its application has the order of this epoch on disk. `known`: of streams of
    others of which what it has delivered of the order does not know all that is here, how much.
    """

    member: Address
    ballot: Ballot
    digest: Digest
    position: int
    delivered: Digest = field(default_factory=dict)
    streams: Digest = field(default_factory=dict)
    synced: int = 0
    known: Digest = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlushStarted(Event):
    """Send and deliver no more multicasts of this view until told what was agreed."""


@dataclass(frozen=True, slots=True)
class FetchCut(Event):
    """Get every multicast up to `cut`, asking `holders[sender]` for what is missing.

    The data plane gets the frames of `streams`, of `stream_holders`.
    """

    cut: Digest = field(default_factory=dict)
    holders: dict[Address, tuple[Address, ...]] = field(default_factory=dict)
    streams: Digest = field(default_factory=dict)
    stream_holders: dict[Address, tuple[Address, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CutHeld(Event):
    """Every multicast up to the cut that was asked for is here, or every frame up to it.

    Each half is told by who gets it; whoever waits looks whether both are here.
    """


@dataclass(frozen=True, slots=True)
class CutAgreed(Event):
    """Deliver everything up to `cut`, and nothing behind it: the view ends here, or behind that."""

    cut: Digest = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CutDelivered(Event):
    """Every layer has delivered up to the cut: what a joiner must be told can be read now."""


@dataclass(frozen=True, slots=True)
class Drained(Event):
    """Everything that this member has sent in order has come back: it may leave."""


# --- failure detection --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heard(Event):
    """Datagrams of these members arrived in this turn."""

    members: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class Slept(Event):
    """This process was not scheduled for so long before this turn (`groupcore.awake`)."""

    seconds: float


@dataclass(frozen=True, slots=True)
class ConnectionClosed(Event):
    """The connection that watched over this member has closed: its process may have ended.

    A sign, not a proof: failure detection asks the member itself, at once and several times.
    """

    member: Address


@dataclass(frozen=True, slots=True)
class Lagging(Event):
    """A member of this view was heard that still lives in a former one."""

    member: Address


@dataclass(frozen=True, slots=True)
class Found(Event):
    """Discovery has heard of somebody."""


@dataclass(frozen=True, slots=True)
class CoordinatorsFound(Event):
    """Coordinators of other views of this cluster are there; their views, by coordinator."""

    views: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class ReachabilityChanged(Event):
    """Who is reachable has changed, by this member's own ears and by what others report."""


@dataclass(frozen=True, slots=True)
class BadInput(Event):
    """A layer has dropped what no node sends on purpose; the operator is told of its source.

    `reason` is the name of the drop counter, as in `layer.dropped`. Not for what races explain.
    """

    source: Address
    reason: str


# --- stability, flow, durability ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stable(Event):
    """Every member of the view has delivered these: the history may drop them.

    `received` is the highest number that any member has seen of each sender: whoever lacks it
    asks for it (pbcast design, "Last Message dropped in NAKACK"). `collectable` is what the
    history may drop when some of it is to stay for latecomers; None: all that is delivered.
    """

    delivered: Digest
    received: Digest
    collectable: Digest | None = None


@dataclass(frozen=True, slots=True)
class HeldBy(Event):
    """`holder` holds these multicasts: whoever lacks some of them may ask it."""

    holder: Address
    held: Digest


@dataclass(frozen=True, slots=True)
class MuchReceived(Event):
    """Many bytes have arrived since the last one of these: it is time to speak of stability."""


@dataclass(frozen=True, slots=True)
class WindowFull(Event):
    """Multicasts wait here because nothing tells that all hold the former ones."""


@dataclass(frozen=True, slots=True)
class SeenAlive(Event):
    """Not long ago these members passed something on that has arrived here by way of others."""

    members: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class Acknowledged(Event):
    """`member` holds this member's multicasts of the present view up to `received`."""

    member: Address
    received: int


@dataclass(frozen=True, slots=True)
class Congested(Event):
    """Sends should wait (`on` True) or may go on (False).

    `source` is the layer that says it. Several may: the application is told by the endpoint when
    the first of them says True, and again when the last has said False.
    """

    on: bool
    source: str = ""


@dataclass(frozen=True, slots=True)
class Backlog(Event):
    """The application: so much has been delivered to me and not yet consumed.

    `cost_bytes` counts each message with its bytes and `batch.MESSAGE_COST_BYTES`. An
    application that consumes everything at once never says it.
    """

    cost_bytes: int


@dataclass(frozen=True, slots=True)
class Stalled(Event):
    """These members have held this one up for too long, by its flow control; () for none any more.

    It replaces what was said before. The group may go on without them.
    """

    members: tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class OrderLate(Event):
    """What this member has sent in order does not come back, for too long (True), or does again.

    The group goes on without the coordinator when most other members say so.
    """

    late: bool


@dataclass(frozen=True, slots=True)
class Saved(Event):
    """Everything up to `position` of `epoch` is on disk at a quorum of the primary view."""

    epoch: int
    position: int
