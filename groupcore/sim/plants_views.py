"""Bugs to plant where one view follows another: the cut, the hand-over, those left behind."""

from __future__ import annotations

from dataclasses import replace

from groupcore.batch import Batch
from groupcore.effects import Effect, Notify, StartTimer, Up
from groupcore.events import CutAgreed, Event, FlushStarted, ViewInstalled
from groupcore.layers import unicast
from groupcore.layers.sequencer import Ordered, Sequencer
from groupcore.layers.stability import Announce, Report, Stability
from groupcore.membership import attempt, holding, proposer, voter, waiver
from groupcore.membership.ballots import Proposal, Vote
from groupcore.membership.doorkeeper import Doorkeeper
from groupcore.membership.seeker import Seeker
from groupcore.sim.application import Application
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.disk import Entry
from groupcore.sim.fault import Fault, Send
from groupcore.sim.network import NetworkOptions
from groupcore.sim.plant_schedules import (
    CUT_APART_AND_WAIVED,
    CUT_OFF_BY_TURNS,
    GONE_ON_WITHOUT,
)
from groupcore.sim.planting import Patch, Plant
from groupcore.sim.scenario import Scenario
from groupcore.view import View

LAST_IDS = 16
"""So many numbers of a sender are remembered."""


def _decided_by_others() -> list[Patch]:
    def can_go_on(self: Proposal, having: object) -> bool:
        return True

    return [(Proposal, "can_go_on", can_go_on)]


def _own_maximum() -> list[Patch]:
    def covers(held: object, cut: object) -> bool:
        return True

    return [(holding, "covers", covers)]


def _state_and_digest_apart() -> list[Patch]:
    def state(self: Application, epoch: int, position: int) -> tuple[Entry, ...] | None:
        return tuple(self.journal.entries) if self.ready and self.journal.epoch == epoch else None

    return [(Application, "state", state)]


def _resent_after_new() -> list[Patch]:
    on_view, on_timer = Sequencer.on_view, Sequencer.on_timer
    deliver = Sequencer.deliver

    def resend_later(self: Sequencer, event: ViewInstalled) -> list[Effect]:
        if event.fresh or event.recovered:
            return on_view(self, event)
        before = self.view
        self.view = event.view  # as if the coordinator had not changed
        effects = on_view(self, event)
        if before is not None and before.coordinator != event.view.coordinator:
            effects.append(StartTimer("resend", 0.5))
        return effects

    def resend(self: Sequencer, timer: str, now: float) -> list[Effect]:
        if timer != "resend":
            return on_timer(self, timer, now)
        return [self.send(seqno, batch) for seqno, batch in self.forward_table.batches.items()]

    def anything(self: Sequencer, batch: Batch, header: Ordered) -> list[Effect]:
        self.progress.received[header.origin] = header.seqno - 1
        return deliver(self, batch, header)

    return [
        (Sequencer, "on_view", resend_later),
        (Sequencer, "on_timer", resend),
        (Sequencer, "deliver", anything),
    ]


def _last_ids_only() -> list[Patch]:
    original = unicast.Unicast.on_data

    def on_data(self: unicast.Unicast, batch: Batch, header: unicast.Data) -> list[Effect]:
        peer = self.receiving.get(batch.sender)
        if peer is not None and header.seqno <= peer.received - LAST_IDS:
            return [Up(batch.without_header())]
        return original(self, batch, header)

    return [(unicast.Unicast, "on_data", on_data)]


def _waived_in_the_lineage() -> list[Patch]:
    original = waiver.decide_without

    def decide_without(basis: View, *given: object) -> Proposal:
        decided = original(basis, *given)  # type: ignore[arg-type]
        number, epoch = basis.number + 1, basis.epoch + 1
        view = replace(decided.view, number=number, epoch=epoch, lineage=basis.lineage)
        return replace(decided, view=view)

    return [(proposer, "decide_without", decide_without)]


def _waived_by_any() -> list[Patch]:
    def may_decide_without(basis: View, votes: list[Vote], waived: frozenset[str]) -> bool:
        return any(vote.counts for vote in votes)

    return [(attempt, "may_decide_without", may_decide_without)]


def _not_fenced() -> list[Patch]:
    def fence(self: Doorkeeper, now: float) -> list[Effect]:
        return []

    def on_gone_on(self: Seeker, lineage: int, view: View) -> list[Effect]:
        return []

    return [(Doorkeeper, "fence", fence), (Seeker, "on_gone_on", on_gone_on)]


def _zombie_drains() -> list[Patch]:
    original = voter.Voter.exclude

    def exclude(self: voter.Voter, reason: str) -> list[Effect]:
        if self.state.gone or not self.state.live_in_basis:
            return original(self, reason)
        return [Notify(CutAgreed(self.ask.digest())), *original(self, reason)]

    return [(voter.Voter, "exclude", exclude)]


def _stable_over_the_former_view() -> list[Patch]:
    on_event = Stability.on_event

    def keep(self: Stability, event: Event, now: float) -> list[Effect]:
        reports, stable = self.reports, self.stable
        effects = on_event(self, event, now)
        if isinstance(event, ViewInstalled | FlushStarted):
            self.reports, self.stable = reports, stable
        return effects

    def on_up(self: Stability, batch: Batch, now: float) -> list[Effect]:
        header = batch.headers[-1]
        if self.view is None:
            return []
        if isinstance(header, Announce):
            return self.on_announce(header)
        assert isinstance(header, Report)
        return self.on_report(batch.sender, header)

    return [(Stability, "on_event", keep), (Stability, "on_up", on_up)]


VIEW_PLANTS = (
    Plant(
        "own-maximum",
        "a member goes on from what it holds itself, not from what all agreed",
        (13, 3, 2, 4, 5, 6, 7, 14, 15, 16, 17, 25),
        _own_maximum,
    ),
    Plant(
        "state-and-digest-apart",
        "a joiner's state is of a later moment than the place that it is told",
        (17, 2, 3, 5, 25),
        _state_and_digest_apart,
    ),
    Plant(
        "resent-after-new",
        "a new coordinator gets the forward-table after newer messages",
        (25, 15, 6, 7, 2, 3),
        _resent_after_new,
    ),
    Plant(
        "last-ids-only",
        "duplicates are known by the last 16 numbers of a sender only",
        (25, 2, 15, 6, 3, 4, 5),
        _last_ids_only,
    ),
    Plant(
        "zombie-drains",
        "a member that is excluded delivers first what it still holds",
        (3, 16, 14, 7, 13, 2, 4, 5, 6),
        _zombie_drains,
        schedule=CUT_OFF_BY_TURNS,
    ),
    Plant(
        "decided-by-others",
        "a view from disk is decided before a quorum of its own members has stored it",
        (25,),
        _decided_by_others,
        schedule=Scenario(
            seed=1,
            nodes=3,
            starts_ns=(1_340 * MILLISECOND, 1_350 * MILLISECOND, 0),
            safety_ns=7 * SECOND,
            faults=(
                Fault(117 * MILLISECOND, "one-way", (0, 2), 3_200 * MILLISECOND, 1_000, "slow"),
                Fault(2_653 * MILLISECOND, "disk-slow", (0,), 745 * MILLISECOND, 3_000),
                Fault(5_467 * MILLISECOND, "crash-all", (), 400 * MILLISECOND),
            ),
        ),
    ),
    Plant(
        "stable-over-former-view",
        "reports of stability of a former view count in the next",
        (24, 25, 0, 13, 15),
        _stable_over_the_former_view,
        schedule=Scenario(
            seed=15,
            nodes=4,
            starts_ns=(0, 0, 0, 0),
            safety_ns=9 * SECOND,
            network=NetworkOptions(loss=0.3),
            faults=tuple(Fault(at * SECOND, "leave", (3,), SECOND // 4) for at in range(2, 9)),
            sends=tuple(Send(SECOND + n * 30 * MILLISECOND, n % 3, (40,) * 3) for n in range(250)),
        ),
    ),
    Plant(
        "waived-in-the-lineage",
        "a view under a waiver goes on in the lineage, as if a quorum had decided it",
        (12, 25, 3, 16),
        _waived_in_the_lineage,
        schedule=GONE_ON_WITHOUT,
    ),
    Plant(
        "waived-by-any",
        "under a waiver whoever is there decides, without those who were not waived",
        (25,),
        _waived_by_any,
        schedule=CUT_APART_AND_WAIVED,
    ),
    Plant(
        "not-fenced",
        "who was gone on without is not told so when it comes back",
        (25,),
        _not_fenced,
        schedule=GONE_ON_WITHOUT,
    ),
)
"""Those of view changes; `plants.PLANTS` has all."""
