"""Which view follows a view: what votes decide.

Pure rules, no time and no messages; the values are those of `ballots`. The successor of a view is
decided once, by ballots among the nodes of that view (single-decree Paxos; the quorums are those of
`view`). A voter that has promised a ballot takes part in no lower one; what it has accepted is told
to every later proposer, who must propose the same again. So two successors of one view cannot
exist, and primary views form one chain (reliability.md, invariant 12).

A voter that has lived through the view brings its memory: the digest of what it holds. One that
was restarted has only its disk. When those with memory are a quorum, the view changes in an
orderly way and nothing that was delivered is lost. When they are not, the view is formed anew
from what is on disk, under a new epoch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from groupcore.digest import Digest, maximum
from groupcore.membership.ballots import NO_BALLOT, Ballot, Proposal, Vote
from groupcore.membership.log_end import NO_LOG, LogEnd
from groupcore.membership.seats import (
    can_decide,
    decidable,
    electors,
    seniority,
    unique_names,
)
from groupcore.view import Address, View, is_quorum


@dataclass(frozen=True, slots=True)
class Candidates:
    """Who could be in the next view beside the voters, and who wants to be in it no more.

    `cut_off`: members that cannot go on together with the proposer, though they may vote.
    `stateful`: members keep state, and one that joins has none. `logged`: their data planes have
    logs, so what is on disk of the streams outlives the loss of all memory. `counts_disks`: what
    the members' applications have on disk decides what is saved.
    """

    joiners: tuple[Address, ...] = ()
    leaving: frozenset[Address] = field(default_factory=frozenset)
    cut_off: frozenset[Address] = field(default_factory=frozenset)
    stateful: bool = False
    logged: bool = False
    counts_disks: bool = False


def is_quorum_of(basis: View | None, names: Iterable[str], cluster_size: int) -> bool:
    """Whether these nodes may decide the successor of `basis`, or the very first view."""
    if basis is None:
        return len(set(names)) >= cluster_size // 2 + 1
    return basis.is_quorum(names)


def may_decide(basis: View | None, votes: Iterable[Vote], cluster_size: int) -> bool:
    """Whether these votes suffice."""
    names = [vote.voter.name for vote in votes if vote.counts]
    return is_quorum_of(basis, names, cluster_size)


def decide(
    basis: View | None,
    votes: list[Vote],
    candidates: Candidates,
    cluster_size: int,
    lineage: int,
) -> Proposal | None:
    """The proposal that these votes demand; None when they are no quorum.

    `lineage` names the chain if this is its first view.
    """
    if not may_decide(basis, votes, cluster_size):
        return None
    bound = binding(basis, votes)
    if bound is not None:
        return with_lost(basis, located(bound, votes), votes)
    if basis is not None and may_decide(basis, remembering(basis, votes), cluster_size):
        return orderly(basis, remembering(basis, votes), candidates)
    if lacks_what_it_began_with(votes):
        return None
    return recover(basis, votes, candidates, lineage)


def lacks_what_it_began_with(votes: Iterable[Vote]) -> bool:
    """Whether one of those who decide knows of commands that the former view began with, and none
    of them has these: what may have been saved in the view before would be lost."""
    counting = [vote for vote in votes if vote.counts]
    missing = [vote.missing for vote in counting if vote.missing is not None]
    return any(not any(vote.has_cut(began) for vote in counting) for began in missing)


def remembering(basis: View, votes: Iterable[Vote]) -> list[Vote]:
    """The votes that lack nothing which their nodes held of the view: a quorum of these knows all.

    Who lives in it has its memory. A voter that is no member has held nothing of it: whatever a
    quorum has confirmed is with another of each quorum, and nothing is lost with its former life.
    """
    return [vote for vote in votes if vote.live or vote.voter.name in basis.absent]


def binding(basis: View | None, votes: list[Vote]) -> Proposal | None:
    """The proposal of the highest ballot that may have been decided already, if there is one.

    A proposal that some voter has accepted must be proposed again if a quorum may have accepted
    it. One with a cut is decided only with a quorum of those who stay and hold it; so when too many
    of those have voted here without having accepted it, or a later one, with its cut, it was not
    decided and never will be: it does not bind. Without this, what a member that left had accepted
    alone would bind the others to a cut that nobody holds any more. Nor does what only voters have
    accepted that do not count: they decide nothing, and bound to them the others could need the
    disk that one has lost. But that such a one says nothing of it shows nothing where its disk has
    been lost: it may have accepted with the cut, and the view may have been decided by that.
    A component's own view binds nobody: who goes with it never votes in this chain again.
    """
    accepted = [
        (vote.accepted_ballot, vote.accepted)
        for vote in votes
        if vote.counts
        and vote.accepted_ballot is not None
        and vote.accepted is not None
        and not vote.accepted.forked
    ]
    for ballot, proposal in sorted(accepted, key=lambda pair: pair[0], reverse=True):
        told = [vote for vote in votes if vote.counts or not (proposal.recovered or vote.lost)]
        voted = {
            vote.voter.name: vote.accepted_ballot if vote.holds or vote.lacks else None
            for vote in told
        }
        lacking = {vote.voter.name for vote in told if not vote.holds}
        if proposal.waived:
            if may_be_decided(ballot, proposal, votes):
                return proposal
            continue
        names = proposal.view.voters
        possible = [n for n in names if n not in voted or (voted[n] or NO_BALLOT) >= ballot]
        if proposal.lasts(basis, {*possible} - lacking, {*possible} & lacking):
            return proposal
    return None


def may_be_decided(ballot: Ballot, proposal: Proposal, votes: list[Vote]) -> bool:
    """Of a proposal under a waiver: whether it may have been decided in this ballot.

    Not if one of the electorate has voted here without having accepted it, or a later one. A disk
    that has been lost since proves nothing.
    """
    told = {vote.voter.name: vote.accepted_ballot or NO_BALLOT for vote in votes if vote.counts}
    return all(told.get(name, ballot) >= ballot for name in proposal.electorate)


def located(bound: Proposal, votes: list[Vote]) -> Proposal:
    """The same proposal, with those of these voters as holders of its streams that have them.

    The lives that had them when it was first proposed may be over.
    """
    holders = dict(bound.stream_holders)
    for stream, number in bound.streams.items():
        have = [v.voter for v in votes if v.streams.get(stream, 0) >= number]
        have += [v.voter for v in votes if v.holds and v.accepted == bound and v.voter not in have]
        if have:
            holders[stream] = tuple(have)
    return replace(bound, stream_holders=holders)


def with_lost(basis: View | None, bound: Proposal, votes: list[Vote]) -> Proposal:
    """The same view, where one that is to hold its cut has lost its disk, and says so.

    Of a view from disk a state holder that has lost it since it voted; of an orderly one a voter
    that comes with an empty disk. It may have accepted the view with the cut before, decided it,
    and begun it; or not. Nobody can tell, and nothing depends on it: the view is the same, and a
    node that holds the cut and loses its disk behind the decision is as one that loses it before.
    So it counts as one that has held the cut, its vote counts for nothing until it has got the
    state again, and the others must have the rest of the cut. Who is lost is a part of the
    proposal: a promise that such a node gave before does not show that this was not decided
    (`binding`).
    """
    if bound.left:
        return bound
    there = {vote.voter.name for vote in votes if vote.counts}
    empty = [vote for vote in votes if not vote.counts and vote.voter.name not in there]
    if bound.recovered:
        needed = bound.view.voters
        may_have = {vote.voter.name for vote in empty}
        may_have &= {holder.name for holder in bound.state_holders}
    else:
        needed = () if basis is None else bound.staying(basis)
        may_have = {vote.voter.name for vote in empty if vote.lost} & {*needed}
    lost = {*bound.lost, *may_have}
    if not may_have or is_quorum(needed, lost):
        return bound
    return replace(bound, lost=tuple(sorted(lost)))


def orderly(basis: View, votes: list[Vote], candidates: Candidates) -> Proposal:
    """The next view of those who have their memory, and of those who join them.

    Of the members those vote in it that have the state (all where there is none to have, as far as
    those who decide it are a quorum without the joiners). A learner that has got it becomes a voter
    so; who leaves is none any more. Voters that are away vote on it, and join as others do.
    """
    live = [vote for vote in votes if vote.live]
    present = {vote.voter for vote in live}
    complete = {vote.voter for vote in live if vote.counts}
    here = [m for m in basis.members if m in present and m not in candidates.cut_off]
    if candidates.stateful and complete.isdisjoint(here):
        here = [m for m in basis.members if m in present]  # nobody else could go on with the state
    stay = [member for member in here if member not in candidates.leaving]
    if not can_decide(stay, complete):
        stay = here  # who leaves must wait until the others have the state, or somebody joins
    members = unique_names([*stay, *sorted(candidates.joiners)])
    left = {member.name for member in candidates.leaving if member not in members}
    having = complete if candidates.stateful else {*members}
    voters = electors(members, having, [name for name in basis.voters if name not in left])
    voters = decidable(voters, complete)
    cut, holders = most_of({vote.voter: vote.digest for vote in live})
    streams, stream_holders = most_of({vote.voter: vote.streams for vote in live})
    order, delivered = NO_LOG, Digest()
    if candidates.logged:
        order, delivered = max(vote.log_end for vote in live), maximum(v.delivered for v in live)
    elif candidates.counts_disks and not same_quorums(basis.voters, voters):
        order, delivered = may_be_saved(basis, live), maximum(v.delivered for v in live)
    return Proposal(
        basis.number,
        replace(basis, number=basis.number + 1, members=tuple(members), voters=voters),
        False,
        0,
        cut,
        holders,
        state_holders=tuple(m for m in basis.members if m in complete),
        voters=tuple(sorted(vote.voter for vote in votes if vote.counts)),
        streams=streams,
        stream_holders=stream_holders,
        order=order,
        delivered=delivered,
    )


def same_quorums(former: tuple[str, ...], voters: tuple[str, ...]) -> bool:
    """Whether a quorum of the former voters meets each of these: what it has stored is safe so."""
    alike = set(former) == set(voters)
    return alike and (len(voters) % 2 == 1 or former[0] == voters[0])


def may_be_saved(basis: View, live: list[Vote]) -> LogEnd:
    """How far the order of the view's epoch may be saved: synced by a quorum of its voters.

    Those of which nothing is known may have synced everything. Who has voted told of no more.
    """
    told = {vote.voter.name: vote.synced for vote in live if vote.counts}
    unknown = [name for name in basis.voters if name not in told]
    for place in sorted(filter(None, told.values()), reverse=True):
        if basis.is_quorum([*unknown, *(name for name, has in told.items() if has >= place)]):
            return LogEnd(basis.epoch, place)
    return NO_LOG


def most_of(held: dict[Address, Digest]) -> tuple[Digest, dict[Address, tuple[Address, ...]]]:
    """The most that anybody holds of each sender, and who of them holds that."""
    most = maximum(held.values())
    return most, {
        sender: tuple(member for member, has in held.items() if has.get(sender, 0) >= seqno)
        for sender, seqno in most.items()
    }


def recover(
    basis: View | None,
    votes: list[Vote],
    candidates: Candidates,
    lineage: int,
    waived: frozenset[str] = frozenset(),
) -> Proposal:
    """A view from what is on disk: whoever holds the most is the source for all others.

    A live member that holds less is left out; it comes back as a new incarnation and takes the
    state from the others. Who has a vote goes before who has lost its disk. Those who hold the
    most vote on what follows, and of the former voters (but those `waived`) as many as leave the
    decision with them.

    Where data planes have logs the view has a cut of the streams: the most that any of the voters,
    a quorum of the former view, has of each. So what a quorum has stored is in it, whoever is left
    out. Who has lived through the former view is the source then, rather than who has as much of
    the order on its disk: that one may lack frames that nobody keeps any more. Where the
    applications' disks count, the source stores what any of them has before the view is decided.
    """
    counting = [vote for vote in votes if vote.counts]
    order = max(vote.log_end for vote in counting)
    newest = (order.epoch, order.position)
    holding = [vote for vote in counting if vote.log_end == order]
    streams: Digest = {}
    stream_holders: dict[Address, tuple[Address, ...]] = {}
    if candidates.logged:
        streams, stream_holders = most_of(going_on(basis, counting, holding))
        holding = [vote for vote in holding if vote.live] or holding
    ranks = {} if basis is None else {name: rank for rank, name in enumerate(basis.names)}
    others = [vote for vote in votes if vote not in holding and not vote.live]
    others.sort(key=lambda vote: (not vote.counts, seniority(ranks, vote.voter)))
    complete = {vote.voter for vote in holding}
    joiners = [*(vote.voter for vote in others), *sorted(candidates.joiners)]
    stateful = candidates.stateful and newest > (0, 0)
    holding.sort(key=lambda vote: (not vote.live, seniority(ranks, vote.voter)))
    oldest = [vote.voter for vote in holding]
    members = tuple(unique_names([*oldest, *joiners]))
    former = [] if basis is None else [name for name in basis.voters if name not in waived]
    electing = electors(members, complete if stateful else {*members}, former)
    number = 1 if basis is None else basis.number + 1
    epoch = max(newest[0], 0 if basis is None else basis.epoch) + 1
    chain = lineage if basis is None else basis.lineage
    view = View(number, epoch, newest[1], chain, members, electing)
    held = tuple(vote.voter for vote in holding) if newest[1] > 0 or newest[0] > 0 else ()
    voters = tuple(sorted(vote.voter for vote in counting))
    needed = order if candidates.logged else NO_LOG
    if candidates.counts_disks and basis and not same_quorums(basis.voters, view.voters):
        needed = max(vote.disk_end for vote in counting)
    return Proposal(
        number - 1,
        view,
        True,
        newest[1],
        {},
        {},
        held,
        voters,
        streams=streams,
        stream_holders=stream_holders,
        order=needed if held else NO_LOG,
    )


def going_on(
    basis: View | None, counting: list[Vote], holding: list[Vote]
) -> dict[Address, Digest]:
    """What these voters have of the streams that have not ended.

    Which have is known to those with the latest logs; others may have more of a stream than the
    view has that has ended it. Who lives knows of every stream, of those in its view the ends not.
    Of each stream counts what the voter's own order knows: no part of that needs a command which
    the view may lack.
    """
    members = () if basis is None else basis.members
    known = {s for vote in holding for s in vote.streams if not vote.live or s in members}
    return {
        vote.voter: {s: n for s, n in (vote.streams | vote.known).items() if n and s in known}
        for vote in counting
    }
