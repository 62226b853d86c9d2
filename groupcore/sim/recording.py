"""What a node writes into the trace: records made from what happens to one of its lives."""

from __future__ import annotations

from groupcore.events import ViewInstalled
from groupcore.membership.ballots import Proposal
from groupcore.sim.clock import Clock
from groupcore.sim.disk import Recovered
from groupcore.sim.trace import Accepted, Lived, Secured, Trace, Viewed
from groupcore.sim.trace_streams import LogRecovered
from groupcore.view import Address


class Recorder:
    """Appends to the trace, at the time that it is."""

    def __init__(self, trace: Trace, clock: Clock) -> None:
        self.trace = trace
        self._clock = clock

    def lived(self, life: Address, what: str, detail: str = "") -> None:
        """A turn in this life."""
        self.trace.add(Lived(self._clock.now_ns, *life, what, detail))

    def secured(self, life: Address, epoch: int, position: int) -> None:
        """The disk holds the journal up to there."""
        self.trace.add(Secured(self._clock.now_ns, *life, epoch, position))

    def recovered(self, life: Address, log: Recovered | None) -> None:
        """A node whose last life was this one has read its log."""
        if log is not None:
            now, (n, inc) = self._clock.now_ns, life
            self.trace.add(
                LogRecovered(now, n, inc, log.kept, log.stored, log.right, log.damaged, log.spoilt)
            )

    def accepted(self, life: Address, proposal: Proposal) -> None:
        """The disk holds that this successor was accepted."""
        view, voted, now = proposal.view, proposal.voters, self._clock.now_ns
        accepted = Accepted(now, *life, view.number, view.lineage, view.members, voted, view.voters)
        self.trace.add(accepted)

    def viewed(self, life: Address, event: ViewInstalled) -> None:
        """A view was installed."""
        view, previous = event.view, event.previous
        self.trace.add(
            Viewed(
                self._clock.now_ns,
                *life,
                view.number,
                view.epoch,
                view.lineage,
                view.members,
                None if previous is None else previous.members,
                0 if previous is None else previous.number,
                event.fresh,
                event.position,
                view.floor,
                event.recovered,
                event.holders,
                view.voters,
            )
        )
