"""Stability: agree on what every member has delivered, and on what exists.

Idea. Every member multicasts its digest from time to time, and after many bytes. Each takes the
minimum of what it hears and strikes off whom it has heard. Who has heard everybody announces the
minimum after a random delay; an announcement that arrives first cancels it. What is announced may
leave the history of every member. The digests also carry the highest numbers seen: who lacks one
asks for it, so a lost last message is found even when its sender has fallen silent.

Place. Above NAKACK (it reports NAKACK's digest), below membership.

Source. Pbcast design, "pbcast.STABLE protocol" and "Last Message dropped in NAKACK".

Invariants.
  I1  A digest is announced only if every member of the view has reported in this round.
  I2  The announced digest never exceeds any member's report.
  I3  Reports of another view count for nothing, and a digest of other members than the view's
      begins the round anew: no unilateral agreement.
  I4  An announcement that arrives cancels the own one and ends the round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.digest import Digest, maximum, minimum
from groupcore.effects import Down, Effect, Notify, StartTimer, StopTimer
from groupcore.events import Event, FlushStarted, MuchReceived, Stable, ViewInstalled
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.view import Address, View


@travels(24)
@dataclass(slots=True)
class Report(Header):
    """Member to group: what I have delivered and what I have seen, in this view."""

    kind: ClassVar[str] = "stability.report"
    view: int
    delivered: Digest
    highest: Digest


@travels(25)
@dataclass(slots=True)
class Announce(Header):
    """Member to group: all have delivered this much, and this much exists."""

    kind: ClassVar[str] = "stability.announce"
    view: int
    delivered: Digest
    highest: Digest


class Stability(Layer):
    """Rounds of reports in one view."""

    name = "STABLE"
    headers = (Report, Announce)
    hears = (ViewInstalled, FlushStarted, MuchReceived)
    provides = frozenset({"stability"})
    requires_below = frozenset({"digest"})
    requires_above = frozenset({"views"})

    def __init__(
        self,
        me: Address,
        random: Random,
        delivered: Callable[[], Digest],
        highest: Callable[[], Digest],
        interval_s: float = 0.5,
        stagger_s: float = 0.05,
    ) -> None:
        self.me = me
        self.random = random
        self.delivered = delivered
        self.highest = highest
        self.interval_s = interval_s
        self.stagger_s = stagger_s
        self.view: View | None = None
        self.reports: dict[Address, Report] = {}
        self.stable: Digest = {}
        self.hurried = False
        self.numbers = {"rounds": 0, "dropped": 0, "other_members": 0}

    def counters(self) -> dict[str, int]:
        """Rounds that ended with an announcement; what was dropped; digests of other members."""
        return dict(self.numbers)

    @property
    def settled(self) -> bool:
        """Whether all that exists has been announced as delivered by all."""
        return self.delivered() == self.stable == self.highest()

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """A report or an announcement."""
        header = batch.headers[-1]
        assert isinstance(header, Report | Announce)
        view = self.view
        if view is None or header.view != view.number or batch.sender not in view.members:
            self.numbers["dropped"] += 1  # I3
            return []
        if header.delivered.keys() != set(view.members):
            return self.begin_anew()
        if isinstance(header, Announce):
            return self.on_announce(header)
        return self.on_report(batch.sender, header)

    def begin_anew(self) -> list[Effect]:
        """A digest of other members: agreement with it would be one-sided (I3)."""
        self.numbers["other_members"] += 1
        self.reports = {}
        return [StopTimer("announce")]

    def on_report(self, member: Address, report: Report) -> list[Effect]:
        """Strike the member off; when all have reported, announce after a random delay (I1)."""
        assert self.view is not None
        if member != self.me and self.settled and report.delivered == self.stable:
            # It has missed the announcement: without more traffic no round would end again.
            announce = Announce(self.view.number, self.stable, self.stable)
            return [Down(Batch(self.me, member, (announce,), reliable=False))]
        self.reports[member] = report
        if len(self.reports) < len(self.view.members):
            return []
        return [StartTimer("announce", self.stagger_s * self.random.random())]

    def on_announce(self, announce: Announce) -> list[Effect]:
        """Somebody has heard everybody: the round ends for all (I4)."""
        self.reports = {}
        self.numbers["rounds"] += 1
        self.stable = announce.delivered
        stable = Stable(announce.delivered, announce.highest)
        return [StopTimer("announce"), Notify(stable)]

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`report` from time to time; `announce` when all have reported."""
        if self.view is None:
            return []
        if timer == "announce":
            return self.announce()
        self.hurried = False
        delay_s = self.interval_s * (0.75 + 0.5 * self.random.random())
        again: list[Effect] = [StartTimer("report", delay_s)]
        delivered = self.delivered()
        if len(self.view.members) == 1 or self.settled:
            return again
        report = Report(self.view.number, delivered, self.highest())
        return [
            Down(Batch(self.me, None, (report,), reliable=False)),
            *self.on_report(self.me, report),
            *again,
        ]

    def announce(self) -> list[Effect]:
        """The minimum of the reports (I2), unless a view change has ended the round."""
        assert self.view is not None
        if len(self.reports) < len(self.view.members):
            return []
        reports = list(self.reports.values())
        announce = Announce(
            self.view.number,
            minimum(report.delivered for report in reports),
            maximum(report.highest for report in reports),
        )
        down = Down(Batch(self.me, None, (announce,), reliable=False))
        return [down, *self.on_announce(announce)]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """A round ends with the view (I3)."""
        match event:
            case ViewInstalled():
                self.view, self.reports, self.stable = event.view, {}, {}
                self.hurried = False
                return [StopTimer("announce"), StartTimer("report", self.interval_s)]
            case FlushStarted():
                self.reports = {}
                return [StopTimer("announce")]
            case MuchReceived() if self.view is not None and not self.hurried:
                self.hurried = True
                return [StartTimer("report", self.stagger_s * self.random.random())]
            case _:
                return []
