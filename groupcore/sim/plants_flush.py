"""Bugs to plant in the flush: what it stops, and whom."""

from __future__ import annotations

from groupcore.digest import Digest
from groupcore.effects import Effect
from groupcore.events import Event, FlushStarted
from groupcore.layers import flow_control, flush, nakack, resilience
from groupcore.membership import voter
from groupcore.membership.ballots import Vote
from groupcore.sim.plant_schedules import LEAVES_UNDER_LOSS
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address


def _delivers_in_flush() -> list[Patch]:
    nakack_event, resilience_event = nakack.Nakack.on_event, resilience.Resilience.on_event
    credit_event = flow_control.FlowControl.on_event

    def in_nakack(self: nakack.Nakack, event: Event, now: float) -> list[Effect]:
        return [] if isinstance(event, FlushStarted) else nakack_event(self, event, now)

    def in_resilience(self: resilience.Resilience, event: Event, now: float) -> list[Effect]:
        return [] if isinstance(event, FlushStarted) else resilience_event(self, event, now)

    def in_flow_control(self: flow_control.FlowControl, event: Event, now: float) -> list[Effect]:
        return [] if isinstance(event, FlushStarted) else credit_event(self, event, now)

    def is_holding(self: flush.Flush) -> bool:
        return self.opening or not self.number

    return [
        (nakack.Nakack, "on_event", in_nakack),
        (resilience.Resilience, "on_event", in_resilience),
        (flow_control.FlowControl, "on_event", in_flow_control),
        (flush.Flush, "is_holding", property(is_holding)),
    ]


def _answers_before_it_stops() -> list[Patch]:
    """The promise brings the digest, as it did before there was a flush."""
    original = voter.Voter.vote
    digests: dict[Address, Digest] = {}

    def vote(self: voter.Voter) -> Vote:
        if self.state.live_in_basis:
            digests[self.state.me] = self.ask.digest()
        return original(self)

    def answer(self: flush.Flush) -> list[Effect]:
        digest, self.digest = self.digest, lambda: digests.get(self.me, {})
        effects = flush_answer(self)
        self.digest = digest
        return effects

    flush_answer = flush.Flush.answer
    return [(voter.Voter, "vote", vote), (flush.Flush, "answer", answer)]


FLUSH_PLANTS = (
    Plant(
        "delivers-in-flush",
        "multicasts are delivered while a view change is under way",
        (13, 2, 3, 4, 5, 6, 15, 25),
        _delivers_in_flush,
        schedule=LEAVES_UNDER_LOSS,
    ),
    Plant(
        "answers-before-it-stops",
        "the flush is answered with what was held when the promise was given",
        (13, 2, 3, 4, 5, 6, 15, 25),
        _answers_before_it_stops,
        schedule=LEAVES_UNDER_LOSS,
    ),
)
"""Those of the flush; `plants.PLANTS` has all."""
