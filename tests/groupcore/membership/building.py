"""What the tests of membership's parts are built from: votes, proposals, and a world to ask."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupcore.digest import Digest, covers
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.membership.headers import Install
from groupcore.membership.log_end import NO_LOG, LogEnd
from groupcore.membership.state import MembershipOptions, MembershipState, Questions
from groupcore.order_state import OrderState
from groupcore.view import Address, View

A, B, C, D, E = (Address(name, 1) for name in "abcde")
LINEAGE = 7


def view_of(*members: Address, number: int = 3, epoch: int = 1, lineage: int = LINEAGE) -> View:
    return View(number, epoch, 0, lineage, members)


def vote(
    voter: Address,
    digest: Digest | None = None,
    live: bool = True,
    counts: bool = True,
    accepted: tuple[Ballot, Proposal] | None = None,
    holds: tuple[int, int] = (0, 0),
    streams: Digest | None = None,
    has_cut: bool = True,
    log_view: int = 0,
    delivered: Digest | None = None,
) -> Vote:
    ballot, proposal = accepted or (None, None)
    return Vote(
        voter,
        live,
        counts,
        digest or {},
        ballot,
        proposal,
        *holds,
        streams or {},
        has_cut,
        log_view,
        delivered or {},
    )


def proposal_of(
    *members: Address,
    basis: int = 3,
    cut: Digest | None = None,
    holders: dict[Address, tuple[Address, ...]] | None = None,
    recovered: bool = False,
    state_holders: tuple[Address, ...] = (),
    position: int = 0,
    lineage: int = LINEAGE,
    streams: Digest | None = None,
    stream_holders: dict[Address, tuple[Address, ...]] | None = None,
    order: LogEnd = NO_LOG,
    delivered: Digest | None = None,
) -> Proposal:
    return Proposal(
        basis,
        view_of(*members, number=basis + 1, lineage=lineage),
        recovered,
        position,
        cut or {},
        holders or {},
        state_holders,
        (),
        streams=streams or {},
        stream_holders=stream_holders or {},
        order=order,
        delivered=delivered or {},
    )


def install_of(proposal: Proposal, position: int = 0) -> Install:
    return Install(proposal, OrderState(position))


@dataclass
class World:
    """What the other layers would answer."""

    digest: Digest = field(default_factory=dict)
    streams: Digest = field(default_factory=dict)
    order_state: OrderState = field(default_factory=OrderState)
    unheard: dict[Address, frozenset[Address]] = field(default_factory=dict)
    heard: tuple[Address, ...] = ()
    seeking: dict[Address, View | None] = field(default_factory=dict)
    present: dict[Address, tuple[View, bool]] = field(default_factory=dict)
    log_view: int = 0
    empty: frozenset[str] = frozenset()
    indirect: dict[Address, frozenset[Address]] = field(default_factory=dict)
    no_way: set[Address] = field(default_factory=set)
    parting: bool = False
    disk_mark: int = 0

    def questions(self) -> Questions:
        return Questions(
            digest=lambda: self.digest,
            order_state=lambda: self.order_state,
            unheard=lambda: self.unheard,
            heard_since=lambda since: self.heard,
            reached_since=lambda since: self.heard,
            seeking=lambda now: self.seeking,
            present=lambda now: self.present,
            has_streams=lambda streams: covers(self.streams, streams),
            stored_streams=lambda: self.streams,
            stored_view=lambda: self.log_view,
            disk_mark=lambda: self.disk_mark,
            empty=lambda now: self.empty,
            indirect=lambda: self.indirect,
            way_to=lambda member: None if member in self.no_way else member,
            is_parting=lambda: self.parting,
        )


def encode(record: Record) -> bytes:
    """A record as bytes that a test can compare."""
    return repr(record).encode()


def state_of(
    me: Address = A,
    view: View | None = None,
    record: Record | None = None,
    options: MembershipOptions | None = None,
) -> MembershipState:
    """A node that lives in a view, or (None) has only its record."""
    known = record or Record(view)
    return MembershipState(me, options or MembershipOptions(), known, encode, view, connected=True)
