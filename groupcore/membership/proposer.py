"""The proposer's role: gather promises, stop the voters, propose, gather acceptances, tell.

A proposer decides nothing by itself: `succession.decide` says what the votes demand. It repeats
its question until it is answered or the attempt has lasted too long; then it, or another, tries
again under a higher ballot.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from groupcore.effects import Effect, Notify, StartTimer, StopTimer
from groupcore.events import Flushed, FlushRequested
from groupcore.membership.attempt import Attempt
from groupcore.membership.ballots import Ballot, Proposal, Vote
from groupcore.membership.branching import fork, into
from groupcore.membership.generation import newest
from groupcore.membership.half_alone import HalfAlone
from groupcore.membership.headers import Accept, Install, JoinRefused, Prepare, Promise, Propose
from groupcore.membership.state import MembershipState
from groupcore.membership.succession import Candidates, binding, decide
from groupcore.membership.voter import Voter
from groupcore.membership.waiver import decide_without
from groupcore.view import Address, View

REPEAT_S = 0.05
"""Seconds after which an unanswered question is asked again, while nobody waits for it."""
STOPPED_REPEAT_S = 0.02
"""The same, while the members are stopped."""
TO_ALL_EVERY = 10
"""Of the repetitions of a decided view each so many goes to all."""
CONFIRMED_MOST = 200
"""So often a decided view is repeated to voters that it leaves behind."""
FAILURES_MAX = 3
"""Attempts that fail one after the other before it counts: the votes may be bound to a view that
needs somebody who has gone elsewhere."""


def nobody_merges(attempt: Attempt, going: tuple[Address, ...]) -> list[Effect]:
    """What a side of a merge that has stopped leads to before the merger is there."""
    return []


class Proposer:
    """At most one attempt at a time."""

    def __init__(self, state: MembershipState, voter: Voter, random: Random) -> None:
        self.state = state
        self.voter = voter
        self.random = random
        self.attempt: Attempt | None = None
        self.started_at = 0.0
        self.decided_at: float | None = None
        self.highest_round = 0
        self.failures = 0
        self.quiet_until = 0.0
        self.half_alone = HalfAlone(state.options.turn_s)
        self.confirming: dict[Address, Install] = {}
        self.confirmations = 0
        self.tells_all = False
        self.on_side_stopped: Callable[[Attempt, tuple[Address, ...]], list[Effect]] = nobody_merges
        self.numbers = {"attempts": 0, "views_proposed": 0}

    def start(
        self,
        basis: View | None,
        expected: frozenset[Address],
        now: float,
        alone: bool = False,
        merge_id: int = 0,
        waived: frozenset[str] = frozenset(),
    ) -> list[Effect]:
        """Ask everybody to vote on what follows `basis`.

        `alone`: those who are expected may go on by themselves; `merge_id`: it is a merge;
        `waived`: without the votes of these nodes.
        """
        promised = self.state.record.promised
        round_ = max(self.highest_round, 0 if promised is None else promised.round) + 1
        self.highest_round = round_
        ballot = Ballot(round_, self.state.me)
        self.attempt = Attempt(
            basis,
            ballot,
            expected | {self.state.me},
            self.state.options.cluster_size,
            alone=alone,
            merge_id=merge_id,
            waived=waived,
        )
        self.started_at, self.decided_at = now, None
        self.numbers["attempts"] += 1
        return [
            *self.voter.on_prepare(self.state.me, Prepare(basis, ballot)),
            self.state.send(None, Prepare(basis, ballot, self.state.heard_sorted)),
            StartTimer("repeat", REPEAT_S),
        ]

    def abandon(self, now: float) -> list[Effect]:
        """Give the attempt up; somebody tries again later."""
        ended = self.end_flush()
        self.attempt = None
        self.failures += 1
        back_off_s = self.back_off_s()
        self.quiet_until = now + back_off_s
        return [*ended, StopTimer("repeat"), StartTimer("stuck", back_off_s)]

    def on_view(self) -> None:
        """A view begins: nobody else's word has to be waited for."""
        self.quiet_until = 0.0
        self.half_alone.on_view()

    def give_way(self, now: float) -> list[Effect]:
        """Others go on with this member's vote: nothing more comes of what is not proposed yet."""
        attempt = self.attempt
        return [] if attempt is None or attempt.proposal is not None else self.abandon(now)

    @property
    def is_failing(self) -> bool:
        """Whether several attempts have come to nothing, one after the other."""
        return self.failures >= FAILURES_MAX

    def back_off_s(self) -> float:
        """Seconds until the next try: longer after each failure, and never the same for two."""
        longest_s = 0.1 * float(1 << min(self.failures, 3))
        return longest_s * (0.5 + self.random.random())

    # --- votes ------------------------------------------------------------------------------------

    def on_promise(
        self,
        voter: Address,
        promise: Promise,
        silent: frozenset[Address],
        candidates: Candidates,
        now: float,
    ) -> list[Effect]:
        """A vote, or the news that somebody has promised a higher ballot."""
        self.hear_of(promise.promised)
        attempt = self.attempt
        if attempt is None or promise.ballot != attempt.ballot or promise.vote.voter != voter:
            return []
        if promise.vote.logged != self.state.options.logged:
            return self.refuse(voter)
        if promise.promised > attempt.ballot:
            return self.abandon(now)
        if attempt.proposal is not None:
            return [self.state.send(voter, self.proposing(attempt))]
        known = voter in attempt.votes
        attempt.take(voter, promise.vote)
        older = self.voter.judge_folder(attempt.heard())
        if attempt.flushing and promise.vote.live and not known:
            flush = self.request_flush(attempt)
            return [*older, flush, *self.maybe_propose(silent, candidates, now)]
        return [*older, *self.go_on(silent, candidates, now)]

    def on_late_promise(self, voter: Address, promise: Promise) -> None:
        """A vote of one that has been passed over: for where nothing can be decided without it."""
        self.hear_of(promise.promised)
        attempt = self.attempt
        if attempt is None or promise.ballot != attempt.ballot or promise.vote.voter != voter:
            return
        if promise.promised == attempt.ballot and promise.vote.logged == self.state.options.logged:
            attempt.reserve[voter] = promise.vote

    def hear_of(self, ballot: Ballot) -> None:
        """The next ballot here is above this one, whether who proposes it is answered or not."""
        self.highest_round = max(self.highest_round, ballot.round)

    def refuse(self, voter: Address) -> list[Effect]:
        """All nodes of a cluster have logs, or none has: of two, who has nothing to lose gives way.

        A member of a view stays what it is; who joins it is refused at the door.
        """
        gives_way = voter if self.state.options.logged else self.state.me
        return [self.state.send(gives_way, JoinRefused("mixed_logs"))]

    def go_on(self, silent: frozenset[Address], candidates: Candidates, now: float) -> list[Effect]:
        """The flush once the promises suffice, then the proposal once the answers do."""
        attempt = self.attempt
        if attempt is None or attempt.flushing:
            return self.maybe_propose(silent, candidates, now)
        waited_s = now - self.started_at
        if waited_s >= self.state.options.vote_s and not attempt.promises_suffice():
            attempt.take_reserve()
        if not attempt.promises_suffice() or self.voter.ask.is_parting():
            return []
        waits = bool(attempt.waived) or waited_s < self.state.options.vote_s
        bare = attempt.is_bare_half(attempt.votes, silent)
        if not attempt.all_voted(silent) and (waits or self.half_alone.waits(bare, now)):
            return []
        attempt.flushing, self.started_at = True, now
        flush = [self.request_flush(attempt)] if attempt.participants() else []
        return [*flush, *self.maybe_propose(silent, candidates, now)]

    def request_flush(self, attempt: Attempt) -> Effect:
        """Stop those who live in the view, as late as possible: they have promised."""
        return Notify(FlushRequested(attempt.number, attempt.ballot, attempt.participants()))

    def end_flush(self) -> list[Effect]:
        """Nobody else has to be stopped."""
        attempt = self.attempt
        if attempt is None or not attempt.flushing or not attempt.participants():
            return []
        return [Notify(FlushRequested(attempt.number, attempt.ballot, ()))]

    def on_flushed(
        self, event: Flushed, silent: frozenset[Address], candidates: Candidates, now: float
    ) -> list[Effect]:
        """A voter has stopped: its vote is complete."""
        attempt = self.attempt
        if attempt is None or event.ballot != attempt.ballot or attempt.proposal is not None:
            return []
        attempt.stopped[event.member] = event
        return self.maybe_propose(silent, candidates, now)

    def maybe_propose(
        self, silent: frozenset[Address], candidates: Candidates, now: float
    ) -> list[Effect]:
        """When everybody has stopped, or a quorum has and the others had their time."""
        attempt = self.attempt
        if attempt is None or attempt.proposal is not None or not attempt.flushing:
            return []
        if self.voter.ask.is_parting():
            return []  # it may be this member that is to give way
        votes = attempt.complete_votes()
        if attempt.component_has_stopped() and attempt.cannot_be_orderly(votes):
            return self.propose_fork(attempt, votes)
        if not attempt.may_decide(votes):
            return []
        complete = attempt.all_voted(silent) and attempt.all_stopped(silent)
        waits = bool(attempt.waived) or now - self.started_at < self.state.options.vote_s
        bare = attempt.is_bare_half(attempt.has_stopped(), silent)
        if not complete and (waits or self.half_alone.waits(bare, now)):
            return []
        if attempt.would_lose_memory(silent):
            return []
        if attempt.merge_id:
            return self.offer_side(attempt, votes, candidates)
        attempt.proposal = self.demanded(attempt, votes, candidates)
        if attempt.proposal is None or not attempt.proposal.view.members:
            return self.abandon(now)
        return self.propose(attempt)

    def demanded(
        self, attempt: Attempt, votes: list[Vote], candidates: Candidates
    ) -> Proposal | None:
        """What these votes demand."""
        basis = attempt.basis
        if attempt.waived and basis is not None:
            return decide_without(basis, votes, candidates, attempt.waived, self.random)
        lineage = self.random.getrandbits(63) | 1
        return decide(basis, votes, candidates, attempt.cluster_size, lineage)

    def propose(self, attempt: Attempt) -> list[Effect]:
        """Ask all voters to accept what the attempt has come to."""
        return [
            *self.end_flush(),
            self.state.send(None, self.proposing(attempt)),
            *self.accept_mine(attempt),
            StartTimer("repeat", STOPPED_REPEAT_S),
        ]

    # --- other lineages ---------------------------------------------------------------------------

    def propose_fork(self, attempt: Attempt, votes: list[Vote]) -> list[Effect]:
        """All of a component without a quorum have stopped: it goes on in a view of its own."""
        basis = attempt.basis
        assert basis is not None
        mine = [vote for vote in votes if vote.voter in attempt.expected]
        stopped = {m: told for m, told in attempt.stopped.items() if m in attempt.expected}
        attempt.proposal = into(basis, mine, stopped, fork(basis, mine, stopped, self.random))
        return self.propose(attempt)

    def offer_side(
        self, attempt: Attempt, votes: list[Vote], candidates: Candidates
    ) -> list[Effect]:
        """The own side of a merge has stopped: say who of it goes on, and wait for the others."""
        assert attempt.basis is not None
        present = {vote.voter for vote in votes if vote.live}
        leave = candidates.cut_off | candidates.leaving
        going = tuple(m for m in attempt.basis.members if m in present and m not in leave)
        bound = binding(attempt.basis, votes)
        if bound is not None or self.state.me not in going:
            attempt.merge_id = 0  # something may have been decided: that comes first
            return []
        return self.on_side_stopped(attempt, going)

    def propose_merged(self, merge_id: int, view: View, merged: tuple[View, ...]) -> list[Effect]:
        """The merged view is known: propose it to the own side."""
        attempt = self.attempt
        if attempt is None or attempt.merge_id != merge_id or attempt.proposal is not None:
            return []
        assert attempt.basis is not None
        votes = attempt.complete_votes()
        attempt.proposal = into(attempt.basis, votes, attempt.stopped, view, merged)
        return self.propose(attempt)

    def leave_merge(self) -> list[Effect]:
        """There is no merge: the attempt goes on as any other, with the next repetition."""
        if self.attempt is not None:
            self.attempt.merge_id = 0
        return []

    def proposing(self, attempt: Attempt) -> Propose:
        """The question of the second round."""
        assert attempt.proposal is not None
        return Propose(attempt.number, attempt.ballot, attempt.proposal)

    def accept_mine(self, attempt: Attempt) -> list[Effect]:
        """The proposer is a voter like the others."""
        return self.voter.on_propose(self.state.me, self.proposing(attempt))

    # --- acceptances ------------------------------------------------------------------------------

    def on_accept(
        self, voter: Address, accept: Accept, silent: frozenset[Address], now: float
    ) -> list[Effect]:
        """An acceptance; a quorum of them decides."""
        attempt = self.attempt
        if attempt is None or attempt.proposal is None or accept.ballot != attempt.ballot:
            return []
        attempt.acceptances[voter] = accept.holds or attempt.acceptances.get(voter, False)
        if accept.lacks:
            attempt.lacking.add(voter)
        return self.maybe_decided(silent, now)

    def maybe_decided(self, silent: frozenset[Address], now: float) -> list[Effect]:
        """Decided by a quorum; the others get a moment, so that they need not catch up."""
        attempt = self.attempt
        if attempt is None or attempt.proposal is None or not attempt.is_decided():
            return []
        if self.decided_at is None:
            self.decided_at = now
        waited_s = now - self.decided_at
        if not attempt.all_accepted(silent) and waited_s < self.state.options.grace_s:
            return []
        self.attempt = None
        self.failures = 0
        self.numbers["views_proposed"] += 1
        proposal = attempt.proposal
        install = Install(proposal, self.voter.ask.order_state())
        told = attempt.concerned()
        if not (self.state.live_in_basis or proposal.recovered or proposal.left):
            # Where the order stands a joiner is told by those who have lived through the basis.
            assert attempt.basis is not None
            told -= set(proposal.view.members) - set(attempt.basis.members)
        self.confirming = {member: install for member in sorted(told) if member != self.state.me}
        self.confirmations = 0
        # Another lineage is told to nobody else, and a joiner only by those who know the order.
        self.tells_all = not proposal.left and told.issuperset(proposal.view.members)
        return [StopTimer("repeat"), *self.install_mine(install)]

    def install_mine(self, install: Install) -> list[Effect]:
        """Begin the view here first: what a joiner must be told is known then."""
        return [*self.voter.on_install(self.state.me, install), StartTimer("confirm", 0)]

    def on_installed(self, member: Address, number: int) -> list[Effect]:
        """A member has the view, or lacks it and says so."""
        mine = self.state.view
        confirming = self.confirming.get(member)
        if confirming is not None and number >= confirming.proposal.view.number:
            del self.confirming[member]
            return []
        last = self.state.last_install
        if mine is None or last is None or number >= mine.number:
            return []
        return [self.state.send(member, last)]

    # --- time -------------------------------------------------------------------------------------

    def on_repeat(
        self, silent: frozenset[Address], candidates: Candidates, now: float
    ) -> list[Effect]:
        """Ask again whoever has not answered; give up what lasts too long.

        The flush begins a time of its own: those who have stopped wait `attempt_s` at most.
        """
        attempt = self.attempt
        if attempt is None:
            return []
        if now - self.started_at > self.state.options.attempt_s:
            return self.abandon(now)
        if attempt.proposal is not None:
            return self.repeat_proposal(attempt, silent, now)
        step = self.go_on(silent, candidates, now)
        if self.attempt is None or attempt.proposal is not None:
            return step
        heard = tuple(
            sorted(newest([*self.state.heard.values(), *attempt.heard().values()]).values())
        )
        prepare = self.state.send(None, Prepare(attempt.basis, attempt.ballot, heard))
        return [*step, prepare, StartTimer("repeat", REPEAT_S)]

    def repeat_proposal(
        self, attempt: Attempt, silent: frozenset[Address], now: float
    ) -> list[Effect]:
        """Ask again whoever has not accepted, unless the others suffice by now."""
        decided = self.maybe_decided(silent, now)
        if self.attempt is None:
            return decided
        late = sorted(attempt.late() - {self.state.me})
        question = self.proposing(attempt)
        effects = [self.state.send(member, question) for member in late]
        return [*effects, StartTimer("repeat", STOPPED_REPEAT_S)]

    def confirm(self, unreachable: frozenset[Address]) -> list[Effect]:
        """Repeat the decided view to whoever has not confirmed it: now and then to all, as unicasts
        may not arrive, and in a view that others have not begun nobody can say so.

        Who is no member is told for as long as one that begins it may take.
        """
        last, view = self.state.last_install, self.state.view
        self.confirmations += 1
        if self.confirmations > CONFIRMED_MOST and view is not None:
            self.confirming = {m: i for m, i in self.confirming.items() if m in view.members}
        to_all = self.tells_all and self.confirmations % TO_ALL_EVERY == 0
        effects: list[Effect] = []
        for member, install in list(self.confirming.items()):
            if member in unreachable:
                del self.confirming[member]
                continue
            current = last is not None and last.proposal == install.proposal
            told = last if current and last else install
            effects.append(self.state.send(None if to_all else member, told))
            if to_all:
                break
        if effects:
            effects.append(StartTimer("confirm", STOPPED_REPEAT_S))
        return effects
