"""How loaded the sequencers are: the load of groups, summed by the node that has or awaits them.

The unit is µs of processor time a second: `docs/decisions/0019-load-metric.md` says where the
weights come from. Whole numbers throughout, so that every node comes to the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass

from groupcore.sequencing.commands import LoadSample, ReportLoad
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.view import Address

LOAD_MAX_US = 1_000_000_000
"""No group counts for more: what a report may say is bounded."""
DELAY_MAX_US = 1_000_000
"""No queue delay counts for more."""


def load_us(sample: LoadSample, options: PlacementOptions) -> int:
    """The load formula: messages · (message + fan-out · node) + bytes · byte, a second."""
    per_message_ns = options.message_ns + sample.fan_out * options.fan_out_ns
    total_ns = sample.messages * per_message_ns + (sample.bytes * options.kilobyte_ns >> 10)
    return min(total_ns // 1000, LOAD_MAX_US)


@dataclass(slots=True)
class Busy:
    """A group that was reported: its load, and the node that sends most to it with its share.

    Both are smoothed; the share, in percent, grows only while it is the same node's.
    """

    load: int
    sender: str
    share: int


class LoadBook:
    """Loads of groups and nodes, with moves that have begun counted at their targets."""

    __slots__ = ("_busy_totals", "_counts", "_options", "busy", "delays", "heavy", "resting")

    def __init__(self, options: PlacementOptions) -> None:
        self._options = options
        self.busy: dict[GroupId, Busy] = {}
        self.delays: dict[Address, int] = {}
        self.heavy: dict[Address, int] = {}
        self.resting: dict[GroupId, int] = {}
        self._counts: dict[Address, int] = {}
        self._busy_totals: dict[Address, int] = {}

    def group(self, group: GroupId) -> int:
        """One group's load."""
        busy = self.busy.get(group)
        return self._options.idle_us + (busy.load if busy else 0)

    def node(self, node: Address) -> int:
        """One node's load: that of its groups, and its queue delay as a penalty."""
        return (
            self._options.idle_us * self._counts.get(node, 0)
            + self._busy_totals.get(node, 0)
            + self._options.delay_penalty * self.delays.get(node, 0)
        )

    def count(self, node: Address) -> int:
        """How many groups the node has or awaits."""
        return self._counts.get(node, 0)

    def add(self, group: GroupId, node: Address) -> None:
        """The node has the group from here on."""
        self._shift(group, node, 1)

    def remove(self, group: GroupId, node: Address) -> None:
        """The group is deleted."""
        self._shift(group, node, -1)
        self.busy.pop(group, None)
        self.resting.pop(group, None)

    def rehome(self, group: GroupId, former: Address, node: Address) -> None:
        """The group goes from one node to another."""
        self._shift(group, former, -1)
        self._shift(group, node, 1)

    def rest(self, group: GroupId, reason: str) -> None:
        """The group has just moved: placement leaves it alone for some reports."""
        reports = {
            "load": self._options.rest_reports,
            "locality": self._options.rest_reports,
            "ties": self._options.rest_reports,
            "plan": self._options.plan_rest_reports,
        }.get(reason, 0)
        if reports:
            self.resting[group] = reports

    def keep_nodes(self, nodes: Container[Address]) -> None:
        """All other nodes are forgotten; the loads of their groups are not."""
        self.delays = {node: delay for node, delay in self.delays.items() if node in nodes}
        self.heavy = {node: times for node, times in self.heavy.items() if node in nodes}

    def note_weight(self, node: Address, heavy: bool) -> None:
        """Whether the node was above the bound when it reported."""
        if heavy:
            times = self.heavy.get(node, 0) + 1
            self.heavy[node] = min(times, self._options.heavy_reports)
        else:
            self.heavy.pop(node, None)

    def is_heavy(self, node: Address) -> bool:
        """Whether the node has been above the bound for some time."""
        return self.heavy.get(node, 0) >= self._options.heavy_reports

    def report(
        self, by: Address, report: ReportLoad, home_of: Callable[[GroupId], Address | None]
    ) -> int:
        """A sequencer's report; `home_of` says where a group of its own is or goes, else None.

        Each report changes the loads a little (`smoothing`); what it leaves out has been idle.
        Returns what the node carries by this report alone, or by all of them if that is less.
        """
        self.delays[by] = min(report.queue_delay_us, DELAY_MAX_US)
        samples = {sample.group: sample for sample in report.samples}
        present = sum(load_us(sample, self._options) for sample in report.samples)
        for group in list(dict.fromkeys([*self.busy, *samples])):
            home = home_of(group)
            if home is not None:
                self._busy_totals[home] += self._smooth(group, samples.get(group))
        for group in [group for group in self.resting if home_of(group) is not None]:
            self.resting[group] -= 1
            if not self.resting[group]:
                del self.resting[group]
        smoothed = self.node(by)
        return min(smoothed, smoothed - self._busy_totals.get(by, 0) + present)

    def _smooth(self, group: GroupId, sample: LoadSample | None) -> int:
        """Take one sample in; returns by how much the group's load has changed."""
        known = self.busy.get(group)
        former = known.load if known else 0
        present = load_us(sample, self._options) if sample else 0
        load = former + (present - former) // self._options.smoothing
        if load:
            sender, share = (known.sender, known.share) if known else ("", 0)
            if sample is not None:
                sender, share = _main_sender(sample, sender, share)
            self.busy[group] = Busy(load, sender, share)
        else:
            self.busy.pop(group, None)
        return load - former

    def _shift(self, group: GroupId, node: Address, sign: int) -> None:
        count = self._counts.get(node, 0) + sign
        busy = self.busy.get(group)
        total = self._busy_totals.get(node, 0) + (sign * busy.load if busy else 0)
        if count:
            self._counts[node], self._busy_totals[node] = count, total
        else:
            self._counts.pop(node, None)
            self._busy_totals.pop(node, None)


def _main_sender(sample: LoadSample, former: str, share: int) -> tuple[str, int]:
    """Who sends most, and its smoothed share."""
    total = sum(sample.senders.values())
    if not total:
        return former, share // 2
    name = min(sample.senders, key=lambda name: (-sample.senders[name], name))
    present = 100 * sample.senders[name] // total
    return name, ((share if name == former else 0) + present + 1) // 2
