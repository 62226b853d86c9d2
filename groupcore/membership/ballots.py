"""What is told and remembered in ballots: ballots, proposals, votes, and a voter's record.

Pure values with what each says of itself. What votes decide is `succession`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from groupcore.digest import Digest
from groupcore.membership.generation import UNCOUNTED, Generation
from groupcore.membership.log_end import NO_LOG, LogEnd
from groupcore.view import Address, View, is_quorum


@dataclass(frozen=True, slots=True, order=True)
class Ballot:
    """One attempt to decide a successor; higher ones win. `round` starts at 1."""

    round: int
    proposer: Address


NO_BALLOT = Ballot(0, Address("", 0))
"""Below every ballot."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A successor, with everything that its members must know to begin it alike.

    `cut`: what is delivered of the former view before this one begins, and `holders` of each
    sender's part. `recovered`: formed from disk; then `position` is what `state_holders` hold and
    the new epoch begins there, and nothing of the former view is delivered any more.
    `state_holders`: who has the application's state when the view begins. `voters`: whose votes
    counted; they are a quorum of the former view (who votes on what follows, says `view.voters`).

    `left` is the lineage of the former view when the view begins another one (else 0): that of a
    component that goes on alone, or, with the views of its sides in `merged`, of a merge. Then
    the new epoch begins at `position`, and the cut is what anybody has delivered.

    `waived`: whose votes an operator has waived (`membership.waiver`); then `left` is the lineage
    that ends so, and `voters` are the electorate, all of which must accept.

    `streams` is the data plane's part of the cut, and `stream_holders` who has it. Where a view is
    formed from disk there is one only if the data plane has logs. With logs `order` is the order's
    part: how far any voter whose memory or disk counts has it. `delivered` is what of the
    multicasts that is, if the view is orderly: somebody has delivered them, so everybody may.
    Where the application's disks count, `order` is how far the order may be saved.

    `lost`: whose disks have been lost, of those who are to hold the cut (`with_lost`).
    """

    basis: int
    view: View
    recovered: bool
    position: int
    cut: Digest
    holders: dict[Address, tuple[Address, ...]]
    state_holders: tuple[Address, ...]
    voters: tuple[Address, ...]
    left: int = 0
    merged: tuple[View, ...] = ()
    streams: Digest = field(default_factory=dict)
    stream_holders: dict[Address, tuple[Address, ...]] = field(default_factory=dict)
    order: LogEnd = NO_LOG
    delivered: Digest = field(default_factory=dict)
    waived: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    later_fields: ClassVar[int] = 2
    """As many at the end may be missing in what former versions have stored."""

    @property
    def basis_lineage(self) -> int:
        """Lineage of the view whose successor this is."""
        return self.left or self.view.lineage

    @property
    def forked(self) -> bool:
        """Whether it is a component's own view, which all its members must accept."""
        return bool(self.left) and not self.merged and not self.waived

    @property
    def electorate(self) -> frozenset[str]:
        """Who must accept a proposal under a waiver, by name: all of them."""
        return frozenset(voter.name for voter in self.voters)

    def lasts(self, basis: View | None, having: Iterable[str], lacking: Iterable[str] = ()) -> bool:
        """Whether the cut outlives everybody else if these nodes have it.

        A quorum of those who are the next to vote and could have it; of a view formed from disk, of
        the next voters those who have the state, and those who are no members: they vote with what
        their disk has. So it is where there is nothing to have. Who is `lacking` its commands
        decides later only beside one that has them (`lacks_what_it_began_with`), so it is as good
        as one that has them where there is one.
        """
        if basis is None or (self.left and not self.waived):
            return True  # a member of both views may be there by the merge's other side
        has, lacks = {*having}, {*lacking}
        if not self.recovered:
            stay = self.staying(basis)
            lacks = lacks if has & {*stay} else set()
            return not stay or is_quorum(stay, has | lacks | {*self.lost})
        if (not self.streams and self.order == NO_LOG) or not self.state_holders:
            return True
        holders = {holder.name for holder in self.state_holders}
        lacks = lacks & {*self.view.absent} if has & holders else set()
        could = holders | {*self.view.absent}
        return self.view.is_quorum(could & (has | {*self.lost}) | lacks)

    def staying(self, basis: View) -> tuple[str, ...]:
        """Those who are the next to vote and could have the cut of an orderly view."""
        former = {*basis.names, *basis.voters}
        return tuple(name for name in self.view.voters if name in former)

    def can_go_on(self, having: Iterable[str]) -> bool:
        """Whether these nodes, having stored it, could decide what follows a view from disk.

        Its members may be fewer than those who decide it, and who of them has not stored it before
        it crashes comes back as one that has lost its disk. So a quorum of the new view must have
        stored it, of those that have a vote in it at once.
        """
        if not self.recovered:
            return True
        view = self.view
        stateful = {holder.name for holder in self.state_holders}
        at_once = {*stateful, *view.absent}  # who is no member votes with what its disk has
        voting = at_once if view.is_quorum(stateful) else set(view.voters)
        return view.is_quorum(voting & {*having, *self.lost})


@dataclass(frozen=True, slots=True)
class Vote:
    """What a node answers to a proposer. `accepted` is its last acceptance for this successor.

    `live`: it is in the former view and has its memory; then `digest` and `streams` count, and they
    and `position` are those of its answer to the flush (empty and 0 in the promise). `counts`: its
    disk knows the former view and its state is complete, so it may decide. `epoch` and `position`:
    how much of the order it holds. `holds`: the cut of what it has accepted is on its disk, as far
    as streams and commands are. Who is not live brings in `streams` what its log has of those that
    go on. `log_view`: the last view in its log. `delivered`: of a live one, with the flush.
    `logged`: its data plane has a log. `synced`: of a live one, with the flush, how far the order
    of the view's epoch is on its application's disk: in the view it tells of no more.
    `lost`: it has come with an empty disk since, and may have accepted what it knows nothing of.
    `generation`: of its folder; `heard`: the highest that it has heard of others' folders.
    `lacks` and `missing`: as in its record. `known`: of a live one, with the flush: of which of the
    streams what it has delivered of the order knows less, and how much.
    """

    voter: Address
    live: bool
    counts: bool
    digest: Digest
    accepted_ballot: Ballot | None
    accepted: Proposal | None
    epoch: int
    position: int
    streams: Digest = field(default_factory=dict)
    holds: bool = True
    log_view: int = 0
    delivered: Digest = field(default_factory=dict)
    logged: bool = False
    synced: int = 0
    lost: bool = False
    generation: Generation = UNCOUNTED
    heard: tuple[Generation, ...] = ()
    lacks: bool = False
    missing: Proposal | None = None
    known: Digest = field(default_factory=dict)

    later_fields: ClassVar[int] = 5

    def has_cut(self, proposal: Proposal) -> bool:
        """Whether its disk, or its memory, has all that this decided view began with."""
        if self.live or self.log_view >= proposal.view.number:
            return True
        has_streams = all(self.streams.get(s, 0) >= n for s, n in proposal.streams.items())
        return has_streams and self.log_end >= proposal.order

    @property
    def log_end(self) -> LogEnd:
        """How far its log goes, or will when it has accepted."""
        return LogEnd(self.epoch, self.position, self.log_view)

    @property
    def disk_end(self) -> LogEnd:
        """How far its application's disk goes, as it has told."""
        return LogEnd(self.epoch, self.synced if self.live else self.position)


@dataclass(frozen=True, slots=True)
class Record:
    """What a node must find again after a crash, before it may vote.

    `view` is the last view that it knows to have been decided (None: never one).
    `rebuilding`: the node joined without the state and has not got it yet. `left`: lineages that
    ended when an operator had the cluster go on without some of their nodes. `lost`: the disk was
    empty when the node was told of the view: what it had promised and accepted before is gone.
    `generation`: of the node's folder; `heard`: the highest of each other node's that it has heard.
    `lacks`: it has told with its acceptance that it lacks commands of the cut, which nobody can
    give it. `missing`: what it has accepted so, if that has become `view`.
    """

    view: View | None = None
    rebuilding: bool = False
    promised: Ballot | None = None
    accepted_ballot: Ballot | None = None
    accepted: Proposal | None = None
    left: tuple[int, ...] = ()
    lost: bool = False
    generation: Generation = UNCOUNTED
    heard: tuple[Generation, ...] = ()
    lacks: bool = False
    missing: Proposal | None = None

    later_fields: ClassVar[int] = 6

    @property
    def number(self) -> int:
        """Number of the last decided view, 0 for none."""
        return 0 if self.view is None else self.view.number

    def may_promise(self, ballot: Ballot) -> bool:
        """A voter takes part in no ballot below one that it has promised."""
        return self.promised is None or ballot >= self.promised

    def lacks_state_of(self, view: View, name: str) -> bool:
        """Whether this node's disk may lack what that later view, which it never began, began with.

        It has that, or as much as any member that crashed, if it accepted the view as one of those
        who hold the state, or if its life in the view had come from one that it knows. A voter that
        is no member needs none of it: a quorum of the voters has it without.
        """
        if name in view.absent:
            return False
        if self.accepted is not None and self.accepted.view == view:
            holders = self.accepted.state_holders
            return bool(holders) and name not in {holder.name for holder in holders}
        lives = [member for member in view.members if member.name == name]
        return self.view is not None and any(life not in self.view.members for life in lives)

    def with_promise(self, ballot: Ballot) -> Record:
        """The record after promising."""
        return replace(self, promised=ballot)

    def with_acceptance(self, ballot: Ballot, proposal: Proposal, lacks: bool = False) -> Record:
        """The record after accepting; accepting promises as well."""
        promised = replace(self, promised=ballot, accepted_ballot=ballot)
        return replace(promised, accepted=proposal, lacks=lacks)

    def of_life(self, life: Address) -> Record:
        """The record of a life that has begun a view: its generations are above all former ones."""
        if self.generation.life == life.incarnation:
            return self
        return replace(self, generation=Generation(life.name, life.incarnation))

    def with_view(self, view: View, rebuilding: bool) -> Record:
        """The record once `view` is known to be decided: its succession is open.

        Who is only told of it may have taken part in that before its disk was lost.
        """
        began = self.accepted
        missing = began if self.lacks and began is not None and began.view == view else None
        open_ = replace(self, promised=None, accepted_ballot=None, accepted=None, lacks=False)
        return replace(open_, view=view, rebuilding=rebuilding, missing=missing)
