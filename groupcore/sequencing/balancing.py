"""Balancing: sequencers say what they carry, and the coordinator moves what is worth moving.

Idea. Every sequencer counts what it numbers and reports it in the control plane's order, so all
directories know the same loads. The view's coordinator then asks `placement` what to move.

Source. Paper, section 4.2 (a load metric is required, and left open) and 7 (sequence where most is
sent); design, 4.9; decision 0019 has the formula.

Invariants.
  I1  Nobody but the coordinator plans, and only from reports: a quiet cluster stays as it is.
"""

from __future__ import annotations

from math import inf

from groupcore.sequencing.commands import LoadSample, Move, ReportLoad, ReportTies
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.placement import plan_balance
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.ties import TieMeter
from groupcore.view import Address

SAMPLES_MAX = 512
"""Groups in a report: the busiest ones."""


class Counted:
    """What was numbered in one group since the last report."""

    __slots__ = ("messages", "senders", "size_bytes")

    def __init__(self) -> None:
        self.messages = 0
        self.size_bytes = 0
        self.senders: dict[str, int] = {}


class LoadMeter:
    """Counts what this node's sequencer numbers."""

    def __init__(self) -> None:
        self.groups: dict[GroupId, Counted] = {}

    def count(self, group: GroupId, origin: Address, messages: int, size_bytes: int) -> None:
        """So many messages of a node have been numbered in a group."""
        counted = self.groups.get(group)
        if counted is None:
            counted = self.groups[group] = Counted()
        counted.messages += messages
        counted.size_bytes += size_bytes
        counted.senders[origin.name] = counted.senders.get(origin.name, 0) + messages


class Balancing:
    """Reports of this node's load and of what it ties, and the coordinator's plans."""

    def __init__(self, plane: Plane, meter: LoadMeter, tie_meter: TieMeter) -> None:
        self._plane = plane
        self._meter = meter
        self._tie_meter = tie_meter
        self._tied = False
        self._since: float | None = None
        self._reported = False

    def wake(self, now: float) -> None:
        """Report when it is time and there is something to say; plan, as the coordinator."""
        plane = self._plane
        if plane.view is None or not (plane.ready and plane.primary):
            return
        if self._since is None:
            self._since = now
        seconds = now - self._since
        if seconds < plane.options.report_s:
            return
        self._since = now
        if plane.trace is not None:
            plane.trace.sample(seconds)
        if self._meter.groups or self._reported:
            self._report(seconds)
        if self._tie_meter.turns or self._tied:
            ties = self._tie_meter.take(seconds)
            if ties or self._tied:
                plane.propose(ReportTies(ties))
            self._tied = bool(ties)  # a last report says that there are none any more
        if plane.view.coordinator == plane.me:
            for move in plan_balance(plane.directory):
                request = plane.request()
                plane.propose(Move(request, move.groups, move.target, move.reason))
                plane.counters["moves_planned"] += 1
                plane.counters[f"moves_planned.{move.reason}"] += 1

    def _report(self, seconds: float) -> None:
        groups, self._meter.groups = self._meter.groups, {}
        self._reported = bool(groups)  # a last report says that it has become quiet
        busiest = sorted(groups, key=lambda group: (-groups[group].messages, group))
        samples = tuple(
            self._sample(group, groups[group], seconds) for group in busiest[:SAMPLES_MAX]
        )
        self._plane.propose(ReportLoad(0, samples))

    def _sample(self, group: GroupId, counted: Counted, seconds: float) -> LoadSample:
        record = self._plane.records.get(group)
        nodes = {process.node for process in record.members} if record is not None else set()
        return LoadSample(
            group,
            round(counted.messages / seconds),
            round(counted.size_bytes / seconds),
            len(nodes),
            {name: round(n / seconds) for name, n in sorted(counted.senders.items())},
        )

    def look_at(self) -> float:
        """When the next turn looks at the loads, if there is one; then it has something to do."""
        plane = self._plane
        if plane.view is None or not (plane.ready and plane.primary):
            return inf
        return 0.0 if self._since is None else self._since + plane.options.report_s

    def next_wake(self) -> float | None:
        """When the next report is due; None while there is nothing to report."""
        plane = self._plane
        if self._since is None or not (plane.ready and plane.primary):
            return None  # nobody would hear it now
        if not (self._meter.groups or self._reported or self._tie_meter.turns or self._tied):
            return None
        return self._since + self._plane.options.report_s
