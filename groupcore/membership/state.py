"""What the roles of membership share: the settings, the questions to other layers, the state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from groupcore.batch import Batch, Header
from groupcore.digest import Digest
from groupcore.effects import Down, Effect, Persist
from groupcore.membership.ballots import Record
from groupcore.membership.generation import Generation
from groupcore.membership.headers import Install
from groupcore.membership.waiver import Waiver
from groupcore.order_state import OrderState
from groupcore.paths import directly
from groupcore.view import Address, View

MergePolicy = Literal["primary", "application"]
"""What becomes of a component without a quorum."""


@dataclass(frozen=True, slots=True)
class MembershipOptions:
    """What kind of member this is, and times in seconds.

    `cluster_size`: nodes of which a majority forms the first view. `application_state`: the
    application keeps state, so a node without it has no vote until it has reported `Synced`.
    `durable`: the record survives a restart, so a node without one has lost its disk and no vote
    (without it a node that restarts during a succession forgets its promise, and still votes).
    `absorb`: of two clusters that meet, members without state or disk leave the smaller for the
    larger. `data_plane`: streams are kept beside the stack, in memory, and a node that has not got
    them has no vote until it has (it reports `Synced`, too); `logged`: they are on disk as well.
    `counts_disks`: the application's disks decide what is saved (DURABILITY), so a view begins with
    what may be saved on the disks of a quorum.
    `merge_policy`: `primary` (a component without a quorum forms no view, and takes the primary's
    state when it meets it) or `application` (it goes on in a view of its own; where two views meet
    they merge, and the application decides what becomes of the states).
    `merge_s`: a merge's leader waits so long for the others, `merge_lapse_s`: and they for it.
    `drains`: an ordering layer says when a leaver has nothing in flight. `bulk_s`: how
    long joins and leaves are gathered. `seek_s`, `patience_s`: how long a node looks for a view
    before it forms one, and before it does so without all the nodes of the last. `grace_s`: wait
    for the last acceptances once a quorum is in; `vote_s` for the last promises, and again for the
    last answers to the flush; `attempt_s`: an attempt is given up when it lasts so long before the
    flush, or from it on. `stuck_s`: a blocked voter proposes itself, and for so long a member
    leaves the word to another that proposes. `turn_s`: so long a next view that is needed is waited
    for, then the member whose turn it was is passed over. `behind_s`: a member that cannot get what
    it needs for a view that is, or may have been, decided gives its life up. `leave_s`: a leaver
    that has asked for so long goes without an answer. `primary_lost_s`: no quorum for so long.
    `generation_s`: while something is stored, the folder is counted so often (`folders`).
    """

    cluster_size: int = 1
    application_state: bool = False
    durable: bool = False
    absorb: bool = True
    data_plane: bool = False
    logged: bool = False
    counts_disks: bool = False
    merge_policy: MergePolicy = "primary"
    drains: bool = True
    tick_s: float = 0.1
    bulk_s: float = 0.03
    seek_s: float = 0.35
    patience_s: float = 1.5
    grace_s: float = 0.15
    vote_s: float = 0.4
    attempt_s: float = 1.0
    stuck_s: float = 0.7
    turn_s: float = 2.0
    behind_s: float = 3.0
    leave_s: float = 5.0
    primary_lost_s: float = 0.9
    generation_s: float = 0.5
    merge_s: float = 0.4
    merge_lapse_s: float = 0.8

    @property
    def stateful(self) -> bool:
        """Whether a node that joins has something to get before its vote counts."""
        return self.application_state or self.data_plane

    @property
    def counts_folders(self) -> bool:
        """Whether the generations of folders are counted."""
        return self.durable and self.generation_s > 0

    @property
    def partitionable(self) -> bool:
        """Whether a component without a quorum goes on."""
        return self.merge_policy == "application"

    @property
    def may_absorb(self) -> bool:
        """Whether nothing is lost when this node forgets the chain that it is in."""
        keeps = self.durable or self.application_state
        return self.absorb and not keeps and not self.partitionable


def anything(streams: Digest) -> bool:
    """A node without a data plane lacks nothing of it."""
    return True


def no_names(now: float) -> frozenset[str]:
    """Where nobody tells whose disks are empty."""
    return frozenset()


@dataclass(frozen=True, slots=True)
class Questions:
    """What membership reads of other layers; wired in `groupcore.stacks`.

    `reached_since`: who is heard, and has answered what this node alone asked it. `has_streams`:
    whether the frames of the data plane are here up to there; `stored_streams`: how far a node that
    has only its disk has them, {} without logs; `stored_view`: the last view in the log that it
    began with; `empty`: the nodes that look for a view without a disk that counts.
    `disk_mark`: grows with what the data plane has on disk.
    `indirect`: of whom each member gets multicasts and no unicasts; `way_to`: where what is for
    this member arrives, None for the group; `is_parting`: whether it is just being found out who
    gets no unicasts of whom.
    """

    digest: Callable[[], Digest]
    order_state: Callable[[], OrderState]
    unheard: Callable[[], dict[Address, frozenset[Address]]]
    heard_since: Callable[[float], tuple[Address, ...]]
    reached_since: Callable[[float], tuple[Address, ...]]
    seeking: Callable[[float], dict[Address, View | None]]
    present: Callable[[float], dict[Address, tuple[View, bool]]]
    stalled: Callable[[], frozenset[Address]] = frozenset
    has_streams: Callable[[Digest], bool] = anything
    stored_streams: Callable[[], Digest] = dict
    stored_view: Callable[[], int] = int
    disk_mark: Callable[[], int] = int
    empty: Callable[[float], frozenset[str]] = no_names
    indirect: Callable[[], dict[Address, frozenset[Address]]] = dict
    way_to: Callable[[Address], Address | None] = directly
    is_parting: Callable[[], bool] = bool


@dataclass(slots=True)
class MembershipState:
    """One node's part in membership.

    `record` is what is (about to be) on disk; `view` the view installed in this life; `blocked`:
    the flush has stopped it, so nothing is sent or delivered in it any more.
    `stored`: epoch and position of what the application has on disk. `encode` makes the bytes.
    `waiver`: what an operator has said, the last time. `leaving`: the application wants to go;
    `asks_out`: nothing is in flight any more, and the others are asked for a view without it.
    `heard`: the generations of others' folders, by name.
    """

    me: Address
    options: MembershipOptions
    record: Record
    encode: Callable[[Record], bytes]
    view: View | None = None
    blocked: bool = False
    connected: bool = False
    gone: bool = False
    leaving: bool = False
    asks_out: bool = False
    stored: tuple[int, int] = (0, 0)
    last_install: Install | None = None
    next_token: int = 1
    waiver: Waiver | None = None
    heard: dict[str, Generation] = field(default_factory=dict)
    after_persist: dict[int, list[Effect]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What the former lives had heard."""
        self.heard.update((one.name, one) for one in self.record.heard)

    @property
    def heard_sorted(self) -> tuple[Generation, ...]:
        """`heard`, as record and vote have it."""
        return tuple(sorted(self.heard.values()))

    @property
    def live_in_basis(self) -> bool:
        """Whether this node has lived through the last view that it knows of."""
        return self.view is not None and self.view.number == self.record.number

    def waived(self, basis: View | None, now: float) -> frozenset[str]:
        """Without whose votes the successor of this view may be decided."""
        waiver = self.waiver
        return waiver.names if waiver is not None and waiver.holds(basis, now) else frozenset()

    @property
    def synced(self) -> int:
        """Up to where the application has the order of the view's epoch on disk."""
        epoch, position = self.stored
        return position if self.view is not None and epoch == self.view.epoch else 0

    @property
    def is_blank(self) -> bool:
        """Whether this node's disk counts for nothing: it was lost, or has never had the state."""
        record = self.record
        blank = record.view is None and record.accepted is None
        return record.rebuilding or (self.options.durable and blank)

    @property
    def is_storing(self) -> bool:
        """Whether something that the record holds is not on disk yet."""
        return bool(self.after_persist)

    def send(self, destination: Address | None, header: Header) -> Effect:
        """A header by itself to one node, or (None) to everybody who listens."""
        return Down(Batch(self.me, destination, (header,), reliable=False))

    def persist(self, then: list[Effect]) -> Effect:
        """Store the record as it is now; what depends on it follows when it is on disk."""
        token = self.next_token
        self.next_token += 1
        self.after_persist[token] = then
        return Persist(token, self.encode(self.record))
