"""The seeker's role: a node that is in no view looks for one, or helps to form one."""

from __future__ import annotations

from dataclasses import replace

from groupcore.effects import Effect, Notify
from groupcore.events import Refused
from groupcore.membership.headers import JoinRequest
from groupcore.membership.proposer import Proposer
from groupcore.membership.state import MembershipState, Questions
from groupcore.membership.succession import is_quorum_of
from groupcore.membership.voter import Voter
from groupcore.view import Address, View

HEARD_S = 1.0
"""How long ago a member may have been heard for a joiner to say that it hears it."""

GONE_ON = "gone_on_without"
"""The code for a node without which an operator has had the cluster go on."""

REFUSALS = {
    "id_in_use": "another living node has this id; give each node an id of its own",
    "foreign_cluster": "the data on this node belongs to another cluster; "
    "start it with an empty data folder or in its own cluster",
    GONE_ON: "the cluster has gone on without this node, as an operator has told it; what is only "
    "on this node is kept aside, and the node takes everything from the others",
    "mixed_logs": "some nodes of this cluster have a data folder and some have none; "
    "start all of them with one, or none",
}
"""What a person is told, by the code of the refusal."""


class Seeker:
    """Asks to join the view that is there; where there is none, decides one with the others."""

    def __init__(
        self, state: MembershipState, voter: Voter, proposer: Proposer, ask: Questions
    ) -> None:
        self.state = state
        self.voter = voter
        self.proposer = proposer
        self.ask = ask
        self.connected_at = 0.0
        self.passed_over: frozenset[Address] = frozenset()
        self.since: float | None = None
        self.has_turn = False

    def begin(self, epoch: int, position: int, now: float) -> None:
        """Begin to look for a view, with what the application has on disk."""
        self.state.connected = True
        self.state.stored = (epoch, position)
        self.connected_at = now

    def seek(self, now: float) -> list[Effect]:
        """Ask the coordinator of the newest view that is heard of; else think of forming one."""
        mine = self.state.record.view
        waited_s = now - self.connected_at
        views = [view for view, primary in self.ask.present(now).values() if primary]
        own = [view for view in views if mine is None or view.lineage == mine.lineage]
        if own or (views and waited_s > self.state.options.patience_s):
            newest = max(own or views, key=lambda view: (view.primary, view.number))
            hears = self.ask.reached_since(now - HEARD_S)
            lineage = 0 if mine is None else mine.lineage
            request = JoinRequest(hears, lineage, self.state.options.logged)
            # A coordinator that never answers may be dead: then whoever lives must know.
            lonely = waited_s > self.state.options.patience_s
            return [self.state.send(None if lonely else newest.coordinator, request)]
        if self.proposer.attempt is not None:
            self.ends_own_turn(now)
            return []
        learned = self.learn_of_members(now)
        # Nobody forms a view of its own chain beside one of another: that may have ended this one.
        waits = waited_s < self.state.options.seek_s or bool(views)
        return learned if waits else [*learned, *self.form(now, waited_s)]

    def learn_of_members(self, now: float) -> list[Effect]:
        """Members of a later view of this chain are there, too few to go on by themselves.

        This node's disk may be what they need: it may have accepted the view, and stopped before it
        began it. They count on its vote when it says that it knows the view.
        """
        mine = self.state.record.view
        if mine is None:
            return []
        there = self.ask.present(now).items()
        later = [
            (view.number, member)
            for member, (view, _) in there
            if view.lineage == mine.lineage and view.number > mine.number
        ]
        if not later:
            return []
        _, member = max(later)
        view, _ = self.ask.present(now)[member]
        return [] if self.state.me in view.members else self.voter.learn_view(view, member)

    def ends_own_turn(self, now: float) -> bool:
        """Whether this one has passed others over and decides nothing either, for as long as a turn
        lasts: then it hears them again."""
        is_over = self.since is not None and now - self.since >= self.state.options.turn_s
        if is_over:
            self.passed_over, self.since = frozenset(), None
        return is_over

    def form(self, now: float, waited_s: float) -> list[Effect]:
        """Propose a view of the nodes that look for one, if this node is the one to do it.

        Who lives in the last view goes before them; of them, the first by address.
        """
        options, passed_over = self.state.options, self.passed_over
        seekers = {**self.ask.seeking(now), self.state.me: self.state.record.view}
        living = {m: view for m, (view, _) in self.ask.present(now).items() if m not in passed_over}
        known = [view for view in [*seekers.values(), *living.values()] if view is not None]
        basis = max(known, key=lambda view: view.number, default=None)
        names = {seeker.name for seeker in seekers if seeker not in passed_over}
        waived = self.state.waived(basis, now)
        mine = {self.state.me.name} if self.state.is_blank else set[str]()
        if waived & (names - self.ask.empty(now) - mine):
            waived = frozenset()  # one of them is there, and its disk counts
        if not waived and not is_quorum_of(basis, names, options.cluster_size):
            self.has_turn = False
            return self.wait_for(None, now)
        wanted = options.cluster_size if basis is None else len({*basis.names, *basis.voters})
        if len(names) < wanted and waited_s < options.patience_s:
            return []
        first = min(
            (member for member, view in living.items() if view == basis),
            default=min(seeker for seeker in seekers if seeker not in passed_over),
        )
        self.has_turn = first == self.state.me
        if not self.has_turn:
            return self.wait_for(first, now)
        if self.ends_own_turn(now) or now < self.proposer.quiet_until:
            return []
        learned = [] if basis is None else self.voter.learn_view(basis, self.state.me)
        expected = frozenset(seekers) - passed_over
        return [*learned, *self.proposer.start(basis, expected, now, waived=waived)]

    def wait_for(self, first: Address | None, now: float) -> list[Effect]:
        """It is this one's turn to propose: pass it over when that has lasted too long.

        When those that are left are too few (None), all have their turn again.
        """
        if first is None:
            self.passed_over, self.since = frozenset(), None
        elif self.since is None:
            self.since = now
        elif now - self.since >= self.state.options.turn_s:
            self.passed_over |= {first}
            self.since = now
        return []

    def on_gone_on(self, lineage: int, view: View) -> list[Effect]:
        """The chain that this node is in was ended by an operator; the others are in this view.

        Who has taken part in that, or has nothing to lose, joins them. Whoever else may have what
        they lack: that has to be put aside first.
        """
        state, record = self.state, self.state.record
        if record.view is None or record.view.lineage != lineage:
            return []
        accepted = record.accepted
        took_part = (
            accepted is not None and bool(accepted.waived) and accepted.view.lineage == view.lineage
        )
        if state.view is None and (state.is_blank or took_part):
            left = (*record.left, lineage)
            state.record = replace(record, left=left).with_view(view, rebuilding=True)
            return [state.persist([])]
        state.gone = True
        return [Notify(Refused(GONE_ON, REFUSALS[GONE_ON]))]

    def on_join_refused(self, code: str) -> list[Effect]:
        """This node may not join as it is."""
        if self.state.view is not None:
            return []
        if code == "left_behind":
            return self.voter.exclude("this life was in a view that has passed")
        self.state.gone = True
        return [Notify(Refused(code, REFUSALS.get(code, code)))]
