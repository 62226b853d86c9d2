"""Membership: agreed views, one after the other, with what was delivered in each.

Idea. When members are lost, ask to leave, or nodes ask to join, the oldest member that is left
proposes the next view. It asks everybody for a promise, which stops nobody; when it has those it
needs it lets FLUSH stop them, and their answers bring what each holds. From a quorum of votes it
computes the view and the cut: all multicasts that any voter holds.
Voters fetch what they lack, accept, and when a quorum has accepted, the view is decided and
installed: everybody delivers up to the cut and begins the view alike. A proposer that dies is
followed by another with a higher ballot, who must go on with what may already be decided.

A node that is in no view asks the coordinator of the one that it hears of; where there is none,
the nodes that look for one decide the first, or the next after what is on their disks.

Place. Above the reliable layers, whose digests it reads; below FLUSH, which stops the members for
it, and the ordering layer, which then needs to know nothing of failures. The two roles in a
ballot are `groupcore.membership.voter` and `proposer`; `convener` says when to propose.

Source. Pbcast design, GMS ("Membership Updating": joins and leaves in bulk, one provisional
list); the ballots are single-decree Paxos on each succession; reliability.md rows 10 to 20.

Invariants.
  I1  A view follows its predecessor only by the votes of a quorum of it; the chain is one.
  I2  Who goes from one view to the next has delivered the same multicasts in the first.
  I3  Votes and acceptances are on disk before they are told.
  I4  A joiner is given the order's state at exactly the place where its first view begins.
  I5  A member that the chain has left behind learns it, and comes back only as a new life.
  I6  Joins and leaves that come together are served by one view.
  I7  A proposer that falls silent at any step is followed by another; nobody stays blocked.
  I8  Two living nodes with one id are never both members.
  I9  A quorum that hears one another forms a view within the bound of `turns`, whatever the others
      hear, say or leave undone.
  I10 Without a quorum a view follows only under an operator's waiver, and in another lineage.
  I11 A member without the state has no vote on what follows, and asks for one when it has it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from groupcore.batch import Batch
from groupcore.effects import Down, Effect, StartTimer
from groupcore.events import (
    Connect,
    CoordinatorsFound,
    CutAgreed,
    CutDelivered,
    CutHeld,
    Drained,
    Event,
    FetchCut,
    Flushed,
    FlushRequested,
    FlushStarted,
    Found,
    Lagging,
    Leave,
    Persisted,
    ReachabilityChanged,
    Synced,
    ViewInstalled,
    WaiverGiven,
)
from groupcore.layer import Layer
from groupcore.membership.admission import Admission
from groupcore.membership.attention import Attention
from groupcore.membership.awaiting import Awaiting, awaiting_of_member, awaiting_of_seeker
from groupcore.membership.ballots import Record
from groupcore.membership.company import Company
from groupcore.membership.convener import Convener
from groupcore.membership.doorkeeper import Doorkeeper
from groupcore.membership.folders import Folders
from groupcore.membership.headers import (
    HEADERS,
    Accept,
    Dissolved,
    GoneOn,
    Install,
    Installed,
    JoinRefused,
    JoinRequest,
    Learned,
    LeaveRequest,
    MergeInstall,
    MergeRequest,
    MergeResponse,
    Prepare,
    Promise,
    Propose,
    Stored,
    Superseded,
    Waive,
)
from groupcore.membership.learners import Learners
from groupcore.membership.leaver import Leaver
from groupcore.membership.merger import Merger
from groupcore.membership.primary import PrimaryWatch
from groupcore.membership.proposer import Proposer
from groupcore.membership.seeker import Seeker
from groupcore.membership.state import MembershipOptions, MembershipState, Questions
from groupcore.membership.voter import Voter
from groupcore.membership.waiver import WAIVED_S, Waiver
from groupcore.view import Address, View


class Membership(Layer):
    """Joins, leaves, lost members; and who proposes the next view."""

    name = "GMS"
    headers = HEADERS
    hears = (
        Connect,
        Persisted,
        CutHeld,
        CutDelivered,
        FlushStarted,
        Flushed,
        ViewInstalled,
        ReachabilityChanged,
        Found,
        CoordinatorsFound,
        Lagging,
        Synced,
        Leave,
        Drained,
        WaiverGiven,
    )
    answers = (CoordinatorsFound,)
    provides = frozenset({"views"})
    requires_around = frozenset({"digest"})
    requires_below = frozenset({"discovery", "failure detection"})
    requires_above = frozenset({"flush"})
    asks_around = (FlushStarted, FetchCut, CutAgreed)
    asks_above = (FlushRequested,)

    def __init__(
        self,
        me: Address,
        random: Random,
        options: MembershipOptions,
        record: Record,
        encode: Callable[[Record], bytes],
        ask: Questions,
    ) -> None:
        self.me = me
        self.random = random
        self.options = options
        self.ask = ask
        self.state = MembershipState(me, options, record, encode)
        self.voter = Voter(self.state, ask)
        self.proposer = Proposer(self.state, self.voter, random)
        self.seeker = Seeker(self.state, self.voter, self.proposer, ask)
        self.attention = Attention(options.attempt_s)
        self.admission = Admission()
        self.doorkeeper = Doorkeeper(self.state, self.voter, self.admission, ask)
        self.leaver = Leaver(self.state)
        self.learners = Learners(self.state)
        self.folders = Folders(self.state, ask)
        self.company = Company(self.state, self.admission, self.leaver, ask)
        self.merger = Merger(self.state, self.proposer, self.company, random)
        self.begun_at = 0
        self.primary = PrimaryWatch(self.state)
        self.convener = Convener(
            self.state,
            self.proposer,
            self.company,
            self.leaver,
            self.learners,
            self.primary,
            ask,
            random,
        )
        self.views = 0

    def counters(self) -> dict[str, int]:
        """Views installed, attempts to decide one, and nodes that ask to join."""
        waiting = len(self.admission.applicants)
        numbers = {**self.proposer.numbers, **self.merger.numbers}
        return {**numbers, "views": self.views, "applicants": waiting, **self.convener.numbers}

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """One of this layer's headers."""
        if self.state.gone or not self.state.connected:
            return []
        return self.settle(self.handle(batch, now), now)

    def handle(self, batch: Batch, now: float) -> list[Effect]:
        """Which handler a header belongs to; others go before who has had its turn in vain."""
        sender = batch.sender
        last = sender in self.passed_over
        match batch.headers[-1]:
            case Prepare(_, ballot) | Propose(_, ballot) if last and self.goes_before(now):
                self.proposer.hear_of(ballot)
                return []
            case Promise() as promise if last:
                self.proposer.on_late_promise(sender, promise)
                return []
            case Prepare() as prepare:
                return self.on_prepare(sender, prepare, now)
            case Promise() as promise:
                silent, candidates = self.company.silent(), self.company.candidates(now)
                return self.proposer.on_promise(sender, promise, silent, candidates, now)
            case Propose() as propose:
                return [*self.voter.on_propose(sender, propose), *self.convener.watch()]
            case Accept() as accept:
                return self.proposer.on_accept(sender, accept, self.company.silent(), now)
            case Install() as install:
                return self.voter.on_install(sender, install)
            case Installed(number):
                return self.proposer.on_installed(sender, number)
            case Superseded(view):
                return self.voter.learn_view(view, sender) if self.is_later(view) else []
            case MergeRequest() | MergeResponse() | MergeInstall() as merging:
                return self.merger.on_header(sender, merging, now)
            case JoinRequest() as request:
                return self.on_join_request(sender, request, now)
            case JoinRefused(code):
                return self.seeker.on_join_refused(code)
            case LeaveRequest():
                self.leaver.note(sender)
                return self.convener.gather()
            case Learned(number):
                return self.convener.gather() if self.learners.note(sender, number) else []
            case Stored(number):
                self.folders.note(sender, number)
                return []
            case Dissolved():
                return self.leaver.on_dissolved()
            case Waive(lineage, number, names):
                return self.on_waiver(WaiverGiven(lineage, number, names), False, now)
            case GoneOn(lineage, view):
                return self.seeker.on_gone_on(lineage, view)
        raise AssertionError("not a header of GMS")

    @property
    def passed_over(self) -> frozenset[Address]:
        """Who has had its turn to propose in vain, in the view or in the search for one."""
        return (self.seeker if self.state.view is None else self.company).passed_over

    def goes_before(self, now: float) -> bool:
        """Whether another's attempt goes before the one of a node that has been passed over."""
        if self.proposer.attempt is not None or self.attention.is_given(self.passed_over, now):
            return True
        view = self.state.view
        return self.seeker.has_turn if view is None else self.company.leader(view) == self.me

    def on_prepare(self, proposer: Address, prepare: Prepare, now: float) -> list[Effect]:
        """Vote; and leave the word to another proposer for a while."""
        effects = self.voter.on_prepare(proposer, prepare)
        if proposer != self.me and self.state.record.promised == prepare.ballot:
            self.proposer.quiet_until = now + self.options.stuck_s
            self.attention.give(proposer, now)
        return [*effects, *self.convener.watch()]

    def on_coordinators(self, views: tuple[View, ...], now: float) -> list[Effect]:
        """There are other coordinators: learn that this one is behind, join, or merge."""
        mine = self.state.view
        if mine is None:
            return []
        self.company.note_elsewhere(now)
        return self.doorkeeper.on_found(mine, now) or self.merger.on_found(views, now)

    def settle(self, effects: list[Effect], now: float) -> list[Effect]:
        """What this member tells itself is handled at once and does not travel."""
        settled: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Down) and effect.batch.destination == self.me:
                settled += self.settle(self.handle(effect.batch, now), now)
            else:
                settled.append(self.routed(effect))
        return settled

    def routed(self, effect: Effect) -> Effect:
        """What a ballot is made of goes to all where unicasts do not arrive (`way_to`)."""
        if not isinstance(effect, Down) or effect.batch.destination is None:
            return effect
        batch = effect.batch
        match batch.headers[-1]:
            case Promise(_, ballot) | Propose(_, ballot) | Accept(_, ballot):
                to = self.way_to(effect.batch.destination, ballot.proposer)
                return effect if to is not None else Down(batch.to(None))
        return effect

    def way_to(self, member: Address, proposer: Address) -> Address | None:
        """Where what this proposer's ballots are made of gets to a member: None is the group.

        It names its ballot, so it means nothing to others whom it reaches. Only the other half is
        helped so, which cannot decide without: a proposer that is apart itself could leave behind
        those whose votes it gets in no other way, and who can go on without it.
        """
        view = self.state.view
        if view is None or proposer not in self.company.other_half(view):
            return member
        return self.ask.way_to(member)

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """What the application asks, what other layers tell, what has been stored."""
        over = self.state.gone and not isinstance(event, CutDelivered | Persisted)
        return [] if over else self.settle(self.react(event, now), now)

    def react(self, event: Event, now: float) -> list[Effect]:
        """Which handler an event belongs to."""
        match event:
            case Connect(epoch, position):
                self.seeker.begin(epoch, position, now)
                return [StartTimer("tick", self.options.tick_s)]
            case Persisted(token):
                return self.state.after_persist.pop(token, [])
            case CutHeld():
                return self.voter.on_cut_held()
            case CutDelivered():
                return self.voter.on_cut_delivered()
            case FlushStarted():
                self.state.blocked = True
                return self.convener.watch()
            case Flushed():
                silent, candidates = self.company.silent(), self.company.candidates(now)
                return self.proposer.on_flushed(event, silent, candidates, now)
            case ViewInstalled():
                return self.on_view_installed(event, now)
            case ReachabilityChanged():
                return self.on_reachability(now)
            case Lagging(member):
                return self.voter.help_lagging(member)
            case CoordinatorsFound(views):
                return self.on_coordinators(views, now)
            case Found():
                self.company.note_elsewhere(now)
                mine = self.state.view
                return [] if mine is None else self.doorkeeper.on_found(mine, now)
            case Synced(epoch, position):
                return self.voter.on_synced(epoch, position, self.begun_at)
            case Leave():
                return self.leaver.begin()
            case WaiverGiven():
                return self.on_waiver(event, True, now)
            case Drained():
                return [StartTimer("leave", 0)]
            case _:
                return []

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`tick` always; the others while there is something to finish."""
        if self.state.gone and timer != "confirm":
            return []
        if timer == "tick":
            return self.settle(self.on_tick(now), now)
        handlers: dict[str, Callable[[float], list[Effect]]] = {
            "gather": self.convener.on_gathered,
            "repeat": self.on_repeat,
            "confirm": lambda now: self.proposer.confirm(self.company.unreachable()),
            "stuck": self.convener.on_stuck,
            "behind": lambda now: self.voter.on_behind(),
            "merge": self.merger.on_timer,
            "leave": lambda now: [*self.leaver.ask(now), *self.convener.gather()],
        }
        return self.settle(handlers[timer](now), now)

    def is_later(self, view: View) -> bool:
        """Whether the chain that this node is in has gone on to that view."""
        mine = self.state.record.view
        return mine is None or (mine.lineage == view.lineage and view.number > mine.number)

    def on_tick(self, now: float) -> list[Effect]:
        """Look for a view, or look after the one that is here."""
        again = StartTimer("tick", self.options.tick_s)
        if self.state.view is None:
            return [again, *self.seeker.seek(now)]
        watched = self.primary.watch(self.company.together(self.state.view), now)
        fenced = self.doorkeeper.fence(now)
        told = [*self.learners.tell(), *self.folders.tick(now)]
        return [again, *watched, *fenced, *told, *self.convener.on_tick(now)]

    def on_waiver(self, given: WaiverGiven, tells: bool, now: float) -> list[Effect]:
        """An operator has the cluster go on without some (I10), here or at another node (`tells`).

        A member that has lost its quorum gives its life up: the view is formed from disks. Its
        next life is told again.
        """
        state = self.state
        names = frozenset(given.names)
        state.waiver = Waiver(given.lineage, given.number, names, now + WAIVED_S)
        told = Waive(given.lineage, given.number, given.names)
        effects: list[Effect] = [state.send(None, told)] if tells else []
        if state.view is None or self.primary.is_primary or not state.waived(state.view, now):
            return effects
        return [*effects, *self.voter.exclude("an operator has the cluster go on without some")]

    def awaiting(self, now: float) -> Awaiting | None:
        """What this node waits for; None in a primary view."""
        view = self.state.view
        if view is None:
            return awaiting_of_seeker(self.state, self.ask, self.options.cluster_size, now)
        if self.primary.is_primary:
            return None
        together, accepted = self.company.together(view), self.state.record.accepted
        seeking = frozenset(node.name for node in self.ask.seeking(now))
        return awaiting_of_member(view, together, accepted, seeking, self.ask.empty(now))

    def on_join_request(self, joiner: Address, request: JoinRequest, now: float) -> list[Effect]:
        """A node asks to be taken in (I8)."""
        view = self.state.view
        if view is None:
            return []
        answer = self.doorkeeper.on_join_request(joiner, request, view, now)
        return self.convener.gather() if answer is None else answer

    def on_repeat(self, now: float) -> list[Effect]:
        """An attempt goes on."""
        return self.proposer.on_repeat(self.company.silent(), self.company.candidates(now), now)

    def on_reachability(self, now: float) -> list[Effect]:
        """Somebody is lost, or back: a proposer goes on without waiting for the lost."""
        silent, candidates = self.company.silent(), self.company.candidates(now)
        return [
            *self.convener.give_way(now),
            *self.proposer.go_on(silent, candidates, now),
            *self.proposer.maybe_decided(silent, now),
            *self.convener.consider(now),
        ]

    def on_view_installed(self, event: ViewInstalled, now: float) -> list[Effect]:
        """A view begins: who is in it need not ask any more."""
        self.views += 1
        self.proposer.on_view()
        self.attention.on_view()
        if event.fresh:
            self.begun_at = event.position
        for member in event.view.members:
            self.admission.withdraw(member)
        self.leaver.on_view(event.view)
        self.learners.on_view(event.view)
        self.folders.on_view(event.view)
        self.merger.on_view(bool(event.merged))
        self.company.on_view(event, now)
        for member in () if event.previous is None else event.previous.members:
            if member not in event.view.members:
                self.admission.left_view(member)
        self.convener.on_view(event, now)
        return self.primary.on_view(now)
