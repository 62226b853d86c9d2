"""The voter's role: promise, accept, install.

What a voter tells is on disk before it tells it, and what it told binds it after a restart. A
promise stops nobody: a voter that lives in the former view goes on until the flush, or at the
latest a proposal, stops it. It accepts a proposal only when it holds all that the cut contains,
the multicasts and the data plane's frames.
"""

from __future__ import annotations

from dataclasses import replace

from groupcore.effects import Effect, Notify, StartTimer
from groupcore.events import (
    CutAgreed,
    CutDelivered,
    Excluded,
    FetchCut,
    FlushStarted,
    Left,
    ViewInstalled,
)
from groupcore.membership.ballots import Ballot, Proposal, Vote
from groupcore.membership.generation import Generation, newest
from groupcore.membership.headers import (
    Accept,
    Install,
    Installed,
    LeaveRequest,
    Prepare,
    Promise,
    Propose,
    Superseded,
)
from groupcore.membership.holding import Holding
from groupcore.membership.state import MembershipState, Questions
from groupcore.order_state import OrderState
from groupcore.view import Address, View


def fetch_cut(proposal: Proposal) -> Effect:
    """Get what the proposal's cut contains."""
    streams = (proposal.streams, proposal.stream_holders)
    return Notify(FetchCut(proposal.cut, proposal.holders, *streams))


class Voter:
    """Answers proposers, and installs what has been decided."""

    def __init__(self, state: MembershipState, ask: Questions) -> None:
        self.state = state
        self.ask = ask
        self.holding = Holding(state, ask)
        self.to_accept: tuple[Address, Propose] | None = None
        self.to_install: tuple[Address | None, Install] | None = None
        self.installing: tuple[Address | None, Install] | None = None
        self.is_behind = False
        self.lacks_cut = False

    # --- promising --------------------------------------------------------------------------------

    def on_prepare(self, proposer: Address, prepare: Prepare) -> list[Effect]:
        """Vote, unless a higher ballot has been promised or the proposer is behind."""
        older = self.judge_folder(newest(prepare.heard))
        return [*older, *self.vote_for(proposer, prepare)]

    def judge_folder(self, heard: dict[str, Generation]) -> list[Effect]:
        """A folder that is older than what was heard of it is as one that was lost: it lacks what
        was stored and promised since, and has no vote before the state has been taken."""
        state, record = self.state, self.state.record
        known = heard.get(state.me.name)
        if known is None or state.view is not None or not record.generation.is_before(known):
            return []
        if record.rebuilding and record.lost:
            return []
        state.record = replace(record, rebuilding=True, lost=True)
        return [state.persist([])]

    def vote_for(self, proposer: Address, prepare: Prepare) -> list[Effect]:
        """Promise, or help a proposer that is behind, or find that this node is."""
        number = 0 if prepare.basis is None else prepare.basis.number
        if prepare.basis is not None and self.is_foreign(prepare.basis.lineage):
            return []
        if number < self.state.record.number:
            return self.help_behind(proposer)
        if number > self.state.record.number:
            assert prepare.basis is not None
            behind = self.learn_view(prepare.basis, proposer)
            if behind or self.state.record.number != number:
                return behind
        record = self.state.record
        if not record.may_promise(prepare.ballot):
            assert record.promised is not None
            return self.promise(proposer, number, prepare.ballot, record.promised)
        if record.promised == prepare.ballot:
            if self.state.is_storing:
                return []  # told when it is on disk
            return self.promise(proposer, number, prepare.ballot, prepare.ballot)
        return [self.store_promise(proposer, number, prepare.ballot)]

    def is_foreign(self, lineage: int) -> bool:
        """Whether this is another chain: of a cluster of the same name and key, or one left."""
        mine = self.state.record.view
        return mine is not None and mine.lineage != lineage

    def may_not_install(self, proposal: Proposal) -> bool:
        """Whether the view follows one of another chain.

        Where components merge, a node that is in no view joins whatever chain there is.
        """
        joins = self.state.view is None and self.state.me in proposal.view.members
        if joins and self.state.options.partitionable:
            return False
        return self.is_foreign(proposal.basis_lineage)

    def store_promise(self, proposer: Address, number: int, ballot: Ballot) -> Effect:
        """The promise is told when it is on disk."""
        self.state.record = self.state.record.with_promise(ballot)
        return self.state.persist(self.promise(proposer, number, ballot, ballot))

    def promise(
        self, proposer: Address, number: int, ballot: Ballot, promised: Ballot
    ) -> list[Effect]:
        """Tell the proposer the vote, and the highest ballot that binds it.

        Who leaves says so again ahead of its vote: its requests may have reached nobody that ran,
        and a view that counts on it as a voter would be one voter short as soon as it has begun.
        """
        told = self.state.send(proposer, Promise(number, ballot, promised, self.vote()))
        return [self.state.send(proposer, LeaveRequest()), told] if self.state.asks_out else [told]

    def vote(self) -> Vote:
        """What this node brings: its disk, or its memory, of which the flush tells the rest.

        What a live voter holds and has delivered is final only when it has stopped.
        """
        state, record = self.state, self.state.record
        live = state.live_in_basis
        epoch, position = state.stored
        if live and state.view is not None:
            epoch, position = state.view.epoch, 0
        return Vote(
            state.me,
            live,
            not record.rebuilding,
            {},
            record.accepted_ballot,
            record.accepted,
            epoch,
            position,
            {} if live else self.ask.stored_streams(),
            record.accepted is None or self.holding.stored(record.accepted),
            self.holding.log_end().view,
            logged=state.options.logged,
            lost=record.lost and not live,
            generation=record.generation,
            heard=state.heard_sorted,
            lacks=record.lacks,
            missing=None if live else record.missing,
        )

    def block(self) -> list[Effect]:
        """Whatever the flush has not stopped yet stops now."""
        if self.state.blocked or not self.state.live_in_basis:
            return []
        self.state.blocked = True
        return [Notify(FlushStarted())]

    def help_behind(self, proposer: Address) -> list[Effect]:
        """A proposer that does not know of the present view: tell it."""
        view, last = self.state.record.view, self.state.last_install
        assert view is not None
        if last is not None and proposer in last.proposal.view.members:
            return [self.state.send(proposer, last)]
        return [self.state.send(proposer, Superseded(view))]

    def help_lagging(self, member: Address) -> list[Effect]:
        """Tell the view to a member of it that has not begun it.

        Who decided it repeats it until all have it, but may have left or crashed since. Of those
        who have it the oldest that is heard tells, so that one does.
        """
        view, last = self.state.view, self.state.last_install
        if view is None or last is None or self.state.blocked:
            return []
        unheard = self.ask.unheard().get(self.state.me, frozenset())
        others = [m for m in view.members if m != member and m not in unheard]
        return [self.state.send(member, last)] if others[:1] == [self.state.me] else []

    def learn_view(self, view: View, teller: Address) -> list[Effect]:
        """A later view has been decided. A member that lived in a former one is behind.

        So is a member of it that comes from no view. It may yet begin it: then it would store and
        confirm more than a vote from its disk has said, and forget what that vote has promised.
        """
        state = self.state
        record = state.record
        if state.view is None and (self.is_foreign(view.lineage) or record.number >= view.number):
            return []
        if state.me in view.members:
            asked = state.send(teller, Installed(record.number))
            return [asked, *self.fall_behind()]
        if state.view is not None:
            return self.exclude("the others have gone on without this member")
        # It may have promised something while it took itself for the first of all.
        blank = record.view is None and record.accepted is None
        lost_its_disk = state.options.durable and blank
        lacks = state.options.stateful and record.lacks_state_of(view, state.me.name)
        known = replace(record, lost=record.lost or lost_its_disk)
        state.record = known.with_view(view, record.rebuilding or lost_its_disk or lacks)
        self.is_behind = False
        return []

    # --- accepting --------------------------------------------------------------------------------

    def on_propose(self, proposer: Address, propose: Propose) -> list[Effect]:
        """Accept, once everything that the cut contains is here."""
        state = self.state
        foreign = self.is_foreign(propose.proposal.basis_lineage)
        if propose.basis != state.record.number or foreign:
            return []
        if propose.proposal.forked and state.me not in propose.proposal.view.members:
            return []  # others go on without this member, which may have a quorum
        if not state.record.may_promise(propose.ballot):
            return []
        if state.record.accepted_ballot == propose.ballot:
            if state.is_storing:
                return []  # told when it is on disk
            return [self.tell_acceptance(proposer, propose, self.holding.stored(propose.proposal))]
        proposal = propose.proposal
        self.to_accept = None
        if state.live_in_basis and not proposal.recovered:
            effects = self.block()
            if not self.holding.all_of(proposal):
                self.to_accept = (proposer, propose)
                return [*effects, fetch_cut(proposal), *self.wait_for_cut()]
            self.lacks_cut = False
            return [*effects, *self.accept_in_view(proposer, propose)]
        return self.accept_from_disk(proposer, propose)

    def accept_from_disk(self, proposer: Address, propose: Propose) -> list[Effect]:
        """Accept without the cut, as one that has only its disk, or whose memory counts no more.

        Where streams are on disks, who is to go on with them gets them, and says so then. What it
        lacks of the order nobody can give it: it remembers that it does, and tells it. A member
        that is left out gives up its life when that is not decided: what others want of it may be
        only in its log, which the next life opens.
        """
        state, proposal = self.state, propose.proposal
        effects = [self.accept(proposer, propose, self.holding.stored(proposal))]
        if not state.options.logged:
            self.to_accept = None if self.holding.stored(proposal) else (proposer, propose)
            return effects
        view, name = proposal.view, state.me.name
        goes_on = name in view.names
        lacks = (goes_on or name in view.voters) and not self.has_all_it_can(proposal)
        if lacks:
            self.to_accept = (proposer, propose)
            effects.append(fetch_cut(proposal))
        if state.live_in_basis and (lacks or not goes_on):
            return [*effects, *self.wait_for_cut()]
        self.lacks_cut = False
        return effects

    def accept_in_view(self, proposer: Address, propose: Propose) -> list[Effect]:
        """Accept as one that lives in the former view, with the whole cut.

        What anybody has delivered is in every cut that can be decided. It is delivered here first,
        so that it is in the log before the acceptance is stored: with that counts what is on disk.
        Where that is the application's disk, the acceptance waits for it.
        """
        delivered, options = propose.proposal.delivered, self.state.options
        on_disk = options.logged or options.counts_disks
        first: list[Effect] = [Notify(CutAgreed(delivered))] if on_disk else []
        if not self.holding.synced(propose.proposal):
            self.to_accept = (proposer, propose)
            return first
        return [*first, self.accept(proposer, propose, True)]

    def accept(self, proposer: Address, propose: Propose, holds: bool) -> Effect:
        """Accept on disk, then tell."""
        state = self.state
        lacks = not holds and self.holding.lacks_commands(propose.proposal)
        state.record = state.record.with_acceptance(propose.ballot, propose.proposal, lacks)
        return state.persist([self.tell_acceptance(proposer, propose, holds)])

    def tell_acceptance(self, proposer: Address, propose: Propose, holds: bool) -> Effect:
        """What is on disk."""
        lacks = self.state.record.lacks and not holds
        return self.state.send(proposer, Accept(propose.basis, propose.ballot, holds, lacks))

    def has_all_it_can(self, proposal: Proposal) -> bool:
        """Whether nothing is missing of the cut, or commands alone, which nobody can give."""
        return self.holding.stored(proposal) or self.holding.lacks_commands(proposal)

    def wait_for_cut(self) -> list[Effect]:
        """Some of what this member must hold before it accepts is missing here.

        The proposal may bind the voters though all who held its cut have lost their memory. The
        others need this vote, and a life with memory can never give it; the next one can.
        """
        if self.lacks_cut:
            return []
        self.lacks_cut = True
        return [StartTimer("behind", self.state.options.behind_s)]

    def on_cut_held(self) -> list[Effect]:
        """What the cut contains is here, or one half of it: accept it, or install it."""
        if self.to_install is not None:
            teller, install = self.to_install
            return self.install(teller, install) if self.holding.all_of(install.proposal) else []
        if self.to_accept is None:
            return []
        lacks = self.holding.lacks_commands(self.to_accept[1].proposal)
        if not lacks and not self.holding.enough(self.to_accept[1].proposal):
            return []
        (proposer, propose), self.to_accept = self.to_accept, None
        record, self.lacks_cut = self.state.record, False
        if propose.basis != record.number or not record.may_promise(propose.ballot):
            return []
        if self.state.live_in_basis and not propose.proposal.recovered:
            return self.accept_in_view(proposer, propose)
        return [self.accept(proposer, propose, not lacks)]

    # --- installing -------------------------------------------------------------------------------

    def on_install(self, teller: Address, install: Install) -> list[Effect]:
        """A successor has been decided."""
        state, proposal = self.state, install.proposal
        number = proposal.view.number
        if state.view is not None and number <= state.view.number:
            return [state.send(teller, Installed(number))]
        if self.installing is not None or state.gone or self.may_not_install(proposal):
            return []
        if state.view is None:
            if state.me not in proposal.view.members:
                told = [state.send(teller, Installed(number))] if teller != state.me else []
                return [*told, *self.learn_view(proposal.view, teller)]
            if state.me in proposal.state_holders and not self.holding.stored_streams(proposal):
                return self.fetch_then_install(teller, install)
            return self.install(teller, install)
        if proposal.basis != state.view.number:
            return self.exclude("this member has missed a view")
        if proposal.recovered and state.me not in proposal.state_holders:
            return self.exclude("others hold more than this member, and went on from that")
        if not self.holding.all_of(proposal):
            return self.fetch_then_install(teller, install)
        return self.install(teller, install)

    def fetch_then_install(self, teller: Address, install: Install) -> list[Effect]:
        """Some of what the view must deliver is missing here."""
        if self.to_install is not None:
            return []
        self.to_install = (teller, install)
        return [*self.block(), fetch_cut(install.proposal), *self.fall_behind()]

    def fall_behind(self) -> list[Effect]:
        """A view has been decided that this member is in and cannot begin yet.

        Those who could tell it, or who hold what has to be delivered before it, may have lost
        their memory since. Then nobody ever can, and a new life takes the state instead.
        """
        if self.is_behind:
            return []
        self.is_behind = True
        return [StartTimer("behind", self.state.options.behind_s)]

    def on_behind(self) -> list[Effect]:
        """Give this life up if the view, or what must be held to accept it, is out of reach."""
        if not self.is_behind and not self.lacks_cut:
            return []
        return self.exclude("nobody has what this member needs to follow the others")

    def install(self, teller: Address | None, install: Install) -> list[Effect]:
        """Deliver what the former view still has to; the rest follows on `CutDelivered`."""
        self.installing = (teller, install)
        self.to_accept = self.to_install = None
        self.is_behind = self.lacks_cut = False
        proposal = install.proposal
        if self.state.view is not None and not proposal.recovered:
            return [*self.block(), Notify(CutAgreed(proposal.cut)), Notify(CutDelivered())]
        return [Notify(CutDelivered())]

    def on_cut_delivered(self) -> list[Effect]:
        """The former view has ended here: begin the next, or leave, or be left behind."""
        assert self.installing is not None
        (teller, install), self.installing = self.installing, None
        state, proposal = self.state, install.proposal
        view, fresh = proposal.view, self.state.view is None
        order_state = self.order_state_of(install, fresh)
        state.last_install = Install(proposal, order_state)
        if state.me not in view.members:
            answer = [] if teller is None else [state.send(teller, Installed(view.number))]
            if state.leaving:
                state.gone = True
                return [*answer, Notify(Left())]
            return [*answer, *self.exclude("the others did not hear this member in time")]
        previous, state.view, state.blocked = state.view, view, False
        lacking = bool(proposal.state_holders) and state.me not in proposal.state_holders
        rebuilding = fresh and lacking and state.options.stateful
        if not fresh:
            rebuilding = state.record.rebuilding
        ended = (proposal.left,) if proposal.waived else ()
        left = (*state.record.left, *ended)
        begun = state.record.with_view(view, rebuilding)
        begun = replace(begun, left=left, lost=False, missing=None)  # it has all, or has no vote
        state.record = begun.of_life(state.me) if state.options.counts_folders else begun
        installed = ViewInstalled(
            view,
            previous,
            fresh,
            tuple(m for m in proposal.state_holders if m in view.members),
            order_state.position,
            proposal.recovered or bool(proposal.left),
            order_state,
            proposal.voters,
            proposal.merged,
            proposal.streams,
        )
        effects: list[Effect] = [state.persist([]), Notify(installed)]
        if teller is not None:
            effects.append(state.send(teller, Installed(view.number)))
        return effects

    def order_state_of(self, install: Install, fresh: bool) -> OrderState:
        """The order's state at the place where the view begins: one's own, or as one was told."""
        if install.proposal.recovered or install.proposal.left:
            return OrderState(install.proposal.position)
        return install.order_state if fresh else self.ask.order_state()

    def exclude(self, reason: str) -> list[Effect]:
        """This life is over; a new one may join."""
        if self.state.gone:
            return []
        self.state.gone = True
        if self.state.me in self.ask.stalled():
            reason = "stalled: this member's application or network held the others up for too long"
        return [Notify(Left() if self.state.leaving else Excluded(reason))]

    def on_synced(self, epoch: int, position: int, begun_at: int) -> list[Effect]:
        """The application has the state on disk: from now on this node's vote counts."""
        state = self.state
        state.stored = max(state.stored, (epoch, position))
        waits = state.options.counts_disks and self.to_accept is not None
        held = self.on_cut_held() if waits else []
        return [*held, *self.on_rebuilt(epoch, position, begun_at)]

    def on_rebuilt(self, epoch: int, position: int, begun_at: int) -> list[Effect]:
        """As far as the application has the state on disk: all of it, or not yet."""
        state = self.state
        view = state.record.view
        if not state.record.rebuilding or view is None or not state.live_in_basis:
            return []
        if epoch != view.epoch or position < begun_at:
            return []
        state.record = replace(state.record, rebuilding=False)
        return [state.persist([])]
