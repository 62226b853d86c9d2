"""Durability: how far the order is safely on disk at a quorum of the view.

Idea. Each member says how far it has synced its journal. What max(k + 1, a quorum) of the voters
of the primary view have synced is **saved**: those who hold it meet every possible next primary
view, and k lost disks do not lose it.

Place. At the top of the stack; the application tells `Synced` and hears `Saved`.

Source. Design, section 6; reliability.md, acknowledgement rule and invariant 18.

Invariants.
  I1  Saved never runs ahead of what max(k + 1, quorum) voters of the view have synced.
  I2  Saved grows within an epoch; a report of another epoch counts for nothing.
  I3  A lost report is repeated: what is synced everywhere becomes saved without more traffic.
  I4  A member that has stopped for a view change reports nothing more in that view: what it has
      told the proposer of its disk stands, so that nothing beyond is saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect, Notify, StartTimer, StopTimer
from groupcore.events import Event, FlushStarted, Saved, Synced, ViewInstalled
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.view import Address, View

REPEATS = 5


@travels(54)
@dataclass(slots=True)
class Durable(Header):
    """Member to group: I have synced everything up to `position` of `epoch`."""

    kind: ClassVar[str] = "durability.durable"
    epoch: int
    position: int


class Durability(Layer):
    """Counts disks."""

    name = "DURABILITY"
    headers = (Durable,)
    hears = (
        Synced,
        FlushStarted,
        ViewInstalled,
    )
    provides = frozenset({"durability"})
    requires_below = frozenset({"views", "total order"})

    def __init__(self, me: Address, k: int = 1, repeat_s: float = 0.1) -> None:
        self.me = me
        self.k = k
        self.repeat_s = repeat_s
        self.view: View | None = None
        self.synced: dict[Address, tuple[int, int]] = {}
        self.saved = (0, 0)
        self.repeats_left = 0
        self.stopped = False
        self.untold = (0, 0)

    def counters(self) -> dict[str, int]:
        """The last position that is saved, and how far this member has synced."""
        return {"saved": self.saved[1], "synced": self.synced.get(self.me, (0, 0))[1]}

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """A member's report."""
        header = batch.headers[-1]
        assert isinstance(header, Durable)
        if self.view is None or batch.sender not in self.view.members:
            return []
        report = (header.epoch, header.position)
        if report <= self.synced.get(batch.sender, (0, 0)):
            return []
        self.synced[batch.sender] = report
        return self.maybe_saved() if report > self.saved else []

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """The application has synced; a view change begins; or a view says whose disks count."""
        match event:
            case Synced() if self.stopped:
                self.untold = max(self.untold, (event.epoch, event.position))
                return []
            case Synced():
                return self.on_synced((event.epoch, event.position))
            case FlushStarted():
                self.stopped = True
                return [StopTimer("report")]
            case ViewInstalled():
                self.view, self.stopped = event.view, False
                mine = max(self.untold, self.synced.get(self.me, (0, 0)))
                self.synced = {m: s for m, s in self.synced.items() if m in event.view.members}
                self.synced[self.me] = mine
                self.repeats_left = REPEATS
                return [StartTimer("report", 0), *self.maybe_saved()]
            case _:
                return []

    def on_synced(self, report: tuple[int, int]) -> list[Effect]:
        """Tell the others at the end of the turn, and again a few times (I3)."""
        if report <= self.synced.get(self.me, (0, 0)):
            return []
        self.synced[self.me] = report
        self.repeats_left = REPEATS
        return [StartTimer("report", 0), *self.maybe_saved()]

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """Report, and repeat while it is news; slowly for ever after."""
        epoch, position = self.synced.get(self.me, (0, 0))
        if self.view is None or len(self.view.members) == 1:
            return []
        self.repeats_left -= 1
        delay_s = self.repeat_s if self.repeats_left > 0 else 10 * self.repeat_s
        report = Batch(self.me, None, (Durable(epoch, position),), reliable=False)
        return [Down(report), StartTimer("report", delay_s)]

    def maybe_saved(self) -> list[Effect]:
        """The highest position that enough disks have (I1, I2)."""
        if self.view is None:
            return []
        epoch, saved = self.view.epoch, self.saved
        voting = self.view.voting
        needed = min(self.k, len(voting) - 1) + 1
        # Only disks that hold more than what is saved can raise that.
        reports = [
            (report[1], member.name)
            for member in voting
            if (report := self.synced.get(member, (0, 0))) > saved and report[0] == epoch
        ]
        if len(reports) < needed:
            return []
        reports.sort(reverse=True)
        names: list[str] = []
        for position, name in reports:
            names.append(name)
            if len(names) >= needed and self.view.is_quorum(names):
                self.saved = (epoch, position)
                return [Notify(Saved(epoch, position))]
        return []
